"""The runs of `harness score --run`: their values, and of several runs how they differ from the first."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from harness import comparison, data, measures, report
from harness.cli.commands.common import names_of_measures
from harness.cli.commands.declaring import group, option, path
from harness.cli.score_wordings import QUERIES
from harness.cli.terminal import TerminalReporter, print_line, show, write_lines, write_out
from harness.values import ConfigError, listed, real_path, worded

DEFAULT_MEASURES = "ndcg_lin@10,ndcg_exp@10,ap,rr,precision@10,recall@100,judged@10"
# options that only a comparison of several runs has
COMPARING = ("clusters", "tolerance", "csv")
COMPARE_OPTIONS = group(
    "how several runs are compared with the first",
    path("--clusters", "CSV or JSONL with query_id and cluster: whole clusters are tested, not queries"),
    option("--tolerance", type=float, metavar="X", help="differences within it count as equal; default 0.02"),
    path("--csv", "write every comparison to this file"),
)


def score_runs(args: argparse.Namespace) -> int:
    """Score the runs, print their values and, of several, how each differs from the first."""
    files: list[Path] = args.ranked
    if len({real_path(file) for file in files}) < len(files):
        raise ConfigError(f"--run names {max(files, key=files.count)} twice.")
    options = [f"--{name}" for name in COMPARING if getattr(args, name) is not None]
    if len(files) == 1 and options:
        args.wrong_usage(f"{', '.join(options)}: only with several runs")
    if args.tolerance is not None and not 0 < args.tolerance < float("inf"):
        raise ConfigError(f"--tolerance must be a number above 0, not {args.tolerance:g}.")
    judged = data.read_qrels(args.qrels)
    scores, depths = {}, {}
    for file in files:
        ranked = data.read_run(file)
        scores[str(file)] = _scores(file, ranked, judged, args, alone=len(files) == 1)
        depths[str(file)] = ranked.depth
    compared = _compared(scores, args) if len(files) > 1 else []
    if args.csv:
        write_lines(_comparison_csv(compared), args.csv)
    if args.format == "csv":
        write_out(data.as_csv(scores, args.per_query))
    elif args.format == "json":
        write_out(data.as_json(scores, args.per_query, list(map(_plain, compared))))
    else:
        write_out(data.as_text(scores, args.per_query))
        if compared:
            print_line("")
            names = _short_names(scores)
            named = [comparison.renamed(by, names) for by in compared]
            ends = {names[file]: depth for file, depth in depths.items()}
            show(*comparison.run_parts(named, _judged(scores), ends, _options(args)))
    return 0


def _options(args: argparse.Namespace) -> comparison.Options:
    return comparison.Options() if args.tolerance is None else comparison.Options(tolerance=args.tolerance)


def _compared(
    scores: Mapping[str, data.DocScores], args: argparse.Namespace
) -> list[comparison.RunComparison]:
    """The comparison by every measure of quality that has values; the rest say nothing of which is better."""
    clusters = _clusters(args, {query for run in scores.values() for query in run.query_ids})
    compared = []
    for place, measure in enumerate(next(iter(scores.values())).measures):
        if not measures.is_quality(measure.name):
            continue
        values = {
            name: dict(zip(run.query_ids, run.values[:, place].tolist(), strict=True))
            for name, run in scores.items()
        }
        by = comparison.compare_runs(measure.name, values, clusters, _options(args))
        compared += [by] if by is not None else []
    if not compared:
        names = listed([measure.name for measure in next(iter(scores.values())).measures])
        TerminalReporter().warn(comparison.sentence_of("runs.uncompared", measures=names))
    return compared


def _short_names(scores: Mapping[str, data.DocScores]) -> dict[str, str]:
    """What the files are called in tables: as short as tells them apart, without the suffix if it may go."""
    files = [Path(file) for file in scores]
    bare = [file.with_suffix("") for file in files]
    distinct = len({real_path(file) for file in bare}) == len(files)
    return dict(zip(scores, comparison.names_of(bare if distinct else files), strict=True))


def _judged(scores: Mapping[str, data.DocScores]) -> dict[str, dict[str, float]]:
    """The mean share that is judged under every run, by the measures of it that were scored."""
    names = _short_names(scores)
    means = {names[file]: run.means() for file, run in scores.items()}
    shares = [measure.name for measure in next(iter(scores.values())).measures if measure.family == "judged"]
    return {share: {name: run[share] or 0.0 for name, run in means.items()} for share in shares}


def _clusters(args: argparse.Namespace, queries: set[str]) -> dict[str, str]:
    """The cluster of every query; raises ConfigError for a file of other queries or without any cluster."""
    if args.clusters is None:
        return {}
    reporter = TerminalReporter()
    clusters = data.read_clusters(args.clusters, reporter.note)
    if not any(clusters.get(query) for query in queries):
        raise ConfigError(
            f"{args.clusters} names a cluster for none of the queries that are scored, such as "
            f"{min(queries, default='')!r}. Give a file with the columns query_id and cluster, and with the "
            "ids of the qrels."
        )
    if bare := {query for query in queries if not clusters.get(query)}:
        shown = {"file": args.clusters, "count": len(bare), "query": min(bare)}
        reporter.note(worded(QUERIES, "clusters.lacking", **shown))
    return clusters


def _plain(by: comparison.RunComparison) -> dict[str, Any]:
    """A comparison as plain values."""
    return {
        "measure": by.measure,
        "against": by.first,
        "tested_by": "clusters" if by.tested_by == "clusters" else "queries",
        "clusters": by.clusters,
        "left_out": by.left_out,
        "runs": [
            {
                "run": run.setting,
                **{name: value for name, value in asdict(run).items() if name not in ("setting", "against")},
                "lost": [{**asdict(query), "difference": query.difference} for query in by.lost[run.setting]],
            }
            for run in by.comparisons
        ],
    }


def _comparison_csv(compared: list[comparison.RunComparison]) -> str:
    """A row for every measure and further run; ``lost_most`` has the ids of the queries, the worst first."""
    columns = ["measure", *(field.name for field in fields(comparison.Comparison)), "lost_most"]
    return report.to_csv(
        columns,
        (
            {
                "measure": by.measure,
                **asdict(run),
                "lost_most": " ".join(
                    query.query_id for query in by.lost[run.setting][: comparison.MOST_LOST]
                ),
            }
            for by in compared
            for run in by.comparisons
        ),
    )


def _scores(
    file: Path, ranked: data.AnyRun, judged: data.AnyQrels, args: argparse.Namespace, *, alone: bool
) -> data.DocScores:
    """The scores of a run; notes about it go to the terminal, with its file unless it is the only one."""
    judged_queries, answered = set(judged.query_ids), set(ranked.query_ids)
    data.refuse_strangers(answered, judged_queries, str(file), str(args.qrels))
    try:
        scores = data.evaluate(
            ranked, judged, names_of_measures(args.measures or [DEFAULT_MEASURES]), args.convention
        )
    except ValueError as error:
        raise ConfigError(str(error)) from error
    reporter, about = TerminalReporter(), "" if alone else f"{file}: "
    if not any(scores.means().values()) and not any(
        data.evaluate(ranked, judged, ["judged"]).means().values()
    ):
        code = "runs.unjudged" if alone else "runs.unjudged.file"
        reporter.warn(comparison.sentence_of(code, file=file))
    for note in _notes(answered, judged_queries, judged.useful, scores):
        reporter.note(about + note)
    return scores


def _notes(ranked: set[str], judged: set[str], useful: set[str], scores: data.DocScores) -> list[str]:
    """Queries that only one file has or that have nothing relevant (not ``useful``): conventions differ."""
    notes, rules = [], scores.convention

    def noted(code: str, queries: set[str]) -> str:
        return worded(QUERIES, code, count=len(queries), query=min(queries), convention=rules.name)

    bare = judged - useful if rules.unanswerable == "nan" else set()
    if bare:
        notes.append(noted("queries.bare", bare))
    if missing := judged - ranked - bare:
        notes.append(noted("queries.dropped" if rules.missing == "drop" else "queries.zero", missing))
    if unjudged := ranked - judged:
        notes.append(noted("queries.unjudged", unjudged))
    if numbered := {query for query in ranked | judged if query.startswith("#")}:
        notes.append(noted("queries.numbered", numbered))
    return notes
