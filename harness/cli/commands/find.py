"""`harness find`: passages that may answer a question, as rows for the labels."""

from __future__ import annotations

import argparse

from harness import labels, running
from harness.cli.commands.declaring import OUTPUT, command, number, option, path
from harness.cli.commands.shared import refuse_below_one
from harness.cli.terminal import TerminalReporter, print_error, width, write_lines
from harness.values import ConfigError, counted, on_one_line, printable, wrapped

_DESCRIPTION = """\
Find evidence for labels: passages of your documents with document, page and offsets. Exact matches
come first (ignoring white space and case), then passages that share words with the query (BM25).
No model is loaded; documents that a run has read are not read again.

  harness find "total revenue 2023" --in my.yaml
  harness find "total revenue 2023" --in my.yaml --document annual-report --top 5
  harness find "closed the plant" --in my.yaml --query q2 --format csv

With --format csv they are rows for labels.csv: keep those you want and fill in their grade, 0 to 4.
"""


@command(
    _DESCRIPTION,
    option("text", metavar="TEXT", help="words of the passage, or of the question"),
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
        write_lines(",".join(labels.COLUMNS) + "\n" + _rows(found), args.output)
    else:
        write_lines(_text(found, width()), args.output)
    return 0


def _rows(found: list[labels.PassageToGrade]) -> str:
    return labels.label_lines(one.row() for one in found)


def _text(found: list[labels.PassageToGrade], width: int) -> str:
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
