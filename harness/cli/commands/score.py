"""`harness score`, `score-answers` and `export-answers`: measures of rankings and of answers."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from harness import comparison, data, report, running, store
from harness.cli.commands.common import measures, names_of_measures, print_ending
from harness.cli.commands.declaring import (
    DEFAULT_CACHE,
    QUIET,
    command,
    flag,
    group,
    option,
    path,
    results_folder,
    several,
)
from harness.cli.commands.score_runs import COMPARE_OPTIONS, COMPARING, DEFAULT_MEASURES, score_runs
from harness.cli.hit_files import hits_config
from harness.cli.terminal import TerminalReporter, print_line, show
from harness.values import ConfigError, counted, folder_name, holds_secret, real_path

_NEEDED = ("queries", "labels", "documents")
# options of hits alone, and what they are where they are not given
_DEFAULTS = {
    "name": None,
    "results": Path("results"),
    "cache": DEFAULT_CACHE,
    "parser": "pypdf",
    "on_bad_document": "fail",
    "threshold": 90.0,
    "other_documents": "fail",
    "quiet": False,
}


_OPTIONS = group(
    "what another pipeline returned",
    several("--hits", ".jsonl, .csv or .parquet; each file is one setting", "FILE", type=Path),
    path("--queries", "CSV or JSONL with query_id and text"),
    path("--labels", "CSV or JSONL with query_id, document, grade and place"),
    several("--documents", "the documents that the pipeline searched", "GLOB", default=None),
    option("--name", help="name of the results folder; default: the names of the files"),
    path("--results", "where to create that folder; default results", "FOLDER"),
    path("--cache", "default .cache/harness", "FOLDER"),
    option("--parser", choices=("pypdf", "pypdfium2"), help="how PDFs are read; default pypdf"),
    option("--on-bad-document", choices=("fail", "skip"), help="one that cannot be used; default fail"),
    option(
        "--other-documents",
        choices=("fail", "keep"),
        help="treat hits in documents that are not among --documents as an error (default) or as unjudged "
        "text",
    ),
    option(
        "--threshold",
        type=float,
        metavar="N",
        help="how similar the text of a hit and of its document must be, up to 100; default 90",
    ),
    flag("--quiet", "no progress bars and warnings", default=None),
)


def _score_hits(args: argparse.Namespace) -> int:
    """Score them, write the results and print the summary."""
    if args.ranked or args.qrels:
        args.wrong_usage("--hits and --run cannot be combined; give one of them")
    if missing := [f"--{name}" for name in _NEEDED if not getattr(args, name)]:
        args.wrong_usage(f"--hits also needs {', '.join(missing)}")
    comparing = any(getattr(args, name) is not None for name in COMPARING)
    if args.per_query or args.format != "text" or args.convention != "trec_eval" or comparing:
        args.wrong_usage(
            "--per-query, --format, --convention, --clusters, --tolerance and --csv go with --run; hits are "
            "scored into a folder, and `harness compare` compares there"
        )

    for name, value in _DEFAULTS.items():
        if getattr(args, name) is None:
            setattr(args, name, value)
    config = _config(args)
    keep_others = args.other_documents == "keep"
    reporter = TerminalReporter(quiet=args.quiet)
    pages = []

    def finish(folder: Path, results: report.Results) -> None:
        page = running.write_page(folder, reporter=reporter, name=config.name, results=results)[1]
        pages.append(page)

    results, folder = running.score_hits(config, args.threshold, keep_others, reporter, finish)
    notes = [*filter(None, (page.note for page in pages)), f"Location of every hit: {folder / 'hits.csv'}"]
    print_ending(running.FinalOutput.of(results, folder, notes))
    return 0


def _config(args: argparse.Namespace) -> running.BenchConfig:
    """The benchmark that the options describe; raises ConfigError for impossible ones."""
    if not 0 <= args.threshold <= 100:
        raise ConfigError(f"--threshold is {args.threshold:g}; it must be from 0 to 100.")
    stem = folder_name("-".join(file.stem for file in args.hits))
    if not args.name and holds_secret(stem):
        raise ConfigError(
            "--hits: the results would be called after the file, and its name looks like a secret, which is "
            "recorded and shown. Rename the file, or name the results with --name."
        )
    files = [real_path(file).with_suffix("") for file in args.hits]
    if any(map(holds_secret, comparison.names_of(args.hits))):
        raise ConfigError(
            "--hits: the name of a file looks like a secret, and a setting would be called after it. Rename "
            "the file."
        )
    if len(set(files)) < len(files):
        raise ConfigError("--hits: two files have the same name, apart from the extension. Rename one.")
    return hits_config(
        dict(zip(comparison.names_of(files), args.hits, strict=True)),
        name=args.name or stem or "hits",
        documents=args.documents,
        queries=args.queries,
        labels=args.labels,
        cache=args.cache,
        results=args.results,
        parser=args.parser,
        on_bad_document=args.on_bad_document,
        measures=names_of_measures(args.measures) if args.measures else None,
        prefix="--",
    )


_DESCRIPTION = """\
Evaluate a run against judgments: NDCG and its companions, by trec_eval's rules by default.

  harness score --run run.txt --qrels qrels.txt
  harness score --run run.txt --qrels qrels.txt --measures ndcg_lin@10,ap --per-query --format csv
  harness score --run before.txt after.txt --qrels qrels.txt
  harness score --run before.txt after.txt --qrels qrels.txt --clusters queries.csv --csv differences.csv
  harness score --run run.parquet --qrels beir-folder --measures ndcg_exp@10 --convention harness

