"""The tables of a result: each is declared once, as the dataclass of its rows; see `harness.report.columns`.

A new table is a class in one of these modules, and something that makes its rows.
"""

# ruff: noqa: I001 - importing these declares their tables, in the order of docs/results.md
from harness.report.rows import scores, ranked, steps, prices, labels, answers
from harness.report.columns import TABLES
