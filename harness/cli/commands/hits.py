"""`harness score --hits`: score the hits of another pipeline."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness import data, report, running
from harness.cli.commands.declaring import flag, group, option, path, several
from harness.cli.commands.shared import names_of_measures
from harness.cli.terminal import TerminalReporter, print_line, print_summary, show
from harness.values import ConfigError

_NEEDED = ("queries", "labels", "documents")
# options of hits alone, and what they are where they are not given
_DEFAULTS = {
    "name": None,
    "results": Path("results"),
    "cache": Path(".cache/harness"),
    "parser": "pypdf",
    "on_bad_document": "fail",
    "threshold": 90.0,
    "other_documents": "fail",
    "quiet": False,
}


OPTIONS = group(
    "what another pipeline returned",
    several("--hits", ".jsonl, .csv or .parquet; each file is one setting", "FILE", type=Path),
    path("--queries", "CSV or JSONL with query_id and text"),
    path("--labels", "CSV or JSONL with query_id, document, grade and place"),
    several("--documents", "the documents that the pipeline searched", "GLOB", default=None),
    option("--name", help="name of the results folder; default: the name of the first file"),
    path("--results", "where to create that folder; default results", "FOLDER"),
    path("--cache", "default .cache/harness", "FOLDER"),
    option("--parser", choices=("pypdf", "pypdfium2"), help="how PDFs are read; default pypdf"),
    option("--on-bad-document", choices=("fail", "skip"), help="one that cannot be used; default fail"),
    option(
        "--other-documents",
        choices=("fail", "keep"),
        help="treat hits in documents that are not among --documents as an error (default) or as unjudged "
        "text",
    ),
    option(
        "--threshold",
        type=float,
        metavar="N",
        help="how similar the text of a hit and of its document must be, up to 100; default 90",
    ),
    flag("--quiet", "no progress bars and warnings", default=None),
)


def given(args: argparse.Namespace) -> list[str]:
    """The options of hits that were given."""
    names = (*_NEEDED, *_DEFAULTS)
    return [f"--{name.replace('_', '-')}" for name in names if getattr(args, name) is not None]


def run(args: argparse.Namespace) -> int:
    """Score them, write the results and print the summary."""
    if args.ranked or args.qrels:
        args.wrong_usage("--hits and --run cannot be combined; give one of them")
    if missing := [f"--{name}" for name in _NEEDED if not getattr(args, name)]:
        args.wrong_usage(f"--hits also needs {', '.join(missing)}")
    if args.per_query or args.format != "text" or args.convention != "trec_eval":
        args.wrong_usage(
            "--per-query, --format and --convention go with --run; hits are scored into a folder"
        )

    for name, value in _DEFAULTS.items():
        if getattr(args, name) is None:
            setattr(args, name, value)
    config = _config(args)
    options = running.HitOptions(args.threshold, args.other_documents == "keep")
    reporter = TerminalReporter(quiet=args.quiet)
    pages = []

    def finish(folder: Path) -> None:
        pages.append(running.write_page(folder, reporter=reporter, name=config.name)[1])

    results, folder = running.score_hits(config, options, reporter, finish)
    show(tuple(results.verdict["sentences"]))
    print_summary(results.name, results.summary, config.bootstrap.level, results.verdict["measure"])
    if losses := results.of(report.LossRow):
        show(report.loss_table(losses, results.verdict["measure"]))
    print_line(f"Results: {folder}/; location of every hit: {folder / 'hits.csv'}")
    for page in pages:
        if page.note:
            print_line(page.note)
    print_line(f"Open in a browser: {folder / report.REPORT}")
    return 0


def _config(args: argparse.Namespace) -> running.BenchConfig:
    """The benchmark that the options describe; raises ConfigError for impossible ones."""
    from pydantic import ValidationError

    if not 0 <= args.threshold <= 100:
        raise ConfigError(f"--threshold is {args.threshold:g}; it must be from 0 to 100.")
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", args.hits[0].stem).lstrip("._-")[:100]
    fields: dict[str, Any] = {
        "name": args.name or stem or "hits",
        "documents": tuple(args.documents),
        "on_bad_document": args.on_bad_document,
        "queries": args.queries,
        "labels": args.labels,
        "settings": [
            running.hit_setting(name, file, data.PARSERS[args.parser].config())
            for name, file in zip(_names(args.hits), args.hits, strict=True)
        ],
        "cache": args.cache,
        "results": args.results,
    }
    if args.measures:
        fields["measures"] = tuple(names_of_measures(args.measures))
    try:
        return running.BenchConfig.model_validate(fields)
    except ValidationError as error:
        first = error.errors()[0]
        option = f"--{str(first['loc'][0]).replace('_', '-')}" if first["loc"] else "options"
        raise ConfigError(f"{option}: {first['msg'].removeprefix('Value error, ')}.") from error


def _names(files: Sequence[Path]) -> list[str]:
    """Files without their endings, or as many of their last folders as tell them apart."""
    parts = [file.resolve().with_suffix("").parts for file in files]
    for depth in range(1, max(map(len, parts)) + 1):
        names = ["/".join(own[-depth:]) for own in parts]
        if len(set(names)) == len(names):
            return names
    raise ConfigError("--hits: two files have the same name, apart from the extension. Rename one of them.")
