"""`harness labels`: sheets of what nobody has judged, and their grades back into the labels."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

_DESCRIPTION = """\
Grade what was retrieved. The first passages of all settings that nobody has judged become a sheet; what
people write into its column grade is added to the labels, and the next run counts it (judged@10).

  harness labels unjudged results/mine --output sheet.xlsx
  harness labels add sheet.xlsx --in my.yaml
  harness bench my.yaml

docs/labelling.md says more.
"""
_UNJUDGED = """\
Write the passages to grade: the unjudged among the first of every setting, each once, the most wanted first
(by how many settings found it, then by its best rank).

  harness labels unjudged results/mine --output sheet.xlsx
  harness labels unjudged results/mine --top 5 --output sheet.csv

The documents are read as the results say, from the cache where they are known.
"""
_ADD = """\
Add the graded rows of a sheet to the labels. Every passage is compared with the text at its offsets; rows
without a grade are left for later, and what is a label already is not added again.

  harness labels add sheet.xlsx --in my.yaml
  harness labels add sheet.csv --in my.yaml --to more-labels.csv
"""


def add(commands: Any) -> None:
    """Describe the commands."""
    parser = commands.add_parser(
        "labels", help="grade what was retrieved and never judged", description=_DESCRIPTION
    )
    parts = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    unjudged = parts.add_parser("unjudged", help="write the passages to grade", description=_UNJUDGED)
    unjudged.add_argument("results", type=Path, metavar="RESULTS", help="folder such as results/mine")
    unjudged.add_argument("--top", type=int, default=10, metavar="N", help="of each ranking; default 10")
    unjudged.add_argument(
        "--output", type=Path, required=True, metavar="FILE", help="the sheet, .xlsx or .csv; not overwritten"
    )
    unjudged.set_defaults(run=run_unjudged)
    adding = parts.add_parser("add", help="add graded rows to the labels", description=_ADD)
    adding.add_argument("sheet", type=Path, metavar="SHEET", help="the graded sheet, .xlsx or .csv")
    adding.add_argument(
        "--in", dest="config", type=Path, required=True, metavar="CONFIG", help="YAML file of the benchmark"
    )
    adding.add_argument("--to", type=Path, metavar="FILE", help="the labels; default: those of CONFIG")
    adding.set_defaults(run=run_add)


def run_unjudged(args: argparse.Namespace) -> int:
    """Write the sheet."""
    from harness.errors import ConfigError
    from harness.labelling.sheet import write_sheet
    from harness.labelling.stored import sheet_of
    from harness.report import counted
    from harness.terminal import TerminalReporter, print_line

    if args.top < 1:
        raise ConfigError(f"--top says how deep to look; it cannot be {args.top}.")
    if args.output.exists():
        raise ConfigError(f"{args.output} is there already, perhaps with grades in it. Name another file.")
    sheet = sheet_of(args.results, args.top, TerminalReporter())
    left_out = f"; {counted(sheet.unanswerable, 'unanswerable query', 'unanswerable queries')} left out"
    left_out = left_out if sheet.unanswerable else ""
    if not sheet.rows:
        print_line(f"All that stands among the first {args.top} is judged{left_out}.")
        return 0
    write_sheet(args.output, sheet.rows)
    queries = len({one.query_id for one in sheet.wanted})
    print_line(
        f"{args.output}: {counted(len(sheet.rows), 'passage')} of "
        f"{counted(queries, 'query', 'queries')} to grade{left_out}."
    )
    print_line("Fill the column grade (0 to 4), then: harness labels add SHEET --in CONFIG")
    if sheet.judge != "labels":
        print_line("A language model has judged these results: grades of people are held against it only.")
    return 0


def run_add(args: argparse.Namespace) -> int:
    """Check the grades and add them."""
    from harness.config import load_config
    from harness.corpus import read_queries
    from harness.errors import ConfigError
    from harness.labelling.adding import add_rows
    from harness.labelling.grading import graded_rows
    from harness.report import counted
    from harness.running.context import Context
    from harness.running.corpus import load_documents
    from harness.terminal import TerminalReporter, print_line

    config = load_config(args.config)
    labels = args.to or config.labels
    if labels is None:
        raise ConfigError(f"{args.config} names no labels. Name a file: --to labels.csv.")
    reporter = TerminalReporter()
    with Context.at(config.cache, reporter, may_ask=False) as context:
        documents = {one.doc_id: one for one in load_documents(config, context)}
    queries = [query.query_id for query in read_queries(config.queries, config.split).queries]
    added = graded_rows(args.sheet, documents, queries, labels, config.anchor, reporter.note)
    if added.rows:
        add_rows(labels, added.rows)
    rest = [f"{added.known} stood there already"] if added.known else []
    rest += [f"{counted(added.ungraded, 'row has', 'rows have')} no grade yet"] if added.ungraded else []
    print_line("; ".join([f"{labels}: {counted(len(added.rows), 'label')} added", *rest]) + ".")
    if args.to and args.to != config.labels:
        print_line(f"{args.config} does not name {args.to}: set labels: {args.to}.")
    return 0
