"""A folder of results as one page to look at: report.html, a self-contained file."""

from harness.report.page.build import Page, build_page
from harness.report.page.numbers import figure
from harness.report.page.tables import Axes, Tables, read_tables
