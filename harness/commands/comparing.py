"""`harness compare` and `harness gate`: is one setting really better, and has one got worse?"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.compare import ScoredOn, ScoreMatrix
    from harness.findings import Costs
    from harness.report import Part, StoredResult

_COMPARE = """\
Compare settings query by query: mean differences with intervals, randomisation tests corrected for
the number of comparisons, what was chosen on train and holds on validation, and what to do.

  harness compare results/quickstart
  harness compare results/monday results/today --measure ndcg_text@5000    # what has changed first
  harness compare results/quickstart --baseline "chunk=500/0" --csv differences.csv
  harness compare results/quickstart --select cross-validated
  harness compare results/main results/branch --format markdown --output comment.md

Results that were not scored on the same queries and the same judged text are refused, with reasons.
Where one language model has judged other pools of text, all are scored again on the union of these.
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
    compare.add_argument(
        "--select",
        choices=("train", "cross-validated"),
        default="train",
        help="what choosing among the settings is worth: chosen on train and held against validation "
        "(default), or cross-validated over all queries",
    )
    compare.add_argument(
        "--folds", type=int, default=5, metavar="N", help="of the cross-validation; default 5"
    )
    add_format(compare)
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


def add_format(parser: argparse.ArgumentParser, more: tuple[str, ...] = ()) -> None:
    """The options that say how to write and where."""
    parser.add_argument(
        "--format",
        choices=("text", "markdown", "latex", *more),
        default="text",
        help="text (default), markdown for a pull request, latex (with booktabs and graphicx)"
        + (", csv" if more else ""),
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="write to this file, not to the terminal")


