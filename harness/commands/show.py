"""`harness show`: print the summary of finished results."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add(commands: Any) -> None:
    """Describe the command."""
    parser = commands.add_parser(
        "show",
        help="print the summary of finished results",
        description="Print the summary table of a folder of results, as `harness bench` printed it.",
    )
    parser.add_argument("results", type=Path, metavar="RESULTS", help="folder such as results/quickstart")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Read the results and print them."""
    from harness.report import read_summary
    from harness.terminal import print_summary

    rows, record = read_summary(args.results)
    print_summary(record["config"]["name"], rows, record["config"]["bootstrap"]["level"])
    return 0
