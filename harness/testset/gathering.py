"""The step ``gather``: for every question, passages that several different retrievers find."""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.report import counted
from harness.running.checks import warn_of_languages
from harness.running.chunks import chunk_corpus
from harness.running.context import Context
from harness.running.corpus import Corpus, load_corpus
from harness.running.search import Point, Searched, search_points
from harness.store import write_text
from harness.testset.config import TestsetConfig
from harness.testset.documents import document_rows, documents_of
from harness.testset.retrievers import retrievers
from harness.testset.rows import Candidate, DocumentRow, FoundRow, PoolRow, SearchedRow, to_csv
from harness.testset.state import State
from harness.testset.steps import Outcome, chosen_of
from harness.text.passages import passage_spans
from harness.text.spans import Span
from harness.types import Chunk, Document

# as the pool of a judge has it, about a paragraph
LENGTH = 600
SUGGESTED = "suggested with the question"
Key = tuple[str, int, int]
# a retriever's name, and its chunks by query
_Ranked = tuple[str, dict[str, list[Chunk]]]


@dataclass(slots=True)
class _Found:
    by: dict[str, int | None]


def gather(
    state: State,
    config: TestsetConfig,
    context: Context,
    count: int,
    also: Path | None = None,
    again: bool = False,
) -> Outcome:
    """Write pool.csv and found.csv; questions that have their passages already keep them, unless ``again``.

    Every retriever gives its best passage in turn, until ``count`` are found. The passage that was suggested
    with a question comes first. The rows of a question are in an order that says nothing about any of it.
    """
    chosen = chosen_of(state)
    documents = documents_of(state, config, context)
    old = set() if again else _searched(state.rows(SearchedRow), chosen)
    todo = [one for one in chosen if one.query_id not in old]
    pool = [row for row in state.rows(PoolRow) if row.query_id in old]
    found_rows = [row for row in state.rows(FoundRow) if row.query_id in old]
    names: list[str] = []
    if todo:
        settings = retrievers(config, list(documents.values()), also)
        names = [one.name for one in settings]
        corpus = corpus_of(state, config, context, todo)
        warn_of_languages(corpus, settings, context.reporter)
        points = [Point(one, chunk_corpus(corpus, one, context)) for one in settings]
        ranked = [_by_query(each) for each in search_points(points, corpus.queries.queries, context)]
        passages = {one.doc_id: passage_spans(one.text, LENGTH) for one in documents.values()}
        for one in todo:
            its = _pooled(one, ranked, documents, passages, count)
            pool += _hidden(one, its, documents)
            found_rows += [
                FoundRow(
                    one.query_id, *key, "; ".join(f.by), min((r for r in f.by.values() if r), default=None)
                )
                for key, f in its.items()
            ]
    place = {one.query_id: at for at, one in enumerate(chosen)}
    pool.sort(key=lambda row: place[row.query_id])
    found_rows.sort(key=lambda row: place[row.query_id])
    files: dict[str, str] = {
        state.path(PoolRow).name: to_csv(PoolRow, pool),
        state.path(FoundRow).name: to_csv(FoundRow, found_rows),
        state.path(SearchedRow).name: to_csv(SearchedRow, _counts(chosen, pool)),
    }
    if not state.has(DocumentRow):
        files[state.path(DocumentRow).name] = to_csv(DocumentRow, document_rows(documents.values()))
    facts = {"questions": len(chosen), "passages": len(pool), "retrievers": names}
    if todo or len(pool) != len(state.rows(PoolRow)):
        state.write("gather", f"{len(names)} retrievers", files, facts)
    return Outcome(tuple(_told(state, pool, chosen, todo, names, count)))


def corpus_of(state: State, config: TestsetConfig, context: Context, chosen: Sequence[Candidate]) -> Corpus:
    """The documents and the chosen questions, as the rooms of a run want them; without labels."""
    path = config.cache / "testset" / "queries.csv"
    rows = [_Asked(one.query_id, one.text, one.answerable, "train") for one in chosen]
    write_text(path, to_csv(_Asked, rows))
    bench = config.bench(state.folder).model_copy(update={"queries": path, "labels": None})
    return load_corpus(bench, context)


