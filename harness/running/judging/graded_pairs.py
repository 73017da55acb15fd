"""Graded pairs from elsewhere: a table of what people and judges said of the same passages."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from harness.data import FaultsOfRows, Row, read_table, without_zeros
from harness.judge import GradedPair
from harness.values import LabelError

_COLUMNS = ("query_id", "human_grade", "llm_grade", "model")


def read_pairs(
    path: Path, max_grade: int, out_of_scale: Literal["reject", "clamp"] = "reject"
) -> tuple[dict[str, list[GradedPair]], dict[str, int]]:
    """Pairs by judge from a table with query_id, human_grade, llm_grade, model; its out-of-scale grades.

    A judge's grade outside 0..``max_grade`` is rejected (the pair counts as unscored) or clamped; it is
    counted either way. An empty llm_grade is unscored. Raises LabelError that names all lines at fault.
    """
    pairs: dict[str, list[GradedPair]] = {}
    odd: dict[str, int] = {}
    faults = FaultsOfRows(LabelError)
    for row in read_table(path, _COLUMNS, LabelError).rows:
        with faults.of_a_row():
            where = f"{path}, line {row.line}"
            human = _grade("human_grade", row, where)
            if human is None or not 0 <= human <= max_grade:
                shown = row.get("human_grade")
                raise LabelError(f"{where}: human_grade is {shown!r}. Write one of 0 to {max_grade}.")
            judge, model = _grade("llm_grade", row, where), row.get("model")
            odd.setdefault(model, 0)
            if judge is not None and not 0 <= judge <= max_grade:
                odd[model] += 1
                judge = None if out_of_scale == "reject" else min(max(judge, 0), max_grade)
            pairs.setdefault(model, []).append(GradedPair(row.get("query_id"), human, judge))
    faults.end()
    return pairs, odd


def _grade(column: str, row: Row, where: str) -> int | None:
    text = without_zeros(row.get(column))
    try:
        return int(text) if text else None
    except ValueError as error:
        raise LabelError(f"{where}: {column} is {text!r}, not a whole number. Correct it.") from error
