"""`harness find` and `harness labels`: passages to grade, in sheets, and their grades into the labels."""

from __future__ import annotations

import argparse
from shlex import quote

from harness import data, labels, running
from harness.cli.commands.declaring import (
    OUTPUT,
    Command,
    command,
    number,
    option,
    part,
    path,
    results_folder,
)
from harness.cli.commands.shared import refuse_below_one
from harness.cli.terminal import TerminalReporter, print_error, print_line, width, write_lines
from harness.values import ConfigError, counted, on_one_line, printable, wrapped

_DESCRIPTION = """\
Grade what was retrieved. The unjudged top passages of all settings go into a sheet; what
people write in its column grade is added to the labels, and the next run counts it (judged@10).

  harness labels unjudged results/mine --output sheet.xlsx
  harness labels add sheet.xlsx --in my.yaml
  harness bench my.yaml
"""
_UNJUDGED = """\
Write the passages to grade: the unjudged ones at the top of every setting, each once, the most frequent first
(by how many settings found it, then by its best rank).

  harness labels unjudged results/mine --output sheet.xlsx
  harness labels unjudged results/mine --top 5 --output sheet.csv

The documents are read as recorded in the results, from the cache if they are there.
"""
_ADD = """\
Add the graded rows of a sheet to the labels. Every passage is compared with the text at its offsets; rows
without a grade are left for later, and existing labels are not added again.

  harness labels add sheet.xlsx --in my.yaml
  harness labels add sheet.csv --in my.yaml --to more-labels.csv
"""


_TOP = number("--top", 10, "of each ranking")


@part(
    "unjudged",
    "write the passages to grade",
    _UNJUDGED,
    results_folder(),
    _TOP,
    path("--output", "the sheet, .xlsx or .csv; not overwritten", required=True),
)
def unjudged(args: argparse.Namespace) -> int:
    """Write the sheet."""
    refuse_below_one(top=args.top)
    if args.output.exists():
        raise ConfigError(f"{args.output} exists already, perhaps with grades in it. Name another file.")
    sheet = labels.sheet_of(args.results, args.top, TerminalReporter())
    left_out = f"; {counted(sheet.unanswerable, 'unanswerable query', 'unanswerable queries')} left out"
    left_out = left_out if sheet.unanswerable else ""
    if not sheet.rows:
        print_line(f"All of the first {args.top} is judged{left_out}.")
        return 0
    labels.write_sheet(args.output, sheet.rows)
    add = f"harness labels add {quote(str(args.output))} --in CONFIG"
    queries = len({row["query_id"] for row in sheet.rows})
    print_line(
        f"{args.output}: {counted(len(sheet.rows), 'passage')} of "
        f"{counted(queries, 'query', 'queries')} to grade{left_out}."
    )
    print_line(f"Fill the column grade (0 to 4), then: {add}")
    if sheet.judge != "labels":
        print_line(
            "A language model has judged these results: people's grades are only compared with its grades."
        )
    return 0


@part(
    "add",
    "add graded rows to the labels",
    _ADD,
    path("sheet", "the graded sheet, .xlsx or .csv", "SHEET"),
    path("--in", "YAML file of the benchmark", "CONFIG", dest="config", required=True),
    path("--to", "the labels; default: those of CONFIG"),
)
def add(args: argparse.Namespace) -> int:
    """Check the grades and add them."""
    config = running.load_config(args.config)
    target = args.to or config.labels
    if target is None:
        raise ConfigError(f"{args.config} names no labels. Name a file: --to labels.csv.")
    reporter = TerminalReporter()
    documents = labels.documents_of(config, reporter)
    queries = [query.query_id for query in data.read_queries(config.queries, config.split).queries]
    added = labels.graded_rows(args.sheet, documents, queries, target, config.anchor, reporter.note)
    if added.rows:
        labels.add_rows(target, added.rows)
    rest = [f"{added.known} were there already"] if added.known else []
    rest += [f"{counted(added.ungraded, 'row has', 'rows have')} no grade yet"] if added.ungraded else []
    print_line("; ".join([f"{target}: {counted(len(added.rows), 'label')} added", *rest]) + ".")
    if args.to and args.to != config.labels:
        print_line(f"{args.config} does not name {args.to}: set labels: {args.to}.")
    return 0


family = Command(_DESCRIPTION, parts=(unjudged, add))


_FIND = """\
Find evidence for labels: passages of your documents with document, page and offsets. Exact matches
come first (ignoring white space and case), then passages that share words with the query (BM25).
No model is loaded; documents that a run has read are not read again.

  harness find "total revenue 2023" --in my.yaml
  harness find "total revenue 2023" --in my.yaml --document annual-report --top 5
  harness find "closed the plant" --in my.yaml --query q2 --format csv

With --format csv they are rows for labels.csv: keep those you want and fill in their grade, 0 to 4.
"""


@command(
    _FIND,
    option("text", metavar="TEXT", help="words of the passage, or of the query"),
    path("--in", "YAML file that names documents", "CONFIG", dest="config", required=True),
    number("--top", 10, "how many passages"),
    option("--document", default="", metavar="NAME", help="search only this document"),
    option("--query", default="", metavar="ID", help="with --format csv: the query_id of the rows"),
    option("--format", choices=("text", "csv"), default="text", help="text (default) or csv"),
    OUTPUT,
)
def find(args: argparse.Namespace) -> int:
    """Read the documents, find and print."""
    refuse_below_one(top=args.top)
    if not args.text.strip():
        raise ConfigError("The search text is empty: give some words.")
    if args.query and args.format != "csv":
        raise ConfigError("--query fills in the query_id of CSV rows: add --format csv.")
    config = running.load_config(args.config)
    with running.Context.at(config.cache, TerminalReporter(), may_ask=False) as context:
        documents = running.load_documents(config, context, args.document)
        found = labels.find_evidence(args.text, documents, context, args.top, args.query)
    if not found:
        where = args.document or counted(len(documents), "document")
        print_error(f"No passage of {where} shares a word with the query. Try other words.")
        return 1
    if args.format == "csv":
        rows = labels.label_lines(one.row() for one in found)
        write_lines(",".join(labels.COLUMNS) + "\n" + rows, args.output)
    else:
        write_lines(_found_text(found, width()), args.output)
    return 0


def _found_text(found: list[labels.PassageToGrade], width: int) -> str:
    how = {"exact": "verbatim", "words": "by words"}
    lines: list[str] = []
    for place, one in enumerate(found, 1):
        page = f", page {one.page}" if one.page else ""
        head = f"{place}. {one.doc_id}{page}, {one.start}-{one.end} ({how[one.origin]})"
        lines += wrapped(printable(head), width)
        shown = printable(on_one_line(one.text))
        lines += [f"   {line}" for line in wrapped(shown, max(width - 3, 20))]
        lines.append("")
    return "\n".join(lines)
