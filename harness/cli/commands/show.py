"""`harness show`: print finished results."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.cli.commands.declaring import command, formats, option, path

if TYPE_CHECKING:
    from harness.comparison import Verdict
    from harness.report import Part, SummaryRow, Table

_DESCRIPTION = """\
Print the results in a folder: means, where quality is lost, how good the answers are, statistics of
the chunks.

  harness show                                    the runs in results/, newest first
  harness show results/quickstart
  harness show results/quickstart --worst 10      the worst queries, and their largest losses
  harness show results/quickstart --worst 10 --setting "chunk=500/0"
  harness show results/quickstart --format markdown --output summary.md

With --worst only the worst queries: what should have been found, at which rank it was, and what was
ranked first. With --format csv only the summary, or the worst queries, in full precision.
docs/results.md describes every file and column of a result.
"""


@command(
    "show",
    "print the summary of finished results",
    _DESCRIPTION,
    path(
        "results",
        "folder such as results/quickstart; without it, list the runs",
        "RESULTS",
        nargs="?",
        default=Path("results"),
    ),
    option("--worst", type=int, default=0, metavar="N", help="list the N worst queries of a setting"),
    option("--setting", metavar="NAME", help="with --worst: the setting; default: the best one"),
    *formats("csv", "json"),
)
def show(args: argparse.Namespace) -> int:
    """Read the results and print them."""
    import json

    from harness.cli.terminal import write_lines, write_parts
    from harness.comparison import headline_of, verdict_json
    from harness.report import past_runs, read_summary, runs_table, to_csv
    from harness.values import ConfigError

    if args.worst < 0:
        raise ConfigError(f"--worst says how many queries to list; it cannot be {args.worst}.")
    if args.setting and not args.worst:
        raise ConfigError("--setting selects whose worst queries to list: add --worst N.")
    if args.worst and args.format == "json":
        raise ConfigError(
            "--format json contains the verdict, not the worst queries: use --format csv for them."
        )
    runs = [] if (args.results / "summary.csv").exists() else past_runs(args.results, headline_of)
    if runs:
        if args.worst:
            raise ConfigError(f"--worst needs one result, such as {runs[0].folder}.")
        if args.format == "json":
            raise ConfigError(f"--format json needs one result, such as {runs[0].folder}.")
        write_parts([runs_table(args.results, runs)], args.format, args.output)
        return 0
    rows, record = read_summary(args.results)
    if args.worst:
        write_parts([_worst(args, rows, _headline(rows, record))], args.format, args.output)
    elif args.format == "csv":
        write_lines(to_csv(tuple(rows[0].__slots__), map(asdict, rows)), args.output)
    elif args.format == "json":
        found = verdict_json(verdict_on(args.results))
        write_lines(json.dumps(found, indent=2, ensure_ascii=False) + "\n", args.output)
    else:
        write_parts(_parts(args, rows, record), args.format, args.output)
    return 0


def verdict_on(folder: Path) -> Verdict:
    """The verdict on one folder of results, by its headline."""
    from harness.comparison import read_stored, scores_of, verdict_of

    return verdict_of(scores_of({folder.name: (folder, read_stored(folder))}))


def _parts(args: argparse.Namespace, rows: list[SummaryRow], record: dict[str, Any]) -> list[Part]:
    from harness.cli.terminal import fitting_summary, width
    from harness.comparison import brief_verdict
    from harness.report import (
        LossRow,
        answer_parts,
        cells_of,
        chunk_table,
        label_note,
        loss_table,
        lost_label_note,
        read_any,
        read_by_labels,
        summary_table,
    )

    name, level = record["config"]["name"], record["config"]["bootstrap"]["level"]
    sentences, measure = _verdict_or_why(args.results, rows, record)
    parts: list[Part] = [sentences]
    found = read_by_labels(args.results)
    parts += found.tables() if found and found.headline else ()
    parts += [brief] if (brief := brief_verdict(args.results)) else []
    if args.format == "text" and args.output is None:
        parts.append(fitting_summary(name, rows, level, width(), measure))
    else:
        parts.append(summary_table(name, rows, level, measure))
    parts += found.tables() if found and not found.headline else ()
    losses = read_any(args.results, LossRow)
    parts += [loss_table(losses, measure)] if losses else []
    parts += answer_parts(lambda row: read_any(args.results, row))
    for about in (lost_label_note, label_note):
        note = about(record["config"], record.get("counts", {}))
        parts += [(note,)] if note else []
    chunks = cells_of(args.results, "chunks")
    parts += [chunk_table(chunks)] if chunks else []
    return parts


def _verdict_or_why(
    folder: Path, rows: list[SummaryRow], record: dict[str, Any]
) -> tuple[tuple[str, ...], str]:
    """The verdict in sentences, and its measure; where there is none, one sentence says why."""
    from harness.comparison import LABELS, sentences_of, warning_lines, warnings_of
    from harness.values import HarnessError

    own = {("", row.setting): row.setting for row in rows}
    try:
        verdict = verdict_on(folder)
    except HarnessError as error:
        # a summary can be read where a comparison cannot be made
        measure = _headline(rows, record)
        kept = [one for one in warnings_of({"": record}, own) if one.bears_on(measure)]
        warned = (f"{LABELS['warning']}: {text}" for text in warning_lines(kept))
        return (f"There is no verdict: {error}", *warned), measure
    return sentences_of(verdict), verdict.measure


def _headline(rows: list[SummaryRow], record: dict[str, Any]) -> str:
    from harness.comparison import headline_of

    return headline_of(record, list(dict.fromkeys(row.measure for row in rows)))


def _worst(args: argparse.Namespace, rows: list[SummaryRow], measure: str) -> Table:
    from harness.report import (
        LossRow,
        best_of,
        cells_of,
        last_stages,
        read_any,
        read_expected,
        read_first_passages,
        worst_table,
    )
    from harness.values import ConfigError

    losses = read_any(args.results, LossRow)
    known = list(dict.fromkeys(row.setting for row in losses))
    if not known:
        raise ConfigError(
            f"{args.results} has no waterfall.csv, which says where quality is lost. Run it again."
        )
    setting = args.setting or best_of(last_stages(rows, measure)).setting
    if setting not in known:
        raise ConfigError(f"There is no setting {setting!r}. Settings: {', '.join(known)}.")
    questions = {row["query_id"]: row["text"] for row in cells_of(args.results, "queries")}
    passages = read_first_passages(args.results, setting)
    expected = read_expected(args.results, setting)
    return worst_table(losses, setting, args.worst, questions, passages, expected)
