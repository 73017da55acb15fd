"""`harness find`, `label` and `labels`: passages to grade, in the browser or in sheets, and their grades."""

from __future__ import annotations

import argparse
import socket
import sys
import webbrowser
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from shlex import quote
from typing import Any

from harness import data, judge, labels, running, values
from harness.cli.commands.common import can_show_pages, refuse_below_one
from harness.cli.commands.declaring import (
    Command,
    command,
    flag,
    number,
    one_of,
    option,
    part,
    path,
    results_folder,
    several,
)
from harness.cli.terminal import TerminalReporter, print_error, print_line, width, write_lines, write_out
from harness.values import ConfigError, LabelError, counted, on_one_line, printable, refuse_existing, wrapped

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
    refuse_existing(args.output)
    rows, judged_by = labels.sheet_of(args.results, args.top, TerminalReporter())
    if not rows:
        print_line(f"The first {args.top} passages of every answerable query are judged.")
        return 0
    labels.write_sheet(args.output, rows)
    add = f"harness labels add {quote(str(args.output))} --in CONFIG"
    queries = counted(len({row["query_id"] for row in rows}), "query", "queries")
    print_line(f"{args.output}: {counted(len(rows), 'passage')} of {queries} to grade.")
    print_line(f"Fill the column grade (0 to 4), then: {add}")
    if judged_by != "labels":
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
)
def add(args: argparse.Namespace) -> int:
    """Check the grades and add them."""
    config = running.load_config(args.config)
    target = config.labels
    if target is None:
        raise ConfigError(f"{args.config} names no labels. Name a file in it: labels: labels.csv.")
    labels.addable(target)
    reporter = TerminalReporter()
    documents = labels.documents_of(config, reporter)
    queries = [query.query_id for query in data.read_queries(config.queries, config.split).queries]
    graded, empty = labels.graded_rows(args.sheet, documents, queries, reporter.note)
    fresh = labels.new_rows(graded, target, documents, config, reporter.note)
    ungraded = f"; {counted(empty, 'row has', 'rows have')} no grade yet" if empty else ""
    print_line(f"{_added(target, fresh, len(graded))}{ungraded}.")
    return 0


def _added(target: Path, fresh: Sequence[Mapping[str, Any]], of: int) -> str:
    """Add the rows that the labels lack, ``of`` so many; says how many were added."""
    if fresh:
        labels.add_rows(target, fresh)
    there = f"; {of - len(fresh)} were there already" if of > len(fresh) else ""
    return f"{target}: {counted(len(fresh), 'label')} added{there}"


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
    path("--output", "write to this file instead of the terminal; not overwritten"),
)
def find(args: argparse.Namespace) -> int:
    """Read the documents, find and print."""
    refuse_below_one(top=args.top)
    if args.query and args.format != "csv":
        raise ConfigError("--query fills in the query_id of CSV rows: add --format csv.")
    refuse_existing(args.output)
    config = running.load_config(args.config)
    # of a benchmark that is being begun, the table may still be empty
    if args.query and config.queries.exists() and not data.is_bare(config.queries, ("query_id", "text")):
        ids = [query.query_id for query in data.read_queries(config.queries, config.split).queries]
        _refuse_unknown("query", args.query, ids, config.queries)
    with running.Session.at(config.cache, TerminalReporter(), may_ask=False) as session:
        documents = running.load_documents(config, session.document_reader, args.document)
        visitor = running.Running(session)
        passages = labels.find_evidence(args.text, documents, visitor, args.top, args.query)
    if not passages:
        where = args.document or counted(len(documents), "document")
        print_error(f"No passage of {where} shares a word with the query. Try other words.")
        return 1
    if args.format == "csv":
        columns = labels.columns_of(config.labels)
        rows = labels.label_lines((passage.row() for passage in passages), columns)
        write_lines(",".join(columns) + "\n" + rows, args.output)
    else:
        write_lines(_passages_text(passages, width()), args.output)
    return 0


def _refuse_unknown(option: str, name: str, names: Sequence[str], where: Path) -> None:
    if name and name not in names:
        raise ConfigError(
            f"{where} has no {option} {name!r}{values.suggestion(name, names)}. Correct --{option}."
        )


