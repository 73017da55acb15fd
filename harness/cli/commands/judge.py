"""`harness judge`: the ledger of judgments, and whether to believe a judge."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator

from harness import judge, running, store
from harness.cli.commands import agreement
from harness.cli.commands.declaring import CACHE, Command, config_file, flag, number, option, part, path
from harness.cli.commands.shared import open_ledger
from harness.cli.terminal import TerminalReporter, print_facts, print_line, write_out
from harness.values import JudgeError, counted, refuse_special

_DESCRIPTION = """\
Manage the judgments of language models, and check how far they can be trusted.

  harness bench my.yaml --dry-run             what judging would cost, before anything is spent
  harness judge check my.yaml                 test the judge on a small known set (spends a little)
  harness judge agreement my.yaml             compare it with your own labels
  harness judge answers my.yaml --failed      its raw answers
  harness judge export --to judgments.jsonl   every judgment ever paid for, to keep or share
  harness judge import judgments.jsonl        load them into another cache; nothing is paid for twice
"""


@part(
    "export",
    "write all judgments as JSON lines",
    "Write every answer of the ledger as JSON lines: query, passages, grades or the reason why there are "
    "none, the raw answer, tokens, price, time. The export contains your texts in full, but no API key.",
    path("--to", "the file to write; default: standard output"),
    CACHE,
)
def export(args: argparse.Namespace) -> int:
    """Write the ledger as JSON lines."""
    with open_ledger(args.cache) as ledger:
        if args.to is None:
            for line in ledger.export_lines():
                write_out(line + "\n")
            return 0
        count = 0
        with args.to.open("w", encoding="utf-8", newline="\n") as file:
            for line in ledger.export_lines():
                file.write(line + "\n")
                count += 1
    print_line(f"{args.to}: {counted(count, 'answer')}. The file contains queries and passages in full.")
    return 0


@part(
    "import",
    "load judgments from JSON lines",
    "Add the lines of an export that are not yet in the ledger, all or none. A line whose key does not match "
    "its content is refused.",
    path("file", "a file written by `harness judge export`"),
    CACHE,
)
def import_(args: argparse.Namespace) -> int:
    """Add the lines of an export to the ledger."""
    try:
        if args.file.exists():
            refuse_special(args.file)
        with (
            args.file.open(encoding="utf-8-sig") as lines,
            store.Ledger(store.CacheLayout(args.cache).ledger) as ledger,
        ):
            found = ledger.import_lines(lines, str(args.file))
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise JudgeError(f"{args.file} cannot be read: {reason}. Export it again.") from error
    print_line(f"{counted(found.added, 'answer')} added, {found.already_there} were already there.")
    return 0


@part(
    "check",
    "test the judge on a small known set",
    "Run about 50 known passages, several times each, through the judge of CONFIG. Does it grade plain "
    "passages as a person could? Does it obey instructions inside a passage, on topic or off topic? Does it "
    "agree with itself? Does the position in a list matter? This costs a little; the answers go into the "
    "ledger. Exit code 1 if it finds a problem.",
    config_file("with relevance: {judge: llm, …}"),
    number("--repeats", 3, "how often each call is made"),
)
def check(args: argparse.Namespace) -> int:
    """Run the known set through every model that judges and print the result."""
    config = running.load_config(args.config)
    passed = True
    for grader in running.llm_configs(config):
        with store.Ledger(store.CacheLayout(config.cache).ledger) as ledger:
            report = judge.check_judge(grader, ledger, reporter=TerminalReporter(), repeats=args.repeats)
        _print_check(report)
        passed = passed and not report.problems
    return 0 if passed else 1


def _print_check(report: judge.CheckReport) -> None:
    bias = report.position_bias
    position = "one passage per call" if bias is None else f"{bias:+.2f} grades"
    print_facts(
        f"{report.judge}: known set of {report.passages} passages, alone and under attack",
        [
            ("sensible grades", f"{report.in_range:.0%} of the plain passages"),
            *(
                (f"gained by: {attack}, {carrier}", f"{gain:+.2f} grades")
                for (attack, carrier), gain in report.leakage.items()
            ),
            ("agrees with itself", f"{report.self_agreement:.0%}"),
            ("place in the list", position),
            ("without a grade", f"{report.summary.unscored_count} of {report.summary.pairs}"),
            ("calls", report.summary.calls),
        ],
    )
    for problem in report.problems:
        print_line(f"problem: {problem}")


_PASSAGE = 200
_ANSWERS = """\
Print the raw answers of the judge of CONFIG from the ledger: query, passage, grade or the reason
why there is none, tokens, time. Answers that were superseded by a retry are shown too. No call is made.

  harness judge answers my.yaml --failed            answers without a grade
  harness judge answers my.yaml --query q17         by the id of a query, or words of its text
  harness judge answers my.yaml --flagged           passages that address the judge
  harness judge answers my.yaml --full --limit 0    all of it, passages in full
