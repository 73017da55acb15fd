"""`harness score-answers`, `export-answers`: measures of answers."""

from __future__ import annotations

import argparse
import json

from harness import data, report, running, store
from harness.cli.commands import shared
from harness.cli.commands.declaring import QUIET, command, flag, option, path, results_folder
from harness.cli.terminal import TerminalReporter, print_line, show
from harness.values import ConfigError, counted

_DESCRIPTION = """\
Measure existing answers of any pipeline. FILE is JSON Lines or CSV with the columns of ragas:
user_input, retrieved_contexts, response, reference; only user_input is required.

  harness score-answers answers.jsonl
  harness score-answers answers.jsonl --measures exact_match,token_f1,answer_similarity
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

  harness export-answers results/mine --output answers.jsonl
  harness export-answers results/mine --setting 'top_n=5' --output answers.jsonl
"""


@command(
    _DESCRIPTION,
    path("file", ".jsonl, .csv, .tsv or .xlsx"),
    shared.measures("those of --config, else exact_match, token_f1"),
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
    names = shared.names_of_measures(args.measures)
    if args.output is not None and args.output.suffix.lower() != ".csv":
        raise ConfigError(f"--output is {args.output}; name a .csv file.")
    config = running.load_answer_scoring(args.config, names)
    exchanges = data.read_answers(args.file)
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
    if args.human:
        names, queries = [one.measure for one in found], [one.query_id for one in found[0].scores]
        human = running.read_values(args.human, names, queries)
        beside = (running.compare_with_people(one, human.get(one.measure, {})) for one in found)
        show(running.people_table([one for one in beside if one is not None]))
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
