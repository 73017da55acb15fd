"""`harness validate`: check a configuration and print what it would run."""

from __future__ import annotations

import argparse

from harness import report, running
from harness.cli.commands.declaring import command, config_file
from harness.cli.commands.shared import exit_code
from harness.cli.terminal import TerminalReporter, print_facts, show
from harness.values import counted

_TO_DO = {"rewriting": "to rewrite", "filter": "to filter", "context": "to write"}


@command(
    "Check the configuration, read the documents, load models that were not tried before, and anchor the "
    "labels; then print how many chunks, vectors and pairs a run takes. No document is embedded and nothing "
    "is paid for.",
    config_file("YAML file"),
)
def validate(args: argparse.Namespace) -> int:
    """Make the plan and print it."""
    config = running.load_config(args.config)
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
            *((_TO_DO[one.purpose], f"{one.name}: {one.estimate}") for one in plan.rewriting),
            *(("to ask", f"{one.url}, for {counted(one.settings, 'setting')}") for one in plan.services),
            *(("to ask", f"{one.name}: {one.estimate}") for one in plan.endpoints),
            *_answers(plan),
            *_judging(plan),
            ("models", ", ".join(plan.models)),
            ("measures", ", ".join(config.measures)),
        ],
    )
    show(_settings(plan))
    return exit_code(config, [item.doc_id for item in corpus.skipped])


def _judging(plan: running.Plan) -> list[tuple[str, str]]:
    """Who judges, and what is still missing."""
    judge = plan.judge
    no_label = ("answerable query has no label", "answerable queries have no label")
    if judge is None:
        return [("judgments missing", counted(len(plan.unlabelled), *no_label))]
    if judge.pairs is None:
        missing = f"the text of at most {judge.ranked} ranked chunks; "
        missing += (
            f"which, depends on a {plan.rewriting[0].purpose} that has not been made yet"
            if plan.rewriting
            else "which, depends on a service that has not been called yet"
            if plan.services
            else "which, depends on an endpoint that has not been called yet"
            if plan.endpoints
            else "`harness bench --dry-run` retrieves and counts it"
        )
    elif judge.estimate is None:
        missing = f"{counted(judge.pairs, 'pair')}, at no cost"
    else:
        missing = str(judge.estimate)
    return [("judge", judge.judge), ("to judge", missing)]


def _answers(plan: running.Plan) -> list[tuple[str, str]]:
    """The calls for answering and measuring answers, where a language model is needed."""
    about = "roughly, as rankings or answers are not known yet: " if plan.answers.about else ""
    return [
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
