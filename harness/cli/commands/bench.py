"""`harness bench`, `validate` and `demo`: run a benchmark, or the one that is shipped, or check one."""

from __future__ import annotations

import argparse
import glob
import webbrowser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import harness
from harness import report, running, values
from harness.cli.commands.declaring import AGAIN, CACHE, QUIET, command, config_file, flag, option, path
from harness.cli.commands.shared import can_show_pages, exit_code, print_ending
from harness.cli.terminal import TerminalReporter, print_facts, print_line, print_table, show
from harness.values import counted

_DONE = {
    "rewriting": "rewrote queries",
    "reranking": "reranked",
    "filter": "found what queries name",
    "context": "wrote context for chunks",
    "answer": "answered queries",
    "measuring": "measured answers",
}


_ENGINE = option(
    "--engine",
    help="where models compute and documents are read: `local`, or `ray` for the cluster that the key "
    "engine names; default: what CONFIG says",
    choices=("local", "ray"),
)


@command(
    "Run every setting of CONFIG and write results/<name>/. Anything computed before, by this or another "
    "configuration, is reused from the cache; a killed run resumes. If nothing has changed since the results "
    "were written, they are shown at once.",
    config_file("YAML file, such as `harness init` writes"),
    flag(
        "--dry-run",
        "retrieve, print the calls, tokens and price that rewriting, endpoints, answers and the judge would "
        "take, and stop",
    ),
    _ENGINE,
    AGAIN,
    QUIET,
)
def bench(args: argparse.Namespace) -> int:
    """Run it and print the summary."""
    config = _config_of(args)
    if args.dry_run:
        return _dry_run(config, args.quiet)
    return run_and_show(config, args.quiet, args.again)


def _config_of(args: argparse.Namespace) -> running.BenchConfig:
    """The configuration, with the engine that the command names."""
    config = running.load_config(args.config)
    if args.engine is None:
        return config
    engine = config.engine.model_copy(update={"kind": args.engine})
    return config.model_copy(update={"engine": engine})


def run_and_show(config: running.BenchConfig, quiet: bool, again: bool) -> int:
    """Run a benchmark, or take its unchanged results, and print how it ended; returns the exit code."""
    done = running.run_or_reuse(config, TerminalReporter(quiet=quiet), again=again)
    if done.results is None:
        unchanged = f"Nothing has changed since the run of {done.date}; these are its results"
        show((f"{unchanged} (--again runs it again).",))
    else:
        _print_work(done.results.record)
    print_ending(done.ending)
    skipped = done.results.of(report.DocumentRow) if done.results is not None else ()
    return exit_code(config, [row.document for row in skipped if row.status == "skipped"])


def _print_work(record: values.RunRecord) -> None:
    """The calls of a run, and how long it took."""
    show((*_called(record), *_judging(record), f"Done in {record.timings['total']:.1f} s."))


def _called(record: values.RunRecord) -> list[str]:
    """The calls of language models and endpoints before the search, where any were made."""
    return [
        f"{name} {_DONE[facts.get('purpose', 'rewriting')]}: {counted(facts['calls'], 'call')} now "
        f"{_spent(facts)}, {counted(facts['from_ledger'], 'answer')} from the ledger."
        for name, facts in record.counts.get("rewriting", {}).items()
    ] + [
        f"{name}: {counted(facts['requests'], 'request')} now {_spent(facts)}, "
        f"{counted(facts['kept_from_before'], 'value')} kept from before."
        for name, facts in record.counts.get("endpoints", {}).items()
    ]


def _spent(facts: Mapping[str, Any]) -> str:
    return "at unknown cost (no price)" if facts["cost"] is None else f"for {facts['cost']:.4f}"


def _judging(record: values.RunRecord) -> list[str]:
    """The work of the judge, where it is a language model."""
    if not record.cost:
        return []
    cost = record.cost
    return [
        f"{record.judge['name']} graded {counted(cost['pairs'], 'pair')}: "
        f"{counted(cost['calls'], 'call')} now {_spent(cost)}, "
        f"{counted(cost['from_ledger'], 'answer')} from the ledger, "
        f"{sum(cost['unscored'].values())} without a grade."
    ]


def _dry_run(config: running.BenchConfig, quiet: bool) -> int:
    plan = running.make_plan(config, TerminalReporter(quiet=quiet), search=True)
    for line in plan.faster:
        print_line(line)
    for what, calls in _to_ask(plan):
        print_line(f"{what}: {calls}.")
    judge = plan.judge
    if unmade := _unmade(plan):
        print_line(f"Rankings, and so any calls to rerank, answer or judge beyond these, depend on {unmade}.")
    elif judge is None:
        print_line("labels: 0 pairs, at no cost.")
    else:
        rows = [(one.setting, one.to_judge) for one in plan.settings]
        print_table("pairs to judge", ("setting", "pairs"), rows)
        print_line(f"{judge.judge}: {_price(judge)}.")
    print_line("Nothing was spent.")
    return exit_code(config, [item.doc_id for item in plan.corpus.skipped])


_TO_DO = {"rewriting": "to rewrite", "filter": "to filter", "context": "to write"}


