"""The passages of a folder of results to grade next, and how firm the verdict by people's grades is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.data import AnchorConfig
from harness.labels.labelling.grading import known_labels, read_skips
from harness.labels.labelling.passages import Grades, PassageToGrade, Retrieved, covers, passages_to_grade
from harness.labels.labelling.retrieved import OpenedResults, labels_of, open_results
from harness.labels.labelling.sheet import sheet_rows
from harness.labels.ordering.draws import ByVerdict
from harness.labels.ordering.expected import mean_scores
from harness.labels.ordering.firmness import firmness
from harness.labels.ordering.pool import PoolItem
from harness.report import ByLabels
from harness.values import Judgment, Reporter, Span


@dataclass(frozen=True, slots=True)
class LabelPool:
    """The passages of all settings, ``wanted`` for each of ``items``, and the ``order`` to label them in."""

    opened: OpenedResults
    wanted: tuple[PassageToGrade, ...]
    items: tuple[PoolItem, ...]
    order: ByVerdict
    # the grades of the labels file
    people: tuple[Judgment, ...]
    # the names of the passages that people have set aside
    skipped: frozenset[str]
    # the language model whose grades are corrected, '' for none
    judge: str

    def graded(self, more: Iterable[Judgment] = ()) -> dict[str, int]:
        """The grade of every item that the labels file, or ``more``, covers by half of either."""
        grades = Grades((*self.people, *more))
        return {one.name: grade for one in self.wanted if (grade := grades.of(one)) is not None}

    def next_names(self, more: Iterable[Judgment] = (), skipped: frozenset[str] = frozenset()) -> list[str]:
        """The names of the passages to label next, by what is graded and skipped."""
        return self.order.order(self.items, self.graded(more), self.skipped | skipped)


def next_labels(
    folder: Path, top: int, count: int, labels: Path | None, reporter: Reporter
) -> tuple[list[dict[str, Any]], ByLabels]:
    """The next ``count`` passages among the first ``top`` of all settings, and how firm the verdict is.

    The passages are the rows of a sheet, in the order of labelling. ``labels`` is the file of labels, by
    default that of the configuration. A passage is graded where a label covers half of either. Raises
    ConfigError if there is no file of labels to go by.
    """
    label_pool = read_label_pool(folder, top, count, labels, reporter)
    by_name = {one.name: one for one in label_pool.wanted}
    wanted = [by_name[name] for name in label_pool.next_names()]
    return sheet_rows(wanted, label_pool.opened.questions), by_labels(label_pool)[0]


def read_label_pool(folder: Path, top: int, count: int, labels: Path | None, reporter: Reporter) -> LabelPool:
    """Read results and labels: passages among the first ``top`` of all settings, to draw ``count`` at a time.

    ``labels`` is the file of labels, by default that of the configuration. Raises ConfigError if there
    is no file of labels to go by.
    """
    opened = open_results(folder, reporter)
    config = opened.record["config"]
    path = labels_of(folder, opened.record, labels)
    anchor = AnchorConfig.model_validate(config.get("anchor", {}))
    people = known_labels(path, opened.documents, anchor, reporter.note)
    by_model = opened.judge != "labels"
    judge_grades = opened.grades() if by_model else Grades(())
    wanted = passages_to_grade(opened.retrieved(top), opened.documents, _matching_passages)
    items = [PoolItem(one.name, one.query_id, one.ranks, judge_grades.of(one)) for one in wanted]
    settings = {name for item in items for name in item.ranks}
    names = tuple(one["name"] for one in config["settings"] if one["name"] in settings)
    order = ByVerdict(names, path.with_suffix(".order.json"), k=top, batch=count)
    skipped = frozenset(PassageToGrade(*key).name for key in read_skips(path))
    record = opened.record.get("judge", {})
    judge = str(record.get("model") or record.get("name") or "the judge") if by_model else ""
    return LabelPool(opened, tuple(wanted), tuple(items), order, tuple(people.values()), skipped, judge)


def _matching_passages(row: Retrieved, inside: Span, near: Sequence[Span]) -> Sequence[Span]:
    """The passages that share half of either with the chunk; the chunk itself where there is none."""
    return [span for span in near if covers(inside, span)] or [inside]


def by_labels(
    label_pool: LabelPool, more: Iterable[Judgment] = (), skipped: frozenset[str] = frozenset()
) -> tuple[ByLabels, bool]:
    """The verdict by the labels file and by ``more`` grades that are not in it yet; whether to stop.

    It is as the terminal and the pages show it.
    """
    graded, skipped = label_pool.graded(more), label_pool.skipped | skipped
    order = label_pool.order
    firm = firmness(order.estimate(label_pool.items, graded, skipped))
    alone: Mapping[str, float] = {}
    if label_pool.judge and all(item.judge is not None for item in label_pool.items):
        pool = order.pool(label_pool.items)
        alone = dict(zip(pool.settings, mean_scores(pool, pool.judge.astype(int)).tolist(), strict=True))
    none = "–"
    means = tuple(
        (
            name,
            f"{span.value:.3f}" if firm.known else none,
            none if span.low is None or span.high is None else f"[{span.low:.3f}, {span.high:.3f}]",
            f"{alone[name]:.3f}" if name in alone else none,
        )
        for name, span in firm.means
    )
    further = tuple(
        (
            f"+{one.labels}",
            f"±{one.half_by_labels:.3f}",
            none if one.half_by_queries is None else f"±{one.half_by_queries:.3f}",
        )
        for one in firm.further
    )
    *lines, last = firm.sentences()
    if label_pool.judge and firm.known:
        lines.append(
            f"The grades of {label_pool.judge} are corrected by {firm.graded:,} of people, so that its "
            "mistakes are not in these means."
        )
    if further:
        listed = ", ".join(f"{labels} to {now}" for labels, now, _ in further)
        lines.append(f"More labels bring the half-width on these queries {listed}.")
    shown = ByLabels(f"passage NDCG@{order.k}", label_pool.judge, (*lines, last), means, further)
    return shown, firm.stop
