"""`harness bench`, `validate` and `demo`: run a benchmark, or the one that is shipped, or check one."""

from __future__ import annotations

import argparse
import glob
import webbrowser
from collections.abc import Mapping
from pathlib import Path
from shlex import join, quote
from typing import Any

import harness
from harness import labels, report, running, values
from harness.cli.commands.common import can_show_pages, exit_code, print_ending
from harness.cli.commands.declaring import (
    AGAIN,
    CACHE,
    DEFAULT_CACHE,
    LOG_TO,
    QUIET,
    command,
    config_file,
    flag,
    option,
    path,
)
from harness.cli.terminal import TerminalReporter, print_facts, print_line, print_table, show
from harness.cli.trackers import log_results, tracker_named
from harness.values import counted

_DONE = {
    "rewriting": "rewrote queries",
    "reranking": "reranked",
    "filter": "found what queries name",
    "context": "wrote context for chunks",
    "reading": "chose what is read",
    "naming": "found what passages name",
    "answer": "answered queries",
    "measuring": "measured answers",
}


_QUICK = flag(
    "--quick",
    "run only the settings that need no model, such as keyword search, into a folder with -quick at its end, "
    "and estimate the others; a run without it reuses what was computed",
)
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
        "print the calls, tokens and price that rewriting, endpoints, answers and the judge would take, and "
        "stop; it searches only where they depend on the results, and keeps what it computes for the run",
    ),
    _QUICK,
    _ENGINE,
    AGAIN,
    LOG_TO,
    QUIET,
)
def bench(args: argparse.Namespace) -> int:
    """Run it and print the summary."""
    config = _config_of(args)
    for name in args.log_to:
        tracker_named(name)
    if args.dry_run:
        return _dry_run(running.quick_part(config) if args.quick else config, args.quiet)
    if args.quick:
        return _run_quick(config, args.quiet, args.again, f"harness bench {quote(str(args.config))}")
    code = run_and_show(config, args.quiet, args.again)
    for line in log_results(config.results / config.name, args.log_to):
        print_line(line)
    return code


def _run_quick(config: running.BenchConfig, quiet: bool, again: bool, whole: str) -> int:
    """Run and show what needs no model, and say what the ``whole`` command will take."""
    code = run_and_show(running.quick_part(config), quiet, again)
    print_line(running.left_out(config, values.Silent(), whole))
    return code


def _config_of(args: argparse.Namespace) -> running.BenchConfig:
    """The configuration, with the engine that the command names."""
    config = running.load_config(args.config)
    if args.engine is None:
        return config
    engine = config.engine.model_copy(update={"kind": args.engine})
    return config.model_copy(update={"engine": engine})


def run_and_show(config: running.BenchConfig, quiet: bool, again: bool) -> int:
    """Run a benchmark, or take its unchanged results, and print how it ended; returns the exit code."""
    run = running.run_or_reuse(config, TerminalReporter(quiet=quiet), again=again)
    if run.results is None:
        unchanged = f"Nothing has changed since the run of {run.date}; these are its results"
        show((f"{unchanged} (--again runs it again).",))
    else:
        _print_work(run.results.record)
    print_ending(run.ending)
    skipped = run.results.of(report.DocumentRow) if run.results is not None else ()
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
    """What calls cost, and how many of them brought no answer, most of which were made again."""
    cost = "at unknown cost (no price)" if facts["cost"] is None else f"for {facts['cost']:.4f}"
    faults = facts.get("faults") or {}
    return f"{cost}, {sum(faults.values()):,} without an answer ({', '.join(faults)})" if faults else cost


def _judging(record: values.RunRecord) -> list[str]:
    """The work of the judge, where it is a language model."""
    if not record.cost:
        return []
    cost = record.cost
    if not cost["pairs"]:
        return [f"{record.judge['name']} had nothing to grade: no passage was found for any query."]
    if not cost["calls"] + cost["from_ledger"]:
        return [f"{record.judge['name']} graded {counted(cost['pairs'], 'pair')} without a language model."]
    return [
        f"{record.judge['name']} graded {counted(cost['pairs'], 'pair')}: "
        f"{counted(cost['calls'], 'call')} now {_spent(cost)}, "
        f"{counted(cost['from_ledger'], 'answer')} from the ledger, "
        f"{sum(cost['unscored'].values())} without a grade."
    ]


