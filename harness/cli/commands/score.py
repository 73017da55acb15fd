"""`harness score`, `score-answers` and `export-answers`: measures of rankings and of answers."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

from harness import comparison, data, report, running, store
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
from harness.cli.commands.shared import measures, names_of_measures, print_ending
from harness.cli.terminal import TerminalReporter, print_line, show, write_out
from harness.values import ConfigError, counted, problem_in

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
    if args.per_query or args.format != "text" or args.convention != "trec_eval":
        args.wrong_usage(
            "--per-query, --format and --convention go with --run; hits are scored into a folder"
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
    from pydantic import ValidationError

    if not 0 <= args.threshold <= 100:
        raise ConfigError(f"--threshold is {args.threshold:g}; it must be from 0 to 100.")
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", "-".join(file.stem for file in args.hits)).lstrip("._-")[:100]
    files = [file.resolve().with_suffix("") for file in args.hits]
    if len(set(files)) < len(files):
        raise ConfigError("--hits: two files have the same name, apart from the extension. Rename one.")
    fields: dict[str, Any] = {
        "name": args.name or stem or "hits",
        "documents": tuple(args.documents),
        "on_bad_document": args.on_bad_document,
        "queries": args.queries,
        "labels": args.labels,
        "settings": [
            running.hit_setting(name, file, data.PARSERS[args.parser].config())
            for name, file in zip(comparison.names_of(files), args.hits, strict=True)
        ],
        "cache": args.cache,
        "results": args.results,
    }
    if args.measures:
        fields["measures"] = tuple(names_of_measures(args.measures))
    try:
        return running.BenchConfig.model_validate(fields)
    except ValidationError as error:
        option = "--" if error.errors()[0]["loc"] else "options: "
        raise ConfigError(f"{option}{problem_in(error)}.") from error


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
`harness bench`.
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
        "harness, ir_measures, gdeval, beir, ranx, sklearn",
    ),
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
    if given := [name for name in (*_NEEDED, *_DEFAULTS) if getattr(args, name) is not None]:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        args.wrong_usage(f"{options}: only with --hits")
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
    data.refuse_strangers(answered, asked, str(file), str(args.qrels))
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
    names = judged.query.names.to_pylist()
    useful = {names[code] for code in set(judged.query.code[judged.grade > 0].tolist())}
    for note in _notes(answered, asked, useful, scores):
        reporter.note(about + note)
    return scores


def _notes(ranked: set[str], judged: set[str], useful: set[str], scores: data.DocScores) -> list[str]:
    """Queries that only one file has or that have nothing relevant (not ``useful``): conventions differ."""
    notes, rules = [], scores.convention
    bare = judged - useful if rules.unanswerable == "nan" else set()
    if bare:
        notes.append(
            f"{counted(len(bare), 'judged query has', 'judged queries have')} nothing relevant, such as "
            f"{min(bare)}. The convention {rules.name} leaves such queries out of NDCG and of all measures "
            "that need something relevant."
        )
    if missing := judged - ranked - bare:
        notes.append(
            f"{counted(len(missing), 'judged query has', 'judged queries have')} no ranking, such as "
            f"{min(missing)}. The convention {rules.name} "
            + (
                "leaves such queries out; trec_eval_c and harness count them as 0."
                if rules.missing == "drop"
                else "counts such queries as 0."
            )
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


_ANSWERS = """\
Measure existing answers of any pipeline. FILE is JSON Lines or CSV with the columns of ragas:
user_input, retrieved_contexts, response, reference; only user_input is required.

  harness score-answers answers.jsonl
  harness score-answers answers.jsonl --config answers.yaml --output scores.csv

Measures that use a language model need a file that names it, such as the configuration of a benchmark:

  answer_measures: [faithfulness, {kind: aspect_critic, name: dated, aspect: The answer names a date.}]
  answer_judge: {endpoint: {model: gpt-4.1-mini}, max_cost: 2.0, prices: …}

Its answers are kept in the ledger and paid for once. Answers without a value are counted, and never score 0.
"""
_TWO_ROUNDS = "For measures with two rounds of calls only the first is counted, so this is a lower bound."
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
    read = [one.resolve() for one in (args.file, args.config, args.human) if one]
    if args.output and args.output.resolve() in read:
        raise ConfigError(f"--output is {args.output}, which is read here. Name another file.")
    config = running.load_answer_scoring(args.config, names)
    exchanges = data.read_answers(args.file)
    labels, queries = [one.label for one in config.answer_measures], [one.query_id for one in exchanges]
    people = running.read_values(args.human, labels, queries) if args.human else None
    reporter = TerminalReporter(quiet=args.quiet)
    with running.Context.at(config.cache, reporter, may_ask=not args.dry_run) as context:
        if args.dry_run:
            missing = running.price_external(exchanges, config, context)
            for one in missing:
                print_line(f"{one.name}: {one.estimate}" + (f" {one.problem}" if one.problem else ""))
            print_line(_TWO_ROUNDS if missing else "No calls are needed.")
            return 0
        found = running.score_external(exchanges, config, context)
    answered = sum(one.answer is not None for one in exchanges)
    title = f"{args.file.name}: {counted(len(exchanges), 'query', 'queries')}, {answered} answered"
    show(running.external_table(title, found))
    if people is not None:
        show(running.people_table(found, people))
    if args.output:
        store.write_text(args.output, _csv(found))
        print_line(f"Every value: {args.output}")
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


def _csv(found: list[running.MeasureScores]) -> str:
    """A row per query and measure."""
    columns = ("query_id", "measure", "value", "failed", "reason", "details")
    return report.to_csv(
        columns,
        (
            {
                **{name: getattr(score, name) for name in columns},
                "details": json.dumps(dict(score.details), ensure_ascii=False, sort_keys=True),
            }
            for one in found
            for score in one.scores
        ),
    )
