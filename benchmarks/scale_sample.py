"""When does a sample of a corpus decide a setting? The order of settings as distractors are added.

python -m benchmarks.scale_sample meridian [--samples 5] [--sizes 0 1 3 10] [--pool 20]
python -m benchmarks.scale_sample financebench      # after: python -m benchmarks.public_data financebench DIR
python -m benchmarks.scale_sample --table

Two chunk sizes, each searched by words (BM25), by vectors, and by both. The labelled part is always searched;
distractors are drawn at random, as many times its characters as a size says, and "all" is the whole pool. A
sample of size 3 holds its sample of size 1. Everything computed is kept: after an interruption, run it again.

meridian: the thirteen short documents of the quickstart are the labelled part. Distractors are made of them
and of the annual report, as thirty other companies would have written them: lines with labelled text are left
out, names are replaced by invented ones and figures by others. financebench: every page of 24 filings is a
document; pages with labelled text are the labelled part, other pages are distractors.
"""

from __future__ import annotations

import argparse
import calendar
import csv
import json
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

import harness
from harness.running import Session, load_corpus
from harness.running import load_config as config_of
from harness.values import Document, Judgment, Silent

ROOT = Path(__file__).parent.parent
KEPT = ROOT / "benchmarks" / "scale_sample.json"
COLLECTIONS = {"meridian": "quickstart.yaml", "financebench": "study_retrieval.yaml"}
MODEL = "embedded:all-MiniLM-L6-v2"
CHUNK_SIZES = (500, 1000)
MEASURES = ("ndcg_exp@10", "ndcg_evidence@5000")
COMPARED = "ndcg_evidence@5000"
COMPANIES = 30
# lends its text to the distractors alone: it is longer than all others together
REPORT = "meridian-10k-2025"
# the fewest characters of a label that are looked for in distractors, as the harness looks for copies
TELLING = 30
# characters of a made document; lines beside a labelled one are left out too
PAGE = 2_000
MONTHS = frozenset(calendar.month_name)

Texts = dict[str, str]
Rows = list[tuple[Any, ...]]


@dataclass(frozen=True)
class Parts:
    """Documents with and without labelled text; labels: query, document, grade, start, end, evidence."""

    labelled: Texts
    pool: Texts
    labels: Rows

    @property
    def characters(self) -> int:
        """The length of the labelled part."""
        return sum(map(len, self.labelled.values()))

    def check(self) -> None:
        """Raise ValueError for a distractor that holds the text of a label, white space aside."""
        texts = {
            self.labelled[row[1]][row[3] : row[4]]
            for row in self.labels
            if row[2] and row[1] in self.labelled
        }
        wanted = [text for text in map(squeezed, texts) if len(text) >= TELLING]
        for name, text in self.pool.items():
            own = squeezed(text)
            if any(one in own for one in wanted):
                raise ValueError(f"distractor {name} holds labelled text")

    def sample(self, size: float, seed: int) -> Texts:
        """Distractors of ``size`` times the labelled characters; a larger sample begins with a smaller."""
        names = sorted(self.pool)
        random.Random(seed).shuffle(names)
        drawn, left = {}, size * self.characters
        for name in names:
            if left <= 0:
                break
            drawn[name] = self.pool[name]
            left -= len(self.pool[name])
        return drawn


def squeezed(text: str) -> str:
    """The text without white space."""
    return "".join(text.split())


def pages_apart(documents: Sequence[Document], judged: Sequence[Judgment]) -> Parts:
    """Every page a document; a span that runs over pages is one piece of evidence, found on any of them."""
    texts, labels, relevant = {}, [], set()
    for document in documents:
        pages = [document.page_span(page + 1) for page in range(len(document.page_starts))]
        names = [f"{document.doc_id}-p{page + 1:03}" for page in range(len(pages))]
        texts |= {
            name: document.text[start:end]
            for name, (start, end) in zip(names, pages, strict=True)
            if document.text[start:end].strip()
        }
        for at, one in enumerate(judged):
            if one.doc_id != document.doc_id:
                continue
            inside = [
                (name, max(one.start, start) - start, min(one.end, end) - start)
                for name, (start, end) in zip(names, pages, strict=True)
                if one.start < end and start < one.end and document.text[start:end].strip()
            ]
            evidence = one.evidence or (f"span {at}" if len(inside) > 1 else "")
            labels += [(one.query_id, name, one.grade, begin, end, evidence) for name, begin, end in inside]
            relevant |= {name for name, _, _ in inside if one.grade}
    pool = {name: text for name, text in texts.items() if name not in relevant}
    return Parts({name: texts[name] for name in sorted(relevant)}, pool, labels)


