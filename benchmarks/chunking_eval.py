"""Compare configs/chunking_eval.yaml with the code of the study it reproduces; account for the difference.

python benchmarks/chunking_eval.py    after: python -m benchmarks.public_data chunking_eval DIR

Prints the tables of docs/reproduction.md. The study's counting rules are emulated here, on plain sets of
characters; with none of them switched on the same code must give the harness's own measures, which is
checked for every query.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

from harness.comparison import mean_of
from harness.report import Results
from harness.running.bench.flow import run_bench
from harness.running.config.load import load_config
from harness.running.config.models import BenchConfig, Setting
from harness.running.corpora import load_corpus
from harness.running.corpus import Corpus
from harness.running.session import Session
from harness.steps.chunk import chunk_documents
from harness.values.progress import Silent
from harness.values.text.spans import trim
from harness.values.types import Chunk, Document, Judgment

CONFIG = Path("configs/chunking_eval.yaml")
MEASURES = ("text_recall@5", "text_precision@5", "text_iou@5", "precision_omega")
COMPARED = ("text_recall@5", "ndcg_text@5000")

Span = tuple[int, int]
Place = tuple[str, int, int]


@dataclass(frozen=True)
class Reference:
    """Results of the study's code, per cent: the four measures over all queries, and recall per document."""

    values: tuple[float, float, float, float]
    recall_by_document: Mapping[str, float]


def _reference(values: tuple[float, float, float, float], *recalls: float) -> Reference:
    return Reference(values, dict(zip(("state_of_the_union", "wikitexts", "chatlogs"), recalls, strict=True)))


# The study's code, run with chromadb 1.5.9 and the same weights, one collection over the three documents.
REFERENCE = {
    "recursive chunk=250/125": _reference((89.39, 4.71, 4.70, 19.55), 94.61, 83.86, 96.49),
    "recursive chunk=250/0": _reference((89.44, 4.89, 4.88, 24.82), 89.44, 86.29, 97.57),
    "recursive chunk=200/0": _reference((86.47, 6.28, 6.26, 28.61), 94.16, 77.84, 98.21),
    "token tokens=250/125": _reference((90.76, 4.07, 4.07, 12.21), 94.26, 85.64, 99.18),
    "token tokens=250/0": _reference((87.49, 3.93, 3.92, 17.89), 94.88, 79.73, 97.39),
    "token tokens=200/0": _reference((85.36, 4.82, 4.80, 21.10), 89.09, 79.76, 94.71),
}


@dataclass(frozen=True)
class Rule:
    """How text is counted; everything off is the harness, ``STUDY`` is the study's code.

    ``first_copy``: a chunk is taken to be where its text first occurs. ``final_period``: that text is
    looked for without a period at its end, which then belongs to no chunk. ``touching``: for precision_omega
    a chunk that ends where a span begins, or begins where it ends, counts as one with wanted text.
    ``union``: precision_omega divides by the distinct characters of those chunks and of wanted text in none
    of them, not by the sum of the chunks' lengths. ``strip`` is no rule of the study's: whitespace at the
    ends of chunks is not counted.
    """

    first_copy: bool = False
    final_period: bool = False
    touching: bool = False
    union: bool = False
    strip: bool = False


HARNESS = Rule()
STEPS = {
    "first copy": Rule(first_copy=True),
    "final period": Rule(first_copy=True, final_period=True),
    "touching": Rule(first_copy=True, final_period=True, touching=True),
    "union": Rule(first_copy=True, final_period=True, touching=True, union=True),
}
STUDY = STEPS["union"]


