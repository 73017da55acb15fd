"""The summary of a result as tables: means by setting, health of chunks, length of labels."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from harness.report.loss_tables import shown_once
from harness.report.plain_table import Table
from harness.report.rows.score_rows import SEED_RATIO, SummaryRow, left_out_words
from harness.report.rows.tuned_rows import DroppedRow
from harness.values import FEWEST_FOR_INTERVAL, SPLITS, confidence, counted, interval, number

# So many dropped settings are listed on a screen.
MOST_DROPPED = 20
_Cells = dict[tuple[str, str], SummaryRow]


_EARLIER = "The rows of other stages below are no settings: they are what settings had before their last one."


def summary_table(
    name: str,
    rows: Sequence[SummaryRow],
    level: float = 0.95,
    headline: str = "",
    shown: Sequence[str] | None = None,
) -> Table:
    """One row per setting, best first by the ``headline``; below, what each had before its last stage.

    The headline alone has n, interval and splits.

    ``headline`` is the first measure unless given. ``shown`` names the other measures that get a column
    (None: all); a note names those left out. A route of a fusion that scores as a setting or an earlier route
    does is not said again.
    """
    lines: dict[tuple[str, str], _Cells] = {}
    for row in rows:
        lines.setdefault((row.setting, row.stage), {})[row.measure, row.split] = row
    first = headline or rows[0].measure
    others = other_measures(rows, first)
    more = others if shown is None else list(shown)
    last = dict(list(lines))
    once = shown_once(lines, lambda cells: tuple(row.mean for row in cells.values()))
    ordered = sorted(
        once.items(), key=lambda item: (last[item[0][0]] != item[0][1], -_mean(item[1][first, "all"]))
    )
    # who graded the labels of a file is not known
    grades = "grades from a label file" if rows[0].judge == "human" else f"graded by {rows[0].judge}"
    return Table(
        title=f"{name}: means over queries{f', {grades}' if rows[0].judge else ''}",
        columns=(
            "setting",
            "stage",
            "n",
            first,
            f"{confidence(level)} interval",
            "train",
            "validation",
            *more,
        ),
        rows=tuple(
            (
                setting,
                stage,
                str(head.n_queries),
                number(head.mean),
                interval(head.ci_low, head.ci_high, head.n_queries),
                *(number(cells[first, split].mean) for split in SPLITS),
                # the seed ratio is of one stage alone
                *(number(cell.mean if (cell := cells.get((measure, "all"))) else None) for measure in more),
            )
            for (setting, stage), cells in ordered
            for head in (cells[first, "all"],)
        ),
        left=frozenset({0, 1}),
        notes=_notes(ordered[0][1], first, [m for m in others if m not in more])
        + ((_EARLIER,) if len(ordered) > len(last) else ()),
    )


def seed_ratio_lines(rows: Sequence[SummaryRow]) -> tuple[str, ...]:
    """The means of the seed ratio by split, a sentence for every setting; none where nobody asked for it."""
    by_setting: dict[str, dict[str, SummaryRow]] = {}
    for row in rows:
        if row.measure.startswith(SEED_RATIO):
            by_setting.setdefault(row.setting, {})[row.split] = row
    return tuple(
        f"{cells['all'].measure}, which is not NDCG{f', of {setting}' if len(by_setting) > 1 else ''}: "
        f"{number(cells['train'].mean)} for train, {number(cells['validation'].mean)} for validation, "
        f"{number(cells['all'].mean)} over {counted(cells['all'].n_queries, 'query', 'queries')}."
        for setting, cells in by_setting.items()
    )


def last_stages(rows: Sequence[SummaryRow], measure: str) -> list[SummaryRow]:
    """The row of every setting's last stage for one measure over all queries."""
    # rows are in the order of the stages, so that the last one stays
    heads = {row.setting: row for row in rows if row.split == "all" and row.measure == measure}
    return list(heads.values())


def best_of(heads: Sequence[SummaryRow]) -> SummaryRow:
    """The row with the highest mean; the first of equals."""
    return max(heads, key=_mean)


def other_measures(rows: Sequence[SummaryRow], headline: str) -> list[str]:
    """All measures of a summary but one."""
    return [name for name in dict.fromkeys(row.measure for row in rows) if name != headline]


