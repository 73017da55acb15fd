"""`harness judge`: the ledger of judgments, and whether to believe a judge."""

from __future__ import annotations

import argparse

from harness import judge, running, store
from harness.cli.commands import agreement, answers, batches, score_answers
from harness.cli.commands.declaring import CACHE, Command, config_file, number, part, path
from harness.cli.commands.shared import open_ledger
from harness.cli.terminal import TerminalReporter, print_facts, print_line, write_out
from harness.values import JudgeError, counted, refuse_special

_DESCRIPTION = """\
Manage the judgments of language models, and check how far they can be trusted.

  harness bench my.yaml --dry-run             what judging would cost, before anything is spent
  harness judge check my.yaml                 test the judge on a small known set (spends a little)
  harness judge check-answers my.yaml         the same for the model that scores answers
  harness judge agreement my.yaml             compare it with your own labels
  harness judge answers my.yaml --failed      its raw answers
  harness judge batches                       batches that are in progress
  harness judge export --to judgments.jsonl   every judgment ever paid for, to keep or share
  harness judge import judgments.jsonl        load them into another cache; nothing is paid for twice

See docs/judge.md.
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
        passed = passed and report.passed
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
            ("without a grade", f"{report.unscored} of {report.pairs}"),
            ("calls", report.summary.calls),
        ],
    )
    for problem in report.problems:
        print_line(f"problem: {problem}")


family = Command(
    _DESCRIPTION,
    parts=(
        export,
        import_,
        check,
        score_answers.check_answers,
        agreement.agreement,
        answers.show_answers,
        batches.show_batches,
    ),
    title="what to do",
    metavar="WHAT",
)