def _passages_text(passages: list[labels.PassageToGrade], width: int) -> str:
    how = {"exact": "verbatim", "words": "by words"}
    lines: list[str] = []
    for place, passage in enumerate(passages, 1):
        page = f", page {passage.page}" if passage.page else ""
        head = f"{place}. {passage.doc_id}{page}, {passage.start}-{passage.end} ({how[passage.origin]})"
        lines += wrapped(printable(head), width)
        shown = printable(on_one_line(passage.text))
        lines += [f"   {line}" for line in wrapped(shown, max(width - 3, 20))]
        lines.append("")
    return "\n".join(lines)


_LABEL = """\
Label in the browser: grade passages from 0 to 4 with single keys, and mark the evidence on the document's
page. Several people can label without seeing each other's grades. The page is served on this machine only.

  harness label my.yaml                  # the unjudged top of all settings
  harness label my.yaml --pool pool.csv  # the passages of a file
  harness label --pool pool.csv --documents 'docs/*.pdf'

With the folder of a test set, golden answers are reviewed: question, contexts and answer side by side.

  harness label testset                  # the folder that `harness testset` works in

Every grade is on disk before the page shows it as saved. When you are done:

  harness label my.yaml --export ratings.csv   # every rater's own grades
  harness label my.yaml --merge                # settled grades, added to the labels of my.yaml
"""


@command(
    _LABEL,
    path("config", "YAML file of the benchmark, or the folder of a test set", "CONFIG", nargs="?"),
    path("--pool", "passages to grade: query_id, question, doc_id, start, end, text; CSV, XLSX or JSONL"),
    several("--documents", "the documents of --pool, without CONFIG", "GLOB"),
    path("--labels", "with --merge: the labels to merge into; default: those of CONFIG"),
    number("--top", 10, "how deep to pool each setting"),
    option("--rater", default="", metavar="NAME", help="who labels; default: chosen on the page"),
    path("--guidelines", "your own guidelines, instead of ours"),
    flag("--as-listed", "passages in the order of the pool, not shuffled"),
    option("--port", type=int, default=8765, metavar="N", help="default 8765; if taken, the next free one"),
    flag("--no-browser", "only print the link"),
    path("--state", "where labels are kept; default: next to labels or pool"),
    one_of(
        path("--export", "write every rater's own grades, .csv or .jsonl, and stop"),
        flag("--merge", "merge the raters' grades into the labels of CONFIG or --labels, and stop"),
    ),
)
def label(args: argparse.Namespace) -> int:
    """Serve the page, or export its labels."""
    refuse_below_one(top=args.top)
    if not 0 <= args.port <= 65535:
        raise ConfigError(f"--port is a number from 0 to 65535, not {args.port}.")
    if args.config and args.documents:
        raise ConfigError("CONFIG names its documents: leave --documents out.")
    if args.labels and not args.merge:
        raise ConfigError("--labels goes with --merge.")
    if args.config and args.config.is_dir():
        return _review_answers(args)
    source = labels.PassageSource(args.config, args.pool, tuple(args.documents), args.state, args.top)
    if args.export:
        return _export(source, args)
    return _merge(source, args) if args.merge else _serve(source, args)


def _review_answers(args: argparse.Namespace) -> int:
    """Serve the page on which golden answers are reviewed; what was saved is in answers.csv at the end."""
    for name in ("pool", "documents", "labels", "guidelines", "as_listed", "export", "merge"):
        if getattr(args, name):
            raise ConfigError(
                f"--{name.replace('_', '-')} is for passages to grade: omit it with a test set."
            )
    with ExitStack() as held:
        listening = held.enter_context(labels.listening_at(args.port))
        opened = labels.open_answers(args.config, TerminalReporter(), args.rater, args.state)
        state, edits, service = held.enter_context(opened)
        total, reviewed = service.counts
        print_line(f"{counted(total, 'golden answer')} of {args.config}, {reviewed} of them reviewed.")
        _serve_page(service, listening, edits.path, args, held)
        for line in labels.take_reviewed(state, edits) or ("Nothing was reviewed.",):
            print_line(line)
    return 0


