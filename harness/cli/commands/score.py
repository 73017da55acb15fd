"""`harness score`: evaluate a run file against a qrels file, or hits of another pipeline."""

from __future__ import annotations

import argparse
from pathlib import Path

from harness import data
from harness.cli.commands import hits
from harness.cli.commands.declaring import command, flag, option, path, several
from harness.cli.commands.shared import measures, names_of_measures
from harness.cli.terminal import TerminalReporter, write_out
from harness.values import ConfigError, counted

_DESCRIPTION = """\
Evaluate a run against judgments: NDCG and its companions, by trec_eval's rules by default.

  harness score --run run.txt --qrels qrels.txt
  harness score --run run.txt --qrels qrels.txt --measures ndcg_lin@10,ap --per-query --format csv
  harness score --run before.txt after.txt --qrels qrels.txt
  harness score --run run.parquet --qrels beir-folder --measures ndcg_exp@10 --convention harness

Runs and qrels: TREC text (also from a pipe), .csv and .tsv with named columns (all also as .gz), or
.parquet; qrels also as a BEIR folder, where qrels/test.tsv is read.

Or evaluate what any retrieval system returned, with the labels of a benchmark:

  harness score --hits mine.jsonl --queries queries.csv --labels labels.csv --documents 'docs/*.pdf'
  harness score --hits before.jsonl after.jsonl --queries … --labels … --documents … --name my-system

Each line of mine.jsonl is a returned passage, with its text, or its position in the text the harness
extracts:

  {"query_id": "q1", "rank": 1, "document": "report.pdf", "text": "Revenue rose to 97 million …"}
  {"query_id": "q1", "rank": 2, "document": "report.pdf", "page": 12}
  {"query_id": "q1", "rank": 3, "document": "report.pdf", "start": 5120, "end": 6080}

score (higher is better) may replace rank, document may be omitted if text is given; .csv and .parquet have
the same columns. Every file becomes a setting of results/<name>/, with the tables, verdict and page of
`harness bench`. See docs/hits.md.
"""
_MEASURES = "ndcg_lin@10,ndcg_exp@10,ap,rr,precision@10,recall@100,judged@10"


@command(
    _DESCRIPTION,
    several("--run", "the run file; of several, each value with its file", "RUN", type=Path, dest="ranked"),
    path("--qrels", "the judgments", "QRELS"),
    measures(f"{_MEASURES.replace(',', ', ')}; for hits, those of a benchmark"),
    flag("--per-query", "print every query before the means"),
    option("--format", choices=("text", "csv", "json"), default="text", help="default text"),
    option(
        "--convention",
        default="trec_eval",
        metavar="NAME",
        help="whose rules to apply to ties, missing queries and the ideal: trec_eval (default), trec_eval_c, "
        "harness, ir_measures, beir, ranx, sklearn; docs/conventions.md explains them",
    ),
    hits.OPTIONS,
)
def score(args: argparse.Namespace) -> int:
    """Score it and print the values."""
    if args.hits:
        return hits.run(args)
    if missing := [f"--{name}" for name, value in (("run", args.ranked), ("qrels", args.qrels)) if not value]:
        args.wrong_usage(
            f"the following arguments are required: {', '.join(missing)} (or --hits with --queries, --labels "
            "and --documents)"
        )
    if given := hits.given(args):
        args.wrong_usage(f"{', '.join(given)}: only with --hits")
    return _run(args)


def _run(args: argparse.Namespace) -> int:
    files: list[Path] = args.ranked
    if len(set(files)) < len(files):
        raise ConfigError(f"--run names {max(files, key=files.count)} twice.")
    judged = data.read_qrels(args.qrels)
    scores = {str(file): _scores(file, judged, args, alone=len(files) == 1) for file in files}
    write_out(data.LAYOUTS[args.format](scores, args.per_query))
    return 0


def _scores(file: Path, judged: data.Qrels, args: argparse.Namespace, *, alone: bool) -> data.DocScores:
    """The scores of a run; notes about it go to the terminal, with its file unless it is the only one."""
    ranked = data.read_run(file)
    asked, answered = set(judged.query.names.to_pylist()), set(ranked.query.names.to_pylist())
    if asked and answered and not asked & answered:
        raise data.TrecError(
            f"{file} and {args.qrels} have no query in common: the run has {_some(answered)}, the "
            f"judgments have {_some(asked)}. Do the files belong together, and are the ids spelled the same "
            f"way?"
        )
    try:
        scores = data.evaluate(
            ranked, judged, names_of_measures(args.measures or [_MEASURES]), args.convention
        )
    except ValueError as error:
        raise ConfigError(str(error)) from error
    reporter, about = TerminalReporter(), "" if alone else f"{file}: "
    if not any(scores.means().values()) and not any(
        data.evaluate(ranked, judged, ["judged"]).means().values()
    ):
        reporter.warn(f"{about}no ranked document is judged for its query: do run and qrels belong together?")
    for note in _notes(answered, asked, args.convention):
        reporter.note(about + note)
    return scores


def _notes(ranked: set[str], judged: set[str], convention: str) -> list[str]:
    """Queries and documents that only one file has, on which conventions differ."""
    notes = []
    if missing := judged - ranked:
        notes.append(
            f"{counted(len(missing), 'judged query has', 'judged queries have')} no ranking, such as "
            f"{min(missing)}. The convention {convention} leaves such queries out; trec_eval_c and harness "
            "count them as 0."
        )
    if unjudged := ranked - judged:
        notes.append(
            f"Left out: {counted(len(unjudged), 'ranked query', 'ranked queries')} without a judgment, such "
            f"as {min(unjudged)}."
        )
    if numbered := {query for query in ranked | judged if query.startswith("#")}:
        notes.append(
            f"{len(numbered)} query ids begin with #, such as {min(numbered)}. trec_eval 10 treats such "
            "lines as comments; delete them if they are comments."
        )
    return notes


def _some(queries: set[str]) -> str:
    """The first three in order."""
    first = ", ".join(sorted(queries)[:3])
    return first + (", …" if len(queries) > 3 else "")
