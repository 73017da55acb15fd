"""`harness import`: turn a known collection into a corpus."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add(commands: Any) -> None:
    """Describe the command."""
    parser = commands.add_parser(
        "import",
        help="turn a known collection into a corpus",
        description="Turn a folder in a known format into a corpus under corpora/, with documents, "
        "queries.csv and labels.csv. docs/corpora.md describes the formats.",
    )
    parser.add_argument("format", metavar="FORMAT", help="financebench, beir or chunking_eval")
    parser.add_argument("source", type=Path, metavar="DIR", help="the folder to read")
    parser.add_argument(
        "--to", type=Path, metavar="CORPUS", help="the folder to write; default corpora/<FORMAT>"
    )
    parser.add_argument(
        "--qrels",
        type=Path,
        metavar="FILE",
        help="beir: which qrels to read, where DIR holds several, such as qrels/dev.tsv",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Import it and say what came of it."""
    from harness.corpus.importers import IMPORTERS
    from harness.errors import ConfigError
    from harness.report import counted
    from harness.terminal import print_line

    if args.format not in IMPORTERS:
        raise ConfigError(f"There is no format {args.format!r} to import. Known: {', '.join(IMPORTERS)}.")
    if args.qrels and args.format != "beir":
        raise ConfigError("--qrels goes with the format beir alone.")
    target = args.to or Path("corpora") / args.format
    options = {"qrels": args.qrels} if args.qrels else {}
    summary = IMPORTERS[args.format].run(args.source, target, **options)
    print_line(
        f"{summary.target}: {counted(summary.documents, 'document')}, "
        f"{counted(summary.queries, 'query', 'queries')}, {counted(summary.labels, 'label')}"
    )
    for note in summary.notes:
        print_line(f"  {note}")
    return 0
