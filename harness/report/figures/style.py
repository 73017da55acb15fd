"""How figures look, and how they become a file: no date, no random name, nothing of the machine."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any

FORMATS = ("svg", "png", "pdf")
WIDTH = 7.0
BLUE, ORANGE, GREY, LINE = "#17608f", "#c2410c", "#6b6f76", "#d9d6cf"
# Distinguishable in print and with any colour vision (after Okabe and Ito).
COLOURS = ("#17608f", "#c2410c", "#00795c", "#8a3b8f", "#8a6500", "#3f4650")
MARKERS = ("o", "s", "^", "D", "v", "P")
_RC: dict[str, Any] = {
    "axes.edgecolor": GREY,
    "axes.labelsize": 9,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.dpi": 100,
    "font.family": ["DejaVu Sans"],
    "font.size": 9,
    "grid.color": LINE,
    "grid.linewidth": 0.7,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "pdf.fonttype": 42,
    "svg.hashsalt": "harness",
    # a name such as `price $5 and $6` is not a formula
    "text.parse_math": False,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
}
_SILENT: dict[str, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def style() -> Any:
    """The context in which a figure is made and saved."""
    import matplotlib

    # regardless of the user's matplotlibrc
    return matplotlib.rc_context({**matplotlib.rcParamsDefault, **_RC, "backend": "agg"})


def axes(height: float) -> tuple[Any, Any]:
    """An empty figure of the usual width and ``height`` inches, and its axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    return figure, figure.add_subplot()


def grid(plot: Any, axis: str) -> None:
    """Lines of one axis, behind what is drawn."""
    plot.grid(axis=axis)
    plot.set_axisbelow(True)


def name_rows(plot: Any, names: Iterable[str]) -> None:
    """Name the rows 0, 1, … of a plot, the first on top."""
    shown = [short(name) for name in names]
    plot.set_yticks(range(len(shown)), shown)
    plot.invert_yaxis()
    plot.tick_params(axis="y", length=0)


def saved(figure: Any, form: str) -> bytes:
    """The figure as a file of the given format."""
    out = io.BytesIO()
    figure.savefig(out, format=form, metadata=_SILENT[form], dpi=200)
    return out.getvalue()


def short(name: str, most: int = 44) -> str:
    """A name short enough to fit next to a drawing."""
    return name if len(name) <= most else name[: most - 1] + "…"