def _dry_run(config: running.BenchConfig, quiet: bool) -> int:
    plan = running.make_plan(config, TerminalReporter(quiet=quiet), search=True)
    before, pairs, after = estimate_of(plan)
    for line in before:
        print_line(line)
    if pairs:
        print_table("pairs to judge", ("setting", "pairs"), pairs)
    for line in (*after, "Nothing was spent."):
        print_line(line)
    return exit_code(config, [item.doc_id for item in plan.corpus.skipped])


def estimate_of(plan: running.Plan) -> tuple[list[str], list[tuple[str, int]], list[str]]:
    """What a run would ask, in lines; the pairs to judge by setting, where they are known; further lines."""
    before = [*plan.faster, *(f"{what}: {calls}." for what, calls in _to_ask(plan))]
    if unmade := _unmade(plan):
        more = f"Rankings, and so what is asked to rerank, answer or judge, depend on {unmade}."
        judge = plan.judge
        most = (
            []
            if judge is None
            else [f"{judge.judge}: at most {judge.estimate or f'{judge.ranked:,} pairs'}."]
        )
        return before, [], [more, *most]
    if plan.judge is None:
        return before, [], [*_not_computed(plan), "labels: 0 pairs, at no cost."]
    pairs = [(planned.setting, planned.to_judge or 0) for planned in plan.settings]
    return before, pairs, [f"{plan.judge.judge}: {_price(plan.judge)}."]


def _not_computed(plan: running.Plan) -> list[str]:
    """What a run would compute and a dry run has not, as no price depends on it."""
    chunks = sum(setting.to_embed for setting in plan.settings)
    pairs = sum(setting.pairs for setting in plan.settings)
    work = [f"embeds {counted(chunks, 'chunk')}"] if chunks else []
    work += [f"scores at most {counted(pairs, 'pair')}"] if pairs else []
    if not plan.counted or not work:
        return []
    return [
        f"A run {' and '.join(work)} on this machine. None of this is stored yet; this dry run "
        "computed none, as no price depends on it."
    ]


_TO_DO = {
    "rewriting": "to rewrite",
    "filter": "to filter",
    "context": "to write",
    "reading": "to read",
    "naming": "to index",
}


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
    print_facts(f"{config.name}: ready to run", facts_of(config, plan))
    show(settings_table(plan))
    return exit_code(config, [item.doc_id for item in plan.corpus.skipped])


def facts_of(config: running.BenchConfig, plan: running.Plan) -> list[tuple[str, object]]:
    """What a run reads, asks, judges and measures: names and values."""
    corpus = plan.corpus
    anchored, parsers = corpus.anchored, running.parsers_of(config.settings)
    several = len(parsers) > 1
    return [
        *([("parsers", f"{', '.join(parsers)}; what follows counts each text")] if several else []),
        ("documents", f"{len(corpus.parsed)} read, {len(corpus.skipped)} skipped"),
        ("characters", f"{sum(len(d.text) for d in corpus.documents):,}"),
        ("queries", len(corpus.queries.queries)),
        (
            "labels",
            f"{len(anchored.judgments):,} anchored, {sum(not a.accepted for a in anchored.anchorings):,} not",
        ),
        *_same_evidence(corpus),
        *_to_ask(plan),
        *_to_judge(plan),
        ("models", ", ".join(plan.models) or "none"),
        ("measures", ", ".join(config.measures)),
    ]


def _same_evidence(corpus: running.Corpus) -> list[tuple[str, str]]:
    """Queries that may ask the same thing, where there are some."""
    words = running.same_evidence_words(corpus.queries.queries, corpus.anchored.judgments)
    return [("same evidence", words)] if words else []


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
        price = f", at most {judge.estimate}" if judge.estimate else ""
        missing = f"the text of at most {counted(judge.ranked, 'ranked chunk')}{price}; {which}"
    return [("judge", judge.judge), ("to judge", missing)]


