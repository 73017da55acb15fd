"""`harness compare` and `harness gate`: is one setting really better, and has one got worse?"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.commands.comparing_answers import (
    answers_hint,
    answers_meant,
    changed_answers,
    compared_answers,
    gate_answers,
)

if TYPE_CHECKING:
    from harness.bench.stored_answers import StoredAnswers
    from harness.comparison import Comparison, Verdict
    from harness.comparison.gate import GateResult
    from harness.report import Part
    from harness.verdict import Stored

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
says so.
"""


def add(commands: Any) -> None:
    """Describe both commands."""
    compare = commands.add_parser(
        "compare",
        help="compare settings: which is best, and is it real?",
        description=_COMPARE,
    )
    compare.add_argument("results", type=Path, nargs="+", metavar="RESULTS", help="folders of results")
    _add_shared(compare)
    compare.add_argument(
        "--baseline", metavar="SETTING", help="compare every setting with this one, not all pairs"
    )
    compare.add_argument(
        "--select",
        choices=("train", "cross-validated"),
        default="train",
        help="how to estimate the value of the chosen setting: choose on train and check on "
        "validation (default), or cross-validate over all queries",
    )
    compare.add_argument(
        "--folds", type=int, default=5, metavar="N", help="folds of the cross-validation; default 5"
    )
    add_format(compare, ("json",))
    compare.add_argument("--csv", type=Path, metavar="FILE", help="write every comparison to this file")
    compare.set_defaults(run=run_compare)
    gate = commands.add_parser(
        "gate",
        help="fail if a setting has become worse than a baseline",
        description=_GATE,
    )
    gate.add_argument("results", type=Path, metavar="RESULTS", help="the results to check")
    gate.add_argument(
        "--baseline", type=Path, required=True, metavar="BASE", help="the results to compare with"
    )
    _add_shared(gate)
    gate.add_argument(
        "--max-drop",
        type=float,
        default=0.0,
        metavar="X",
        help="the largest drop that is tolerated; default 0",
    )
    gate.add_argument("--confidence", type=float, default=0.95, metavar="C", help="default 0.95")
    gate.add_argument("--junit", type=Path, metavar="FILE", help="write a JUnit report")
    gate.add_argument("--github", action="store_true", help="print GitHub annotations")
    gate.set_defaults(run=run_gate)


def add_format(parser: argparse.ArgumentParser, more: tuple[str, ...] = ()) -> None:
    """The options that say how to write and where."""
    parser.add_argument(
        "--format",
        choices=("text", "markdown", "latex", *more),
        default="text",
        help="text (default), markdown for a pull request, latex (with booktabs and graphicx)"
        + "".join(f", {name}" for name in more),
    )
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="write to this file instead of the terminal"
    )


def _add_shared(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--measure",
        metavar="NAME",
        help="default: one that is comparable between these settings (docs/statistics.md)",
    )
    parser.add_argument(
        "--judge",
        type=Path,
        metavar="CONFIG",
        help="with a language model as judge: let the judge of this configuration grade passages that it has "
        "graded for only some of the results",
    )
    parser.add_argument(
        "--stage", default="final", metavar="NAME", help="final (default), retrieve or rerank"
    )


def run_compare(args: argparse.Namespace) -> int:
    """Compare and print."""
    from harness.terminal import print_line, tell
    from harness.verdict import (
        compared_parts,
        label_parts,
        measure_to_take,
        names_of,
        read_stored,
        scores_of,
        verdict_of,
    )

    if len(args.results) > 1 and len({folder.resolve() for folder in args.results}) == 1:
        read_stored(args.results[0], args.stage)
        print_line(f"{args.results[0]} is named {len(args.results)} times: there is nothing to compare.")
        return 0
    if (answers := answers_meant(args.results, args)) is not None:
        return _compare_answers(*answers, args)
    stored, done = _united(args.results, args)
    names = names_of(args.results)
    measure = measure_to_take(stored, args.measure)
    named = {name: (folder, stored[folder]) for name, folder in zip(names, args.results, strict=True)}
    scores = scores_of(named)
    verdict = verdict_of(scores, measure, args.baseline)
    if args.csv and verdict.comparisons:
        _write_comparisons(args.csv, verdict)
    if args.format == "json":
        _write_json(verdict, args.output)
        return 0
    parts = compared_parts(
        scores, verdict, select_by=args.select, folds=args.folds, only_real=args.format != "text"
    )
    changed = _changed({name: one for name, (_, one) in named.items()}, measure)
    labels = label_parts(scores.sensitivity.get(measure), verdict.comparisons)
    shown = (
        *([done] if done else []),
        *changed,
        *parts,
        *labels,
        *_reranked(args, measure),
        *answers_hint(args.results),
    )
    tell(shown, args.format, args.output)
    return 0


