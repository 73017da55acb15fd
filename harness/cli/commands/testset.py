"""`harness init` and `harness testset`: from a folder of documents to a labelled test set, step by step."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from inspect import signature
from pathlib import Path
from shlex import quote
from typing import Any

from harness import labels, running
from harness.cli.commands.common import refuse_below_one
from harness.cli.commands.declaring import Command, Option, command, flag, number, one_of, option, part, path
from harness.cli.terminal import TerminalReporter, print_facts, print_line
from harness.values import counted

_INIT = """\
Inspect a folder of documents and write what a benchmark needs: a configuration with settings to compare,
every line explained; queries.csv and labels.csv to fill in; and testset.yaml, for making questions
and labels step by step. Nothing is overwritten.

  harness init contracts --out contracts-bench
"""


@command(
    _INIT,
    path("folder", "the folder that holds the documents", "FOLDER"),
    path("--out", "the folder to write; default: FOLDER's name plus -bench", "DIR"),
    flag("--no-download", "name only models that are installed, none from the hub"),
)
def init(args: argparse.Namespace) -> int:
    """Look at the folder, write the files, and print the next step."""
    out = args.out or Path(f"{labels.name_of(args.folder)}-bench")
    # before the documents, which may take long
    labels.refuse_start(args.folder, out)
    cache = out / ".cache"
    with running.Session.at(cache, TerminalReporter(), may_ask=False) as session:
        summary = labels.summarise(args.folder, cache, session.document_reader)
    written = labels.write_start(summary, out, download=not args.no_download)
    for line in _summary_lines(summary):
        print_line(line)
    print_line(f"Written to {out}/: {', '.join(path.name for path in written)}.")
    print_line("Next, make questions and labels step by step; with 34 questions of 9 passages each, grading")
    print_line("takes a person about an hour (testset.yaml: chosen, passages):")
    print_line(f"  harness testset {quote(str(out))} status")
    print_line(f"or fill queries.csv and labels.csv yourself, as {out}/README.md explains:")
    print_line(f"  harness validate {quote(f'{out}/bench.yaml')}")
    print_line(f"  harness bench {quote(f'{out}/bench.yaml')}")
    return 0


def _summary_lines(summary: labels.FolderSummary) -> list[str]:
    kinds = ", ".join(f"{count} {suffix}" for suffix, count in summary.kinds.items())
    pages = f", {counted(summary.pages, 'page')}" if summary.pages else ""
    tables = (
        f"{counted(summary.text.tables, 'table')} ({summary.text.table_share:.0%} of the text)"
        if summary.text.tables
        else "no tables"
    )
    language = summary.text.language or "not recognised"
    files = sum(summary.kinds.values())
    read = (
        counted(summary.documents, "document")
        if summary.documents == files
        else f"{summary.documents} of {files} documents"
    )
    lines = [
        f"{summary.folder}: {read} ({kinds}){pages}, {counted(summary.text.characters, 'character')}.",
        f"Language: {language}; {tables}.",
    ]
    if summary.unread:
        others = ", ".join(f"{count} {suffix}" for suffix, count in summary.unread.items())
        lines.append(f"Skipped, because they cannot be read as documents: {others}.")
    if summary.skipped:
        lines.append(
            f"{counted(len(summary.skipped), 'document')} cannot be used; the warnings above say why."
        )
    return lines


_DESCRIPTION = """\
Make questions and labels for your documents. DIR holds testset.yaml, which `harness init` writes, and one
table per step, which you can edit in a spreadsheet at any time. Every step says what comes next, and
can be repeated (--again) or undone (undo). No answer of a language model is paid for twice.

  harness init contracts --out DIR
  harness testset DIR status
  harness testset DIR propose --dry-run    what 60 questions by the model would cost
  harness testset DIR propose              or --by-hand, or --from queries.csv
  harness testset DIR choose --auto        34 of them; people edit chosen.csv
  harness testset DIR gather               9 passages each, by several retrievers
  harness testset DIR grade --dry-run      or --sheet sheet.xlsx for people
  harness testset DIR answer
  harness testset DIR review --sheet second.xlsx
  harness testset DIR export
  harness bench DIR/export/bench.yaml
