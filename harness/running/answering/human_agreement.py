"""Values that people gave to some answers, against those of a measure: agreement, and a corrected mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from harness.comparison import kendall_tau
from harness.data import FaultsOfRows, finite_number, read_table, suggestion
from harness.judge import Corrected, corrected_mean
from harness.report import Table
from harness.running.answering.external import MeasureScores
from harness.values import CorpusError, interval, number

FEWEST = 10


@dataclass(frozen=True, slots=True)
class HumanAgreement:
    """A measure compared with people on the same answers.

    ``difference`` is the mean of measure minus people, ``tau`` Kendall's tau-b between them (NaN if one is
    constant). ``corrected`` is the mean over all questions that people would give, by prediction-powered
    inference; None with fewer than ten questions.
    """

    measure: str
    n: int
    difference: float
    tau: float
    corrected: Corrected | None


def read_values(path: Path, measures: Sequence[str], queries: Sequence[str]) -> dict[str, dict[str, float]]:
    """People's values by measure and query: a table with query_id, measure and value.

    The questions must be drawn at random, or the corrected mean is invalid. Raises CorpusError that names the
    lines at fault.
    """
    found: dict[str, dict[str, float]] = {}
    known = set(queries)
    faults = FaultsOfRows(CorpusError)
    for row in read_table(path, ("query_id", "measure", "value"), CorpusError).rows:
        with faults.of_a_row():
            where = f"{path}, line {row.line}"
            query, measure = row.get("query_id"), row.get("measure")
            if query not in known:
                raise CorpusError(
                    f"{where}: there is no question {query!r}{suggestion(query, known)}. Correct the id."
                )
            if measure not in measures:
                raise CorpusError(
                    f"{where}: {measure!r} is not among the measures{suggestion(measure, measures)}. "
                    "Correct the name, or measure it too."
                )
            if query in found.get(measure, {}):
                raise CorpusError(f"{where}: {query} has a value of {measure} already. Keep one.")
            remedy = "Write a number on the scale of the measure."
            value = finite_number(where, "value", row.get("value"), remedy)
            found.setdefault(measure, {})[query] = value
    faults.end()
    return found


def compare_with_people(scores: MeasureScores, human: dict[str, float]) -> HumanAgreement | None:
    """A measure compared with people's values; None if they share no question with a value."""
    judged = {one.query_id: one.value for one in scores.scores if one.value is not None}
    both = sorted(human.keys() & judged.keys())
    if not both:
        return None
    people = np.array([human[query] for query in both], dtype=np.float64)
    measured = np.array([judged[query] for query in both], dtype=np.float64)
    corrected = None
    if len(both) >= FEWEST:
        everyone: dict[str, float | None] = dict(judged)
        corrected = corrected_mean({query: human[query] for query in both}, everyone)
    difference = float((measured - people).mean())
    return HumanAgreement(scores.measure, len(both), difference, kendall_tau(people, measured), corrected)


def people_table(found: Sequence[HumanAgreement]) -> Table:
    """One row per measure."""
    rows = tuple(
        (
            one.measure,
            str(one.n),
            f"{one.difference:+.3f}",
            number(one.tau),
            number(one.corrected.value if one.corrected else None),
            interval(one.corrected.low, one.corrected.high, one.n) if one.corrected else "–",
        )
        for one in found
    )
    columns = ("measure", "n by people", "measure − people", "tau", "corrected mean", "95% interval")
    note = (
        "corrected mean: what people would give over all questions, from their values on a random sample and "
        f"the measure's on all (docs/judge.md); from {FEWEST} questions on."
    )
    return Table("Agreement with people", columns, rows, notes=(note,))
