"""Warnings about labels that were anchored but are doubtful; nothing is changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

from harness.data import AnchorConfig, Anchoring
from harness.measures import FAMILIES, arguments, parse_measure
from harness.running.config.models import BenchConfig
from harness.running.context import Context
from harness.running.corpus import Corpus
from harness.running.judging.judges import pool_judge_config
from harness.values import MAX_GRADE, counted

_SHOWN = 8


def warn_of_labels(corpus: Corpus, config: BenchConfig, context: Context) -> None:
    """Warn of doubtful quotes, answers to unanswerable queries, and answerable queries without a label.

    Says nothing if a judge grades: then its grades count.
    """
    if pool_judge_config(config) is not None:
        return
    queries, labels = corpus.queries.queries, corpus.labels
    found = [row for row in corpus.anchored.anchorings if row.accepted]
    _warn_of_rows(
        context,
        _lines(row for row in found if row.figures_differ),
        ("label was", "labels were"),
        "found by similarity, but figures in quote and text differ; compare them in the anchoring.csv of a "
        "run",
        ("label file, line", "label file, lines"),
    )
    _warn_of_rows(
        context,
        _lines(row for row in found if row.place.copies > 1 and not _credited(row, config.anchor)),
        ("quote was", "quotes were"),
        "found more than once in the searched text, and the first place was used; quote more of the text, or "
        "label every copy with one evidence name",
        ("label file, line", "label file, lines"),
    )
    unanswerable = {query.query_id for query in queries if not query.answerable}
    answered = {row.query_id for row in labels if row.grade == MAX_GRADE} & unanswerable
    _warn_of_rows(
        context,
        sorted(answered),
        (
            "query is marked unanswerable, has a label of the highest grade, and is",
            "queries are marked unanswerable, have a label of the highest grade, and are",
        ),
        "left out of NDCG",
    )
    labelled = {row.query_id for row in labels}
    forgotten = [q.query_id for q in queries if q.answerable and q.query_id not in labelled]
    _warn_of_rows(
        context,
        forgotten,
        ("query has no label and is", "queries have no label and are"),
        "left out of NDCG and recall; label the passages that answer, or mark answerable: no",
    )
    lengths = [row.end - row.start for row in labels if row.grade and row.answer is None]
    if lengths:
        _warn_of_length(median(lengths), config, context)


def _lines(rows: Iterable[Anchoring]) -> list[str]:
    """The lines of label rows, each once, in however many texts it was found."""
    return list(dict.fromkeys(str(row.row.line) for row in rows))


def _warn_of_length(length: float, config: BenchConfig, context: Context) -> None:
    """Warn if labels, of this median length, are so long that a small part of one counts as finding it."""
    for name in config.measures:
        measure = parse_measure(name)
        if measure.family != "ndcg_evidence":
            continue
        enough = arguments(measure, FAMILIES[measure.family])["enough"]
        if length > 2 * enough:
            context.warn(
                "labels",
                f"the median label has {length:,.0f} characters, and {name} counts any {enough} of them as "
                "found evidence, whether they contain the answer or not. Shorten the labels, or name the "
                "words that answer in their column answer.",
                measures=[name],
            )


def _credited(row: Anchoring, config: AnchorConfig) -> bool:
    """Whether the other places that hold the quote count as well."""
    return config.duplicates and len(row.found) >= config.duplicate_length


def _warn_of_rows(
    context: Context,
    names: Sequence[str],
    subject: tuple[str, str],
    what: str,
    where: tuple[str, str] = ("", ""),
) -> None:
    """Warn of ``names``, listing the first; ``subject`` and ``where`` are worded for one and for several."""
    if names:
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        place = f"{where[len(names) > 1]} ".lstrip()
        context.warn(
            "labels", f"{counted(len(names), *subject)} {what} ({place}{', '.join(names[:_SHOWN])}{more})"
        )
