"""`harness bench`: run a benchmark and write its results."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from harness.commands.declaring import QUIET, command, config_file, flag

if TYPE_CHECKING:
    from harness.bench.ending import Ending
    from harness.config import BenchConfig
    from harness.report import Results
    from harness.types import RunRecord

_DONE = {
    "rewriting": "rewrote queries",
    "filter": "found what queries name",
    "context": "wrote context for chunks",
    "answer": "answered questions",
    "measuring": "measured answers",
}


@command(
    "bench",
    "run a benchmark and write its results",
    "Run every setting of CONFIG and write results/<name>/. Anything computed before, by this or another "
    "configuration, is reused from the cache; a killed run resumes. If nothing has changed since the results "
    "were written, they are shown at once.",
    config_file("YAML file; docs/configuration.md has every key"),
    flag(
        "--dry-run",
        "retrieve, print the calls, tokens and price that rewriting, endpoints, answers and the judge would "
        "take, and stop",
    ),
    flag(
        "--again", "run even if nothing has changed since the results were written; the cache is still reused"
    ),
    QUIET,
)
def bench(args: argparse.Namespace) -> int:
    """Run it and print the summary."""
    from harness.bench.job import do_bench
    from harness.config import load_config
    from harness.terminal import TerminalReporter, show

    config = load_config(args.config)
    if args.dry_run:
        return _dry_run(config, args.quiet)
    done = do_bench(config, TerminalReporter(quiet=args.quiet), again=args.again)
    _print_figures(done.ending)
    if done.results is None:
        unchanged = f"Nothing has changed since the run of {done.date}; its results stand"
        show((f"{unchanged} (--again runs it again).",))
    else:
        _print_work(done.results.record)
    _print_verdict(done.ending, done.folder)
    return 0 if done.results is None else _exit_code(config, done.results)


def _exit_code(config: BenchConfig, results: Results) -> int:
    from harness.commands.shared import exit_code
    from harness.report import DocumentRow

    return exit_code(config, [row.document for row in results.of(DocumentRow) if row.status == "skipped"])


def _print_work(record: RunRecord) -> None:
    """What a run has asked and computed."""
    from harness.report import counted
    from harness.terminal import show

    counts = record.counts
    computed = (
        f"{counted(counts.get('vectors_computed', 0), 'vector')} and "
        f"{counted(counts.get('pairs_computed', 0), 'pair')} computed, "
        f"{counts.get('vectors_reused', 0)} and {counts.get('pairs_reused', 0)} reused, "
        f"in {record.timings['total']:.1f} s."
    )
    show((*_rewriting(record), *_endpoints(record), *_judging(record), computed))


def _print_figures(ending: Ending) -> None:
    from harness.terminal import print_summary, show

    print_summary(ending.name, ending.summary, ending.level, ending.headline)
    for table in ending.tables:
        show(table)
    if ending.notes:
        show(ending.notes)


def _print_verdict(ending: Ending, folder: Path) -> None:
    """The answer comes last, where the eye is."""
    from harness.report.stored import REPORT
    from harness.terminal import print_line, show

    if ending.page:
        show(ending.page)
    show(ending.verdict)
    if ending.answers:
        show(ending.answers)
    print_line(f"Results: {folder}/")
    print_line(f"All differences: harness compare {folder}")
    print_line(f"Open in a browser: {folder / REPORT}")


def _rewriting(record: RunRecord) -> list[str]:
    """What language models did before the search, where one was asked."""
    from harness.report import counted

    lines = []
    for name, facts in record.counts.get("rewriting", {}).items():
        spent = "at unknown cost (no price)" if facts["cost"] is None else f"for {facts['cost']:.4f}"
        did = _DONE[facts.get("purpose", "rewriting")]
        lines.append(
            f"{name} {did}: {counted(facts['calls'], 'call')} now {spent}, "
            f"{counted(facts['from_ledger'], 'answer')} from the ledger."
        )
    return lines


def _endpoints(record: RunRecord) -> list[str]:
    """What endpoints gave, where one was asked."""
    from harness.report import counted

    lines = []
    for name, facts in record.counts.get("endpoints", {}).items():
        spent = "at unknown cost (no price)" if facts["cost"] is None else f"for {facts['cost']:.4f}"
        lines.append(
            f"{name}: {counted(facts['requests'], 'request')} now {spent}, "
            f"{counted(facts['kept_from_before'], 'value')} kept from before."
        )
    return lines


def _judging(record: RunRecord) -> list[str]:
    """What the judge did, where one was asked."""
    from harness.report import counted

    if not record.cost:
        return []
    cost, spent = record.cost, "at unknown cost (no price)"
    if cost["cost"] is not None:
        spent = f"for {cost['cost']:.4f}"
    unscored = sum(cost["unscored"].values())
    answers = counted(cost["from_ledger"], "answer")
    return [
        f"{record.judge['name']} graded {counted(cost['pairs'], 'pair')}: "
        f"{counted(cost['calls'], 'call')} now {spent}, {answers} from the ledger, "
        f"{unscored} without a grade."
    ]


def _dry_run(config: BenchConfig, quiet: bool) -> int:
    from harness.bench.flow import dry_run
    from harness.commands.shared import exit_code
    from harness.report import counted
    from harness.terminal import TerminalReporter, print_line, print_table

    plan = dry_run(config, TerminalReporter(quiet=quiet))
    for one in plan.rewriting:
        print_line(f"{one.name}: {one.estimate}.")
    if plan.rewriting:
        upon = " and a ".join(dict.fromkeys(one.purpose for one in plan.rewriting))
        print_line(
            f"Rankings, and so the pairs to judge, depend on a {upon} that has not been made yet. "
            "Nothing was spent."
        )
        return exit_code(config, plan.skipped)
    for one in plan.endpoints:
        print_line(f"{one.name}: {one.estimate}.")
        if one.problem:
            print_line(one.problem)
    if plan.endpoints:
        print_line(
            "Rankings, and so the pairs to judge, depend on an endpoint that has not been called "
            "yet. Nothing was spent."
        )
        return exit_code(config, plan.skipped)
    for service in plan.services:
        asked = counted(service.settings, "setting calls it", "settings call it")
        print_line(f"{service.url}: {asked}, and a dry run sends nothing to it.")
    if plan.services:
        print_line("Rankings, and so the pairs to judge, depend on its answers. Nothing was spent.")
        return exit_code(config, plan.skipped)
    for one in plan.answers.answering:
        print_line(f"{one.name}, to answer: {one.estimate}.")
    for one in plan.answers.measuring:
        about = "about " if plan.answers.about else ""
        print_line(f"{one.name}, to measure answers, {about}at least: {one.estimate}.")
    for problem in dict.fromkeys(one.problem for one in plan.answers.missing if one.problem):
        print_line(problem)
    if plan.settings:
        print_table("pairs to judge", ("setting", "pairs"), list(plan.settings.items()))
    cost = f"{counted(plan.pairs, 'pair')}, at no cost" if plan.estimate is None else str(plan.estimate)
    print_line(f"{plan.judge}: {cost}. Nothing was spent.")
    return exit_code(config, plan.skipped)
