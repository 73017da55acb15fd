"""`harness report`: results as one page to look at."""

from __future__ import annotations

import argparse

from harness import running
from harness.cli.commands.declaring import command, option, path, results_folder
from harness.cli.terminal import TerminalReporter, print_line
from harness.values import HarnessError


@command(
    "Build one self-contained page from a folder of results: leaderboard, which differences are real, chunk "
    "sizes, losses by stage, every query with its ranked passages. It opens in any browser without a network "
    "and can be mailed. `harness bench` makes it at the end of each run.",
    results_folder("results/quickstart"),
    path("--output", "where to write it; default: RESULTS/report.html"),
    option(
        "--pictures",
        type=float,
        nargs="?",
        const=1.0,
        default=0.0,
        metavar="MB",
        help="show the PDF pages that contain evidence, with the evidence marked, up to this many megabytes "
        "(1 without a number), hardest questions first; needs pypdfium2, and the PDFs where the run found "
        "them",
    ),
)
def report(args: argparse.Namespace) -> int:
    """Build the page and print its path."""
    if not 0 <= args.pictures <= 50:
        raise HarnessError(f"--pictures {args.pictures:g}: give megabytes from 0 to 50.")
    most = round(args.pictures * 1e6)
    path, page = running.write_page(args.results, args.output, TerminalReporter(), picture_bytes=most)
    if page.note:
        print_line(page.note)
    print_line(f"{path} ({page.size / 1e6:.2f} MB). Open it in a browser.")
    return 0