def _counts(chosen: Sequence[Candidate], pool: Sequence[PoolRow]) -> list[SearchedRow]:
    found = Counter(row.query_id for row in pool)
    return [SearchedRow(one.query_id, one.text, found[one.query_id]) for one in chosen]


@dataclass(frozen=True, slots=True)
class _Asked:
    query_id: str
    text: str
    answerable: str
    split: str


def _searched(rows: Iterable[SearchedRow], chosen: Sequence[Candidate]) -> set[str]:
    """The questions that were searched and are still asked in the same words."""
    texts = {one.query_id: one.text for one in chosen}
    return {row.query_id for row in rows if texts.get(row.query_id) == row.question}


def _pooled(
    one: Candidate,
    ranked: Sequence[_Ranked],
    documents: Mapping[str, Document],
    passages: Mapping[str, Sequence[Span]],
    count: int,
) -> dict[Key, _Found]:
    """Passages by turns of the retrievers, and who found each at which rank."""
    found: dict[Key, _Found] = {}
    for doc_id, start, end in ((one.document, one.start, one.end), (one.document_2, one.start_2, one.end_2)):
        if doc_id in documents and start is not None and end is not None:
            for span in _touched(passages[doc_id], start, end):
                found.setdefault((doc_id, *span), _Found({})).by[SUGGESTED] = None
    lists = [(name, its.get(one.query_id, [])) for name, its in ranked]
    for rank in range(max((len(chunks) for _, chunks in lists), default=0)):
        for name, chunks in lists:
            if rank >= len(chunks):
                continue
            chunk = chunks[rank]
            for span in _touched(passages[chunk.doc_id], chunk.start, chunk.end):
                key = (chunk.doc_id, *span)
                if key in found or len(found) < count:
                    found.setdefault(key, _Found({})).by.setdefault(name, rank + 1)
    return found


def _by_query(searched: Searched) -> _Ranked:
    chunks = {chunk.chunk_id: chunk for chunk in searched.chunking.chunks}
    rankings = searched.rankings[searched.steps[-1]]
    return searched.setting.name, {r.query_id: [chunks[one] for one in r.chunk_ids] for r in rankings}


def _touched(spans: Sequence[Span], start: int, end: int) -> list[Span]:
    """The passages that share half of either with a range; else the one it shares most with."""
    first = bisect_right(spans, start, key=lambda span: span[1])
    last = bisect_left(spans, end, key=lambda span: span[0])
    near = list(spans[first:last])
    shared = {span: min(end, span[1]) - max(start, span[0]) for span in near}
    half = [span for span in near if 2 * shared[span] >= min(end - start, span[1] - span[0])]
    return half or sorted(near, key=lambda span: -shared[span])[:1]


def _hidden(one: Candidate, found: Mapping[Key, _Found], documents: Mapping[str, Document]) -> list[PoolRow]:
    """The rows of a question, in the order of a hash."""

    def place(key: Key) -> str:
        return hashlib.sha256(repr((one.query_id, key)).encode()).hexdigest()

    rows = []
    for doc_id, start, end in sorted(found, key=place):
        document = documents[doc_id]
        rows.append(
            PoolRow(
                one.query_id, one.text, doc_id, start, end, document.page_of(start), document.text[start:end]
            )
        )
    return rows


def _told(
    state: State,
    pool: Sequence[PoolRow],
    chosen: Sequence[Candidate],
    todo: Sequence[Candidate],
    names: Sequence[str],
    count: int,
) -> list[str]:
    told = [
        f"{state.path(PoolRow)}: {counted(len(pool), 'passage')} for {counted(len(chosen), 'question')}; "
        f"{len(todo)} of these were searched now."
    ]
    if names:
        told.append(f"Found by turns of {len(names)} retrievers: {', '.join(names)}.")
    per = {one.query_id: 0 for one in chosen}
    for row in pool:
        per[row.query_id] += 1
    few = [query_id for query_id, times in per.items() if times < count]
    if few:
        told.append(
            f"{counted(len(few), 'question')} with fewer than {count} passages, as the documents give no "
            "more."
        )
    return told