def other_companies(
    documents: Sequence[Document], judged: Sequence[Judgment], companies: int = COMPANIES
) -> Parts:
    """The short documents, and what other companies would have written of all lines without labels."""
    names = names_in(documents)
    labelled = {one.doc_id: one.text for one in documents if one.doc_id != REPORT}
    labels = [
        (j.query_id, j.doc_id, j.grade, j.start, j.end, j.evidence) for j in judged if j.doc_id in labelled
    ]
    pool: Texts = {}
    for company in range(companies):
        rng = random.Random(company)
        for document in documents:
            spans = [(j.start, j.end) for j in judged if j.grade and j.doc_id == document.doc_id]
            for part, text in enumerate(unlabelled(document.text, spans)):
                pool[f"c{company:02}-{document.doc_id}-{part:03}"] = retold(text, names, rng, company)
    return Parts(labelled, pool, labels)


def names_in(documents: Sequence[Document]) -> frozenset[str]:
    """Words with a capital that no document has without one."""
    words = {word for one in documents for word in re.findall(r"[A-Za-z]{3,}", one.text)}
    small = {word for word in words if word.islower()}
    return frozenset(word for word in words if word[0].isupper() and word.lower() not in small) - MONTHS


def unlabelled(text: str, spans: Sequence[tuple[int, int]]) -> list[str]:
    """The lines that hold no part of a span, in parts of about a page."""
    parts, at = [""], 0
    for line in text.splitlines(keepends=True):
        end = at + len(line)
        if not any(first < end and at < last for first, last in spans):
            parts[-1] += line
        at = end
        if len(parts[-1]) >= PAGE:
            parts.append("")
    return [part for part in parts if part.strip()]


