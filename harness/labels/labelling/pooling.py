"""From a configuration to its unjudged passages: all settings are searched, none is scored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.labels.labelling.rows import holds_rows
from harness.labels.labelling.unjudged import (
    Grades,
    PassageToGrade,
    Retrieved,
    grade_of,
    grades_by_document,
    unjudged_passages,
)
from harness.running import BenchConfig, Context, Searched, cut_for_all, load_corpus, search_settings
from harness.steps import PendingCallsError
from harness.values import Document, LabelError, Query


@dataclass(frozen=True, slots=True)
class PooledPassages:
    """The passages to grade, and their documents; queries without an answer are left out."""

    wanted: tuple[PassageToGrade, ...]
    queries: tuple[Query, ...]
    documents: tuple[Document, ...]


def pool_unjudged(config: BenchConfig, top: int, context: Context) -> PooledPassages:
    """The unjudged passages among the first ``top`` of the last step of every setting.

    The label file need not be there yet. Language models and endpoints are not called: raises LabelError
    if a setting needs an answer that is not cached.
    """
    there = config.labels is not None and holds_rows(config.labels)
    corpus = load_corpus(config if there else config.model_copy(update={"labels": None}), context)
    try:
        points = cut_for_all(config.settings, corpus, context)
        searched = search_settings(points, corpus.queries.queries, context)
    except PendingCallsError as error:
        raise LabelError(
            f"Labelling asks no language model and no endpoint. {error} Run harness bench first, or leave "
            "such settings out of the configuration."
        ) from error
    queries = [query for query in corpus.queries.queries if query.answerable]
    graded = grades_by_document(
        (label.query_id, label.doc_id, (label.start, label.end), label.grade)
        for label in corpus.labels
        if label.grade is not None
    )
    retrieved = _unjudged(searched, top, {query.query_id for query in queries}, graded)
    documents = {document.doc_id: document for document in corpus.documents}
    wanted = unjudged_passages(retrieved, documents, graded)
    return PooledPassages(tuple(wanted), tuple(queries), tuple(corpus.documents))


def _unjudged(
    searched: Sequence[Searched], top: int, answerable: set[str], graded: Grades
) -> Iterator[Retrieved]:
    for one in searched:
        chunks = {chunk.chunk_id: chunk for chunk in one.chunking.chunks}
        for ranking in one.rankings[one.steps[-1]]:
            if ranking.query_id not in answerable:
                continue
            for rank, name in enumerate(ranking.chunk_ids[:top], 1):
                chunk = chunks[name]
                if grade_of(graded, ranking.query_id, chunk.doc_id, (chunk.start, chunk.end)) is None:
                    yield Retrieved(one.setting.name, ranking.query_id, rank, chunk)