def _serve_page(
    service: Any, listening: socket.socket, kept: Path, args: argparse.Namespace, held: ExitStack
) -> None:
    """Serve a page until the program is stopped, and lead a browser to it."""

    def tell(link: str) -> None:
        # as it is: print_line would take the key of the link for a secret
        write_out(f"Open {link}\n")
        print_line("Ctrl-C ends it; nothing that the page shows as saved is lost.")
        sys.stdout.flush()
        if not args.no_browser and can_show_pages():
            webbrowser.open(held.enter_context(labels.link_file(link, kept)).as_uri())

    labels.serve(service, listening, tell)


def _serve(source: labels.PassageSource, args: argparse.Namespace) -> int:
    reporter = TerminalReporter()
    with ExitStack() as held:
        listening = held.enter_context(labels.listening_at(args.port))
        opened = labels.open_service(source, reporter, args.guidelines, args.rater, args.as_listed)
        service = held.enter_context(opened)
        passages = counted(len(service.items), "passage")
        print_line(f"{passages} of {counted(len(service.questions), 'query', 'queries')} to grade.")
        print_line(f"Labels are kept in {source.state_path}.")
        _serve_page(service, listening, source.state_path, args, held)
    print_line(f"Stopped. The labels are in {source.state_path}; the same command resumes from there.")
    into = "--merge" if args.config else "--merge --labels labels.csv"
    print_line(f"When all raters are done: the same command with {into}, or --export ratings.csv.")
    return 0


def _export(source: labels.PassageSource, args: argparse.Namespace) -> int:
    path = args.export
    refuse_existing(path)
    with labels.PageState(_existing(source)) as state:
        _refuse_unknown("rater", args.rater, state.raters(), source.state_path)
        exported = labels.rater_rows(state, args.rater)
    if not exported.rows:
        raise LabelError(f"{source.state_path} has no grade to export yet. Nothing was written.")
    labels.add_rows(path, exported.rows)
    raters = list(dict.fromkeys(row["judge"] for row in exported.rows))
    by = f"{counted(len(exported.rows), 'grade')} by {', '.join(raters)}, each rater's own"
    print_line(f"{path}: {by}{_left_out(0, exported.skipped)}.")
    return 0


def _merge(source: labels.PassageSource, args: argparse.Namespace) -> int:
    config = source.bench()
    # without CONFIG the pool stands where its labels would
    target = args.labels or (config.labels if args.config else None)
    if target is None:
        raise ConfigError("There is no labels file to merge into. Name one: --labels labels.csv.")
    labels.addable(target)
    reporter = TerminalReporter()
    with labels.PageState(_existing(source)) as state:
        _refuse_unknown("rater", args.rater, state.raters(), source.state_path)
        exported = labels.merged_rows(state, args.rater)
        grades = labels.grades_of(state.labels(args.rater))
    documents = labels.documents_of(config, reporter)
    fresh = labels.new_rows(exported.rows, target, documents, config, reporter.note)
    print_line(f"{_added(target, fresh, len(exported.rows))}{_left_out(exported.open, exported.skipped)}.")
    print_line(labels.RULE)
    for agreement in judge.pair_agreements(grades):
        if agreement.items:
            print_line(str(agreement))
    if exported.disputed:
        path = target.with_name(f"{target.stem}.disputed.csv")
        labels.write_rows(path, exported.disputed)
        print_line(
            f"{path}: {counted(len(exported.disputed), 'passage')} on which raters differ, and who said what."
        )
    return 0


def _existing(source: labels.PassageSource) -> Path:
    path = source.state_path
    if not path.exists():
        raise LabelError(f"{path} does not exist: nothing has been labelled yet. Run harness label first.")
    return path


def _left_out(differ: int, skipped: int) -> str:
    parts = [f"; {differ} left out, on which raters differ: resolve them on the page"] if differ else []
    parts += [f"; {skipped} skipped"] if skipped else []
    return "".join(parts)
