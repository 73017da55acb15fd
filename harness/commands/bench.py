"""`harness bench`: run a benchmark and write its results."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.config import BenchConfig
    from harness.types import RunRecord


def add(commands: Any) -> None:
    """Describe the command."""
    parser = commands.add_parser(
        "bench",
        help="run a benchmark and write its results",
        description="Run every setting of CONFIG and write results/<name>/. What was computed before, by "
        "this or another configuration, is reused from the cache; a run that was killed goes on.",
    )
    parser.add_argument(
        "config", type=Path, metavar="CONFIG", help="YAML file; docs/configuration.md has every key"
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="retrieve, say how many calls, tokens and how much money rewriting, endpoints, answers and the "
        "judge would take, and stop",
    )
    parser.add_argument("--quiet", action="store_true", help="no progress bars and warnings")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run it and print the summary."""
    from harness.bench.flow import run_bench
    from harness.bench.page import REPORT, write_page
    from harness.commands.skipped import exit_code
    from harness.config import load_config
    from harness.report import DocumentRow, FilterRow, LossRow, counted, label_note, loss_table
    from harness.report.answer_tables import answer_parts
    from harness.terminal import TerminalReporter, print_line, print_summary, show
    from harness.verdict import filter_table

    config = load_config(args.config)
    if args.dry_run:
        return _dry_run(config, args.quiet)
    reporter = TerminalReporter(quiet=args.quiet)
    pages = []

    def finish(folder: Path) -> None:
        pages.append(write_page(folder, reporter=reporter, name=config.name)[1])

    results, folder = run_bench(config, reporter, finish)
    print_summary(results.name, results.summary, config.bootstrap.level, results.verdict["measure"])
    losses = results.of(LossRow)
    if losses:
        show(loss_table(losses))
    filtered = results.of(FilterRow)
    if filtered:
        show(filter_table(filtered))
    for table in answer_parts(results.of):
        show(table)
    note = label_note(results.record.config, results.record.counts)
    counts = results.record.counts
    told = [
        *([note] if note else []),
        *_rewriting(results.record),
        *_endpoints(results.record),
        *_judging(results.record),
        f"{counted(counts.get('vectors_computed', 0), 'vector')} and "
        f"{counted(counts.get('pairs_computed', 0), 'pair')} computed, "
        f"{counts.get('vectors_reused', 0)} and {counts.get('pairs_reused', 0)} reused, "
        f"in {results.record.timings['total']:.1f} s.",
        *(page.note for page in pages if page.note),
    ]
    show(tuple(told))
    # the answer comes last, where the eye is
    show(tuple(results.verdict["sentences"]))
    print_line(f"Results: {folder}/")
    print_line(f"All differences: harness compare {folder}")
    print_line(f"Look at them in a browser: {folder / REPORT}")
    return exit_code(config, [row.document for row in results.of(DocumentRow) if row.status == "skipped"])


_DONE = {
    "rewriting": "rewrote the queries",
    "filter": "said what the queries name",
    "context": "wrote the context of chunks",
    "answer": "answered the questions",
    "measuring": "measured the answers",
}


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
    panel = cost.get("panel") or {}
    members = [
        f"{name} is {above:+.2f} grades from the median" if above is not None else name
        for name, above in panel.get("above_the_median", {}).items()
    ]
    agree = f"The members agree on {panel['all_agree']:.0%} of the pairs" if panel else ""
    if panel and panel["alpha_ordinal"] is not None:
        agree += f" (Krippendorff's alpha, ordinal, {panel['alpha_ordinal']:.2f})"
    return [
        f"{record.judge['name']} graded {counted(cost['pairs'], 'pair')}: "
        f"{counted(cost['calls'], 'call')} now {spent}, {answers} from the ledger, "
        f"{unscored} without a grade.",
        *([f"{agree}; {', '.join(members)}."] if panel else []),
    ]


def _dry_run(config: BenchConfig, quiet: bool) -> int:
    from harness.bench.flow import dry_run
    from harness.commands.skipped import exit_code
    from harness.report import counted
    from harness.terminal import TerminalReporter, print_line, print_table

    plan = dry_run(config, TerminalReporter(quiet=quiet))
    for one in plan.rewriting:
        print_line(f"{one.name}: {one.estimate}.")
    if plan.rewriting:
        upon = " and a ".join(dict.fromkeys(one.purpose for one in plan.rewriting))
        print_line(
            f"Rankings, and with them what is to be judged, depend on a {upon} that has not been made yet. "
            "Nothing was spent."
        )
        return exit_code(config, plan.skipped)
    for one in plan.endpoints:
        print_line(f"{one.name}: {one.estimate}.")
        if one.problem:
            print_line(one.problem)
    if plan.endpoints:
        print_line(
            "Rankings, and with them what is to be judged, depend on an endpoint that has not been asked "
            "yet. Nothing was spent."
        )
        return exit_code(config, plan.skipped)
    for service in plan.services:
        asked = counted(service.settings, "setting asks it", "settings ask it")
        print_line(f"{service.url}: {asked}, and a dry run sends it nothing.")
    if plan.services:
        print_line("Rankings, and with them what is to be judged, depend on its answers. Nothing was spent.")
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
