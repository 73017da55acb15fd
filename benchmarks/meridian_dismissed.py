"""Write the passages that pooling read and dismissed: corpora/meridian/source/passes/dismissed.csv.

    python -m benchmarks.meridian_dismissed [--check]      # two minutes; five without vectors in the cache
    python corpora/meridian/build.py                       # takes it into judged.csv

A round looked at passages without a label, by how many systems hold them at some ranks (the table in
corpora/meridian/README.md), and wrote down what it graded. What it dismissed can be told again: the pool is
made as it was then (20 chunks retrieved, all reranked), the rules of the rounds are applied to it, and what
touches a label of the query is left out. Neighbours make one span. ``--check`` writes nothing and fails
where the file differs.
"""

from __future__ import annotations

import argparse
import csv
import io
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks import meridian_pool
from benchmarks.meridian_pool import LABELS, Passages, System, fresh, high_passages, lexical
from harness.measures import ChunkTable, SpanQrels, project
from harness.running.config.load import load_config
from harness.running.config.models import BenchConfig, Setting
from harness.running.corpora import load_corpus
from harness.running.corpus import Corpus
from harness.running.search import cut_for_all, search_settings
from harness.running.session import Session
from harness.values.progress import Silent
from harness.values.types import Chunk, Document, Judgment

DOCUMENTS = Path("corpora/meridian/documents")
LABEL_FILE = Path("corpora/meridian/labels.csv")
FILE = Path("corpora/meridian/source/passes/dismissed.csv")
COLUMNS = ("query_id", "document", "page", "start", "end", "rounds")
DEPTH = 20
ROUNDS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")

# (query id, passage)
Pair = tuple[str, Chunk]


@dataclass(frozen=True)
class Rule:
    """A round read what ``least`` systems of a ``pool`` hold at ``ranks`` (first, last)."""

    pool: str
    ranks: tuple[int, int]
    least: int


# In the order of the rounds. Rounds 8 and 9 went on where 4 and 2 had stopped.
RULES = (
    Rule("BM25", (1, 3), 10),
    Rule("all", (1, 3), 12),
    Rule("fresh", (1, 3), 1),
    Rule("all", (4, 10), 14),
    Rule("fresh", (4, 10), 2),
    Rule("all", (11, 20), 14),
    Rule("fresh", (11, 20), 2),
    Rule("all", (4, 10), 9),
    Rule("all", (1, 3), 5),
)


@dataclass(frozen=True)
class Dismissed:
    """A span that was read for a query, in which rounds, without an answer being found in it.

    ``page`` is that of its first character, None in a document without pages.
    """

    query_id: str
    doc_id: str
    page: int | None
    start: int
    end: int
    rounds: tuple[int, ...]


def as_it_was(config: BenchConfig) -> BenchConfig:
    """The configuration with the depth of the rounds, and with the labels that name answers only."""
    settings = tuple(map(_as_it_was, config.settings))
    return config.model_copy(update={"labels": LABEL_FILE, "settings": settings})


def _as_it_was(setting: Setting) -> Setting:
    if len(setting.rerank) != 1:
        raise SystemExit(f"{setting.name} needs one reranker, as the pool of the rounds had.")
    retrieve = setting.retrieve.model_copy(update={"top_k": DEPTH, "top_chars": None})
    rerank = setting.rerank[0].model_copy(update={"top_n": DEPTH})
    return setting.model_copy(update={"retrieve": retrieve, "rerank": (rerank,)})


def pool(config: BenchConfig, corpus: Corpus, session: Session) -> Iterator[System]:
    """Every setting with every retriever, as in rounds 1 and 2."""
    plain = {query.query_id: query.text for query in corpus.queries.queries}
    answered = meridian_pool.with_answers()
    for setting in config.settings:
        points = cut_for_all([setting], corpus, session)
        (searched,) = search_settings(points, corpus.queries.queries, session)
        chunks = searched.chunking.chunks
        for stage, rankings in searched.rankings.items():
            yield System(LABELS[stage], setting.name, chunks, tuple(rankings))
        yield lexical("BM25", setting.name, chunks, plain)
        yield lexical("BM25, answer added", setting.name, chunks, answered)


def rounds_of(pools: Mapping[str, Sequence[System]], passages: Passages) -> dict[Pair, int]:
    """Every passage that a rule names, labelled or not, and the first round that read it."""
    held: dict[tuple[str, tuple[int, int]], Counter[Pair]] = {}
    found: dict[Pair, int] = {}
    for number, rule in enumerate(RULES, 1):
        key = rule.pool, rule.ranks
        if key not in held:
            held[key] = Counter()
            for system in pools[rule.pool]:
                held[key].update(high_passages(system, passages, rule.ranks))
        for pair, systems in held[key].items():
            if systems >= rule.least:
                found.setdefault(pair, number)
    return found


def untouched(found: Mapping[Pair, int], labels: Iterable[Judgment]) -> dict[Pair, int]:
    """Passages that share no character with a label of the query, whatever its grade."""
    spans = defaultdict(list)
    for label in labels:
        spans[label.query_id, label.doc_id].append((label.start, label.end))
    return {
        (query_id, passage): number
        for (query_id, passage), number in found.items()
        if all(end <= passage.start or start >= passage.end for start, end in spans[query_id, passage.doc_id])
    }


