"""`harness import`: turn a known collection, or what a pipeline of yours has answered, into a corpus."""

from __future__ import annotations

import argparse
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from harness.cli.commands.declaring import command, option, path, several

if TYPE_CHECKING:
    from harness.data import ImportSummary

_DESCRIPTION = """\
Convert a folder in a known format into a corpus under corpora/, with documents, queries.csv and labels.csv.
docs/corpora.md describes the formats.

  harness import beir DIR --to corpora/cranfield

Or convert the questions, contexts and answers of a pipeline into a corpus to label and score:

  harness import traces export.jsonl --to corpora/june   # OpenTelemetry, Langfuse or LangSmith
  harness import ragas answers.jsonl --to corpora/june   # user_input, retrieved_contexts, response, reference

Or convert a test set of another tool into queries.csv and labels.csv over your own documents, with every
offset checked; see docs/testset.md:

  harness import label_studio export.json --documents "docs/*.pdf" --to corpora/mine
"""


@command(
    "import",
    "import a known collection, a test set, or production traces as a corpus",
    _DESCRIPTION,
    option(
        "format",
        metavar="FORMAT",
        help="financebench, beir or chunking_eval; traces or ragas; or, with --documents, a test set over "
        "your own documents: csv, jsonl, xlsx, trec, label_studio, argilla, quepid or ragas",
    ),
    path("source", "the folder or file to read", "SOURCE"),
    several("--documents", "for a test set: its documents", "GLOB"),
    path("--to", "the folder to write; default corpora/<FORMAT>", "CORPUS"),
    path("--qrels", "beir: which qrels to read if DIR holds several, such as qrels/dev.tsv"),
    path(
        "--texts",
        "ragas, traces: a table with id, text and optionally document, for passages that are given by id "
        "only",
    ),
    option(
        "--traces-of",
        metavar="TOOL",
        help="traces: opentelemetry, langfuse or langsmith; default: detected from the records",
    ),
)
def import_(args: argparse.Namespace) -> int:
    """Import it and print what was imported."""
    from harness.cli.terminal import print_line
    from harness.data import IMPORTERS, import_ragas, import_traces
    from harness.labels import FORMATS
    from harness.values import ConfigError, counted

    collections = IMPORTERS | {"ragas": import_ragas, "traces": import_traces}
    if args.format not in {*collections, *FORMATS}:
        known = ", ".join(dict.fromkeys([*collections, *FORMATS]))
        raise ConfigError(f"There is no format {args.format!r} to import. Known: {known}.")
    if args.documents and args.format not in FORMATS:
        raise ConfigError(f"--documents is only for test sets; {args.format} includes its documents.")
    target = args.to or Path("corpora") / args.format
    options = _options(args)
    if args.documents or args.format not in collections:
        if options:
            raise ConfigError(f"A test set takes only --documents; leave out {_named(options)}.")
        summary = _testset(args, target)
    else:
        summary = collections[args.format](args.source, target, **options)
    print_line(
        f"{summary.target}: {counted(summary.documents, 'document')}, "
        f"{counted(summary.queries, 'query', 'queries')}, {counted(summary.labels, 'label')}"
    )
    for note in summary.notes:
        print_line(f"  {note}")
    if args.format in ("ragas", "traces") and not args.documents:
        print_line("Next:")
        print_line(f"  harness score-answers {quote(str(summary.target / 'answers.jsonl'))}")
        print_line(f"{summary.target / 'README.md'} explains how to score what was retrieved.")
    return 0


def _options(args: argparse.Namespace) -> dict[str, Any]:
    """The options that were given; raises ConfigError for one that the format does not have."""
    from harness.values import ConfigError

    options = {}
    for name, value, formats in (
        ("qrels", args.qrels, ("beir",)),
        ("texts", args.texts, ("ragas", "traces")),
        ("format", args.traces_of, ("traces",)),
    ):
        if value is None:
            continue
        if args.format not in formats:
            option = "traces-of" if name == "format" else name
            goes = f"the format {formats[0]} alone" if len(formats) == 1 else f"{' and '.join(formats)} alone"
            raise ConfigError(f"--{option} goes with {goes}.")
        options[name] = value
    return options


def _named(options: dict[str, Any]) -> str:
    return ", ".join("--traces-of" if name == "format" else f"--{name}" for name in options)


def _testset(args: argparse.Namespace, target: Path) -> ImportSummary:
    from harness.cli.terminal import TerminalReporter
    from harness.labels import import_testset
    from harness.running import Context

    with Context.at(Path(".cache/harness"), TerminalReporter(), may_ask=False) as context:
        return import_testset(args.format, args.source, args.documents, target, context)