@command(
    "Check the configuration, read the documents, load models that were not tried before, and anchor the "
    "labels; then print how many chunks, vectors and pairs a run takes. No chunk is embedded and nothing "
    "is paid for. With a cluster, it also says how the work would be spread, and about how long it takes.",
    config_file("YAML file"),
    _ENGINE,
)
def validate(args: argparse.Namespace) -> int:
    """Make the plan and print it."""
    config = _config_of(args)
    reporter = TerminalReporter()
    plan = running.make_plan(config, reporter)
    corpus = plan.corpus
    anchored, parsers = corpus.anchored, running.parsers_of(config.settings)
    several = len(parsers) > 1
    print_facts(
        f"{config.name}: ready to run",
        [
            *([("parsers", f"{', '.join(parsers)}; what follows counts each text")] if several else []),
            ("documents", f"{len(corpus.parsed)} read, {len(corpus.skipped)} skipped"),
            ("characters", f"{sum(len(d.text) for d in corpus.documents):,}"),
            ("queries", len(corpus.queries.queries)),
            (
                "labels",
                f"{len(anchored.judgments):,} anchored, "
                f"{sum(not a.accepted for a in anchored.anchorings):,} not",
            ),
            *_to_ask(plan),
            *_to_judge(plan),
            ("models", ", ".join(plan.models) or "none"),
            ("measures", ", ".join(config.measures)),
        ],
    )
    show(_settings(plan))
    return exit_code(config, [item.doc_id for item in corpus.skipped])


def _to_judge(plan: running.Plan) -> list[tuple[str, str]]:
    """Who judges, and what is still missing."""
    judge = plan.judge
    if judge is None:
        return [("without a label", counted(len(plan.unlabelled), "answerable query", "answerable queries"))]
    missing = _price(judge)
    if judge.pairs is None:
        unmade = _unmade(plan)
        which = (
            f"which, depends on {unmade}" if unmade else "`harness bench --dry-run` retrieves and counts it"
        )
        missing = f"the text of at most {judge.ranked} ranked chunks; {which}"
    return [("judge", judge.judge), ("to judge", missing)]


def _price(judge: running.JudgePlan) -> str:
    """The pairs to judge and what they cost."""
    return str(judge.estimate or f"{counted(judge.pairs or 0, 'pair')}, at no cost")


def _unmade(plan: running.Plan) -> str:
    """What has to be asked before it is known what is retrieved; '' for nothing."""
    if plan.rewriting:
        purposes = " and a ".join(dict.fromkeys(one.purpose for one in plan.rewriting))
        return f"a {purposes} that has not been made yet"
    if plan.services:
        return "a service that has not been called yet"
    return "an endpoint that has not been called yet" if plan.endpoints else ""


def _to_ask(plan: running.Plan) -> list[tuple[str, str]]:
    """The calls of language models, endpoints and services, judging aside."""
    about = "roughly, as rankings or answers are not known yet: " if plan.answers.about else ""
    return [
        *((_TO_DO[one.purpose], f"{one.name}: {one.estimate}") for one in plan.rewriting),
        *(("to ask", f"{url}, for {counted(n, 'setting')}") for url, n in plan.services.items()),
        *(("to ask", f"{one.name}: {one.estimate}") for one in plan.endpoints),
        *(("to answer", f"{one.name}: {about}{one.estimate}") for one in plan.answers.answering),
        *(("to measure", f"{one.name}: at least {about}{one.estimate}") for one in plan.answers.measuring),
    ]


def _settings(plan: running.Plan) -> report.Table:
    """The work for each setting; cached values are not counted."""
    return report.Table(
        "settings: at most what is not in the cache yet",
        ("setting", "chunks", "median tokens", "too long", "to embed", "pairs to score"),
        tuple(
            (s.setting, *(f"{n:,}" for n in (s.chunks, s.tokens_p50, s.overlong, s.to_embed, s.pairs)))
            for s in plan.settings
        ),
    )


_QUICKSTART = "configs/quickstart.yaml"


@command(
    "Run the quickstart on the shipped collection, documents of a made-up company and labelled queries: "
    "two chunk sizes, each searched in four ways. Prints what is best and opens the page that shows it. "
    "Takes a few minutes the first time; needs no network.",
    path("--out", "the folder of the results; default results/demo", "DIR", default=Path("results/demo")),
    flag("--no-browser", "do not open the page; it is never opened where there is no screen"),
    AGAIN,
    CACHE,
    QUIET,
)
def demo(args: argparse.Namespace) -> int:
    """Run it, print the ending, and open the page."""
    # `.` and `..` have no name of their own
    out = args.out if args.out.name not in ("", "..") else args.out.resolve()
    code = run_and_show(_quickstart(out, args.cache), args.quiet, args.again)
    if not args.no_browser and can_show_pages():
        webbrowser.open((out / report.REPORT).resolve().as_uri())
    return code


def _quickstart(out: Path, cache: Path) -> running.BenchConfig:
    """The quickstart with the paths of the shipped files, and results in the folder ``out``."""
    here = Path(harness.__file__).parent
    # a wheel has the files in the package (tools/shipped.py), a checkout beside it
    root = next(one for one in (here / "shipped", here.parent) if (one / _QUICKSTART).is_file())
    data = running.read_source(root / _QUICKSTART).data
    return running.load_config(
        {
            **data,
            "name": out.name,
            # a folder may have a name that looks like a pattern
            "documents": [f"{glob.escape(str(root))}/{pattern}" for pattern in data["documents"]],
            "queries": root / data["queries"],
            "labels": root / data["labels"],
            "results": out.parent,
            "cache": cache,
        }
    )
