"""`harness judge agreement`: how far a judge agrees with people."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from harness import judge, report, running, store
from harness.cli.commands.declaring import flag, number, option, part, path
from harness.cli.commands.shared import exit_code
from harness.cli.terminal import TerminalReporter, print_line, print_table
from harness.values import ConfigError, counted

_DESCRIPTION = """\
Let the judge of CONFIG grade what people have labelled (labels: in CONFIG) and compare: confusion matrix,
Cohen's kappa, Krippendorff's alpha, bias for each human grade, with intervals over queries.

  harness judge agreement my.yaml --dry-run   how many calls this takes
  harness judge agreement my.yaml             writes agreement.csv
  harness judge agreement my.yaml --settings  also judges the pool: do both rank the settings alike?
                                              and judge-corrected means, if the labelled queries are a random
                                              sample of all
  harness judge agreement --pairs pairs.csv --max-grade 3
                                              pairs from elsewhere: query_id, human_grade, llm_grade, model
"""


@part(
    "agreement",
    "compare a judge with people",
    _DESCRIPTION,
    path("config", "with a judge and labels", "CONFIG", nargs="?"),
    flag("--settings", "also compare the order of the settings"),
    flag("--dry-run", "print the cost and stop"),
    path("--pairs", "graded pairs as CSV, instead of a CONFIG"),
    number("--max-grade", 4, "top of the scale"),
    option(
        "--out-of-scale", choices=("reject", "clamp"), default="reject", help="of --pairs; default reject"
    ),
    path("--to", "default results/<name>-agreement", "DIR"),
)
def agreement(args: argparse.Namespace) -> int:
    """Compare a judge with people, on pairs from a file or on the labels of a configuration."""
    if (args.config is None) == (args.pairs is None):
        raise ConfigError("harness judge agreement takes either a CONFIG or --pairs FILE.")
    return _of_file(args) if args.config is None else _of_config(args)


def _of_file(args: argparse.Namespace) -> int:
    by_judge, odd = running.read_pairs(args.pairs, args.max_grade, args.out_of_scale)
    found = [
        judge.measure_agreement(name, pairs, args.max_grade, out_of_scale=odd[name])
        for name, pairs in by_judge.items()
    ]
    _leave(args.to or Path("results") / f"{args.pairs.stem}-agreement", found, None)
    return 0


def _of_config(args: argparse.Namespace) -> int:
    config = running.load_config(args.config)
    grader = running.pool_judge_config(config)
    if grader is None:
        raise ConfigError(
            f"{args.config}: the judge is `labels`; there is no other judge to compare with people."
        )
    with running.Context.at(config.cache, TerminalReporter(), may_ask=not args.dry_run) as context:
        corpus, searched = (
            running.search_all(config, context)
            if args.settings
            else (running.load_corpus(config, context), [])
        )
        skipped = [item.doc_id for item in corpus.skipped]
        if args.dry_run:
            pairs = [
                *running.label_pairs(corpus),
                *(running.make_pool(searched, corpus, grader.pool).pairs if searched else ()),
            ]
            in_order = sorted(pairs, key=lambda pair: pair.query.query_id)
            estimate = running.estimate_pool(in_order, grader, context, corpus)
            free = f"{counted(len(pairs), 'pair')}, at no cost"
            print_line(f"{grader.title}: {estimate or free}. Nothing was spent.")
            return exit_code(config, skipped)
        found = running.grade_agreement(corpus, grader, context)
        settings = running.settings_agreement(searched, corpus, config, context) if args.settings else None
    _leave(args.to or config.results / f"{config.name}-agreement", [found], settings)
    return exit_code(config, skipped)


def _leave(folder: Path, found: list[judge.Agreement], settings: running.SettingsAgreement | None) -> None:
    """Print the figures and write the files."""
    print_table(
        "agreement with people",
        ("judge", "pairs", "no grade", "kappa", "quadratic kappa", "alpha (ordinal)", "bias"),
        [
            (
                *(one.judge, one.pairs, one.unscored),
                *map(str, (one.kappa, one.kappa_quadratic, one.alpha_ordinal)),
                f"{one.bias:+.2f}",
            )
            for one in found
        ],
    )
    store.write_text(folder / "agreement.csv", judge.agreement_csv(found))
    if settings is not None:
        _leave_order(folder, settings)
        _leave_corrected(folder, settings)
    print_line(f"Written: {folder}/")


def _leave_order(folder: Path, settings: running.SettingsAgreement) -> None:
    order = settings.order
    if order is None:
        print_line(
            "Comparing the order of settings takes at least two rankings and a query that both can score."
        )
        return
    rows = [("all", order.settings, order.tau), ("top", order.top, order.tau_top)]
    print_table(
        f"order of settings by {settings.measure}, {counted(settings.queries, 'query', 'queries')}",
        ("settings", "how many", "Kendall's tau"),
        [(which, count, str(tau)) for which, count, tau in rows],
    )
    columns = ("which", "settings", "measure", "queries", "value", "low", "high")
    shared = {"measure": settings.measure, "queries": settings.queries}
    table = [{"which": which, "settings": n, **shared, **asdict(tau)} for which, n, tau in rows]
    store.write_text(folder / "order.csv", report.to_csv(columns, table))


def _leave_corrected(folder: Path, settings: running.SettingsAgreement) -> None:
    if not settings.corrected:
        print_line("Too few labelled queries for judge-corrected means.")
        return
    of = {"measure": settings.measure}
    means = [
        {"setting": name, "stage": stage, **of, **asdict(one)}
        for (name, stage), one in settings.corrected.items()
    ]
    differences = [
        {"setting": best[0], "stage": best[1], "against": name, "against_stage": stage, **asdict(found)}
        for (best, (name, stage)), found in settings.differences.items()
    ]
    title = f"judge-corrected {settings.measure}; valid only if the labelled queries are a random sample"
    shown = [("corrected.csv", title, ("setting", "stage"), means)]
    if differences:
        best = f"{differences[0]['setting']} ({differences[0]['stage']})"
        title = f"judge-corrected difference of {best} to each other, paired by query"
        shown.append(("corrected_differences.csv", title, ("against", "against_stage"), differences))
    for file, title, names, rows in shown:
        store.write_text(folder / file, report.to_csv(tuple(rows[0]), rows))
        columns = (names[0], "stage", "corrected", "people alone", "judge alone")
        print_table(title, columns, [(*(row[name] for name in names), *_estimates(row)) for row in rows])


def _estimates(row: Mapping[str, Any]) -> tuple[str, str, str]:
    return (
        f"{row['value']:.3f} [{row['low']:.3f}, {row['high']:.3f}]",
        f"{row['human_only']:.3f} [{row['human_only_low']:.3f}, {row['human_only_high']:.3f}]",
        f"{row['judge_only']:.3f}",
    )
