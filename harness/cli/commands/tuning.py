"""`harness tune`: choose among many settings at a fraction of what all of them take on everything."""

from __future__ import annotations

import argparse
from shlex import quote

from harness import report, running
from harness.cli.commands.common import print_ending
from harness.cli.commands.declaring import QUIET, command, config_file, flag
from harness.cli.terminal import TerminalReporter, print_line, show
from harness.values import ConfigError

_DESCRIPTION = """\
Choose among many settings: all of them on a part of the text and queries, the best of these on more, and
what is left on everything. At the end stand the setting to use and two bounds: what it may lose to the
settings that saw everything, and what it may lose to those that were dropped, from what these were seen
on.

  harness tune my.yaml --dry-run     # the stages, what each takes, and what the end can promise
  harness tune my.yaml
  harness tune my.yaml --certify     # later: dropped settings that may be better see everything too

CONFIG is that of `harness bench`: lists are a sweep, and so are ranges such as {from: 200, to: 2000,
log: true}, for any key of a step that takes a number (chunk_size, chunk_overlap, top_k, k of rrf), and for
entries of lists such as weights: [1, {from: 0.5, to: 2.0}]. `tune: {budget: 30 min}` (or `5 USD`, `20 %`)
limits what it may take. A range stands for fixed values; with `strategy: tpe` a sampler of Optuna proposes
`trials` settings from the ranges instead (pip install 'ndcg-harness[tune]'). The plan is kept beside
the results, and it alone decides what is seen: a stopped run goes on where it was, and a second one
gives the same numbers. The folder of results holds the settings that saw everything, for `show`,
`compare` and `gate`; tuned.csv in it lists those that did not.
"""
# So many dropped settings are listed at the end.
_SHOWN = 5


@command(
    _DESCRIPTION,
    config_file("YAML file, as for `harness bench`"),
    flag("--dry-run", "show the plan, and stop; nothing is paid for, and of models only a screen is made"),
    flag("--certify", "go on from a search: dropped settings that may be better see everything too"),
    QUIET,
)
def tune(args: argparse.Namespace) -> int:
    """Plan, run the stages, and print what was found."""
    config, space = running.load_tuning(args.config)
    reporter = TerminalReporter(quiet=args.quiet)
    if args.certify and config.tune.screen:
        raise ConfigError(
            "--certify: a screen in int8 shows nothing of what exact vectors would give a dropped setting. "
            "Leave out tune.screen, and run again with `give: certify`."
        )
    course, new = running.open_course(config, reporter, space)
    plan = running.plan_file(config)
    seen = f"{len(course.screened)} of {len(course.ladder.stages)} stages seen"
    if space:
        seen += f", {len(course.sampled.proposals)} of {len(config.settings)} proposals tried"
    stands = "" if new else f"Going on with {plan}: {seen}."
    promise = tuple(running.promise_lines(course.ladder, config))
    show(*([(stands,)] if stands else []), running.plan_table(course.ladder), promise)
    if args.dry_run:
        made = " The models of the screen were calibrated, and are kept." if config.tune.screen else ""
        print_line(f"Nothing was spent.{made}")
        return 0
    tuned = running.run_course(config, course, reporter, certify=args.certify)
    print_ending(tuned.ending)
    dropped = report.read_any(tuned.folder, report.DroppedRow)
    table = [report.dropped_table(dropped, _SHOWN)] if dropped else []
    show(tuned.lines, *table, (f"All of it: {tuned.folder / 'tune.json'}; plan: {quote(str(plan))}",))
    return 0