Runs and qrels: TREC text (also from a pipe), .csv and .tsv with named columns (all also as .gz), or
.parquet; qrels also as a BEIR folder, where qrels/test.tsv is read.

Of several runs, each is compared with the first, query by query, as `harness compare` does it: difference,
interval, p, queries won, tied and lost, and the queries that lost most by the first of the measures. Queries
on one document, or alike in another way, are tested as whole clusters where --clusters names these.

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
`harness bench`.
"""


@command(
    _DESCRIPTION,
    several(
        "--run",
        "the run file; several are scored, and compared with the first",
        "RUN",
        type=Path,
        dest="ranked",
    ),
    path("--qrels", "the judgments", "QRELS"),
    measures(f"{DEFAULT_MEASURES.replace(',', ', ')}; for hits, those of a benchmark"),
    flag("--per-query", "print every query before the means"),
    option("--format", choices=("text", "csv", "json"), default="text", help="default text"),
    option(
        "--convention",
        default="trec_eval",
        metavar="NAME",
        help="whose rules to apply to ties, missing queries and the ideal: trec_eval (default), trec_eval_c, "
        "harness, ir_measures, gdeval, beir, ranx, sklearn",
    ),
    COMPARE_OPTIONS,
    _OPTIONS,
)
def score(args: argparse.Namespace) -> int:
    """Score it and print the values."""
    if args.hits:
        return _score_hits(args)
    if missing := [f"--{name}" for name, value in (("run", args.ranked), ("qrels", args.qrels)) if not value]:
        args.wrong_usage(
            f"the following arguments are required: {', '.join(missing)} (or --hits with --queries, --labels "
            "and --documents)"
        )
    if named := [name for name in (*_NEEDED, *_DEFAULTS) if getattr(args, name) is not None]:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in named)
        args.wrong_usage(f"{options}: only with --hits")
    return score_runs(args)


_ANSWERS = """\
Measure existing answers of any pipeline. FILE is JSON Lines or CSV with the columns of ragas:
user_input, retrieved_contexts, response, reference; only user_input is required.

  harness score-answers answers.jsonl
  harness score-answers answers.jsonl --config answers.yaml --output scores.csv
  harness score-answers answers.jsonl --results results/monday

Measures that use a language model need a file that names it, such as the configuration of a benchmark:

  answer_measures: [faithfulness, {kind: aspect_critic, name: dated, aspect: The answer names a date.}]
  answer_judge: {endpoint: {model: gpt-4.1-mini}, max_cost: 2.0, prices: …}

