"""`harness show` and `harness report`: finished results, in the terminal and as a page."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from harness import comparison, report, running
from harness.cli.commands.common import names_in_words, write_tables
from harness.cli.commands.declaring import LOG_TO, command, formats, option, path, results_folder
from harness.cli.terminal import (
    TerminalReporter,
    fitting_summary,
    print_line,
    width,
    write_lines,
    write_parts,
)
from harness.cli.trackers import log_results
from harness.values import ConfigError, HarnessError

_DESCRIPTION = """\
Print the results in a folder: means, where quality is lost, how good the answers are, statistics of
the chunks.

  harness show                                    the runs in results/, newest first
  harness show results/quickstart
  harness show results/quickstart --worst 10      the worst queries, and their largest losses
  harness show results/quickstart --log-to mlflow log them to a tracker of experiments, and print where

With --worst only the worst queries: what should have been found, at which rank it was, and what was
ranked first. With --format csv only the summary, in full precision, or the worst queries.
"""


@command(
    _DESCRIPTION,
    path(
        "results",
        "folder such as results/quickstart; without it, list the runs",
        "RESULTS",
        nargs="?",
        default=Path("results"),
    ),
    option("--worst", type=int, metavar="N", help="list the N worst queries of a setting"),
    option("--setting", metavar="NAME", help="with --worst: the setting; default: the one to use"),
    LOG_TO,
    *formats("csv", "json"),
)
def show(args: argparse.Namespace) -> int:
    """Read the results and print them."""
    if args.worst is not None and args.worst < 1:
        raise ConfigError(f"--worst says how many queries to list; it cannot be {args.worst}.")
    if args.log_to:
        for line in log_results(args.results, args.log_to):
            print_line(line)
        return 0
    if args.setting is not None and not args.worst:
        raise ConfigError("--setting selects whose worst queries to list: add --worst N.")
    if args.worst and args.format == "json":
        raise ConfigError(
            "--format json contains the verdict, not the worst queries: use --format csv for them."
        )
    runs = (
        []
        if (args.results / "summary.csv").exists()
        else report.past_runs(args.results, comparison.headline_of)
    )
    if runs:
        if args.worst or args.format == "json":
            wanted = "--worst" if args.worst else "--format json"
            raise ConfigError(f"{wanted} needs one result, such as {runs[0].folder}.")
        write_parts([report.runs_table(args.results, runs)], args.format, args.output)
        return 0
    rows, record = report.read_summary(args.results)
    if args.worst:
        write_parts([worst_of(args.results, args.worst, args.setting)], args.format, args.output)
    elif args.format == "csv":
        write_lines(report.to_csv(report.spec_of(report.SummaryRow).names, map(asdict, rows)), args.output)
    elif args.format == "json":
        content = comparison.verdict_json(comparison.verdict_on(args.results))
        write_lines(json.dumps(content, indent=2, ensure_ascii=False) + "\n", args.output)
    else:
        _show_all(args, rows, record)
    return 0


def _show_all(args: argparse.Namespace, rows: list[report.SummaryRow], record: dict[str, Any]) -> None:
    name, level = record["config"]["name"], record["config"]["bootstrap"]["level"]
    sentences, measure, verdict = _verdict_or_why(args.results, rows, record)
    parts: list[report.Part] = [sentences, *(comparison.names_table(verdict) if verdict else ())]
    parts += [brief] if (brief := comparison.brief_verdict(args.results)) else []
    if args.format == "text" and args.output is None:
        parts.append(fitting_summary(name, rows, level, width(), measure))
    else:
        parts.append(report.summary_table(name, rows, level, measure))
    parts += [ratios] if (ratios := report.seed_ratio_lines(rows)) else []
    dropped = report.read_any(args.results, report.DroppedRow)
    parts += [report.dropped_table(dropped)] if dropped else []
    losses = report.read_any(args.results, report.LossRow)
    parts += [report.loss_table(losses, measure, names_in_words(verdict))] if losses else []
    filtered = report.read_any(args.results, report.FilterRow)
    parts += [comparison.filter_table(filtered)] if filtered else []
    if replies := report.read_any(args.results, report.ReplyRow):
        parts.append(report.answer_table(report.read_any(args.results, report.AnswerSummaryRow), replies))
    answers_lost = report.read_any(args.results, report.AnswerLossRow)
    parts += [report.answer_loss_table(answers_lost)] if answers_lost else []
    for about in (report.lost_label_note, report.label_note):
        note = about(record["config"], record.get("counts", {}))
        parts += [(note,)] if note else []
    chunks = report.cells_of(args.results, "chunks")
    parts += [report.chunk_table(chunks)] if chunks else []
    write_tables(parts, args, verdict)


def _verdict_or_why(
    folder: Path, rows: list[report.SummaryRow], record: dict[str, Any]
) -> tuple[tuple[str, ...], str, comparison.Verdict | None]:
    """The verdict in sentences, its measure and itself; where there is none, one sentence says why."""
    names = {("", row.setting): row.setting for row in rows}
    try:
        verdict = comparison.verdict_on(folder)
    except HarnessError as error:
        # a summary can be read where a comparison cannot be made
        measure = _headline(rows, record)
        kept = [
            warning for warning in comparison.warnings_of({"": record}, names) if warning.bears_on(measure)
        ]
        warned = (f"{comparison.LABELS['warning']}: {text}" for text in comparison.warning_lines(kept))
        return (f"There is no verdict: {error}", *warned), measure, None
    # tables of rankings are by a measure of these, also where the verdict is on answers
    ranked = any(row.measure == verdict.measure for row in rows)
    return comparison.sentences_of(verdict), verdict.measure if ranked else _headline(rows, record), verdict


def _headline(rows: list[report.SummaryRow], record: dict[str, Any]) -> str:
    return comparison.headline_of(record, list(dict.fromkeys(row.measure for row in rows)))


def _to_use(folder: Path, rows: list[report.SummaryRow], record: dict[str, Any]) -> str:
    """The setting that the verdict says to use, else its leader; without one that with the highest mean."""
    _, measure, verdict = _verdict_or_why(folder, rows, record)
    if verdict is not None and verdict.shown:
        return verdict.shown
    return report.best_of(report.last_stages(rows, measure)).setting


def worst_of(folder: Path, count: int, setting: str | None = None) -> report.Table:
    """The worst queries of a setting, by default of the one to use; raises ConfigError for none."""
    rows, record = report.read_summary(folder)
    losses = report.read_any(folder, report.LossRow)
    settings = list(dict.fromkeys(row.setting for row in losses))
    if not settings:
        lacking = "has no waterfall.csv, which says where quality is lost. Run it again."
        if not any(row.mean for row in rows if row.measure == _headline(rows, record)):
            lacking = "lists no losses: no query has relevant evidence that could be lost."
        raise ConfigError(f"{folder} {lacking}")
    setting = _to_use(folder, rows, record) if setting is None else setting
    if setting not in settings:
        raise ConfigError(f"There is no setting {setting!r}. Settings: {', '.join(settings)}.")
    questions = {row["query_id"]: row["text"] for row in report.cells_of(folder, "queries")}
    passages = report.read_first_passages(folder, setting)
    expected = report.read_expected(folder, setting)
    called = comparison.design_in(record).words(setting)
    return report.worst_table(losses, setting, count, questions, passages, expected, called)


@command(
    "Build one self-contained page from a folder of results: leaderboard, which differences are real, chunk "
    "sizes, losses by stage, every query with its ranked passages. It opens in any browser without a network "
    "and can be mailed. `harness bench` makes it at the end of each run.",
    results_folder("results/quickstart"),
    path("--output", "where to write it; default: RESULTS/report.html"),
    option(
        "--pictures",
        type=float,
        nargs="?",
        const=1.0,
        default=0.0,
        metavar="MB",
        help="show the PDF pages that contain evidence, with the evidence marked, up to this many megabytes "
        "(1 without a number), hardest queries first; needs Pillow, and the PDFs where the run found "
        "them",
    ),
)
def make_page(args: argparse.Namespace) -> int:
    """Build the page and print its path."""
    if not 0 <= args.pictures <= 50:
        raise HarnessError(f"--pictures {args.pictures:g}: give megabytes from 0 to 50.")
    most = round(args.pictures * 1e6)
    path, page = running.write_page(args.results, args.output, TerminalReporter(), picture_bytes=most)
    if page.note:
        print_line(page.note)
    print_line(f"{path} ({page.size / 1e6:.2f} MB). Open it in a browser.")
    return 0