def _price(judge: running.JudgePlan) -> str:
    """The pairs to judge and what they cost."""
    if judge.endpoints:
        return "; ".join(map(str, judge.endpoints))
    return str(judge.estimate or f"{counted(judge.pairs or 0, 'pair')}, at no cost")


def _unmade(plan: running.Plan) -> str:
    """What has to be asked before it is known what is retrieved; '' for nothing."""
    if plan.rewriting:
        purposes = " and a ".join(dict.fromkeys(calls.purpose for calls in plan.rewriting))
        return f"a {purposes} that has not been made yet"
    if plan.services:
        return "a service that has not been called yet"
    return "an endpoint that has not been called yet" if plan.endpoints else ""


def _to_ask(plan: running.Plan) -> list[tuple[str, str]]:
    """The calls of language models, endpoints and services, judging aside."""
    return [
        *((_TO_DO[calls.purpose], str(calls)) for calls in plan.rewriting),
        *(("to ask", f"{url}, for {counted(n, 'setting')}") for url, n in plan.services.items()),
        *(("to ask", str(calls)) for calls in plan.endpoints),
        *((_TO_DO.get(calls.purpose, "to answer"), str(calls)) for calls in plan.answers.answering),
        *(("to measure", str(calls)) for calls in plan.answers.measuring),
    ]


def settings_table(plan: running.Plan) -> report.Table:
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
_WITHOUT_MODELS = (
    "Search by words alone: no models run here yet. This line adds search by meaning, both together, and a "
    "reranker:\n  pip install 'ndcg-harness[local,chroma]'"
)


@command(
    "Run the quickstart on the shipped collection, documents of a made-up company and labelled queries: "
    "two chunk sizes, each searched in four ways. Prints what is best and opens the page that shows it. "
    "Takes a few minutes the first time; needs no network.",
    path("--out", "the folder of the results; default results/demo", "DIR", default=Path("results/demo")),
    _QUICK,
    flag("--no-browser", "do not open the page; it is never opened where there is no screen"),
    AGAIN,
    CACHE,
    QUIET,
)
def demo(args: argparse.Namespace) -> int:
    """Run it, print the ending, and open the page."""
    # `.` and `..` have no name of their own
    out = args.out if args.out.name not in ("", "..") else values.real_path(args.out)
    config = _quickstart(out, args.cache)
    if not labels.searches_by_meaning():
        print_line(_WITHOUT_MODELS)
    if args.quick:
        whole = join(["harness", "demo", *_place_options(args)])
        code = _run_quick(config, args.quiet, args.again, whole)
        out = out.with_name(f"{out.name}-quick")
    else:
        code = run_and_show(config, args.quiet, args.again)
    if not args.no_browser and can_show_pages():
        webbrowser.open(values.real_path(out / report.REPORT).as_uri())
    return code


def _place_options(args: argparse.Namespace) -> list[str]:
    """The options of the demo that say where files go."""
    out = [] if args.out == Path("results/demo") else ["--out", str(args.out)]
    return out + ([] if args.cache == DEFAULT_CACHE else ["--cache", str(args.cache)])


def _quickstart(out: Path, cache: Path) -> running.BenchConfig:
    """The quickstart with the paths of the shipped files, and results in the folder ``out``."""
    package = Path(harness.__file__).parent
    # a wheel has the files in the package (tools/shipped.py), a checkout beside it
    root = next(
        folder for folder in (package / "shipped", package.parent) if (folder / _QUICKSTART).is_file()
    )
    data = running.read_source(root / _QUICKSTART).data
    settings = data["settings"]
    if not labels.searches_by_meaning():
        settings = [point for point in settings if point["retrieve"]["kind"] == "bm25"]
    return running.load_config(
        {
            **data,
            "name": out.name,
            "settings": settings,
            # a folder may have a name that looks like a pattern
            "documents": [f"{glob.escape(str(root))}/{pattern}" for pattern in data["documents"]],
            "queries": root / data["queries"],
            "labels": root / data["labels"],
            "results": out.parent,
            "cache": cache,
        }
    )
