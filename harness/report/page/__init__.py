"""A folder of results as one page to look at: report.html, which needs nothing besides itself."""

from harness.report.page.build import Page, build_page
from harness.report.page.numbers import figure
from harness.report.page.tables import Axes, Tables, read_tables