"""

_AGAIN = flag("--again", "repeat the step; the old file stays in history/")
_DRY_RUN = flag("--dry-run", "say what it would cost; ask nothing")
_PROMPT = option("--prompt", default="", metavar="FILE", help="a prompt file of your own, .yaml")


@part("status", "say where you are and what comes next")
def status(args: argparse.Namespace) -> int:
    """Print a line per step, and what comes next."""
    steps, following = labels.status_of(labels.SetState(args.folder))
    print_facts(str(args.folder), steps)
    _print_next(following)
    return 0


@part(
    "undo",
    "undo the latest step",
    "Restore the files that the latest step has changed. What was undone is kept under DIR/history/undone/. "
    "Run it again to undo the step before.",
)
def undo(args: argparse.Namespace) -> int:
    """Take the latest step back."""
    # a folder that holds no test set gets no lock file
    labels.load_testset(args.folder)
    state = labels.SetState(args.folder)
    with state.alone():
        undone = state.undo()
    _print_undone("Undone", undone, args.folder)
    return 0


def _print_undone(head: str, undone: labels.StepRecord, folder: Path) -> None:
    print_line(f"{head}: {undone.step} of {undone.when} ({undone.how}): {', '.join(undone.files)}.")
    print_line(f"As they were, with every edit: {folder}/history/undone/{undone.folder.name}/.")


def _step(step: Callable[[], Callable[..., labels.Outcome]], name: str, *declared: Any) -> Command:
    """A command that does a step; its options are called as the parameters of the step."""
    return part(name, *declared)(partial(_run_step, step))


def _run_step(step: Callable[[], Callable[..., labels.Outcome]], args: argparse.Namespace) -> int:
    """Do one step, print its outcome and what comes next."""
    state = labels.SetState(args.folder)
    # first of all: a folder that holds no test set gets no lock file
    cache = state.config.cache
    refuse_below_one(count=getattr(args, "count", None))
    may_ask = not getattr(args, "dry_run", False)
    names = signature(step()).parameters.keys()
    options = {name: getattr(args, name) for name in names & vars(args).keys()}
    with state.alone(), running.Session.at(cache, TerminalReporter(), may_ask=may_ask) as session:
        if state.killed():
            _print_undone("Undone, as it was killed while it wrote", state.undo(), args.folder)
        # a step names the parts of the run that it needs
        notes = session.notes
        parts: dict[str, Any] = {
            "session": session,
            "reader": session.document_reader,
            "ledger": session.cache.ledger,
        }
        parts |= {"visitor": running.Running(session), "notes": notes, "reporter": notes.reporter}
        outcome = step()(state, **{name: parts[name] for name in names & parts.keys()}, **options)
    for line in outcome.lines:
        print_line(line)
    for name, estimate in outcome.estimates:
        print_line(f"  {name}: {estimate}.")
    if outcome.dry:
        print_line("Nothing was spent.")
        return 0
    _print_next(labels.status_of(state)[1] if outcome.next is None else outcome.next)
    return 0


def _print_next(commands: Sequence[str]) -> None:
    if commands:
        print_line("Next:" if len(commands) == 1 else "Next, one of:")
    for line in commands:
        print_line(f"  {line}")


def _sheet(write: str, read: str, by: str, *, required: bool = False) -> tuple[Option, Option]:
    """A sheet for people that is written or read, and who has filled it in."""
    either = one_of(path("--sheet", write), path("--from", read, dest="graded_file"), required=required)
    return either, option("--by", default="", metavar="NAME", help=by)


_propose = _step(
    lambda: labels.propose,
    "propose",
    "propose questions",
    "Write proposed.csv: questions of several kinds, each with the passage that would answer it as a "
    "suggestion. By the language model of testset.yaml (llm); or from a list or a search log "
    "(--from); or people write them, about passages of the documents (--by-hand).",
    one_of(
        flag("--by-hand", "write passages to ask about, each for a kind of question"),
        path("--from", "questions of your users, or a gold set: .csv, .xlsx, .jsonl", dest="question_file"),
    ),
    option("--field", default="", metavar="NAME", help="with --from: the field that holds the question"),
    option("--count", type=int, metavar="N", help="how many; default: questions in testset.yaml"),
    _PROMPT,
    flag("--add", "add to the existing proposals"),
    _AGAIN,
    _DRY_RUN,
)

_choose = _step(
    lambda: labels.choose,
    "choose",
    "choose among the proposals",
    "Write chosen.csv, where people write yes or no into keep and edit the text. Near-duplicates and leading "
    "questions, which copy the words of their passage, are shown with measures. --auto keeps a balanced set "
    "of kinds and documents. What you have marked and edited stays.",
    flag("--auto", "fill keep with a balanced choice"),
    _AGAIN,
)

_gather = _step(
    lambda: labels.gather,
    "gather",
    "gather passages to grade",
    "Write pool.csv: for every kept question, passages that several different retrievers find, each in turn: "
    "words, meaning and both, over small and large chunks. found.csv says which found what; raters do not "
    "see it.",
    path("--also", "let the settings of this benchmark find passages too", "CONFIG"),
    _AGAIN,
)

_grade = _step(
    lambda: labels.grade,
    "grade",
    "grade the passages",
    "Write grades.csv. The judge of testset.yaml grades (judge, or llm); or people do, in a sheet (--sheet), "
    "which is read back with --from. The labels that a labelling page wrote are read too.",
    *_sheet(
        "write a sheet for people, .xlsx or .csv", "read a graded sheet, or labels", "with --from: who graded"
    ),
    _AGAIN,
    _DRY_RUN,
)

_answer = _step(
    lambda: labels.answer,
    "answer",
    "write golden answers",
    "Write answers.csv: the model of testset.yaml (answer, or llm) answers from the passages of grade 2 and "
    "above; or people fill the column answer (--by-hand). An expert reviews and edits the answers in a page "
    "or a sheet with their contexts (--sheet), which is read back with --from.",
    one_of(
        flag("--by-hand", "only write the rows to fill"),
        path("--sheet", "write a page (.html) or a sheet (.xlsx, .csv) to review the answers in"),
        path("--from", "read the reviewed answers", dest="reviewed_file"),
    ),
    option("--by", default="", metavar="NAME", help="with --from: who reviewed"),
    _PROMPT,
    _AGAIN,
    _DRY_RUN,
)

_review = _step(
    lambda: labels.review,
    "review",
    "let a second person grade a part",
    "Write a sheet with a part of the graded passages, without their grades (--sheet), for a second person. "
    "--from reads it back, prints the agreement, and disagreements.csv lists where the two differ.",
    *_sheet("write the sheet, .xlsx or .csv", "read the graded sheet", "who reviews", required=True),
    number("--share", 0.2, "of the passages", "PART"),
)

_export = _step(
    lambda: labels.export_testset,
    "export",
    "write the test set",
    "Write export/: queries.csv with answers, labels.csv, a datasheet of how they were made, and bench.yaml, "
    "which runs without changes. With --format: the files of another tool.",
    option("--format", default="", metavar="NAME", help="trec or ragas"),
    path("--to", "with --format: the folder to write", "DIR"),
)

testset = Command(
    _DESCRIPTION,
    (path("folder", "the folder of the test set", "DIR"),),
    parts=(status, _propose, _choose, _gather, _grade, _answer, _review, _export, undo),
    title="steps",
    metavar="STEP",
)
