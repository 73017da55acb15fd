"""`harness compare` and `harness gate`: is one setting really better, and has one got worse?"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from harness.cli.commands.comparing_answers import (
    Compared,
    Gated,
    answers_hint,
    answers_to_compare,
    changed,
    compared_answers,
    gated_answers,
    stated,
)
from harness.cli.commands.declaring import command, flag, formats, number, option, path

if TYPE_CHECKING:
    from harness.report import Part

_COMPARE = """\
Compare settings query by query. The verdict comes first: decision, margin with its interval, test, what it
holds for, caveats, next step. Then the settings, their differences, and how well a choice on train holds up.

  harness compare results/quickstart
  harness compare results/monday results/today --measure ndcg_exp@10       # starts with what has changed
  harness compare results/quickstart --baseline "chunk=500/0" --csv differences.csv
  harness compare results/quickstart --select cross-validated
  harness compare results/main results/branch --format markdown --output comment.md

  harness compare results/mine --measure token_f1                          # by what was answered

Settings that differ only in how they answer are compared by a measure of their answers.
Results must be scored on the same queries and the same judged text; otherwise they are refused,
with reasons. If the same language model has judged different pools, all results are rescored on their union.
docs/statistics.md describes the methods and shows how well they hold.
"""
_GATE = """\
Fail (exit code 1) if a setting has dropped by more than the tolerance, and the drop is statistically real:

  harness gate results/today --baseline results/main --max-drop 0.02

  harness gate results/today --baseline results/main --measure answer_correctness --max-drop 0.05

