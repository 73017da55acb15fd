"""`harness plot`: a figure of results for a paper or a pull request."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

_FORMATS = ("svg", "png", "pdf")
_KINDS = ("board", "curve", "cost", "losses", "reranker", "prediction")
_ABOUT = """\
Draw one figure of a folder of results. The same results give the same bytes, so a figure under version
control changes only when its data changes. Needs matplotlib: pip install 'harness[plots]'.

  harness plot results/quickstart --kind board
  harness plot results/quickstart --kind curve --format pdf --output paper/sizes.pdf
  harness plot results/quickstart --kind losses --format png

board: means with intervals, best first. curve: the measure over chunk size. cost: the measure over the
tokens that are read. losses: what the parser, the chunking and every step cost. reranker: before and after.
prediction: how each measure of rankings correlates with each measure of answers.
"""


def add(commands: Any) -> None:
    """Describe the command."""
    parser = commands.add_parser(
        "plot", help="draw a figure for a paper or a pull request", description=_ABOUT
    )
    parser.add_argument("results", type=Path, metavar="RESULTS", help="folder such as results/quickstart")
    parser.add_argument("--kind", choices=_KINDS, required=True, help="what to draw")
    parser.add_argument(
        "--format", choices=_FORMATS, help="default: taken from the extension of --output, else svg"
    )
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="where to write it; default: RESULTS/KIND.FORMAT"
    )
    parser.add_argument("--measure", metavar="NAME", help="default: the measure that report.html opens with")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Draw and say where it is."""
    from harness.bench.figure import write_figure
    from harness.terminal import TerminalReporter, print_line

    ending = args.output.suffix.lower().removeprefix(".") if args.output else ""
    form = args.format or (ending if ending in _FORMATS else "svg")
    path = write_figure(args.results, args.kind, form, args.output, args.measure, TerminalReporter())
    print_line(f"{path}")
    return 0
