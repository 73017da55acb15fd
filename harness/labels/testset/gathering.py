"""The step ``gather``: for every question, passages that several different retrievers find."""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from harness.labels.labelling.rows import spreadsheet_safe
from harness.labels.testset.minutes import time_to_grade
from harness.labels.testset.retrievers import retrievers
from harness.labels.testset.rows import Candidate, FoundRow, PoolRow, SearchedRow
from harness.labels.testset.state import SetState, Tables
from harness.labels.testset.steps import Outcome, chosen_of, document_rows, documents_of, gathered
from harness.running import (
    Context,
    Corpus,
    Searched,
    cut_for_all,
    load_corpus,
    search_settings,
    warn_of_languages,
)
from harness.store import write_text
from harness.values import TO_GRADE, Chunk, Document, Span, counted, delimited_text, passage_spans

SUGGESTED = "suggested with the question"
Key = tuple[str, int, int]
# a retriever's name, and its chunks by query
_Ranked = tuple[str, dict[str, list[Chunk]]]
# by passage the retrievers that found it, and at which rank from 1; None: it was suggested
_Found = dict[Key, dict[str, int | None]]


def gather(
    state: SetState, context: Context, count: int, also: Path | None = None, again: bool = False
) -> Outcome:
    """Write pool.csv and found.csv; questions that have their passages already keep them, unless ``again``.

    Every retriever gives its best passage in turn, until ``count`` are found. The passage that was suggested
    with a question comes first. The rows of a question are in an order that says nothing about any of it.
    """
    chosen = chosen_of(state)
    documents = documents_of(state, context)
    pool, old = ([], set()) if again else gathered(state, chosen)
    todo = [one for one in chosen if one.query_id not in old]
    found_rows = [row for row in state.rows(FoundRow) if row.query_id in old]
    names: list[str] = []
    if todo:
        settings = retrievers(state.config, list(documents.values()), also)
        names = [one.name for one in settings]
        corpus = corpus_of(state, context, todo)
        warn_of_languages(corpus, settings, context)
        points = cut_for_all(settings, corpus, context)
        ranked = [_by_query(each) for each in search_settings(points, corpus.queries.queries, context)]
        passages = {one.doc_id: passage_spans(one.text, TO_GRADE) for one in documents.values()}
        for one in todo:
            its = _pooled(one, ranked, documents, passages, count)
            pool += _hidden(one, its, documents)
            found_rows += [
                FoundRow(one.query_id, *key, "; ".join(by), min(filter(None, by.values()), default=None))
                for key, by in its.items()
            ]
    place = {one.query_id: at for at, one in enumerate(chosen)}
    pool.sort(key=lambda row: place[row.query_id])
    found_rows.sort(key=lambda row: place[row.query_id])
    per = Counter(row.query_id for row in pool)
    searched = [SearchedRow(one.query_id, one.text, per[one.query_id]) for one in chosen]
    facts = {"questions": len(chosen), "passages": len(pool), "retrievers": names}
    if todo or len(pool) != len(state.rows(PoolRow)):
        tables: Tables = {PoolRow: pool, FoundRow: found_rows, SearchedRow: searched}
        tables = {**tables, **document_rows(state, documents.values())}
        state.write("gather", f"{len(names)} retrievers", tables, facts)
    return Outcome(tuple(_summary(state, searched, len(todo), names, count)))


def corpus_of(state: SetState, context: Context, chosen: Sequence[Candidate]) -> Corpus:
    """The documents and the chosen questions, in the form that a run needs; without labels."""
    path = state.config.cache / "testset" / "queries.csv"
    rows = [(one.query_id, spreadsheet_safe(one.text), one.answerable, "train") for one in chosen]
    write_text(path, delimited_text([("query_id", "text", "answerable", "split"), *rows]))
    bench = state.config.bench(state.folder).model_copy(update={"queries": path, "labels": None})
    return load_corpus(bench, context)


def _pooled(
    one: Candidate,
    ranked: Sequence[_Ranked],
    documents: Mapping[str, Document],
    passages: Mapping[str, Sequence[Span]],
    count: int,
) -> _Found:
    """Passages by turns of the retrievers, and who found each at which rank."""
    found: _Found = {}
    for doc_id, start, end in ((one.document, one.start, one.end), (one.document_2, one.start_2, one.end_2)):
        if doc_id in documents and start is not None and end is not None:
            for span in _touched(passages[doc_id], start, end):
                found.setdefault((doc_id, *span), {})[SUGGESTED] = None
    lists = [(name, its.get(one.query_id, [])) for name, its in ranked]
    for rank in range(max((len(chunks) for _, chunks in lists), default=0)):
        for name, chunks in lists:
            if rank >= len(chunks):
                continue
            chunk = chunks[rank]
            for span in _touched(passages[chunk.doc_id], chunk.start, chunk.end):
                key = (chunk.doc_id, *span)
                if key in found or len(found) < count:
                    found.setdefault(key, {}).setdefault(name, rank + 1)
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


def _hidden(one: Candidate, found: Iterable[Key], documents: Mapping[str, Document]) -> list[PoolRow]:
    """The rows of a question, shuffled by a hash."""

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


def _summary(
    state: SetState, searched: Sequence[SearchedRow], now: int, names: Sequence[str], count: int
) -> Iterator[str]:
    """The outcome, in sentences."""
    few = sum(row.passages < count for row in searched)
    passages = counted(sum(row.passages for row in searched), "passage")
    questions = counted(len(searched), "question")
    yield f"{state.path(PoolRow)}: {passages} for {questions}; {now} of these were searched now."
    yield f"Grading them all takes {time_to_grade(sum(row.passages for row in searched))}."
    if names:
        yield f"{len(names)} retrievers took turns: {', '.join(names)}."
    if few:
        yield f"{counted(few, 'question')} with fewer than {count} passages, as the documents give no more."
