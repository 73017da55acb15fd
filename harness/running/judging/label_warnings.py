"""Warnings about labels that were anchored but are doubtful; nothing is changed."""

from __future__ import annotations

from collections.abc import Iterable
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
    found = [one for one in corpus.anchored.anchorings if one.accepted]
    unanswerable = {query.query_id for query in queries if not query.answerable}
    labelled = {row.query_id for row in labels}
    label, query = ("label file, line", "label file, lines"), ("", "")
    # names, what they are (one, several), what is wrong with them, and what their names are
    doubtful: list[tuple[Iterable[object], tuple[str, str], str, tuple[str, str]]] = [
        (
            (one.row.line for one in found if one.figures_differ),
            ("label was", "labels were"),
            "found by similarity, but figures in quote and text differ; compare them in the anchoring.csv of "
            "a run",
            label,
        ),
        (
            (one.row.line for one in found if one.place.copies > 1 and not _credited(one, config.anchor)),
            ("quote was", "quotes were"),
            "found more than once in the searched text, and the first place was used; quote more of the "
            "text, or label every copy with one evidence name",
            label,
        ),
        (
            sorted({row.query_id for row in labels if row.grade == MAX_GRADE} & unanswerable),
            (
                "query is marked unanswerable, has a label of the highest grade, and is",
                "queries are marked unanswerable, have a label of the highest grade, and are",
            ),
            "left out of NDCG",
            query,
        ),
        (
            (one.query_id for one in queries if one.answerable and one.query_id not in labelled),
            ("query has no label and is", "queries have no label and are"),
            "left out of NDCG and recall; label the passages that answer, or mark answerable: no",
            query,
        ),
    ]
    for which, subject, what, where in doubtful:
        # a label may be found in several texts
        if names := list(dict.fromkeys(map(str, which))):
            more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
            place = f"{where[len(names) > 1]} ".lstrip()
            shown = f"{place}{', '.join(names[:_SHOWN])}{more}"
            context.warn("labels", f"{counted(len(names), *subject)} {what} ({shown})")
    lengths = [row.end - row.start for row in labels if row.grade and row.answer is None]
    for measure in map(parse_measure, config.measures if lengths else ()):
        if measure.family != "ndcg_evidence":
            continue
        length, enough = median(lengths), arguments(measure, FAMILIES[measure.family])["enough"]
        if length > 2 * enough:
            # a small part of such a label counts as finding it
            context.warn(
                "labels",
                f"the median label has {length:,.0f} characters, and {measure.name} counts any {enough} of "
                "them as found evidence, whether they contain the answer or not. Shorten the labels, or name "
                "the words that answer in their column answer.",
                measures=[measure.name],
            )


def _credited(row: Anchoring, config: AnchorConfig) -> bool:
    """Whether the other places that hold the quote count as well."""
    return config.duplicates and len(row.found) >= config.duplicate_length
