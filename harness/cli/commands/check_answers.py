"""`harness judge check-answers`: try the model that scores answers on answers whose scores are known."""

from __future__ import annotations

import argparse

from harness.cli.commands.declaring import QUIET, command, config_file, flag
from harness.cli.commands.shared import TWO_ROUNDS, measures, names_of_measures, print_prices

_DESCRIPTION = """\
Try the measures of answers that ask a language model on answers whose true score is known by construction:
the golden answer, the same with a figure changed, an answer to another question, a noncommittal one, an
invented sentence added, passages on another subject; and attacks: orders to give points, long padding.

  harness judge check-answers my.yaml --dry-run   what it would cost
  harness judge check-answers my.yaml             the table, and what is wrong

CONFIG names answer_measures and answer_judge, as a benchmark or a file for score-answers does. The calls go
into the ledger and are paid once. Exit code 1 if it finds a problem. How a model agrees with people on
answers of your own: harness score-answers --human.
"""


@command(
    "check-answers",
    "try the model that scores answers on answers whose scores are known",
    _DESCRIPTION,
    config_file("with answer_measures and answer_judge"),
    measures("those of CONFIG that ask a model"),
    flag("--dry-run", "say what would be asked, and what that costs; ask nothing"),
    QUIET,
)
def check_answers(args: argparse.Namespace) -> int:
    """Score the known answers; print the table and the problems."""
    from harness.cli.terminal import TerminalReporter, print_line, show
    from harness.running import Context, check_scorers, check_table, load_answer_scoring, price_check

    config = load_answer_scoring(args.config, names_of_measures(args.measures))
    reporter = TerminalReporter(quiet=args.quiet)
    with Context.at(config.cache, reporter, may_ask=not args.dry_run) as context:
        if args.dry_run:
            print_prices(price_check(config, context), TWO_ROUNDS)
            return 0
        found = check_scorers(config, context)
    show(check_table(found))
    problems = [problem for check in found for problem in check.problems]
    for problem in problems:
        print_line(f"problem: {problem}")
    if not problems:
        print_line("No problem found.")
    return 1 if problems else 0