@dataclass(frozen=True)
class Study:
    """The finished run with all that is needed to recount its text."""

    config: BenchConfig
    results: Results
    corpus: Corpus

    @classmethod
    def run(cls, path: Path = CONFIG) -> Study:
        """Run the benchmark, or read what it computed before from the cache."""
        config = load_config(path)
        results, _ = run_bench(config, Silent())
        return cls(config, results, load_corpus(config, Session.at(config.cache, Silent()).document_reader))

    @cached_property
    def document(self) -> dict[str, Document]:
        """The documents by id."""
        return {document.doc_id: document for document in self.corpus.documents}

    @cached_property
    def wanted(self) -> dict[str, list[Judgment]]:
        """The spans of every query."""
        spans: dict[str, list[Judgment]] = {query.query_id: [] for query in self.results.queries}
        for judgment in self.corpus.anchored.judgments:
            spans[judgment.query_id].append(judgment)
        return spans

    def chunks(self, setting: Setting) -> list[Chunk]:
        """All chunks of a setting."""
        return chunk_documents(self.corpus.documents, setting.chunk)

    def harness_values(self, setting: Setting) -> dict[str, tuple[float, ...]]:
        """Per query the harness's own measures."""
        rows = {(r.query_id, r.measure): r.value for r in self.results.per_query if r.setting == setting.name}
        return {query_id: tuple(rows[query_id, measure] for measure in MEASURES) for query_id in self.wanted}

    def count(self, setting: Setting, rule: Rule) -> dict[str, tuple[float, ...]]:
        """Per query the four measures, counted under ``rule`` from the run's rankings."""
        places = {chunk.chunk_id: place(chunk, self.document, rule) for chunk in self.chunks(setting)}
        ranked = {r.query_id: r.chunk_ids for r in self.results.runs[setting.name, "retrieve"]}
        return {
            query_id: count(spans, [places[c] for c in ranked[query_id]], list(places.values()), rule)
            for query_id, spans in self.wanted.items()
        }

    def document_of(self, query_id: str) -> str:
        """The document that holds a query's spans; every query of this collection has one."""
        (doc_id,) = {span.doc_id for span in self.wanted[query_id]}
        return doc_id


def place(chunk: Chunk, documents: Mapping[str, Document], rule: Rule) -> Place:
    """Where a chunk is under a rule: (document, start, end)."""
    text = documents[chunk.doc_id].text
    if rule.strip:
        return chunk.doc_id, *trim(text, (chunk.start, chunk.end))
    if not rule.first_copy:
        return chunk.doc_id, chunk.start, chunk.end
    sought = chunk.text.removesuffix(".") if rule.final_period else chunk.text
    start = text.index(sought)
    return chunk.doc_id, start, start + len(sought)


def count(
    spans: Sequence[Judgment], ranked: Sequence[Place], chunks: Sequence[Place], rule: Rule
) -> tuple[float, float, float, float]:
    """Recall, precision and intersection-over-union of ranked chunks, and precision_omega of all chunks."""
    wanted = _characters((s.doc_id, s.start, s.end) for s in spans)
    found = wanted & _characters(ranked)
    read = _length(ranked)
    reach = 0 if rule.touching else 1
    hit = [
        (doc_id, start, end)
        for doc_id, start, end in chunks
        if any(s.doc_id == doc_id and start + reach <= s.end and s.start + reach <= end for s in spans)
    ]
    shown = _characters(hit)
    # A chunk that merely touches shows no wanted text; all it adds is its length.
    spent = len(shown | wanted) if rule.union else _length(hit)
    return (
        len(found) / len(wanted),
        len(found) / read,
        len(found) / (read + len(wanted - found)),
        len(shown & wanted) / spent,
    )


def _characters(places: Iterable[Place]) -> set[tuple[str, int]]:
    return {(doc_id, at) for doc_id, start, end in places for at in range(start, end)}


def _length(places: Iterable[Place]) -> int:
    return sum(end - start for _, start, end in places)


def means(values: Mapping[str, tuple[float, ...]]) -> list[float]:
    """The mean of each measure over queries, per cent."""
    return [100 * mean(column) for column in zip(*values.values(), strict=True)]


def check_counting(study: Study, setting: Setting) -> None:
    """Raise unless counting sets of characters gives the harness's measures for every query."""
    own, counted = study.harness_values(setting), study.count(setting, HARNESS)
    for query_id, values in own.items():
        for measure, a, b in zip(MEASURES, values, counted[query_id], strict=True):
            if abs(a - b) > 1e-9:
                raise AssertionError(f"{setting.name}, {query_id}, {measure}: harness {a}, counted {b}")


def peer_texts(setting: Setting, text: str) -> list[str]:
    """The chunks that langchain-text-splitters cuts, whose algorithms the study's splitters are."""
    from langchain_text_splitters import RecursiveCharacterTextSplitter, TokenTextSplitter

    chunk: Any = setting.chunk
    if chunk.kind == "token":
        splitter: Any = TokenTextSplitter(
            chunk.unit, chunk_size=chunk.tokens_per_chunk, chunk_overlap=chunk.token_overlap
        )
    else:
        splitter = RecursiveCharacterTextSplitter.from_tiktoken_encoder(
            chunk.unit,
            chunk_size=chunk.chunk_size,
            chunk_overlap=chunk.chunk_overlap,
            separators=list(chunk.separators),
            keep_separator=chunk.keep_separator,
        )
    return list(splitter.split_text(text))


