"""`harness compare` and `harness gate`: is one setting really better, and has one got worse?"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from harness import comparison, report, running
from harness.cli.commands.common import write_tables
from harness.cli.commands.declaring import command, flag, formats, option, path
from harness.cli.gate_check import check_against
from harness.cli.terminal import print_line, write_lines, write_out
from harness.values import ANSWER, ConfigError

_COMPARE = """\
Compare settings query by query. The verdict comes first: decision, margin with its interval, test, what it
holds for, caveats, next step. Then the settings and their differences.

  harness compare results/quickstart
  harness compare results/monday results/today --measure ndcg_exp@10       # starts with what has changed
  harness compare results/main results/branch --format markdown --output comment.md

  harness compare results/mine --measure token_f1                          # by what was answered

Where rankings do not tell all settings apart, as some differ only in what is read to answer or in how, a
measure of their answers compares them.
Results must be scored on the same queries and the same judged text; otherwise they are refused,
with reasons. If the same language model has judged different pools, all results are rescored on their union;
if labels by people have changed, on those of the newest result, or of the one that has kept no rankings to be
scored again; the output says how many are new.
"""
_GATE = """\
Fail (exit code 1) if a setting has dropped by more than --max-drop, and the drop is statistically real:

  harness gate results/today --baseline results/main --max-drop 0.02

Settings are matched by name. A large drop that is uncertain because there are few queries passes; the output
says so, and says which settings are equivalent within --tolerance. With --fail-if-undecided such a drop fails
too; with --min 0.6 so does every setting whose mean is lower.
"""


_SHARED = (
    option("--measure", metavar="NAME", help="default: one that is comparable between these settings"),
    option("--stage", default="final", metavar="NAME", help="final (default), retrieve or rerank"),
    option(
        "--tolerance",
        type=float,
        metavar="X",
        help="differences within it are equivalence; default: that of the configuration, 0.02",
    ),
)


@command(
    _COMPARE,
    path("results", "folders of results", "RESULTS", nargs="+"),
    *_SHARED,
    option("--baseline", metavar="SETTING", help="compare every setting with this one, not all pairs"),
    option(
        "--price-limit",
        type=float,
        metavar="X",
        help="recommend only what costs at most this, in the unit of the verdict",
    ),
    *formats("json"),
    path("--csv", "write every comparison to this file"),
)
def compare(args: argparse.Namespace) -> int:
    """Compare and print."""
    stored, measure = running.read_to_compare(args.results, args.stage, args.measure)
    named = zip(comparison.names_of(args.results), args.results, strict=True)
    by_name = {name: stored[folder] for name, folder in named}
    scores = comparison.scores_of(by_name, measure)
    # of a baseline there may be only what a comparison reads, which the next command cannot take
    whole = {
        name: folder for name, folder in scores.folders.items() if (Path(folder) / "summary.csv").is_file()
    }
    scores = replace(scores, options=replace(scores.options, **_stated(args)), folders=whole)
    verdict = comparison.verdict_of(scores, baseline=args.baseline)
    comparisons = [asdict(pair) for pair in verdict.comparisons]
    if args.csv:
        columns = [field.name for field in fields(comparison.Comparison)]
        write_lines(report.to_csv(columns, comparisons), args.csv)
    if args.format == "json":
        content = {**comparison.verdict_json(verdict), "comparisons": comparisons}
        write_lines(json.dumps(content, indent=2, ensure_ascii=False) + "\n", args.output)
        return 0
    parts = comparison.compared_parts(verdict, only_real=args.format != "text")
    before = _before(by_name, measure, scores.options)
    write_tables((*before, *parts, *_after(args, stored, scores, verdict)), args, verdict)
    return 0


def _stated(args: argparse.Namespace) -> dict[str, Any]:
    """What the options say of the tolerance and the price limit, where they do."""
    limits = {name: getattr(args, name, None) for name in ("tolerance", "price_limit")}
    for name, value in limits.items():
        if value is not None and not 0 < value < float("inf"):
            raise ConfigError(f"--{name.replace('_', '-')} must be a number above 0, not {value:g}.")
    return {name: value for name, value in limits.items() if value is not None}


def _before(
    by_name: Mapping[str, comparison.Stored], measure: str, options: comparison.Options
) -> Iterator[report.Part]:
    """Of two results, the changes of the settings in both."""
    if len(by_name) == 2:
        (first, old), (second, new) = by_name.items()
        matrices, _ = old.beside([new], measure)
        apart = comparison.cut_differently(measure, old.chunkings, new.chunkings)
        if table := comparison.changed_table(matrices[0], matrices[1], (first, second), options, apart):
            yield table


def _after(
    args: argparse.Namespace,
    stored: Mapping[Path, comparison.Stored],
    scores: comparison.Scores,
    verdict: comparison.Verdict,
) -> Iterator[report.Part]:
    """The effects of labels and rerankers, and that answers can be compared too; after answers, rankings.

    That of the reranker where one folder is compared by its last stage and has both stages.
    """
    if any(result.stage == ANSWER for result in stored.values()):
        if len(args.results) == 1 and args.measure is None and next(iter(stored.values())).result.per_query:
            yield (comparison.rankings_line(args.results[0]),)
        return
    yield from comparison.label_parts(verdict)
    if len(args.results) == 1 and args.stage == "final":
        rows = stored[args.results[0]].result.per_query
        if table := comparison.reranked_table(rows, verdict.measure, scores.options):
            yield table
    if measure := comparison.common_answer_measure(args.results):
        yield (f"Answers were measured too: --measure {measure} compares them.",)


@command(
    _GATE,
    path("results", "the results to check", "RESULTS"),
    path("--baseline", "the results to compare with", "BASE", required=True),
    *_SHARED,
    option(
        "--max-drop",
        type=float,
        default=0.0,
        metavar="X",
        help="the largest drop that is tolerated; default 0",
    ),
    option(
        "--min",
        type=float,
        metavar="X",
        dest="least",
        help="fail also where the mean of a setting is below this, whatever that of the baseline",
    ),
    flag("--fail-if-undecided", "fail also where a drop beyond --max-drop is neither shown nor excluded"),
    option("--confidence", type=float, default=0.95, metavar="C", help="default 0.95"),
    path("--junit", "write a JUnit report"),
    flag("--github", "print GitHub annotations"),
)
def gate(args: argparse.Namespace) -> int:
    """Check and print; 1 if a drop is real."""
    checked = check_against(
        args.results,
        args.baseline,
        stage=args.stage,
        measure=args.measure,
        max_drop=args.max_drop,
        least=args.least,
        must_decide=args.fail_if_undecided,
        confidence=args.confidence,
        tolerance=_stated(args).get("tolerance"),
    )
    result = checked.result
    for line in (checked.sentence, *checked.before):
        print_line(line)
    for check in result.checks:
        print_line(
            f"{'FAILED' if check.failed else 'passed'}  {check.setting}: {result.measure} {check.reason}"
        )
    for new in result.new:
        print_line(f"{'FAILED' if new.failed else 'new   '}  {new.setting}: {result.measure} {new.reason}")
    for line in filter(None, (result.holds_for, *checked.after)):
        print_line(line)
    if args.junit:
        write_lines(comparison.junit(result), args.junit)
    if args.github:
        write_out(comparison.github_annotations(result))
    return 1 if result.failed else 0