def _compare_answers(stored: Mapping[Path, StoredAnswers], measure: str, args: argparse.Namespace) -> int:
    """Compare by a measure of answers and print."""
    from harness.terminal import tell
    from harness.verdict import compared_parts

    found = compared_answers(stored, measure, args.baseline)
    verdict = found.verdict
    if args.csv and verdict.comparisons:
        _write_comparisons(args.csv, verdict)
    if args.format == "json":
        _write_json(verdict, args.output)
        return 0
    parts = compared_parts(
        found.scores,
        verdict,
        select_by=args.select,
        folds=args.folds,
        only_real=args.format != "text",
    )
    tell((*changed_answers(stored, measure), *parts), args.format, args.output)
    return 0


def _write_json(verdict: Verdict, output: Path | None) -> None:
    import json

    from harness.comparison import verdict_json
    from harness.terminal import write_lines

    told = {**verdict_json(verdict), "comparisons": [_plain(one) for one in verdict.comparisons]}
    write_lines(json.dumps(told, indent=2, ensure_ascii=False) + "\n", output)


def _plain(one: Comparison) -> dict[str, Any]:
    return {name: getattr(one, name) for name in one.__slots__}


def _write_comparisons(path: Path, verdict: Verdict) -> None:
    from harness.report import to_csv
    from harness.terminal import write_lines

    fields = tuple(verdict.comparisons[0].__slots__)
    write_lines(to_csv(fields, map(_plain, verdict.comparisons)), path)


def _changed(stored: Mapping[str, Stored], measure: str) -> list[Part]:
    """Of two results, what has become of the settings that both have."""
    from harness.verdict import changed_table, options_of

    if len(stored) != 2:
        return []
    (old, before), (new, after) = stored.items()
    options = options_of(after.result.record)
    table = changed_table(before.matrix(measure), after.matrix(measure), (old, new), options)
    return [table] if table else []


def _reranked(args: argparse.Namespace, measure: str) -> list[Part]:
    """What the reranker does, where one folder is compared by its last stage and has both stages."""
    from harness.comparison import from_table
    from harness.report import read_result
    from harness.verdict import options_of, reranked_table

    if len(args.results) > 1 or args.stage != "final":
        return []
    result = read_result(args.results[0])
    if not {"retrieve", "rerank"} <= set(result.per_query["stage"]):
        return []
    before, after = (from_table(result.per_query, measure, stage) for stage in ("retrieve", "rerank"))
    table = reranked_table(before, after, options_of(result.record))
    return [table] if table else []


def run_gate(args: argparse.Namespace) -> int:
    """Check and print; 1 where a drop is real."""
    from harness.comparison import github_annotations, junit
    from harness.terminal import print_line, write_lines, write_out

    answers = answers_meant((args.baseline, args.results), args)
    result, done = _gate_rankings(args) if answers is None else gate_answers(*answers, args)
    for line in done:
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


def _gate_rankings(args: argparse.Namespace) -> tuple[GateResult, tuple[str, ...]]:
    from harness.comparison import gate
    from harness.verdict import measure_to_take

    # of two grades for a span that of the baseline stands
    stored, done = _united((args.baseline, args.results), args)
    measure = measure_to_take(stored, args.measure)
    results, baseline = stored[args.results], stored[args.baseline]
    return gate(
        results.matrix(measure),
        baseline.matrix(measure),
        max_drop=args.max_drop,
        confidence=args.confidence,
        scored_on=(results.scored_on, baseline.scored_on),
    ), done


def _united(
    folders: Sequence[Path], args: argparse.Namespace
) -> tuple[Mapping[Path, Stored], tuple[str, ...]]:
    """The results, on the same judgments where one judge has graded different pools, and what was done."""
    from harness.bench.uniting import united
    from harness.terminal import TerminalReporter
    from harness.verdict import Stored, names_of, read_stored

    stored = {folder: read_stored(folder, args.stage) for folder in folders}
    if len({folder.resolve() for folder in folders}) < 2:
        return stored, ()
    names = dict(zip(folders, names_of(folders), strict=True))
    results = {folder: one.result for folder, one in stored.items()}
    again, done = united(results, names, args.measure, args.judge, TerminalReporter())
    return {folder: Stored.of(again[folder], args.stage) for folder in stored}, done
