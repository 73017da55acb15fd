"""Figures of results for papers and pull requests: one kind per file, the same bytes for the same results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.report.figures.board import board
from harness.report.figures.cost import cost
from harness.report.figures.curve import curve
from harness.report.figures.losses import losses
from harness.report.figures.prediction import prediction
from harness.report.figures.reranker import reranker
from harness.report.figures.shown import FigureData
from harness.report.figures.style import saved, style
from harness.values import HarnessError

KINDS: dict[str, Callable[[FigureData], Any]] = {
    "board": board,
    "curve": curve,
    "cost": cost,
    "losses": losses,
    "reranker": reranker,
    "prediction": prediction,
}


def drawn(kind: str, shown: FigureData, form: str) -> bytes:
    """A figure as a file. Raises HarnessError if the results lack what it shows, or without matplotlib."""
    try:
        import matplotlib
    except ImportError as error:
        raise HarnessError("Figures need matplotlib: pip install 'ndcg-harness[plots]'.") from error
    with style():
        return saved(KINDS[kind](shown), form)
