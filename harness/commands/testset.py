"""`harness testset`: a labelled test set, step by step."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.running.context import Context
    from harness.testset.state import State
    from harness.testset.steps import Outcome

_DESCRIPTION = """\
Make questions and labels for your documents. DIR holds testset.yaml, which `harness init` writes, and one
table per step, which you can edit in a spreadsheet at any time. Every step says what comes next, and
can be repeated (--again) or undone (undo). No answer of a language model is paid for twice.

  harness init contracts --out DIR
  harness testset DIR status
  harness testset DIR propose --dry-run    what 150 questions by the model would cost
  harness testset DIR propose              or --offline, or --from queries.csv
  harness testset DIR choose --auto        100 of them; people edit chosen.csv
  harness testset DIR gather               30 passages each, by several retrievers
  harness testset DIR grade --dry-run      or --sheet sheet.xlsx for people
  harness testset DIR answer
  harness testset DIR review --sheet second.xlsx
  harness testset DIR export
  harness bench DIR/export/bench.yaml

docs/testset.md describes every step and file.
"""

Step = Callable[["State", "Context", argparse.Namespace], "Outcome"]


def add(commands: Any) -> None:
    """Describe the command and its steps."""
    parser = commands.add_parser(
        "testset", help="make questions and labels step by step", description=_DESCRIPTION
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="the folder of the test set")
    parts = parser.add_subparsers(title="steps", metavar="STEP", required=True)
    status = parts.add_parser("status", help="say where you are and what comes next")
    status.set_defaults(run=run_status)
    _propose(parts)
    _choose(parts)
    _gather(parts)
    _grade(parts)
    _answer(parts)
    _review(parts)
    _export(parts)
    undo = parts.add_parser(
        "undo",
        help="undo the latest step",
        description="Restore the files that the latest step has changed. What was undone is kept under "
        "DIR/history/undone/. Run it again to undo the step before.",
    )
    undo.set_defaults(run=run_undo)


def _step(parts: Any, name: str, help_: str, description: str, step: Step) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = parts.add_parser(name, help=help_, description=description)
    parser.set_defaults(run=run_step, step=step)
    return parser


def _again(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--again", action="store_true", help="repeat the step; the old file stays in history/"
    )


def _dry(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="say what it would cost; ask nothing")


def _propose(parts: Any) -> None:
    parser = _step(
        parts,
        "propose",
        "propose questions",
        "Write proposed.csv: questions of several kinds, each with the passage that would answer it as a "
        "suggestion. By the language model of testset.yaml (llm); or from a list, a search log or traces "
        "(--from); or drafted by rules, without a model (--offline).",
        _do_propose,
    )
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--offline", action="store_true", help="draft from headings, tables and sentences")
    way.add_argument(
        "--from", dest="given", type=Path, metavar="FILE", help="questions of your users: .csv, .xlsx, .jsonl"
    )
    parser.add_argument(
        "--field", default="", metavar="NAME", help="with --from: the field that holds the question"
    )
    parser.add_argument("--count", type=int, metavar="N", help="how many; default: questions in testset.yaml")
    parser.add_argument("--prompt", default="", metavar="FILE", help="a prompt file of your own, .yaml")
    parser.add_argument("--add", action="store_true", help="add to the existing proposals")
    _again(parser)
    _dry(parser)


def _choose(parts: Any) -> None:
    parser = _step(
        parts,
        "choose",
        "choose among the proposals",
        "Write chosen.csv, where people write yes or no into keep and edit the text. Near-duplicates and "
        "leading questions, which copy the words of their passage, are shown with measures. --auto keeps a "
        "balanced set of kinds and documents. What you have marked and edited stays.",
        _do_choose,
    )
    parser.add_argument("--auto", action="store_true", help="fill keep with a balanced choice")
    parser.add_argument("--count", type=int, metavar="N", help="how many; default: chosen in testset.yaml")
    parser.add_argument(
        "--by",
        choices=("words", "embedding"),
        default="words",
        help="what makes near-duplicates; default words",
    )
    _again(parser)


def _gather(parts: Any) -> None:
    parser = _step(
        parts,
        "gather",
        "gather passages to grade",
        "Write pool.csv: for every kept question, passages that several different retrievers find, each in "
        "turn: words, meaning and both, over small and large chunks. found.csv says which found what; "
        "raters do not see it.",
        _do_gather,
    )
    parser.add_argument(
        "--count", type=int, metavar="N", help="passages per question; default: as in testset.yaml"
    )
    parser.add_argument(
        "--also", type=Path, metavar="CONFIG", help="let the settings of this benchmark find passages too"
    )
    _again(parser)


def _grade(parts: Any) -> None:
    parser = _step(
        parts,
        "grade",
        "grade the passages",
        "Write grades.csv. The judge of testset.yaml grades (judge, or llm); or people do, in a sheet "
        "(--sheet), which is read back with --from. The labels that a labelling page wrote are read too.",
        _do_grade,
    )
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--sheet", type=Path, metavar="FILE", help="write a sheet for people, .xlsx or .csv")
    way.add_argument("--from", dest="given", type=Path, metavar="FILE", help="read a graded sheet, or labels")
    parser.add_argument("--by", default="", metavar="NAME", help="with --from: who graded")
    parser.add_argument(
        "--all", action="store_true", help="with --sheet: include passages that people have graded"
    )
    _again(parser)
    _dry(parser)


def _answer(parts: Any) -> None:
    parser = _step(
        parts,
        "answer",
        "write golden answers",
        "Write answers.csv: the model of testset.yaml (answer, or llm) answers from the passages of "
        "grade 2 and above; or people fill the column answer (--by-hand).",
        _do_answer,
    )
    parser.add_argument("--by-hand", action="store_true", help="only write the rows to fill")
    parser.add_argument("--prompt", default="", metavar="FILE", help="a prompt file of your own, .yaml")
    _again(parser)
    _dry(parser)


def _review(parts: Any) -> None:
    parser = _step(
        parts,
        "review",
        "let a second person grade a part",
        "Write a sheet with a part of the graded passages, without their grades (--sheet), for a second "
        "person. --from reads it back, prints the agreement, and disagreements.csv lists where the two "
        "differ.",
        _do_review,
    )
    way = parser.add_mutually_exclusive_group(required=True)
    way.add_argument("--sheet", type=Path, metavar="FILE", help="write the sheet, .xlsx or .csv")
    way.add_argument("--from", dest="given", type=Path, metavar="FILE", help="read the graded sheet")
    parser.add_argument("--by", default="", metavar="NAME", help="who reviews")
    parser.add_argument(
        "--share", type=float, default=0.2, metavar="PART", help="of the passages; default 0.2"
    )


def _export(parts: Any) -> None:
    parser = _step(
        parts,
        "export",
        "write the test set",
        "Write export/: queries.csv with answers, labels.csv, a datasheet of how they were made, and "
        "bench.yaml, which runs without changes. With --format: the files of another tool.",
        _do_export,
    )
    parser.add_argument(
        "--format",
        default="",
        metavar="NAME",
        help="csv, jsonl, xlsx, trec, label_studio, argilla, quepid or ragas",
    )
    parser.add_argument("--to", type=Path, metavar="DIR", help="with --format: the folder to write")


def run_status(args: argparse.Namespace) -> int:
    """Print a line a step, and what comes next."""
    from harness.terminal import print_facts, print_line
    from harness.testset.state import State
    from harness.testset.status import status_of

    status = status_of(State(args.folder))
    print_facts(str(args.folder), status.steps)
    _next(status.next, print_line)
    return 0


def run_undo(args: argparse.Namespace) -> int:
    """Take the latest step back."""
    from harness.terminal import print_line
    from harness.testset.state import State

    state = State(args.folder)
    with state.alone():
        undone = state.undo()
    print_line(f"Undone: {undone.step} of {undone.when} ({undone.how}): {', '.join(undone.files)}.")
    return 0


def run_step(args: argparse.Namespace) -> int:
    """Do one step, say what came of it and what comes next."""
    from harness.running.context import Context
    from harness.terminal import TerminalReporter, print_line
    from harness.testset.state import State
    from harness.testset.status import status_of

    state = State(args.folder)
    dry = getattr(args, "dry_run", False)
    with state.alone(), Context.at(state.config.cache, TerminalReporter(), may_ask=not dry) as context:
        outcome = args.step(state, context, args)
    for line in outcome.lines:
        print_line(line)
    for name, estimate in outcome.estimates:
        print_line(f"  {name}: {estimate}.")
    if outcome.dry:
        print_line("Nothing was spent.")
        return 0
    _next(status_of(state).next if outcome.next is None else outcome.next, print_line)
    return 0


def _next(commands: tuple[str, ...], tell: Callable[[str], None]) -> None:
    if commands:
        tell("Next:" if len(commands) == 1 else "Next, one of:")
    for one in commands:
        tell(f"  {one}")


def _positive(count: int | None, default: int) -> int:
    from harness.errors import ConfigError

    if count is not None and count < 1:
        raise ConfigError(f"--count cannot be {count}; give 1 or more.")
    return count or default


def _do_propose(state: State, context: Context, args: argparse.Namespace) -> Outcome:
    from harness.errors import ConfigError
    from harness.testset import proposing

    count = _positive(args.count, state.config.questions)
    if args.field and not args.given:
        raise ConfigError("--field goes with --from.")
    if args.dry_run and (args.offline or args.given):
        raise ConfigError("--dry-run goes with a language model; --offline and --from cost nothing.")
    if args.offline:
        return proposing.propose_offline(state, context, count, args.again, args.add)
    if args.given:
        return proposing.propose_given(state, context, args.given, count, args.field, args.again, args.add)
    return proposing.propose_by_model(state, context, count, args.prompt, args.again, args.add, args.dry_run)


def _do_choose(state: State, context: Context, args: argparse.Namespace) -> Outcome:
    from harness.testset.choosing import choose

    count = _positive(args.count, state.config.chosen)
    return choose(state, context, count, args.auto, args.again, args.by)


def _do_gather(state: State, context: Context, args: argparse.Namespace) -> Outcome:
    from harness.testset.gathering import gather

    return gather(state, context, _positive(args.count, state.config.passages), args.also, args.again)


def _do_grade(state: State, context: Context, args: argparse.Namespace) -> Outcome:
    from harness.testset import grading

    if args.sheet:
        return grading.export_sheet(state, context, args.sheet, args.all)
    if args.given:
        return grading.import_grades(state, context, args.given, args.by)
    return grading.grade_by_judge(state, context, args.again, args.dry_run)


def _do_answer(state: State, context: Context, args: argparse.Namespace) -> Outcome:
    from harness.testset import answering

    if args.by_hand:
        return answering.answer_by_hand(state)
    return answering.answer_by_model(state, context, args.prompt, args.again, args.dry_run)


def _do_review(state: State, context: Context, args: argparse.Namespace) -> Outcome:
    from harness.testset import reviewing

    if args.sheet:
        return reviewing.export_review(state, context, args.sheet, args.share, args.by)
    return reviewing.import_review(state, context, args.given, args.by)


def _do_export(state: State, context: Context, args: argparse.Namespace) -> Outcome:
    from harness.errors import ConfigError
    from harness.testset import exporting

    if args.to and not args.format:
        raise ConfigError("--to goes with --format.")
    if args.format:
        return exporting.export_as(state, context, args.format, args.to)
    return exporting.export(state, context)
