"""`harness plot`: a figure of results for a paper or a pull request."""

from __future__ import annotations

import argparse

from harness.cli.commands.declaring import command, option, path, results_folder

_FORMATS = ("svg", "png", "pdf")
_KINDS = ("board", "curve", "cost", "losses", "reranker", "prediction")
_DESCRIPTION = """\
Draw one figure of a folder of results. The same results give the same bytes, so a figure under version
control changes only when its data changes. Needs matplotlib: pip install 'ndcg-harness[plots]'.

  harness plot results/quickstart --kind board
  harness plot results/quickstart --kind curve --format pdf --output paper/sizes.pdf
  harness plot results/quickstart --kind losses --format png

board: means with intervals, best first. curve: the measure over chunk size. cost: the measure over the
tokens that are read. losses: what the parser, the chunking and every step cost. reranker: before and after.
prediction: how each measure of rankings correlates with each measure of answers.
"""


@command(
    "plot",
    "draw a figure for a paper or a pull request",
    _DESCRIPTION,
    results_folder("results/quickstart"),
    option("--kind", choices=_KINDS, required=True, help="what to draw"),
    option("--format", choices=_FORMATS, help="default: taken from the extension of --output, else svg"),
    path("--output", "where to write it; default: RESULTS/KIND.FORMAT"),
    option("--measure", metavar="NAME", help="default: the measure that report.html opens with"),
)
def plot(args: argparse.Namespace) -> int:
    """Draw it and print its path."""
    from harness.cli.terminal import TerminalReporter, print_line
    from harness.running import write_figure

    ending = args.output.suffix.lower().removeprefix(".") if args.output else ""
    form = args.format or (ending if ending in _FORMATS else "svg")
    path = write_figure(args.results, args.kind, form, args.output, args.measure, TerminalReporter())
    print_line(f"{path}")
    return 0
