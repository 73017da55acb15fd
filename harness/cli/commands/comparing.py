"""`harness compare` and `harness gate`: is one setting really better, and has one got worse?"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from harness import comparison, report, running
from harness.cli.commands.declaring import command, flag, formats, option, path
from harness.cli.commands.shared import write_tables
from harness.cli.terminal import print_line, write_lines, write_out
from harness.values import ANSWER, ConfigError, listed

_COMPARE = """\
Compare settings query by query. The verdict comes first: decision, margin with its interval, test, what it
holds for, caveats, next step. Then the settings and their differences.

  harness compare results/quickstart
  harness compare results/monday results/today --measure ndcg_exp@10       # starts with what has changed
  harness compare results/main results/branch --format markdown --output comment.md

  harness compare results/mine --measure token_f1                          # by what was answered

Settings that differ only in how they answer are compared by a measure of their answers.
Results must be scored on the same queries and the same judged text; otherwise they are refused,
with reasons. If the same language model has judged different pools, all results are rescored on their union.
"""
_GATE = """\
Fail (exit code 1) if a setting has dropped by more than --max-drop, and the drop is statistically real:

  harness gate results/today --baseline results/main --max-drop 0.02

Settings are matched by name. A large drop that is uncertain because there are few queries passes; the output
says so, and says which settings are equivalent within --tolerance.
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
    stored, measure = _read(args.results, args)
    named = zip(comparison.names_of(args.results), args.results, strict=True)
    own = {name: stored[folder] for name, folder in named}
    scores = comparison.scores_of(own, measure)
    # of a baseline there may be only what a comparison reads, which the next command cannot take
    whole = {
        name: folder for name, folder in scores.folders.items() if (Path(folder) / "summary.csv").is_file()
    }
    scores = replace(scores, options=replace(scores.options, **_stated(args)), folders=whole)
    verdict = comparison.verdict_of(scores, baseline=args.baseline)
    comparisons = [asdict(one) for one in verdict.comparisons]
    if args.csv:
        columns = [one.name for one in fields(comparison.Comparison)]
        write_lines(report.to_csv(columns, comparisons), args.csv)
    if args.format == "json":
        found = {**comparison.verdict_json(verdict), "comparisons": comparisons}
        write_lines(json.dumps(found, indent=2, ensure_ascii=False) + "\n", args.output)
        return 0
    parts = comparison.compared_parts(verdict, only_real=args.format != "text")
    before = _before(own, measure, scores.options)
    write_tables((*before, *parts, *_after(args, stored, scores, verdict)), args, verdict)
    return 0


def _read(
    folders: Sequence[Path], args: argparse.Namespace, baseline: Path | None = None
) -> tuple[Mapping[Path, comparison.Stored], str]:
    """The scores of results, of their rankings or answers, and the measure to take.

    Raises ConfigError for options about rankings where answers are meant.
    """
    answers = comparison.answers_to_take(folders, args.measure)
    if answers is None:
        stored = running.read_united(folders, args.stage, args.measure, baseline)
        return stored, comparison.measure_to_take(stored, args.measure)
    if args.stage != "final":
        raise ConfigError(f"{answers[1]} is a measure of answers: --stage does not apply to it.")
    return answers


def _stated(args: argparse.Namespace) -> dict[str, Any]:
    """What the options say of the tolerance and the price limit, where they do."""
    found = {name: getattr(args, name, None) for name in ("tolerance", "price_limit")}
    for name, value in found.items():
        if value is not None and not 0 < value < float("inf"):
            raise ConfigError(f"--{name.replace('_', '-')} must be a number above 0, not {value:g}.")
    return {name: value for name, value in found.items() if value is not None}


def _before(
    own: Mapping[str, comparison.Stored], measure: str, options: comparison.Options
) -> Iterator[report.Part]:
    """Of two results, the changes of the settings in both."""
    if len(own) == 2:
        (first, old), (second, new) = own.items()
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
    """The effects of labels and rerankers, and that answers can be compared too; nothing after answers.

    That of the reranker where one folder is compared by its last stage and has both stages.
    """
    if any(one.stage == ANSWER for one in stored.values()):
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
    option("--confidence", type=float, default=0.95, metavar="C", help="default 0.95"),
    path("--junit", "write a JUnit report"),
    flag("--github", "print GitHub annotations"),
)
def gate(args: argparse.Namespace) -> int:
    """Check and print; 1 if a drop is real."""
    stored, measure = _read((args.baseline, args.results), args, args.baseline)
    now, before = stored[args.results], stored[args.baseline]
    done = list(now.again)
    if apart := comparison.cut_differently(measure, before.chunkings, now.chunkings):
        done.append(
            f"{measure} compares settings only over the same chunks, and documents are cut differently than "
            f"in the baseline ({listed(apart)}). Use a measure such as ndcg_evidence@5000."
        )
    (new, old), left_out = now.beside([before], measure)
    own = {("", name): name for name in new.settings}
    warned = filter(now.concerned, comparison.warnings_of({"": now.result.record}, own))
    lines = comparison.warning_lines([one for one in warned if one.bears_on(measure)])
    result = comparison.gate(
        new,
        old,
        max_drop=args.max_drop,
        confidence=args.confidence,
        tolerance=_stated(args).get("tolerance", comparison.options_of(now.result.record).tolerance),
        scored_on=(now.scored_on(measure), before.scored_on(measure)),
        read=(now.read(measure), before.read(measure)),
    )
    unit = "document" if set(new.clusters) - {""} <= now.result.documents else "cluster"
    print_line(comparison.gate_sentence(result, comparison.design_in(now.result.record).words, unit))
    for line in (*done, *left_out, *(f"warning: {text}" for text in lines)):
        print_line(line)
    for check in result.checks:
        print_line(
            f"{'FAILED' if check.failed else 'passed'}  {check.setting}: {result.measure} {check.reason}"
        )
    print_line(result.holds_for)
    if args.junit:
        write_lines(comparison.junit(result), args.junit)
    if args.github:
        write_out(comparison.github_annotations(result))
    return 1 if result.failed else 0