Its answers are kept in the ledger and paid for once. Answers without a value are counted, and never score 0.
`harness compare`, `gate` and `trend` read the folder that --results names.
"""
_EXPORT = """\
Write the answers of a run for other tools: JSON Lines with the columns of ragas (user_input,
retrieved_contexts, response, reference) plus query_id, documents and cited.

  harness export-answers results/mine --setting 'top_n=5' --output answers.jsonl
"""


@command(
    _ANSWERS,
    path("file", ".jsonl, .csv, .tsv or .xlsx"),
    measures("those of --config, else exact_match, token_f1"),
    path("--config", "YAML with answer_measures, answer_judge, …", "CONFIG"),
    path("--output", "write all values to this .csv file"),
    path("--results", "write all values, and how they came about, to this folder", "RESULTS"),
    path(
        "--human",
        "a table with query_id, measure and value: people's ratings of a random sample. Prints how well the "
        "measures agree with them, and corrected means",
    ),
    flag("--dry-run", "print the calls and their cost; make none"),
    QUIET,
)
def score_answers(args: argparse.Namespace) -> int:
    """Score them and print the means."""
    names = names_of_measures(args.measures)
    if args.output is not None and args.output.suffix.lower() != ".csv":
        raise ConfigError(f"--output is {args.output}; name a .csv file.")
    read = [real_path(file) for file in (args.file, args.config, args.human) if file]
    if args.output and real_path(args.output) in read:
        raise ConfigError(f"--output is {args.output}, which is read here. Name another file.")
    config = running.load_answer_scoring(args.config, names)
    exchanges = data.read_answers(args.file)
    labels, queries = (
        [measure.label for measure in config.answer_measures],
        [exchange.query_id for exchange in exchanges],
    )
    people = running.read_values(args.human, labels, queries) if args.human else None
    reporter = TerminalReporter(quiet=args.quiet)
    with running.Session.at(config.cache, reporter, may_ask=not args.dry_run) as session:
        if args.dry_run:
            missing = running.price_external(exchanges, config, running.Planning(session))
            for calls in missing:
                print_line(str(calls) + (f" {calls.problem}" if calls.problem else ""))
            if not missing:
                print_line("No calls are needed.")
            return 0
        scored = running.score_external(exchanges, config, running.Running(session), session.notes)
        if args.results:
            running.keep_scores(args.results, exchanges, scored, config, session.models, session.notes)
    answered = sum(exchange.answer is not None for exchange in exchanges)
    title = f"{args.file.name}: {counted(len(exchanges), 'query', 'queries')}, {answered} answered"
    show(running.external_table(title, scored))
    if fault := running.external_fault(args.file.name, scored, config):
        print_line(f"Where the fault lies: {fault}")
    if people is not None:
        show(running.people_table(scored, people))
    if args.output:
        store.write_text(args.output, _csv(scored))
        print_line(f"Every value: {args.output}")
    if args.results:
        print_line(f"Results: {args.results}")
    return 0


@command(
    _EXPORT,
    results_folder(),
    option("--setting", metavar="NAME", help="whose answers; required if there are several"),
    path("--output", "not overwritten", required=True),
)
def export_answers(args: argparse.Namespace) -> int:
    """Write the file and say how many answers it has."""
    count = data.write_answers(running.exported_answers(args.results, args.setting), args.output)
    print_line(f"{args.output}: {counted(count, 'query', 'queries')}")
    return 0


def _csv(scored: list[running.MeasureScores]) -> str:
    """A row per query and measure."""
    columns = ("query_id", "measure", "value", "failed", "reason", "details")
    return report.to_csv(
        columns,
        (
            {
                **{name: getattr(score, name) for name in columns},
                "details": json.dumps(dict(score.details), ensure_ascii=False, sort_keys=True),
            }
            for measure in scored
            for score in measure.scores
        ),
    )
