"""Is the shipped collection judged where retrievers look? Judged@k, and unlabelled text that ranks high.

    harness bench configs/meridian.yaml
    python benchmarks/meridian_pool.py [--fresh] [--ranks 4 10] [--read FILE] [--labels FILE]

Pools the settings of that run, each with three retrievers: dense, dense with late interaction on top, and
BM25 over the same chunks. A fourth, BM25 with the written answer added to the query, competes with nobody;
it is there to find copies of a fact. ``--fresh`` adds what no round of labelling has seen: chunks of
another size, and a retriever that matches runs of four characters. ``--read`` writes the unlabelled text to
be read: passages of the documents, whatever the chunking, ordered by how many systems hold them in their
top 3 for a query. ``--ranks`` looks at other ranks, and leaves out what ten systems or more held in their top
3 and was read for that. Ranks decide what is read, and only that: grades come from reading.
"""

from __future__ import annotations

import argparse
import csv
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from harness.measures import Projection, Scorer, SpanQrels
from harness.running.config.load import load_config
from harness.running.config.models import BenchConfig, Setting
from harness.running.corpora import load_corpus
from harness.running.corpus import Corpus
from harness.running.search import cut_for_all, search_settings
from harness.running.session import Session
from harness.values.progress import Silent
from harness.values.text.sentence_ends import passage_spans
from harness.values.types import Chunk, Document, Query, Ranking

CONFIG = Path("configs/meridian.yaml")
QUERIES = Path("corpora/meridian/queries.csv")
DEPTH = 20
TOP = (1, 3)
READ_BEFORE = 10
PASSAGE = 240
MEASURES = ("judged@3", "judged@10", "judged@20")
FRESH_SIZE = 350
LABELS = {"retrieve": "dense", "rerank": "dense + late interaction"}


@dataclass(frozen=True)
class System:
    """One retriever over the chunks of one setting, with its rankings by query."""

    retriever: str
    setting: str
    chunks: tuple[Chunk, ...]
    rankings: tuple[Ranking, ...]


@dataclass(frozen=True)
class Unread:
    """A passage without a label for a query, and how many systems rank it at the given ranks."""

    query_id: str
    passage: Chunk
    systems: int


class Bm25:
    """BM25 (Robertson and Zaragoza 2009; k1 = 1.2, b = 0.75, idf as in Lucene) over ``terms`` of a text."""

    def __init__(self, chunks: Sequence[Chunk], terms: Callable[[str], list[str]]) -> None:
        self._terms = terms
        self._ids = [chunk.chunk_id for chunk in chunks]
        counts = [Counter(terms(chunk.text)) for chunk in chunks]
        length = np.array([sum(count.values()) for count in counts], dtype=float)
        norm = 1.2 * (0.25 + 0.75 * length / length.mean())
        self._weights: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        postings = defaultdict(list)
        for row, count in enumerate(counts):
            for term, times in count.items():
                postings[term].append((row, times))
        for term, found in postings.items():
            rows, times = (np.array(column) for column in zip(*found, strict=True))
            idf = np.log1p((len(chunks) - len(rows) + 0.5) / (len(rows) + 0.5))
            self._weights[term] = rows, idf * times / (times + norm[rows])

    def rank(self, query_id: str, text: str, depth: int = DEPTH) -> Ranking:
        """The first ``depth`` chunks that share a term with ``text``."""
        scores = np.zeros(len(self._ids))
        for term in self._terms(text):
            if term in self._weights:
                rows, weights = self._weights[term]
                scores[rows] += weights
        best = [row for row in np.argsort(-scores, kind="stable")[:depth] if scores[row] > 0]
        return Ranking(query_id, tuple(self._ids[row] for row in best), tuple(scores[best].tolist()))


def words(text: str) -> list[str]:
    """Words and figures in lower case; a comma or point inside a figure belongs to it."""
    return re.findall(r"[a-z]+|\d+(?:[.,]\d+)*", text.lower())


def grams(text: str) -> list[str]:
    """All runs of four characters, blanks run together."""
    joined = " ".join(text.lower().split())
    return [joined[i : i + 4] for i in range(len(joined) - 3)]


def lexical(
    name: str, setting: str, chunks: tuple[Chunk, ...], asked: Mapping[str, str], terms: Callable = words
) -> System:
    index = Bm25(chunks, terms)
    return System(name, setting, chunks, tuple(index.rank(*item) for item in asked.items()))