def joined(found: Mapping[Pair, int], passages: Passages, documents: Iterable[Document]) -> list[Dismissed]:
    """Passages that follow one another as one span."""
    spans = []
    for document in documents:
        place = {passage.chunk_id: i for i, passage in enumerate(passages.of[document.doc_id])}
        runs: dict[str, list[list[tuple[Chunk, int]]]] = defaultdict(list)
        own = [pair for pair in found if pair[1].doc_id == document.doc_id]
        for query_id, passage in sorted(own, key=lambda pair: place[pair[1].chunk_id]):
            at = place[passage.chunk_id]
            if not runs[query_id] or place[runs[query_id][-1][-1][0].chunk_id] != at - 1:
                runs[query_id].append([])
            runs[query_id][-1].append((passage, found[query_id, passage]))
        for query_id, its in runs.items():
            spans += [_span(query_id, run, document) for run in its]
    return sorted(spans, key=lambda span: (span.query_id, span.doc_id, span.start))


def _span(query_id: str, run: Sequence[tuple[Chunk, int]], document: Document) -> Dismissed:
    start, end = run[0][0].start, run[-1][0].end
    page = document.page_of(start) if document.page_starts else None
    rounds = tuple(sorted({number for _, number in run}))
    return Dismissed(query_id, document.doc_id, page, start, end, rounds)


def as_csv(spans: Iterable[Dismissed], names: Mapping[str, str]) -> str:
    """The file; ``names`` maps ids of documents to their files."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for span in spans:
        rounds = " ".join(map(str, span.rounds))
        page = "" if span.page is None else span.page
        writer.writerow((span.query_id, names[span.doc_id], page, span.start, span.end, rounds))
    return out.getvalue()


def print_rounds(found: Mapping[Pair, int], corpus: Corpus, passages: Passages) -> None:
    """Passages that each rule names and no earlier round had read, without those that had a label then."""
    label_rounds = [
        (_found_in(row.note), judgment)
        for row, judgment in zip(corpus.label_rows, corpus.anchored.judgments, strict=True)
    ]
    print("| round | read for the first time |\n|---|---:|")
    for number in range(1, len(RULES) + 1):
        labelled = {
            (label.query_id, passage.chunk_id)
            for round_, label in label_rounds
            if round_ < number
            for passage in passages.covered(label.doc_id, label.start, label.end)
        }
        own = [pair for pair, first in found.items() if first == number]
        print(f"| {number} | {sum((q, passage.chunk_id) not in labelled for q, passage in own):,} |")


def _found_in(note: str) -> float:
    """The round that found a label: 0 before pooling, 3.5 for the blind pass between rounds 3 and 4."""
    if match := re.search(r"found (?:in|beside) the (\w+) round of pooling", note):
        return ROUNDS.index(match[1]) + 1
    return (
        3.5 if re.search(r"found in the blind pass|resolved after the blind pass: found there", note) else 0
    )


def print_read(
    systems: Iterable[System], judgments: Sequence[Judgment], documents: Iterable[Document]
) -> None:
    """Of the chunks in a top 10 that count as judged 0: the share of which half the text is judged."""
    spans = SpanQrels.from_judgments(judgments)
    query = {query_id: i for i, query_id in enumerate(spans.query_ids)}
    length = {document.doc_id: len(document.text) for document in documents}
    judged: dict[tuple[str, str], np.ndarray] = {}
    for one in judgments:
        own = judged.setdefault((one.query_id, one.doc_id), np.zeros(length[one.doc_id], dtype=bool))
        own[one.start : one.end] = True
    shares: dict[str, list[float]] = defaultdict(list)
    for system in systems:
        grades = project(spans, ChunkTable.of(system.chunks))
        place = {chunk.chunk_id: i for i, chunk in enumerate(system.chunks)}
        for ranking in system.rankings:
            at = np.array([place[chunk_id] for chunk_id in ranking.chunk_ids[:10]], dtype=np.int64)
            rows = grades.rows_of(np.full(len(at), query[ranking.query_id]), at)
            for row, i in zip(rows.tolist(), at.tolist(), strict=True):
                if row >= 0 and grades.grade[row] == 0:
                    chunk = system.chunks[i]
                    text = judged[ranking.query_id, chunk.doc_id][chunk.start : chunk.end]
                    shares[system.setting].append(float(text.mean()))
    print("| setting | judged 0 in a top 10 | half of it read |\n|---|---:|---:|")
    for setting, own_shares in shares.items():
        half = np.mean([share >= 0.5 for share in own_shares])
        print(f"| {setting} | {len(own_shares):,} | {half:.0%} |")


def main() -> int:
    """Write or check the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare with the file, write nothing")
    arguments = parser.parse_args()
    config = as_it_was(load_config(meridian_pool.CONFIG))
    session = Session.at(config.cache, Silent())
    corpus = load_corpus(config, session.document_reader)
    everything = [*pool(config, corpus, session)]
    pools = {
        "all": everything,
        "BM25": [system for system in everything if system.retriever.startswith("BM25")],
        "fresh": [*fresh(config, corpus, session)],
    }
    passages = Passages(corpus.documents)
    found = rounds_of(pools, passages)
    print_rounds(found, corpus, passages)
    # corpus.labels has the copies of labels too
    spans = joined(untouched(found, corpus.labels), passages, corpus.documents)
    names = {path.stem: path.name for path in DOCUMENTS.iterdir()}
    written = as_csv(spans, names)
    zeros = [Judgment(span.query_id, span.doc_id, span.start, span.end, 0) for span in spans]
    print_read(everything, [*corpus.labels, *zeros], corpus.documents)
    print(f"{len(spans):,} spans of {sum(span.end - span.start for span in spans):,} characters dismissed")
    if arguments.check:
        same = FILE.read_text(encoding="utf-8") == written
        print(f"{FILE} is {'what the rules give' if same else 'not what the rules give: write it again'}")
        return 0 if same else 1
    FILE.write_text(written, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
