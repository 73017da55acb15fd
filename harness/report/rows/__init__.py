"""The tables of a result, each declared once, as the dataclass of its rows: `harness.report.table_spec`.

A new table is a class in one of these modules, and something that makes its rows.
"""

# ruff: noqa: I001 - importing these declares their tables, in the order of docs/results.md
from harness.report.rows import score_rows, ranking_rows, step_rows, prices, labels, answer_rows, tuned_rows
from harness.report.table_spec import TABLES