def pooled(config: BenchConfig, corpus: Corpus, session: Session) -> Iterator[System]:
    """Every setting with every retriever."""
    runs = stored_rankings(config.results / config.name / "rankings.csv")
    plain = {query.query_id: query.text for query in corpus.queries.queries}
    answered = with_answers()
    for setting in config.settings:
        chunks = cut_for_all([setting], corpus, session)[0].chunking.chunks
        for stage, retriever in LABELS.items():
            if (setting.name, stage) in runs:
                yield System(retriever, setting.name, chunks, runs[setting.name, stage])
        yield lexical("BM25", setting.name, chunks, plain)
        yield lexical("BM25, answer added", setting.name, chunks, answered)


def fresh(config: BenchConfig, corpus: Corpus, session: Session) -> Iterator[System]:
    """A setting that is not in the pool, with a retriever that is not in it either."""
    first: Setting = config.settings[0]
    chunk = first.chunk.model_copy(update={"chunk_size": FRESH_SIZE})
    setting = first.model_copy(update={"name": f"fresh chunk={FRESH_SIZE}", "chunk": chunk})
    points = cut_for_all([setting], corpus, session)
    (searched,) = search_settings(points, corpus.queries.queries, session)
    chunks = searched.chunking.chunks
    for stage, rankings in searched.rankings.items():
        yield System(f"fresh: {LABELS[stage]}", setting.name, chunks, tuple(rankings))
    asked = {query.query_id: query.text for query in corpus.queries.queries}
    yield lexical("fresh: BM25", setting.name, chunks, asked)
    yield lexical("fresh: BM25 of 4 characters", setting.name, chunks, asked, grams)


def stored_rankings(path: Path) -> dict[tuple[str, str], tuple[Ranking, ...]]:
    """(setting, stage) → rankings of a finished run."""
    if not path.exists():
        raise SystemExit(f"{path} is not there. First run: harness bench {CONFIG}")
    rows: dict[tuple[str, str], dict[str, list[dict[str, str]]]] = defaultdict(lambda: defaultdict(list))
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            rows[row["setting"].removeprefix("'"), row["stage"]][row["query_id"]].append(row)
    return {
        key: tuple(
            Ranking(
                query_id,
                tuple(row["chunk_id"].removeprefix("'") for row in ranked),
                tuple(float(row["score"] or "-inf") for row in ranked),
            )
            for query_id, ranked in by_query.items()
        )
        for key, by_query in rows.items()
    }


def with_answers() -> dict[str, str]:
    """Query id → text and written answer."""
    with QUERIES.open(encoding="utf-8", newline="") as file:
        return {row["query_id"]: f"{row['text']} {row['answer']}" for row in csv.DictReader(file)}


def judged_share(system: System, queries: Sequence[Query], spans: SpanQrels) -> np.ndarray:
    """Mean judged@k over all queries, [measures]."""
    scorer = Scorer(queries, spans, system.chunks, unanswerable="zero")
    return np.nanmean(scorer.score(system.rankings, MEASURES).values, axis=0)


def print_judged(systems: Sequence[System], corpus: Corpus) -> None:
    spans = SpanQrels.from_judgments(corpus.anchored.judgments)
    shares = defaultdict(list)
    for system in systems:
        shares[system.retriever].append(judged_share(system, corpus.queries.queries, spans))
    print("| retriever | settings | " + " | ".join(MEASURES) + " |")
    print("|---|---:|" + "---:|" * len(MEASURES))
    for retriever, rows in shares.items():
        low, mean, high = np.min(rows, axis=0), np.mean(rows, axis=0), np.max(rows, axis=0)
        cells = [f"{m:.2f} ({lo:.2f} to {hi:.2f})" for m, lo, hi in zip(mean, low, high, strict=True)]
        print(f"| {retriever} | {len(rows)} | " + " | ".join(cells) + " |")


