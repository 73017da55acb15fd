"""`harness label`: a page in the browser in which people grade passages."""

from __future__ import annotations

import argparse
import sys
import webbrowser
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from shlex import quote

from harness import judge, labels
from harness.cli.commands.declaring import command, flag, number, one_of, option, path, several
from harness.cli.commands.shared import can_show_pages, refuse_below_one
from harness.cli.terminal import TerminalReporter, print_line
from harness.values import ConfigError, LabelError, counted

_DESCRIPTION = """\
Label in the browser: grade passages from 0 to 4 with single keys, and mark the evidence on the document's
page. Several people can label without seeing each other's grades. The page is served on this machine only.

  harness label my.yaml                  # the unjudged top of all settings
  harness label my.yaml --pool pool.csv  # the passages of a file
  harness label --pool pool.csv --documents 'docs/*.pdf'

Every grade is on disk before the page shows it as saved. When you are done:

  harness label my.yaml --export ratings.csv   # every rater's own grades
  harness label my.yaml --merge                # settled grades, added to the labels of my.yaml
"""


@command(
    _DESCRIPTION,
    path("config", "YAML file of the benchmark", "CONFIG", nargs="?"),
    path("--pool", "passages to grade: query_id, question, doc_id, start, end, text; CSV, XLSX or JSONL"),
    several("--documents", "the documents of --pool, without CONFIG", "GLOB"),
    path("--labels", "with --merge: the labels to merge into; default: those of CONFIG"),
    number("--top", 10, "how deep to pool each setting"),
    option("--rater", default="", metavar="NAME", help="who labels; default: chosen on the page"),
    path("--guidelines", "your own guidelines, instead of ours"),
    number("--seed", 0, "shuffles the passages"),
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
    source = labels.PassageSource(args.config, args.pool, tuple(args.documents), args.state, args.top)
    if args.export:
        return _export(source, args)
    return _merge(source, args) if args.merge else _serve(source, args)


def _serve(source: labels.PassageSource, args: argparse.Namespace) -> int:
    order = labels.as_listed if args.as_listed else partial(labels.usual_order, seed=args.seed)
    reporter = TerminalReporter()
    with ExitStack() as held:
        listening = held.enter_context(labels.listening_at(args.port))
        port = listening.getsockname()[1]
        if args.port not in (0, port):
            print_line(f"Port {args.port} is taken; the page is at port {port}.")
        opened = labels.open_service(source, reporter, args.guidelines, args.rater, order)
        service = held.enter_context(opened)
        passages = counted(len(service.items), "passage")
        print_line(f"{passages} of {counted(len(service.questions), 'query', 'queries')} to grade.")
        print_line(f"Labels are kept in {source.state_path}.")

        def tell(link: str) -> None:
            print_line(f"Open {link}")
            print_line("Ctrl-C ends it; nothing that the page shows as saved is lost.")
            sys.stdout.flush()
            if not args.no_browser and can_show_pages():
                webbrowser.open(held.enter_context(labels.link_file(link, source.state_path)).as_uri())

        labels.serve(service, listening, tell)
    print_line(f"Stopped. The labels are in {source.state_path}; the same command resumes from there.")
    into = "--merge" if args.config else "--merge --labels labels.csv"
    print_line(f"When all raters are done: the same command with {into}, or --export ratings.csv.")
    return 0


def _export(source: labels.PassageSource, args: argparse.Namespace) -> int:
    path = args.export
    if path.exists():
        raise ConfigError(f"{path} exists already. Name another file, or add to it with --merge.")
    with labels.PageState(_existing(source)) as state:
        found = labels.rater_rows(state, args.rater)
    labels.add_rows(path, found.rows)
    raters = list(dict.fromkeys(row["judge"] for row in found.rows))
    skipped = _left_out(0, found.skipped)
    print_line(
        f"{path}: {counted(len(found.rows), 'grade')} by {', '.join(raters) or 'nobody'}, "
        f"each rater's own{skipped}."
    )
    if args.pool is not None and (args.pool.parent / "testset.yaml").exists():
        folder = quote(str(args.pool.parent))
        print_line("Next:")
        for name in raters:
            print_line(f"  harness testset {folder} grade --from {quote(str(path))} --by {quote(name)}")
    return 0


def _merge(source: labels.PassageSource, args: argparse.Namespace) -> int:
    config = source.bench()
    # without CONFIG the pool stands where its labels would
    target = args.labels or (config.labels if args.config else None)
    if target is None:
        raise ConfigError("There is no labels file to merge into. Name one: --labels labels.csv.")
    reporter = TerminalReporter()
    with labels.PageState(_existing(source)) as state:
        found = labels.merged_rows(state, args.rater)
        pairs = [
            one for one in judge.pair_agreements(labels.grades_of(state.labels(args.rater))) if one.items
        ]
    rows = labels.new_rows(
        found.rows, target, labels.documents_of(config, reporter), config.anchor, reporter.note
    )
    if rows:
        labels.add_rows(target, rows)
    known = len(found.rows) - len(rows)
    there = f"; {known} were there already" if known else ""
    print_line(f"{target}: {counted(len(rows), 'label')} added{there}{_left_out(found.open, found.skipped)}.")
    print_line(labels.RULE)
    for one in pairs:
        print_line(str(one))
    if found.disputed:
        path = target.with_name(f"{target.stem}.disputed.csv")
        labels.write_rows(path, found.disputed)
        print_line(
            f"{path}: {counted(len(found.disputed), 'passage')} on which raters differ, and who said what."
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