"""


@part(
    "answers",
    "show what a judge has answered, and where it failed",
    _ANSWERS,
    config_file("with relevance: {judge: llm, …}"),
    option("--query", metavar="ID|TEXT", help="answers to one query, or to those with this text"),
    flag("--failed", "answers without a grade"),
    flag("--flagged", "passages that address the judge"),
    flag("--full", "print passages in full"),
    number("--limit", 20, "the newest N answers; 0: all"),
)
def show_answers(args: argparse.Namespace) -> int:
    """Print the answers, newest last, and how many there are of each kind."""
    config = running.load_config(args.config)
    judges = running.llm_configs(config)
    wanted = {"failed": args.failed, "flagged": args.flagged}
    with open_ledger(config.cache) as ledger:
        found = list(running.answers(ledger, judges, config, args.query, **wanted))
    shown = found[-args.limit :] if args.limit else found
    for entry in shown:
        for line in _entry_lines(entry, full=args.full):
            print_line(line)
    reasons = Counter(entry.reason for entry in found if entry.grades is None)
    failed = ", ".join(f"{reason} {count}" for reason, count in reasons.most_common())
    left = f", the newest {len(shown)} shown (--limit 0 shows all)" if len(shown) < len(found) else ""
    print_line(
        f"{counted(len(found), 'answer')}{left}; without a grade: {reasons.total()}"
        f"{f' ({failed})' if failed else ''}."
    )
    return 0


def _shortened(passage: str) -> str:
    """The beginning of a passage on one line: the columns of a table are far apart in the text of a page."""
    text = " ".join(passage.split())
    return text if len(text) <= _PASSAGE else f"{text[:_PASSAGE]} […]"


def _entry_lines(entry: store.LedgerEntry, *, full: bool) -> Iterator[str]:
    grades = " ".join(map(str, entry.grades)) if entry.grades is not None else f"none ({entry.reason})"
    again = "" if entry.settled else ", asked again"
    sample = f", sample {entry.sample}" if entry.sample else ""
    used = f"{entry.prompt_tokens or '?'} + {entry.completion_tokens or '?'} tokens"
    yield (
        f"{entry.answered_at[:19]}  {entry.served_model or entry.model}{sample}  grade: {grades}{again}"
        f"  {used}, {entry.seconds:.1f} s"
    )
    yield f"  query:   {entry.query}"
    for passage in entry.passages:
        yield "  passage: " + (passage.replace("\n", "\n           ") if full else _shortened(passage))
        words = judge.find_injection(passage)
        if words:
            yield f"  flagged: “{words}”"
    yield "  answer:  " + (entry.raw or "(nothing)").replace("\n", "\n           ")
    yield ""


family = Command(
    _DESCRIPTION,
    parts=(
        export,
        import_,
        check,
        agreement.agreement,
        show_answers,
    ),
    title="what to do",
    metavar="WHAT",
)