class Passages:
    """The documents cut into passages that no chunking decides."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self.of = {
            document.doc_id: [Chunk.of(document, *span) for span in passage_spans(document.text, PASSAGE)]
            for document in documents
        }
        self._starts = {doc: np.array([p.start for p in all_]) for doc, all_ in self.of.items()}

    def covered(self, doc_id: str, start: int, end: int) -> Iterator[Chunk]:
        """The passages that share half of themselves or of the range with it."""
        found = self.of[doc_id]
        projection = Projection()
        first = max(int(np.searchsorted(self._starts[doc_id], start, side="right")) - 1, 0)
        for passage in found[first:]:
            if passage.start >= end:
                return
            shared = min(passage.end, end) - max(passage.start, start)
            if shared > 0 and projection.covers(
                np.array(shared), np.array(end - start), np.array(passage.end - passage.start)
            ):
                yield passage


def unlabelled(systems: Sequence[System], corpus: Corpus, ranks: tuple[int, int] = TOP) -> list[Unread]:
    """Passages at some system's ``ranks`` (first, last) without a label of the query, most systems first."""
    passages = Passages(corpus.documents)
    labelled = {
        (judgment.query_id, passage.chunk_id)
        for judgment in corpus.anchored.judgments
        for passage in passages.covered(judgment.doc_id, judgment.start, judgment.end)
    }
    found: Counter[tuple[str, Chunk]] = Counter()
    for system in systems:
        found.update(high_passages(system, passages, ranks))
    rows = [
        Unread(query_id, passage, count)
        for (query_id, passage), count in found.items()
        if (query_id, passage.chunk_id) not in labelled
    ]
    return sorted(rows, key=lambda row: (-row.systems, row.query_id, row.passage.chunk_id))


def deeper(systems: Sequence[System], corpus: Corpus, ranks: tuple[int, int]) -> list[Unread]:
    """Unlabelled passages at ``ranks``, without those read because many systems rank them high."""
    before = {
        (row.query_id, row.passage.chunk_id)
        for row in unlabelled(systems, corpus)
        if row.systems >= READ_BEFORE
    }
    return [
        row
        for row in unlabelled(systems, corpus, ranks)
        if (row.query_id, row.passage.chunk_id) not in before
    ]


def high_passages(system: System, passages: Passages, ranks: tuple[int, int]) -> set[tuple[str, Chunk]]:
    """(query id, passage) for all that the system's chunks at ``ranks`` cover."""
    place = {chunk.chunk_id: chunk for chunk in system.chunks}
    return {
        (ranking.query_id, passage)
        for ranking in system.rankings
        for chunk in (place[chunk_id] for chunk_id in ranking.chunk_ids[ranks[0] - 1 : ranks[1]])
        for passage in passages.covered(chunk.doc_id, chunk.start, chunk.end)
    }


def write_reading(path: Path, rows: Iterable[Unread], corpus: Corpus) -> None:
    text = {query.query_id: query.text for query in corpus.queries.queries}
    documents = {document.doc_id: document for document in corpus.documents}
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(("query_id", "query", "systems", "document", "page", "start", "text"))
        for row in rows:
            passage = row.passage
            page = documents[passage.doc_id].page_of(passage.start)
            shown = " ".join(passage.text.split())
            line = (row.query_id, text[row.query_id], row.systems, passage.doc_id, page, passage.start, shown)
            out.writerow(line)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fresh", action="store_true", help="add a setting and a retriever not in the pool")
    parser.add_argument("--ranks", type=int, nargs=2, metavar=("FIRST", "LAST"), help="ranks to look at")
    parser.add_argument("--read", type=Path, help="write the unlabelled passages that rank high to this CSV")
    parser.add_argument("--labels", type=Path, help="a file of labels instead of the configuration's")
    arguments = parser.parse_args()
    config = load_config(CONFIG)
    if arguments.labels:
        config = config.model_copy(update={"labels": arguments.labels})
    session = Session.at(config.cache, Silent())
    corpus = load_corpus(config, session.document_reader)
    systems = [*fresh(config, corpus, session)] if arguments.fresh else [*pooled(config, corpus, session)]
    print_judged(systems, corpus)
    first, last = arguments.ranks or TOP
    rows = deeper(systems, corpus, (first, last)) if arguments.ranks else unlabelled(systems, corpus)
    for least in (1, 2, 4, 8, 16, 32):
        print(
            f"unlabelled (query, passage) pairs at ranks {first} to {last} of {least} systems or more:",
            end=" ",
        )
        print(sum(row.systems >= least for row in rows))
    if arguments.read:
        write_reading(arguments.read, rows, corpus)


if __name__ == "__main__":
    main()
