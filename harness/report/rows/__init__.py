"""The tables of a result: each is declared once, as the dataclass of its rows; see `harness.report.columns`.

A new table is a class in one of these modules, and something that makes its rows.
"""
