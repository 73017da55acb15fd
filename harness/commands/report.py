"""`harness report`: results as one page to look at."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add(commands: Any) -> None:
    """Describe the command."""
    parser = commands.add_parser(
        "report",
        help="make report.html: results to look at",
        description="Build one self-contained page from a folder of results: leader board, which differences "
        "are real, chunk sizes, losses by stage, every query with its ranked passages. It opens in any "
        "browser, needs no network and can be mailed. `harness bench` makes it at the end of each run.",
    )
    parser.add_argument("results", type=Path, metavar="RESULTS", help="folder such as results/quickstart")
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="where to write it; default: RESULTS/report.html"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Build the page and say where it is."""
    from harness.bench.page import write_page
    from harness.terminal import TerminalReporter, print_line

    path, page = write_page(args.results, args.output, TerminalReporter())
    if page.note:
        print_line(page.note)
    print_line(f"{path} ({page.size / 1e6:.2f} MB). Open it in a browser.")
    return 0