def _add_shared(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--measure", metavar="NAME", help="default: the first measure of the results")
    parser.add_argument(
        "--judge",
        type=Path,
        metavar="CONFIG",
        help="where a language model judges: have the judge of this configuration grade what it has not "
        "graded for some of the results",
    )
    parser.add_argument(
        "--stage", default="final", metavar="NAME", help="final (default), retrieve or rerank"
    )


def run_compare(args: argparse.Namespace) -> int:
    """Compare and print."""
    from harness.compare import join, joined_names
    from harness.findings import compare_settings, label_parts, label_sensitivity
    from harness.report import to_csv
    from harness.terminal import tell, write_lines

    names = _distinct(args.results)
    stored, done = _united(args.results, args)
    loaded = [_load(stored[folder], args.measure, args.stage) for folder in args.results]
    matrices = dict(zip(names, (one for one, _ in loaded), strict=True))
    matrix = join(matrices, dict(zip(names, (two for _, two in loaded), strict=True))).defined()
    compared = compare_settings(
        matrix,
        _costs(dict(zip(names, args.results, strict=True)), matrices, args.stage),
        baseline=args.baseline,
        select_by=args.select,
        folds=args.folds,
        only_real=args.format != "text",
    )
    sensitivity = label_sensitivity(
        dict(zip(names, args.results, strict=True)), joined_names(matrices), matrix.measure, args.stage
    )
    parts = (
        *([done] if done else []),
        *_changed(matrices),
        *compared.parts,
        *label_parts(sensitivity, compared.found),
        *_reranked(args),
    )
    tell(parts, args.format, args.output)
    if args.csv and compared.found:
        fields = tuple(compared.found[0].__slots__)
        rows = ({f: getattr(one, f) for f in fields} for one in compared.found)
        write_lines(to_csv(fields, rows), args.csv)
    return 0


def _changed(matrices: Mapping[str, ScoreMatrix]) -> list[Part]:
    """Of two results, what has become of the settings that both have."""
    from harness.findings import changed_table

    if len(matrices) != 2:
        return []
    (old, before), (new, after) = matrices.items()
    table = changed_table(before, after, (old, new))
    return [table] if table else []


def _reranked(args: argparse.Namespace) -> list[Part]:
    """What the reranker does, where one folder is compared by its last stage and has both stages."""
    from harness.compare import from_table
    from harness.findings import reranked_table
    from harness.report import read_result

    if len(args.results) > 1 or args.stage != "final":
        return []
    scores = read_result(args.results[0]).per_query
    if not {"retrieve", "rerank"} <= set(scores["stage"]):
        return []
    measure = args.measure or scores["measure"][0]
    table = reranked_table(*(from_table(scores, measure, stage) for stage in ("retrieve", "rerank")))
    return [table] if table else []


def _costs(folders: Mapping[str, Path], matrices: Mapping[str, ScoreMatrix], stage: str) -> Costs:
    """The tokens to read in every setting's first k chunks, where all results say so for one k."""
    from harness.compare import joined_names
    from harness.findings import Costs
    from harness.report import read_table

    tokens: dict[tuple[str, str], float] = {}
    depths = set()
    for name, folder in folders.items():
        # rows stand in the order of the stages, so that the last one stays
        for row in read_table(folder, "prices.csv"):
            if stage in ("final", row["stage"]):
                tokens[name, row["setting"]] = float(row["tokens_at_k"])
                depths.add(row["k"])
    names = joined_names(matrices)
    if not tokens or names.keys() - tokens.keys():
        return Costs(None, "", "Costs are left out: not all results have a prices.csv." if tokens else "")
    if len(depths) > 1:
        return Costs(None, "", "Costs are left out: the results count tokens to different depths (k).")
    k = depths.pop()
    return Costs({names[key]: tokens[key] for key in names}, f"tokens@{k}" if k else "tokens")


def run_gate(args: argparse.Namespace) -> int:
    """Check and print; 1 where a drop is real."""
    from harness.compare import gate, github_annotations, junit
    from harness.terminal import print_line, write_lines, write_out

    # of two grades for a span that of the baseline stands
    folders = (args.baseline, args.results)
    stored, done = _united(folders, args)
    results, on = _load(stored[args.results], args.measure, args.stage)
    baseline, base_on = _load(stored[args.baseline], args.measure or results.measure, args.stage)
    result = gate(
        results, baseline, max_drop=args.max_drop, confidence=args.confidence, scored_on=(on, base_on)
    )
    for line in done:
        print_line(line)
    for check in result.checks:
        print_line(
            f"{'FAILED' if check.failed else 'passed'}  {check.setting}: {result.measure} {check.reason}"
        )
    if args.junit:
        write_lines(junit(result), args.junit)
    if args.github:
        write_out(github_annotations(result))
    return 1 if result.failed else 0


def _united(
    folders: Sequence[Path], args: argparse.Namespace
) -> tuple[Mapping[Path, StoredResult], tuple[str, ...]]:
    """The results, on the same judgments where one judge has graded different pools, and what was done."""
    from harness.pipeline.uniting import united
    from harness.report import read_result
    from harness.terminal import TerminalReporter

    results = {folder: read_result(folder) for folder in folders}
    if len({folder.resolve() for folder in folders}) < 2:
        return results, ()
    names = dict(zip(folders, _distinct(folders), strict=True))
    return united(results, names, args.measure, args.judge, TerminalReporter())


def _load(result: StoredResult, measure: str | None, stage: str) -> tuple[ScoreMatrix, ScoredOn]:
    from harness.compare import ScoredOn, from_table
    from harness.errors import ConfigError
    from harness.measures import less_is_better

    known = list(dict.fromkeys(result.per_query["measure"]))
    wanted = measure or known[0]
    if less_is_better(wanted):
        raise ConfigError(
            f"{wanted} is a price, where less is better. Compare by a measure of quality; prices stand "
            "beside it."
        )
    if wanted not in known:
        raise ConfigError(f"{result.name} was not scored by {wanted}; it has {', '.join(known)}.")
    stages = list(dict.fromkeys(result.per_query["stage"]))
    if stage != "final" and stage not in stages:
        raise ConfigError(f"{result.name} has no stage {stage}; it has {', '.join(stages)}.")
    scored_on = ScoredOn.of(result.record, result.texts, result.judged)
    return from_table(result.per_query, wanted, stage), scored_on


def _distinct(folders: Sequence[Path]) -> list[str]:
    """Names of results: as many of the last parts of their paths as tell them apart."""
    from harness.errors import HarnessError

    parts = [folder.resolve().parts for folder in folders]
    for depth in range(1, max(map(len, parts)) + 1):
        names = ["/".join(one[-depth:]) for one in parts]
        if len(set(names)) == len(names):
            return names
    raise HarnessError("A folder of results is named twice.")
