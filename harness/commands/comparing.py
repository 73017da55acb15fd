"""`harness compare` and `harness gate`: is one setting really better, and has one got worse?"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.compare import Comparison, ScoredOn, ScoreMatrix

_COMPARE = """\
Compare settings query by query: mean differences with intervals, randomisation tests corrected for
the number of comparisons, what was chosen on train and holds on validation, and what to do.

  harness compare results/quickstart
  harness compare results/monday results/today --measure ndcg_text@5000
  harness compare results/quickstart --baseline "chunk=500/0" --csv differences.csv

Results that were not scored on the same queries and the same judged text are refused, with reasons.
docs/statistics.md describes the methods and shows how well they hold.
"""
_GATE = """\
Fail (exit code 1) when a setting has dropped by more than is tolerated, and the drop is sure:

  harness gate results/today --baseline results/main --measure ndcg_exp@10 --max-drop 0.02

Settings are matched by name. A large drop that few queries leave in doubt passes, and this is said.
"""


def add(commands: Any) -> None:
    """Describe both commands."""
    compare = commands.add_parser(
        "compare",
        help="compare settings: which is best, and is it real?",
        description=_COMPARE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    compare.add_argument("results", type=Path, nargs="+", metavar="RESULTS", help="folders of results")
    _add_shared(compare)
    compare.add_argument("--baseline", metavar="SETTING", help="compare all with this one, not all pairs")
    compare.add_argument("--csv", type=Path, metavar="FILE", help="write every comparison to this file")
    compare.set_defaults(run=run_compare)
    gate = commands.add_parser(
        "gate",
        help="fail when a setting has got worse than a baseline",
        description=_GATE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    gate.add_argument("results", type=Path, metavar="RESULTS", help="the results to check")
    gate.add_argument(
        "--baseline", type=Path, required=True, metavar="BASE", help="the results to hold them to"
    )
    _add_shared(gate)
    gate.add_argument(
        "--max-drop", type=float, default=0.0, metavar="X", help="the drop tolerated; default 0"
    )
    gate.add_argument("--confidence", type=float, default=0.95, metavar="C", help="default 0.95")
    gate.add_argument("--junit", type=Path, metavar="FILE", help="write a JUnit report")
    gate.add_argument("--github", action="store_true", help="print GitHub annotations")
    gate.set_defaults(run=run_gate)


def _add_shared(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--measure", metavar="NAME", help="default: the first measure of the results")
    parser.add_argument(
        "--stage", default="final", metavar="NAME", help="final (default), retrieve or rerank"
    )


def run_compare(args: argparse.Namespace) -> int:
    """Compare and print."""
    from harness.compare import advise, compare_all, compare_to, join, select
    from harness.report import to_csv
    from harness.store import write_text
    from harness.terminal import print_line, print_table

    loaded = [_load(folder, args.measure, args.stage) for folder in args.results]
    names = _distinct(args.results)
    matrix = join(
        dict(zip(names, (one for one, _ in loaded), strict=True)),
        dict(zip(names, (two for _, two in loaded), strict=True)),
    ).defined()
    print_table(
        f"{matrix.measure}: means over {len(matrix.query_ids)} queries",
        ("setting", "mean"),
        sorted(
            ((name, f"{mean:.3f}") for name, mean in zip(matrix.settings, matrix.means, strict=True)),
            key=lambda row: row[1],
            reverse=True,
        ),
    )
    if len(matrix.settings) < 2:
        print_line(
            "There is one setting; compare needs two. Sweep a field, or name a second folder of results."
        )
        return 0
    found = compare_to(matrix, args.baseline) if args.baseline else compare_all(matrix)
    found = sorted(found, key=lambda one: (one.p_max, -abs(one.difference)))
    columns = ("setting", "against", "difference", "95 % interval", "p corrected", "won/tied/lost", "real?")
    print_table("differences, the clearest first", columns, [_row(one) for one in found[:30]])
    if len(found) > 30:
        print_line(f"{len(found) - 30} more; --csv FILE writes all of them.")
    if {"train", "validation"} <= set(matrix.splits):
        for sentence in select(matrix).sentences():
            print_line(sentence)
    for sentence in advise(matrix).sentences():
        print_line(sentence)
    if args.csv:
        fields = tuple(found[0].__slots__)
        write_text(args.csv, to_csv(fields, ({f: getattr(one, f) for f in fields} for one in found)))
    return 0


def run_gate(args: argparse.Namespace) -> int:
    """Check and print; 1 where a drop is real."""
    from harness.compare import gate, github_annotations, junit
    from harness.store import write_text
    from harness.terminal import print_line, write_out

    results, on = _load(args.results, args.measure, args.stage)
    baseline, base_on = _load(args.baseline, args.measure or results.measure, args.stage)
    result = gate(
        results, baseline, max_drop=args.max_drop, confidence=args.confidence, scored_on=(on, base_on)
    )
    for check in result.checks:
        print_line(
            f"{'FAILED' if check.failed else 'passed'}  {check.setting}: {result.measure} {check.reason}"
        )
    if args.junit:
        write_text(args.junit, junit(result))
    if args.github:
        write_out(github_annotations(result))
    return 1 if result.failed else 0


def _load(folder: Path, measure: str | None, stage: str) -> tuple[ScoreMatrix, ScoredOn]:
    from harness.compare import ScoredOn, from_table
    from harness.errors import ConfigError
    from harness.report import read_result

    result = read_result(folder)
    known = list(dict.fromkeys(result.per_query["measure"]))
    wanted = measure or known[0]
    if wanted not in known:
        raise ConfigError(f"{folder} was not scored by {wanted}; it has {', '.join(known)}.")
    stages = list(dict.fromkeys(result.per_query["stage"]))
    if stage != "final" and stage not in stages:
        raise ConfigError(f"{folder} has no stage {stage}; it has {', '.join(stages)}.")
    scored_on = ScoredOn.of(result.record, result.texts, result.judged)
    return from_table(result.per_query, wanted, stage), scored_on


def _distinct(folders: Sequence[Path]) -> list[str]:
    """Names of results: the folder's own where that tells them apart, else the whole path."""
    short = [folder.name for folder in folders]
    return short if len(set(short)) == len(short) else [str(folder) for folder in folders]


def _row(one: Comparison) -> tuple[str, ...]:
    interval = "–" if one.low is None or one.high is None else f"{one.low:+.3f} to {one.high:+.3f}"
    return (
        one.setting,
        one.against,
        f"{one.difference:+.3f}",
        interval,
        f"{one.p_max:.3f}",
        f"{one.wins}/{one.ties}/{one.losses}",
        "yes" if one.significant() else "no",
    )
