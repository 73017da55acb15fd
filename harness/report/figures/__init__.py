"""Figures of results for a paper or a pull request: one kind a file, the same bytes for the same results."""

from harness.report.figures.draw import drawn
from harness.report.figures.shown import Shown
