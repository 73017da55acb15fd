"""Figures of results for a paper or a pull request: one kind a file, the same bytes for the same results."""

from harness.report.figures.draw import KINDS, drawn
from harness.report.figures.shown import Shown
from harness.report.figures.style import FORMATS

__all__ = ["FORMATS", "KINDS", "Shown", "drawn"]
