"""`harness import`: turn a known collection, or what a pipeline of yours has answered, into a corpus."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from shlex import quote
from typing import Any

from harness import labels, running
from harness.cli.commands.declaring import DEFAULT_CACHE, command, option, path, several
from harness.cli.terminal import TerminalReporter, print_line
from harness.data import IMPORTS, TRACES
from harness.values import ConfigError, counted

_DESCRIPTION = """\
Convert a folder in a known format into a corpus under corpora/, with documents, queries.csv and labels.csv.

  harness import beir DIR --to corpora/cranfield

  harness import rgb RGB/data/zh_int.json --to corpora/rgb

Or convert the questions, contexts and answers of a pipeline into a corpus to label and score:

  harness import ragas answers.jsonl --to corpora/june
  harness import traces exports/ --since 2026-06-01 --sample 200 --to corpora/june

Or convert a test set of ragas into queries.csv and labels.csv over your own documents, in which its
reference contexts are looked for:

  harness import ragas testset.jsonl --documents "docs/*.pdf" --to corpora/mine

Formats:

{imports}
"""


@command(
    _DESCRIPTION.format(
        imports="\n".join(f"  {name:<15}{importer.about}" for name, importer in IMPORTS.items())
    ),
    option("format", metavar="FORMAT", help="one of the formats above"),
    path("source", "the folder or file to read", "SOURCE"),
    several("--documents", "ragas: the file is a test set over these documents", "GLOB"),
    path("--to", "the folder to write; default corpora/<FORMAT>", "CORPUS"),
    path("--qrels", "beir: which qrels to read if DIR holds several, such as qrels/dev.tsv"),
    option(
        "--traces-of", metavar="TOOL", help=f"traces: {', '.join(TRACES)}; default: recognised by the records"
    ),
    option("--since", metavar="DAY", help="traces: the first day, such as 2026-06-01"),
    option("--until", metavar="DAY", help="traces: the last day"),
    option("--sample", type=int, metavar="N", help="traces: how many to draw at random; default all"),
)
def import_(args: argparse.Namespace) -> int:
    """Import it and print what was imported."""
    if args.format not in IMPORTS:
        raise labels.unknown_format(args.format, IMPORTS)
    if args.documents and args.format != "ragas":
        raise ConfigError(f"--documents goes with ragas alone; {args.format} includes its documents.")
    target = args.to or Path("corpora") / args.format
    options = _options(args)
    if args.documents:
        with running.Session.at(DEFAULT_CACHE, TerminalReporter(), may_ask=False) as session:
            summary = labels.import_testset(
                args.source, args.documents, target, session.document_reader, DEFAULT_CACHE
            )
    else:
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
    elif recipe := IMPORTS[args.format].recipe:
        print_line("Next:")
        print_line(f"  harness bench {recipe}")
        print_line(f"It names {IMPORTS[args.format].sample}: put {summary.target} in its place first.")
    else:
        _print_paths(summary.target, args.documents or [f"{summary.target}/documents/*"])
    return 0


def _print_paths(corpus: Path, documents: list[str]) -> None:
    """Say how a configuration names what was imported."""
    print_line("Next, put these lines into a configuration, and run harness bench:")
    # a JSON string is valid YAML, whatever it holds
    print_line(f"documents: {json.dumps(documents[0] if len(documents) == 1 else documents)}")
    for table in ("queries", "labels"):
        print_line(f"{table}: {json.dumps(str(corpus / f'{table}.csv'))}")


def _options(args: argparse.Namespace) -> dict[str, Any]:
    """The options of formats that were given; raises ConfigError for one that this format does not have."""
    names = ("qrels", "traces_of", "since", "until", "sample")
    options = {name: value for name in names if (value := getattr(args, name)) is not None}
    for name in options:
        if name not in IMPORTS[args.format].options:
            formats = " and ".join(
                format_name for format_name in IMPORTS if name in IMPORTS[format_name].options
            )
            raise ConfigError(f"--{name.replace('_', '-')} goes with the format {formats} alone.")
    return options