def causes_table(study: Study) -> list[str]:
    """Every measure of every setting: reference, harness, the study's rules added in turn, the rest."""
    lines = [
        f"| setting | measure | study's code | harness | {' | '.join(f'+ {s}' for s in STEPS)} | left |",
        "|---|---|" + "---:|" * (len(STEPS) + 3),
    ]
    for setting in study.config.settings:
        check_counting(study, setting)
        columns = [means(study.harness_values(setting))]
        columns += [means(study.count(setting, rule)) for rule in STEPS.values()]
        expected = REFERENCE[setting.name].values
        for i, measure in enumerate(MEASURES):
            cells = [f"{expected[i]:.2f}", *(f"{column[i]:.2f}" for column in columns)]
            left = abs(expected[i] - columns[-1][i])
            lines.append(f"| {setting.name} | {measure} | {' | '.join(cells)} | {left:.2f} |")
    return lines


def documents_table(study: Study) -> list[str]:
    """Recall of every setting per document: the study's code, the harness, the harness under its rules."""
    names = list(next(iter(REFERENCE.values())).recall_by_document)
    lines = [f"| setting | {' | '.join(names)} |", "|---|" + "---:|" * len(names)]
    for setting in study.config.settings:
        cells = []
        own, emulated = study.harness_values(setting), study.count(setting, STUDY)
        for name in names:
            inside = [q for q in own if study.document_of(q) == name]
            values = [100 * mean(source[q][0] for q in inside) for source in (own, emulated)]
            expected = REFERENCE[setting.name].recall_by_document[name]
            cells.append(f"{expected:.2f} / {values[0]:.2f} / {values[1]:.2f}")
        lines.append(f"| {setting.name} | {' | '.join(cells)} |")
    return lines


def circumstances_table(study: Study) -> list[str]:
    """Checks of what could differ between the two and does not; and precision where chunks are stripped."""
    lines = [
        "| setting | chunks | cut alike | texts that occur earlier | longer than the model reads | "
        "true neighbours found | precision, stripped |",
        "|---|" + "---:|" * 6,
    ]
    noted = study.results.record.counts["settings"]
    for setting in study.config.settings:
        chunks = study.chunks(setting)
        texts = [chunk.text for chunk in chunks]
        peer = [text for document in study.corpus.documents for text in peer_texts(setting, document.text)]
        alike = len(texts) if texts == peer else f"no ({len(peer)})"
        moved = sum(place(c, study.document, STUDY)[1] != c.start for c in chunks)
        stripped = means(study.count(setting, replace(HARNESS, strip=True)))[1]
        about = noted[setting.name]
        lines.append(
            f"| {setting.name} | {len(chunks)} | {alike} | {moved} | {about['overlong']} | "
            f"{100 * about['exact_share']:.1f} % | {stripped:.2f} |"
        )
    return lines


def differences_table(study: Study) -> list[str]:
    """Paired differences of settings whose interval leaves out zero; the intervals know of no other look."""
    lines = ["| measure | better | than | by | 95 % interval |", "|---|---|---|---:|---:|"]
    for measure in COMPARED:
        values: dict[str, list[float]] = {}
        for row in study.results.per_query:
            if row.measure == measure:
                values.setdefault(row.setting, []).append(row.value)
        ordered = sorted(values, key=lambda name: -mean(values[name]))
        for better, worse in combinations(ordered, 2):
            difference = 100 * (np.array(values[better]) - np.array(values[worse]))
            found = mean_of(difference, level=study.config.bootstrap.level)
            if found and found.low is not None and found.low > 0:
                interval = f"{found.low:.1f} to {found.high:.1f}"
                lines.append(f"| {measure} | {better} | {worse} | {found.value:.1f} | {interval} |")
    return lines


def main() -> None:
    """Print the tables."""
    study = Study.run()
    for table in (causes_table, documents_table, circumstances_table, differences_table):
        sys.stdout.write("\n".join(table(study)) + "\n\n")


if __name__ == "__main__":
    main()