def retold(text: str, names: frozenset[str], rng: random.Random, company: int) -> str:
    """The text with the names of another company, the same ones throughout, and figures of its own."""

    def name(found: re.Match[str]) -> str:
        word = found[0]
        if word not in names:
            return word
        own = random.Random(f"{company} {word.lower()}")
        made = "".join(own.choice("bdfgklmnprstv") + own.choice("aeiou") for _ in range(1 + len(word) // 3))
        return made.upper() if word.isupper() else made.capitalize()

    def figure(found: re.Match[str]) -> str:
        digits = found[0]
        if re.fullmatch(r"(19|20)\d\d", digits):
            return str(int(digits) - 1 - company % 20)
        return str(rng.randint(1, 9)) + "".join(str(rng.randint(0, 9)) for _ in digits[1:])

    return re.sub(r"\d+", figure, re.sub(r"[A-Za-z]{3,}", name, text))


def parts_of(collection: str, source: Path, cache: Path) -> tuple[Parts, Texts]:
    """What a shipped configuration reads and anchors, parted into labelled text and pool; its questions."""
    keys = {"documents", "queries", "labels", "parse"}
    given = yaml.safe_load(source.read_text(encoding="utf-8"))
    own = {key: value for key, value in given.items() if key in keys}
    config = config_of(
        {"name": collection, **own, "retrieve": {"kind": "bm25"}, "parsing": {"second_reading": False}}
    )
    with Session.at(cache, Silent()) as session:
        corpus = load_corpus(config, session.document_reader)
    parted = pages_apart if collection == "financebench" else other_companies
    asked = {query.query_id: query.text for query in corpus.queries.queries}
    return parted(corpus.documents, corpus.labels), asked


def settings(dense: Mapping[str, Any] | None) -> dict[str, Any]:
    """The keys of a configuration for two chunk sizes and the ways to search."""
    words = {"kind": "bm25", "top_chars": 10_000}
    ways: list[Any] = [words]
    if dense is not None:
        ways += [dense, {"kind": "minmax", "top_chars": 10_000, "routes": [dense, words]}]
    return {
        "chunk": {"kind": "recursive", "chunk_size": list(CHUNK_SIZES), "chunk_overlap": 0},
        "settings": [{"retrieve": way} for way in ways],
    }


def write_texts(folder: Path, texts: Texts) -> None:
    """One file a text, as it is."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        with (folder / f"{name}.txt").open("w", encoding="utf-8", newline="") as file:
            file.write(text)


def write_table(path: Path, rows: Sequence[Sequence[Any]]) -> None:
    """One CSV file."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


class Study:
    """Runs samples of one collection with one cache; ``queries`` are the texts of its questions by id."""

    def __init__(self, parts: Parts, queries: Texts, folder: Path, keys: Mapping[str, Any]) -> None:
        parts.check()
        self.parts, self.folder, self.keys = parts, folder, keys
        write_texts(folder / "labelled", parts.labelled)
        write_texts(folder / "pool", parts.pool)
        known = [row for row in parts.labels if row[1] in parts.labelled]
        # a query with nothing but text on its topic has no answer here
        asked = {row[0] for row in known if (row[2] or 0) >= 2}
        head = ("query_id", "document", "grade", "start", "end", "evidence")
        write_table(folder / "labels.csv", [head, *(row for row in known if row[0] in asked)])
        rows = [(query_id, text) for query_id, text in queries.items() if query_id in asked]
        write_table(folder / "queries.csv", [("query_id", "text"), *rows])

    def run(self, size: float | None, seed: int) -> dict[str, Any]:
        """The means of every setting on one sample, None for the whole pool, and what differs by them."""
        drawn = self.parts.pool if size is None else self.parts.sample(size, seed)
        name = "all" if size is None else f"{size:g}x-{seed}"
        files = [str(self.folder / "labelled" / "*.txt")]
        files += [str(self.folder / "pool" / f"{name}.txt") for name in sorted(drawn)]
        results = harness.run(
            {
                "name": name,
                "documents": files,
                "queries": str(self.folder / "queries.csv"),
                "labels": str(self.folder / "labels.csv"),
                "anchor": {"duplicates": False},
                "relevance": {"judge": "labels"},
                "measures": list(MEASURES),
                "cache": str(self.folder / "cache"),
                "results": str(self.folder / "results"),
                **self.keys,
            }
        )
        rows = results.summary.query("split == 'all' and stage == 'retrieve'")
        means = {
            measure: {row.setting: round(row.mean, 4) for row in rows.itertuples() if row.measure == measure}
            for measure in MEASURES
        }
        found = results.compare(COMPARED).differences
        noted = results.record["counts"]["settings"]
        return {
            "size": size,
            "sample": seed,
            "ratio": round(sum(map(len, drawn.values())) / self.parts.characters, 2),
            "chunks": sorted({about["chunks"] for about in noted.values()}),
            "means": means,
            # pairs whose interval leaves out zero, the better one first
            "differ": [[row.setting, row.against] for row in found.itertuples() if row.low > 0],
        }


def study(
    parts: Parts, queries: Texts, folder: Path, keys: Mapping[str, Any], sizes: Iterable[float], samples: int
) -> list[dict[str, Any]]:
    """Every sample; the whole pool comes first, so that a model computes all texts in the same batches."""
    work = Study(parts, queries, folder, keys)
    rows = [work.run(None, 0)]
    # a sample as large as the pool is the pool
    for size in (size for size in sizes if size < rows[0]["ratio"]):
        for seed in range(samples if size else 1):
            rows.append(work.run(size, seed))
            print(f"{size:g} x, sample {seed}: {rows[-1]['means'][COMPARED]}", flush=True)
    return rows


def main() -> None:
    """Run one collection and keep what came out, or print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("collection", nargs="?", choices=COLLECTIONS)
    parser.add_argument("--sizes", nargs="+", type=float, default=[0, 1, 3, 10])
    parser.add_argument("--samples", type=int, default=5)
    parser.add_argument("--pool", type=float, help="take so many distractors as all, times the labelled part")
    parser.add_argument("--folder", type=Path, default=Path("results/scale_sample"))
    parser.add_argument("--words-only", action="store_true", help="BM25 alone: loads no model")
    parser.add_argument("--write", type=Path, help="keep what came out in this file")
    parser.add_argument("--table", action="store_true", help="run nothing; print the tables")
    args = parser.parse_args()
    if args.table or args.collection is None:
        from benchmarks.scale_sample_table import sample_tables

        print("\n\n".join(sample_tables().values()))
        return
    source = ROOT / "configs" / COLLECTIONS[args.collection]
    folder = args.folder / args.collection
    parts, queries = parts_of(args.collection, source, folder / "cache")
    if args.pool is not None:
        parts = replace(parts, pool=parts.sample(args.pool, seed=len(parts.pool)))
    dense = (
        None
        if args.words_only
        else {"kind": "exact", "model": MODEL, "dtype": "bfloat16", "top_chars": 10_000}
    )
    rows = study(parts, queries, folder, settings(dense), args.sizes, args.samples)
    if args.write:
        facts = {"documents": len(parts.labelled), "pool": len(parts.pool), "characters": parts.characters}
        keep(args.write, args.collection, facts, rows)


def keep(path: Path, collection: str, facts: Mapping[str, int], rows: Sequence[dict[str, Any]]) -> None:
    """Write what came out beside the other collections, a line a sample."""
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    kept[collection] = {**facts, "rows": rows}
    parts = []
    for name, one in kept.items():
        head = json.dumps({key: value for key, value in one.items() if key != "rows"})
        lines = ",\n  ".join(map(json.dumps, one["rows"]))
        parts.append(f'{json.dumps(name)}: {head[:-1]}, "rows": [\n  {lines}\n ]}}')
    path.write_text("{\n " + ",\n ".join(parts) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
