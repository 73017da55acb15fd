"""What a result comes to, as tables: means by setting, and where quality is lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.report.rows import SummaryRow, WaterfallRow
from harness.report.tables import FEWEST_FOR_INTERVAL, Table, interval, number

LOSSES = ("parser", "chunking", "retriever", "ranking", "reranker")

_Cells = dict[tuple[str, str], SummaryRow]


def summary_table(
    name: str, rows: Sequence[SummaryRow], level: float = 0.95, shown: Sequence[str] | None = None
) -> Table:
    """One row per setting and stage, best first by the first measure; it alone with interval and splits.

    ``shown`` names the other measures that get a column (None: all); a note names those left out.
    """
    lines: dict[tuple[str, str], _Cells] = {}
    for row in rows:
        lines.setdefault((row.setting, row.stage), {})[row.measure, row.split] = row
    first, *others = dict.fromkeys(row.measure for row in rows)
    more = others if shown is None else list(shown)
    ordered = sorted(lines.items(), key=lambda item: -_mean(item[1][first, "all"]))
    judge = f", graded by {rows[0].judge}" if rows[0].judge else ""
    return Table(
        title=f"{name}: means over queries{judge}",
        columns=("setting", "stage", first, f"{level:.0%} interval", "train", "validation", *more),
        rows=tuple(
            (
                setting,
                stage,
                number(cells[first, "all"].mean),
                _interval(cells[first, "all"]),
                *(number(cells[first, split].mean) for split in ("train", "validation")),
                *(number(cells[measure, "all"].mean) for measure in more),
            )
            for (setting, stage), cells in ordered
        ),
        left=frozenset({0, 1}),
        notes=_notes(ordered[0][1][first, "all"], [m for m in others if m not in more]),
    )


def other_measures(rows: Sequence[SummaryRow]) -> list[str]:
    """All measures of a summary but the first."""
    return list(dict.fromkeys(row.measure for row in rows))[1:]


def mean_losses(rows: Sequence[WaterfallRow]) -> dict[str, tuple[float, ...]]:
    """For every setting the mean loss of each of ``LOSSES``, and last the mean score that is left."""
    by_setting: dict[str, list[WaterfallRow]] = {}
    for row in rows:
        by_setting.setdefault(row.setting, []).append(row)
    return {
        setting: tuple(sum(getattr(row, name) for row in own) / len(own) for name in (*LOSSES, "final"))
        for setting, own in by_setting.items()
    }


def loss_table(rows: Sequence[WaterfallRow]) -> Table:
    """What each stage costs on average, in units of the measure, best setting first."""
    means = sorted(mean_losses(rows).items(), key=lambda item: -item[1][-1])
    queries = len({row.query_id for row in rows})
    return Table(
        title=f"Lost by each stage, from 1 down to {rows[0].measure}: means over {queries} queries",
        columns=("setting", *LOSSES, "left"),
        rows=tuple((setting, *map(number, values)) for setting, values in means),
        notes=("A reranker below 0 has gained.",) if any(values[-2] < 0 for _, values in means) else (),
    )


def chunk_table(rows: Sequence[Mapping[str, str]]) -> Table:
    """The health of every setting's chunks, from the rows of chunks.csv."""
    shares = ("share_under_32", "share_overlong", "share_cut_mid_sentence", "share_covered_twice")
    return Table(
        title="Chunks: lengths in tokens, and what their borders cut",
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


def worst_table(rows: Sequence[WaterfallRow], setting: str, count: int, passages: dict[str, str]) -> Table:
    """The ``count`` queries of a setting that score lowest; ``passages`` maps queries to their first one."""
    own = sorted((row for row in rows if row.setting == setting), key=lambda row: row.final)[:count]
    return Table(
        title=f"The {len(own)} worst queries of {setting}",
        columns=("query", "split", own[0].measure if own else "score", "lost most by", "first passage"),
        rows=tuple(
            (
                row.query_id,
                row.split,
                number(row.final),
                f"{row.blame} {getattr(row, row.blame):.3f}" if row.blame else "–",
                passages.get(row.query_id, "–"),
            )
            for row in own
        ),
        left=frozenset({0, 1, 3, 4}),
        prose=True,
    )


def _notes(row: SummaryRow, left_out: Sequence[str]) -> tuple[str, ...]:
    counted = f"{row.n_queries} {'query counts' if row.n_queries == 1 else 'queries count'} in {row.measure}"
    notes = [f"{counted}."]
    if row.n_queries < FEWEST_FOR_INTERVAL:
        notes[0] = f"{counted}: too few queries for an interval."
    if row.n_unanswerable:
        notes[0] += f" {row.n_unanswerable} without relevant text are left out."
    if row.n_failed:
        notes[0] += f" {row.n_failed} got no ranking and score 0, or have text without a grade."
    if left_out:
        notes.append(f"More in summary.csv: {', '.join(left_out)}.")
    return tuple(notes)


def _mean(row: SummaryRow) -> float:
    return -1.0 if row.mean is None else row.mean


def _interval(row: SummaryRow) -> str:
    return interval(row.ci_low, row.ci_high, row.n_queries)
