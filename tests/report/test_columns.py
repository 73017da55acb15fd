"""Every table is declared once: what is written comes back, as rows, as text and as a DataFrame."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.report import TABLES, ThresholdRow, read_as, read_table, write_table
from harness.report.table_spec import table
from harness.values import HarnessError
from tools.reference.tables import tables_reference

ROOT = Path(__file__).parents[2]
VALUES = {
    int: st.integers(0, 10**12),
    float: st.floats(allow_nan=False, allow_infinity=False),
    bool: st.booleans(),
    # carriage returns come back as line feeds, and an apostrophe before a formula's sign not at all
    str: st.text(alphabet=st.characters(exclude_characters="\r")).filter(
        lambda text: not re.match(r"'[=+\-@\t\n]", text)
    ),
}
every_table = pytest.mark.parametrize("spec", TABLES.values(), ids=lambda spec: spec.name)


def value_of(column):
    """All that a column may hold."""
    if column.column.among:
        return st.sampled_from(column.column.among)
    if column.column.chunk:
        places = st.builds("d:{}-{}".format, st.integers(0, 99), st.integers(0, 99))
        return places | places.map(lambda place: f"{place}+7-9")
    if column.column.ranges:
        return st.sampled_from(["", "0-21", "0-21 30-40"])
    values = st.floats(allow_nan=False) if column.column.infinite else VALUES[column.kind]
    if column.column.filled:
        values = values.filter(bool)
    return st.none() | values if column.empty else values


def rows_of(spec):
    """A few rows, no two with the same key."""
    fields = [one.field for one in spec.columns if one.name in spec.key]
    row = st.builds(spec.row, **{one.field: value_of(one) for one in spec.columns})
    key = (lambda one: tuple(getattr(one, field) for field in fields)) if fields else None
    return st.lists(row, min_size=1, max_size=5, unique_by=key)


@every_table
@settings(
    max_examples=settings.default.max_examples // 5,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_rows_come_back_as_they_were_written(spec, tmp_path, data):
    rows = data.draw(rows_of(spec))
    write_table(tmp_path, spec, rows)
    shown = [one for one in spec.columns if one.column.shown]
    expected = [
        replace(row, **{one.field: one.column.shown(getattr(row, one.field)) for one in shown})
        for row in rows
    ]
    # the text of passages needs offsets that fit it: test_page.py has them
    compared = [one for one in spec.columns if not one.column.restored]
    found = read_as(tmp_path, spec.row)
    frame = read_table(tmp_path, spec.file)
    assert tuple(frame.columns) == spec.names
    for one in compared:
        values = [getattr(row, one.field) for row in expected]
        assert [getattr(row, one.field) for row in found] == values
        assert [None if value is None or value != value else value for value in of(frame, one)] == values


def of(frame, column):
    """The values of a column of a DataFrame, of the type that it is declared with."""
    dtypes = {int: "Int64" if column.empty else "int64", float: "float64", bool: "bool"}
    if column.kind in dtypes:
        assert frame[column.name].dtype == dtypes[column.kind]
    return frame[column.name].astype(object).where(frame[column.name].notna(), None).tolist()


def test_numbers_of_numpy_are_written_as_any_other(tmp_path):
    write_table(
        tmp_path, TABLES["thresholds"], [ThresholdRow("s", "rerank", np.float64("inf"), np.float64(0.1), 1.0)]
    )
    assert (tmp_path / "thresholds.csv").read_text().splitlines()[1] == "s,rerank,inf,0.1,1.0"
    assert read_table(tmp_path, "thresholds").threshold.tolist() == [float("inf")]


def test_the_committed_page_is_fresh():
    page = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    assert tables_reference() in page


def test_a_column_without_a_meaning_is_refused():
    with pytest.raises(TypeError, match="count has no Column that says what it means"):

        @table("made", "up")
        class Made:
            count: int

    assert "made" not in TABLES


def test_a_table_that_is_not_there_is_reported_with_what_there_is(tmp_path):
    with pytest.raises(HarnessError, match=r"no table 'sumary'.*summary, per_query"):
        read_table(tmp_path, "sumary")
    with pytest.raises(HarnessError, match="no benchmark results"):
        read_table(tmp_path, "costs")
    (tmp_path / "record.json").write_text("{}")
    with pytest.raises(HarnessError, match=r"no costs\.csv: it is written with a judge"):
        read_table(tmp_path, "costs")


def test_half_a_character_is_text_like_any_other(tmp_path):
    spec = TABLES["documents"]
    write_table(tmp_path, spec, [spec.row(document="d", status="read", reason="\ud800 here")])
    assert read_table(tmp_path, "documents").reason.tolist() == ["\ud800 here"]


def test_a_result_of_an_earlier_version_is_refused_with_what_to_do(tmp_path):
    (tmp_path / "judgments.csv").write_text("query_id,document,start,end,grade\nq,d,0,5,\n")
    with pytest.raises(HarnessError, match=r"no column page\)\. Run the benchmark again: what is cached"):
        read_table(tmp_path, "judgments")