Settings are matched by name. A large drop that is uncertain because there are few queries passes; the output
says so, and says which settings are equivalent within the tolerance.
"""


_SHARED = (
    option(
        "--measure",
        metavar="NAME",
        help="default: one that is comparable between these settings (docs/statistics.md)",
    ),
    path(
        "--judge",
        "with a language model as judge: let the judge of this configuration grade passages that it has "
        "graded for only some of the results",
        "CONFIG",
    ),
    option("--stage", default="final", metavar="NAME", help="final (default), retrieve or rerank"),
    option(
        "--tolerance",
        type=float,
        metavar="X",
        help="differences within it are equivalence; default: that of the configuration, 0.02",
    ),
)


@command(
    "compare",
    "compare settings: which is best, and is it real?",
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
    option(
        "--select",
        choices=("train", "cross-validated"),
        default="train",
        help="how to estimate the value of the chosen setting: choose on train and check on validation "
        "(default), or cross-validate over all queries",
    ),
    number("--folds", 5, "folds of the cross-validation"),
    *formats("json"),
    path("--csv", "write every comparison to this file"),
)
def compare(args: argparse.Namespace) -> int:
    """Compare and print."""
    import json
    from dataclasses import asdict

    from harness.cli.terminal import print_line, write_lines, write_parts
    from harness.comparison import compared_parts, read_stored, verdict_json
    from harness.report import to_csv

    if len(args.results) > 1 and len({folder.resolve() for folder in args.results}) == 1:
        read_stored(args.results[0], args.stage)
        print_line(f"{args.results[0]} is named {len(args.results)} times: there is nothing to compare.")
        return 0
    answers = answers_to_compare(args.results, args)
    compared = _compared_rankings(args) if answers is None else compared_answers(*answers, args)
    verdict = compared.verdict
    comparisons = [asdict(one) for one in verdict.comparisons]
    if args.csv and comparisons:
        write_lines(to_csv(tuple(comparisons[0]), comparisons), args.csv)
    if args.format == "json":
        found = {**verdict_json(verdict), "comparisons": comparisons}
        write_lines(json.dumps(found, indent=2, ensure_ascii=False) + "\n", args.output)
        return 0
    only_real = args.format != "text"
    parts = compared_parts(
        compared.scores, verdict, select_by=args.select, folds=args.folds, only_real=only_real
    )
    write_parts((*compared.before, *parts, *compared.after), args.format, args.output)
    return 0


def _compared_rankings(args: argparse.Namespace) -> Compared:
    from dataclasses import replace

    from harness.cli.terminal import TerminalReporter
    from harness.comparison import (
        cut_differently,
        label_parts,
        measure_to_take,
        names_of,
        scores_of,
        verdict_of,
    )
    from harness.running import read_united

    stored, done = read_united(args.results, args.stage, args.measure, args.judge, TerminalReporter())
    names = names_of(args.results)
    measure = measure_to_take(stored, args.measure)
    own = [stored[folder] for folder in args.results]
    scores = scores_of(dict(zip(names, zip(args.results, own, strict=True), strict=True)))
    scores = replace(scores, options=replace(scores.options, **stated(args)))
    verdict = verdict_of(scores, measure, args.baseline)

    def before() -> Iterator[Part]:
        if done:
            yield done
        if len(own) == 2:
            old, new = (one.matrix(measure) for one in own)
            apart = cut_differently(measure, own[0].chunkings, own[1].chunkings)
            yield from changed(old, new, names, own[-1].result.record, apart)

    def after() -> Iterator[Part]:
        yield from label_parts(scores.sensitivity.get(measure), verdict.comparisons)
        yield from _reranked(args, measure)
        yield from answers_hint(args.results)

    return Compared(scores, verdict, before(), after())


def _reranked(args: argparse.Namespace, measure: str) -> Iterator[Part]:
    """The effect of the reranker, where one folder is compared by its last stage and has both stages."""
    from harness.comparison import from_table, options_of, reranked_table
    from harness.report import read_result

    if len(args.results) > 1 or args.stage != "final":
        return
    result = read_result(args.results[0])
    if not {"retrieve", "rerank"} <= set(result.per_query["stage"]):
        return
    before, after = (from_table(result.per_query, measure, stage) for stage in ("retrieve", "rerank"))
    if table := reranked_table(before, after, options_of(result.record)):
        yield table


@command(
    "gate",
    "fail if a setting has become worse than a baseline",
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
    option("--confidence", type=float, default=0.95, metavar="C", help="default 0.95"),
    path("--junit", "write a JUnit report"),
    flag("--github", "print GitHub annotations"),
)
def gate(args: argparse.Namespace) -> int:
    """Check and print; 1 if a drop is real."""
    from harness.cli.terminal import print_line, write_lines, write_out
    from harness.comparison import gate as check_drops
    from harness.comparison import github_annotations, junit, options_of

    answers = answers_to_compare((args.baseline, args.results), args)
    gated = _gated_rankings(args) if answers is None else gated_answers(*answers, args)
    result = check_drops(
        gated.now,
        gated.before,
        max_drop=args.max_drop,
        confidence=args.confidence,
        tolerance=stated(args).get("tolerance", options_of(gated.record).tolerance),
        scored_on=gated.scored_on,
    )
    for line in gated.notes:
        print_line(line)
    for check in result.checks:
        print_line(
            f"{'FAILED' if check.failed else 'passed'}  {check.setting}: {result.measure} {check.reason}"
        )
    print_line(result.holds_for)
    if args.junit:
        write_lines(junit(result), args.junit)
    if args.github:
        write_out(github_annotations(result))
    return 1 if result.failed else 0


def _gated_rankings(args: argparse.Namespace) -> Gated:
    from harness.cli.terminal import TerminalReporter
    from harness.comparison import cut_differently, measure_to_take, warning_lines, warnings_of
    from harness.running import read_united
    from harness.values import listed

    # if a span has two grades, that of the baseline counts
    folders = (args.baseline, args.results)
    stored, done = read_united(folders, args.stage, args.measure, args.judge, TerminalReporter())
    measure = measure_to_take(stored, args.measure)
    now, before = stored[args.results], stored[args.baseline]
    if apart := cut_differently(measure, before.chunkings, now.chunkings):
        done = (
            *done,
            f"{measure} compares settings only over the same chunks, and documents are cut differently than "
            f"in the baseline ({listed(apart)}). Use a measure such as ndcg_evidence@5000.",
        )
    matrix, scored_on = now.matrix(measure), (now.scored_on, before.scored_on)
    own = {("", name): name for name in matrix.settings}
    warned = [one for one in warnings_of({"": now.result.record}, own) if one.bears_on(measure)]
    done = (*done, *(f"warning: {text}" for text in warning_lines(warned)))
    return Gated(matrix, before.matrix(measure), scored_on, now.result.record, done)
