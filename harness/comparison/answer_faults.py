"""Where the fault of answers lies: the stage of a pipeline that costs most, and the measures that explain it.

The first tier is one measure of the whole answer, the second says why: whether answers follow what was read
(``faithfulness``), and whether what was read helps (``context_precision``) and suffices
(``context_recall``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness import measures, report
from harness.comparison.wordings import sentence_of
from harness.values import by_key, counted, listed, number

PARSING, CHUNKING, RETRIEVAL, RANKING, ANSWERING = "parsing", "chunking", "retrieval", "ranking", "answering"
STAGES: Mapping[str, str] = {
    report.NOT_EXTRACTED: PARSING,
    report.CUT: CHUNKING,
    report.NOT_FOUND: RETRIEVAL,
    report.TOO_LOW: RANKING,
    report.LEFT_OUT: ANSWERING,
    report.CONTRADICTS: ANSWERING,
    report.ADDS: ANSWERING,
    report.SOMETHING_ELSE: ANSWERING,
}
"""The stage at which each part of ``answer_losses.csv`` is lost."""
# Below this a loss is none in the two decimals that are printed, and a measure near 1 explains no loss.
_NOTHING, _GOOD = 0.005, 0.95


@dataclass(frozen=True, slots=True)
class Fault:
    """Where the answers of a setting are lost, in means over queries.

    ``losses`` are by stage, the largest first, and empty if no evidence is labelled; ``blamed`` is the number
    of ``queries`` in which the first costs most. ``left`` is the mean of the measure over these queries.
    ``without`` is what answers earn without the evidence. ``explained`` has the means of the second tier by
    kind, with the names that they have in the tables.
    """

    setting: str
    measure: str
    losses: tuple[tuple[str, float], ...]
    blamed: int
    queries: int
    left: float
    without: float
    explained: Mapping[str, tuple[str, float]]


def fault_of(folder: Path, measure: str, named: Mapping[str, str]) -> Fault | None:
    """The fault of the setting whose answers have the highest mean by ``measure``; None if it is not known.

    ``named`` has the names of all measures by kind.
    """
    means = {
        (row.setting, row.measure): row.mean
        for row in report.read_any(folder, report.AnswerSummaryRow)
        if row.split == "all" and row.mean is not None
    }
    by_setting = {setting: mean for (setting, name), mean in means.items() if name == measure}
    if not by_setting:
        return None
    setting = max(by_setting, key=by_setting.__getitem__)
    explained = {
        kind: (named[kind], mean)
        for kind in measures.EXPLAINING
        if kind in named and (mean := means.get((setting, named[kind]))) is not None
    }
    rows = [row for row in report.read_any(folder, report.AnswerLossRow) if row.setting == setting]
    if rows and rows[0].measure == measure:
        return _taken_apart(setting, rows, explained)
    return explained_alone(setting, measure, by_setting[setting], explained)


def explained_alone(
    setting: str, measure: str, mean: float, explained: Mapping[str, tuple[str, float]]
) -> Fault | None:
    """The fault where nothing says what was lost; None unless two measures of the second tier are known."""
    return Fault(setting, measure, (), 0, 0, mean, 0.0, explained) if len(explained) > 1 else None


def _taken_apart(
    setting: str, rows: Sequence[report.AnswerLossRow], explained: Mapping[str, tuple[str, float]]
) -> Fault:
    rows_by_query = by_key((row.query_id, row) for row in rows)
    lost: list[defaultdict[str, float]] = [defaultdict(float) for _ in rows_by_query]
    without = 0.0
    for losses, parts in zip(lost, rows_by_query.values(), strict=True):
        for row in parts:
            if row.part in STAGES:
                losses[STAGES[row.part]] += row.loss
            else:
                without -= row.loss
    stages = dict.fromkeys(STAGES.values())
    means = {stage: sum(losses[stage] for losses in lost) / len(lost) for stage in stages}
    ordered = sorted(means.items(), key=lambda item: -item[1])
    worst = ordered[0][0]
    return Fault(
        setting,
        rows[0].measure,
        losses=tuple(ordered),
        blamed=sum(losses[worst] >= max(losses.values()) > _NOTHING for losses in lost),
        queries=len(lost),
        left=sum(parts[-1].left for parts in rows_by_query.values()) / len(lost),
        without=without / len(lost),
        explained=explained,
    )


def fault_sentence(fault: Fault, words: Callable[[str], str] = str) -> str:
    """A fault in one to five sentences; ``words`` says what the setting is called."""
    shown: dict[str, object] = {"setting": words(fault.setting), "measure": fault.measure}
    means = [f"{label} {number(mean, 2)}" for label, mean in fault.explained.values()]
    why = (
        [sentence_of("fault.explained", measure=fault.measure, means=listed(means, len(means)))]
        if means
        else []
    )
    if not fault.losses:
        mean = sentence_of("fault.measure", **shown, mean=number(fault.left, 2))
        return " ".join([mean, *why, _short_of(fault)])
    (stage, most), *rest = fault.losses
    if most < _NOTHING:
        return " ".join([sentence_of("fault.none", **shown), *why])
    asked = counted(fault.queries, "query", "queries")
    shown |= {"stage": stage, "lost": number(most, 2), "count": fault.blamed, "queries": asked}
    lines = [sentence_of("fault.stage", **shown), sentence_of(f"fault.{stage}")]
    if others := [f"{other} {number(loss, 2)}" for other, loss in rest if loss >= _NOTHING]:
        lines.append(sentence_of("fault.also", losses=listed(others, len(others))))
    if fault.without >= _NOTHING:
        lines.append(sentence_of("fault.without", mean=number(fault.without, 2)))
    return " ".join([*lines, *why])


def _short_of(fault: Fault) -> str:
    """The measure of the second tier that falls short.

    Passages that do not help cost an answer only by way of the others, and where much is read most do not.
    """
    means = {kind: mean for kind, (_, mean) in fault.explained.items() if mean < _GOOD}
    if not means:
        return sentence_of("fault.short.none")
    kind = min(means, key=lambda kind: (kind == "context_precision", means[kind]))
    return sentence_of(f"fault.short.{kind}", measure=fault.explained[kind][0])
