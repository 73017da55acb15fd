"""The passages of a folder of results as items to label in an order, with the grades of people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.data import AnchorConfig
from harness.labels.labelling.grading import known_labels
from harness.labels.labelling.skips import read_skips
from harness.labels.labelling.stored import OpenedResults, labels_of, open_results
from harness.labels.labelling.unjudged import (
    GradedSpan,
    PassageToGrade,
    Retrieved,
    covers,
    grades_by_document,
    passage_name,
    passages_to_grade,
    retrieved_of,
    scored_grades,
)
from harness.labels.ordering.order import ByVerdict
from harness.labels.ordering.pool import PoolItem
from harness.values import Reporter, Span


@dataclass(frozen=True, slots=True)
class LabelPool:
    """The passages of all settings, one ``wanted`` for each of ``items``, and the ``order`` to label them in.

    ``people`` are the grades of the labels file, ``skipped`` the names of the passages that people have set
    aside. ``judge`` names the language model whose grades are corrected, '' for none.
    """

    opened: OpenedResults
    wanted: tuple[PassageToGrade, ...]
    items: tuple[PoolItem, ...]
    order: ByVerdict
    people: tuple[GradedSpan, ...]
    skipped: frozenset[str]
    judge: str

    def graded(self, more: Iterable[GradedSpan] = ()) -> dict[str, int]:
        """The grade of every item that the labels file, or ``more``, covers by half of either."""
        known = grades_by_document((*self.people, *more))
        grades = ((one.name, one.grade_in(known)) for one in self.wanted)
        return {name: grade for name, grade in grades if grade is not None}


def read_label_pool(folder: Path, top: int, count: int, labels: Path | None, reporter: Reporter) -> LabelPool:
    """Read results and labels: passages among the first ``top`` of all settings, to draw ``count`` at a time.

    ``labels`` is the file of labels, by default that of the configuration. Raises ConfigError if there
    is no file of labels to go by.
    """
    opened = open_results(folder, reporter)
    config = opened.record["config"]
    path = labels_of(folder, opened.record, labels)
    anchor = AnchorConfig.model_validate(config.get("anchor", {}))
    there = known_labels(path, opened.documents, anchor, reporter.note)
    people = tuple(
        (query, doc, (start, end), grade) for (query, doc, start, end), (grade, _) in there.items()
    )
    judge = config.get("relevance", {}).get("judge", {}).get("kind", "labels")
    judge_grades = scored_grades(folder) if judge != "labels" else {}
    wanted = passages_to_grade(
        retrieved_of(folder, top, opened.answerable), opened.documents, _matching_passages
    )
    items = [PoolItem(one.name, one.query_id, one.ranks, one.grade_in(judge_grades)) for one in wanted]
    settings = {name for item in items for name in item.ranks}
    names = tuple(one["name"] for one in config["settings"] if one["name"] in settings)
    order = ByVerdict(names, path.with_suffix(".order.json"), k=top, batch=count)
    skipped = frozenset(passage_name(query, doc, (start, end)) for query, doc, start, end in read_skips(path))
    record = opened.record.get("judge", {})
    name = "" if judge == "labels" else str(record.get("model") or record.get("name") or "the judge")
    return LabelPool(opened, tuple(wanted), tuple(items), order, people, skipped, name)


def _matching_passages(row: Retrieved, own: Span, near: Sequence[Span]) -> Sequence[Span]:
    """The passages that share half of either with the chunk; the chunk itself where there is none."""
    return [span for span in near if covers(own, span)] or [own]
