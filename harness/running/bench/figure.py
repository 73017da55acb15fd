"""From a folder of results to a figure in a file."""

from __future__ import annotations

from pathlib import Path

from harness.report import FigureData, base_payload, drawn, read_tables
from harness.running.bench.page import headline, statistics
from harness.store import write_bytes
from harness.values import ConfigError, Reporter, Silent


def write_figure(
    folder: Path,
    kind: str,
    form: str = "svg",
    output: Path | None = None,
    measure: str | None = None,
    reporter: Reporter | None = None,
) -> Path:
    """Draw one figure of a folder of results and write it, by default into that folder as ``KIND.FORM``.

    ``measure`` is by default the one that the page opens with. The same results give the same bytes. Raises
    HarnessError where the folder holds no results or lacks what the figure shows, or without matplotlib;
    ConfigError for a measure that the results were not scored by.
    """
    tables = read_tables(folder)
    measures = list(dict.fromkeys(row["measure"] for row in tables["per_query"]))
    taken = measure or headline(tables)
    if taken not in measures:
        raise ConfigError(f"{folder} was not scored by {taken}; it has {', '.join(measures)}.")
    found = statistics(tables, reporter or Silent(), (taken,))
    shown = FigureData(base_payload(tables, found, taken), taken)
    path = output or folder / f"{kind}.{form}"
    write_bytes(path, drawn(kind, shown, form))
    return path