def chunk_table(rows: Sequence[Mapping[str, str]]) -> Table:
    """The health of every setting's chunks, from the rows of chunks.csv."""
    shares = ("share_under_32", "share_overlong", "share_cut_mid_sentence", "share_covered_twice")
    return Table(
        title="Chunks: lengths in tokens, and what their boundaries cut",
        columns=("setting", "chunks", "p5", "p50", "p95", "<32", "too long", "cut", "twice", "tables cut"),
        rows=tuple(
            (
                row["setting"],
                row["chunks"],
                *(row[f"tokens_{q}"] for q in ("p5", "p50", "p95")),
                *(f"{100 * float(row[name]):.0f} %" if row[name] else "–" for name in shares),
                row["tables_cut"],
            )
            for row in rows
        ),
        notes=(
            "<32: under 32 tokens. too long: longer than the encoder reads. cut: end inside a sentence. "
            "twice: share of the text in more than one chunk.",
        ),
    )


def dropped_table(rows: Sequence[DroppedRow], most: int = MOST_DROPPED) -> Table:
    """What `harness tune` dropped, the first that which may be better by most; at most ``most`` rows."""
    order = sorted(rows, key=lambda row: -float("inf" if row.lead_at_most is None else row.lead_at_most))
    return Table(
        title="Dropped by harness tune, and what each was seen on; in no other table, and in no comparison",
        columns=(
            "setting",
            "stage",
            "text",
            "queries",
            "mean",
            "behind",
            "better by at most",
            "may be better",
        ),
        rows=tuple(
            (
                row.setting,
                f"{row.stage}, retrieved" if row.held_back else str(row.stage),
                f"{100 * row.text_share:.0f} %",
                str(row.n_queries),
                number(row.mean),
                number(row.behind),
                number(row.lead_at_most),
                "yes" if row.may_be_better else "no",
            )
            for row in order[:most]
        ),
        notes=(
            f"Means are of {rows[0].measure} in the stage that dropped a setting. behind: the best of that "
            f"stage. better by at most: than {rows[0].against}, on the text that the stage saw. may be "
            "better: by more than the tolerance.",
            *(
                ["retrieved: seen without rerankers, so nothing is known of what these make of it."]
                if any(row.held_back for row in rows)
                else []
            ),
            *([f"{len(order) - most} more are in tuned.csv."] if len(order) > most else []),
        ),
    )


def _notes(cells: _Cells, measure: str, left_out: Sequence[str]) -> tuple[str, ...]:
    row = cells[measure, "all"]
    count = f"{counted(row.n_queries, 'query counts', 'queries count')} in {row.measure}"
    notes = [f"{count}."]
    if row.n_queries < FEWEST_FOR_INTERVAL:
        notes[0] = f"{count}: too few queries for an interval."
    notes[0] = f"{notes[0]} {left_out_words(row.left_out)}".rstrip()
    if row.n_failed:
        failed = ("got no ranking and scores 0, or has", "got no ranking and score 0, or have")
        notes[0] += f" {counted(row.n_failed, *failed)} text without a grade."
    # of a split without a query there is nothing to tell, of one whose queries have no relevant text there is
    empty = [
        split for split in SPLITS if (split_row := cells.get((measure, split))) and not _queries(split_row)
    ]
    if len(empty) == 1 and _queries(row):
        notes.append(
            f"No query is in {empty[0]}, so nothing can be chosen on train and checked on validation: add "
            "a column split to the query file, or change split: in the configuration."
        )
    if left_out:
        notes.append(f"More in summary.csv: {', '.join(left_out)}.")
    return tuple(notes)


def _queries(row: SummaryRow) -> int:
    return row.n_queries + sum(row.left_out.values())


def _mean(row: SummaryRow) -> float:
    return -1.0 if row.mean is None else row.mean


def lost_label_note(config: Mapping[str, Any], counts: Mapping[str, Any]) -> str | None:
    """One sentence on labels that no extracted text contains; None if there are none.

    Where parsers are compared, a label may be in the text of one of them: the part `parser` has it.
    """
    lost = counts.get("labels_not_anchored")
    parsers = {json.dumps(setting.get("parse"), default=str) for setting in config.get("settings", ())}
    if not lost or len(parsers) > 1:
        return None
    return (
        f"{counted(lost, 'label is', 'labels are')} in no extracted text, so "
        f"{'it counts' if lost == 1 else 'they count'} in no score and in no loss; anchoring.csv lists them."
    )


def label_note(config: Mapping[str, Any], counts: Mapping[str, Any]) -> str | None:
    """One sentence on the median label, from the configuration and the counts of a run record.

    None if all settings cut documents alike, or the record does not say.
    """
    chunkers = {
        json.dumps([setting.get("chunk"), setting.get("read")], sort_keys=True, default=str)
        for setting in config.get("settings", ())
    }
    length = counts.get("label_characters_p50")
    if len(chunkers) < 2 or length is None:
        return None
    return (
        f"The median label has {length:,.0f} characters. With longer or shorter labels, measures of "
        "text read may favour other chunk sizes: harness compare checks it."
    )
