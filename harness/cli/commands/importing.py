"""`harness import`: turn a known collection, or what a pipeline of yours has answered, into a corpus."""

from __future__ import annotations

import argparse
from pathlib import Path
from shlex import quote

from harness import labels, running
from harness.cli.commands.declaring import DEFAULT_CACHE, command, option, path, several
from harness.cli.terminal import TerminalReporter, print_line
from harness.data import IMPORTS
from harness.values import ConfigError, counted

_DESCRIPTION = """\
Convert a folder in a known format into a corpus under corpora/, with documents, queries.csv and labels.csv.

  harness import beir DIR --to corpora/cranfield

Or convert the questions, contexts and answers of a pipeline into a corpus to label and score:

  harness import ragas answers.jsonl --to corpora/june

Or convert a test set of ragas into queries.csv and labels.csv over your own documents, in which its
reference contexts are looked for:

  harness import ragas testset.jsonl --documents "docs/*.pdf" --to corpora/mine

Formats:

{imports}
"""


@command(
    _DESCRIPTION.format(imports="\n".join(f"  {name:<15}{one.about}" for name, one in IMPORTS.items())),
    option("format", metavar="FORMAT", help="one of the formats above"),
    path("source", "the folder or file to read", "SOURCE"),
    several("--documents", "ragas: the file is a test set over these documents", "GLOB"),
    path("--to", "the folder to write; default corpora/<FORMAT>", "CORPUS"),
    path("--qrels", "beir: which qrels to read if DIR holds several, such as qrels/dev.tsv"),
)
def import_(args: argparse.Namespace) -> int:
    """Import it and print what was imported."""
    if args.format not in IMPORTS:
        raise labels.unknown_format(args.format, IMPORTS)
    if args.documents and args.format != "ragas":
        raise ConfigError(f"--documents goes with ragas alone; {args.format} includes its documents.")
    target = args.to or Path("corpora") / args.format
    if args.qrels is not None and "qrels" not in IMPORTS[args.format].options:
        formats = " and ".join(name for name, one in IMPORTS.items() if "qrels" in one.options)
        raise ConfigError(f"--qrels goes with the format {formats} alone.")
    if args.documents:
        with running.Context.at(DEFAULT_CACHE, TerminalReporter(), may_ask=False) as context:
            summary = labels.import_testset(args.source, args.documents, target, context)
    else:
        options = {} if args.qrels is None else {"qrels": args.qrels}
        summary = IMPORTS[args.format].read(args.source, target, **options)
    print_line(
        f"{summary.target}: {counted(summary.documents, 'document')}, "
        f"{counted(summary.queries, 'query', 'queries')}, {counted(summary.labels, 'label')}"
    )
    for note in summary.notes:
        print_line(f"  {note}")
    if not args.documents and IMPORTS[args.format].answered:
        print_line("Next:")
        print_line(f"  harness score-answers {quote(str(summary.target / 'answers.jsonl'))}")
        print_line(f"{summary.target / 'README.md'} explains how to score what was retrieved.")
    return 0
