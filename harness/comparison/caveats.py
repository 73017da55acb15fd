"""Caveats of a verdict: filters that leave labelled text out, equal rankings, stored warnings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from harness.comparison.what_ranks import ranked_alike
from harness.comparison.wordings import sentence_of
from harness.report import FilterCounts, FilterRow, Table, count_filters, is_route, left_out_words
from harness.values import ResultWarning, counted, listed

_NAMED = 3


def filter_table(rows: Iterable[FilterRow]) -> Table:
    """One row per filter, for the terminal."""
    return Table(
        title="Filters: what the queries name, and labelled documents that are left out",
        columns=("setting", "queries", "name something", "column set aside", "documents left", "wrong"),
        rows=tuple(
            (
                setting if not is_route(step) else f"{setting}: {step}",
                str(counts.queries),
                str(counts.named),
                str(counts.dropped),
                f"{counts.left:.1f} of {counts.of:.0f}",
                f"{counts.wrong} of {counts.labelled}",
            )
            for (setting, step), counts in count_filters(rows).items()
        ),
    )


def left_out_notes(counts: Iterable[Mapping[str, int]]) -> tuple[str, ...]:
    """The caveat about queries that no label lets count; none where all that are left out are unanswerable.

    ``counts`` are those of each result by reason; several results are of the same queries.
    """
    reasons = [by_reason for by_reason in counts if by_reason.get("ungraded") or by_reason.get("irrelevant")]
    if not reasons:
        return ()
    return (sentence_of("left out", words=left_out_words(reasons[0])),)


def filter_notes(
    rows: Mapping[str, Iterable[FilterRow]], names: Mapping[tuple[str, str], str]
) -> tuple[str, ...]:
    """The caveat about filters that are wrong, most often wrong first; none if all are right.

    ``rows`` are those of each result, ``names`` what a (result, setting) is called.
    """
    worst: dict[str, FilterCounts] = {}
    for result, filtered in rows.items():
        for (setting, _), counts in count_filters(filtered).items():
            name = names.get((result, setting))
            if name is not None and counts.wrong > (worst[name].wrong if name in worst else 0):
                worst[name] = counts
    if not worst:
        return ()
    shown = [
        f"{name} ({counts.wrong} of {counted(counts.labelled, 'query', 'queries')})"
        for name, counts in sorted(worst.items(), key=lambda item: -item[1].wrong)
    ]
    return (sentence_of("filters", settings=listed(shown, _NAMED)),)


def same_ranking_notes(settings: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """The caveat that settings tie because they differ only in how they answer; none if none do.

    ``settings`` are configured settings as plain values, by what they are called.
    """
    same = [names for names in ranked_alike(settings) if len(names) > 1]
    if not same:
        return ()
    shown = "; ".join(listed(names, 4) for names in same[:_NAMED])
    more = "; and more" if len(same) > _NAMED else ""
    return (sentence_of("same rankings", settings=f"{shown}{more}"),)


def warnings_of(
    records: Mapping[str, Mapping[str, Any]], names: Mapping[tuple[str, str], str]
) -> tuple[ResultWarning, ...]:
    """The warnings of run records by result, each once; ``names`` as for ``tokens_of``.

    Those that not all results share name theirs. Results of older versions have none, or no codes.
    """
    recorded = {result: record.get("warnings", []) for result, record in records.items()}
    warnings = []
    for result, rows in recorded.items():
        for row in rows:
            settings = tuple(
                names[result, setting] for setting in row["settings"] if (result, setting) in names
            )
            if row["settings"] and not settings:
                continue
            shared = all(any(_alike(row, other) for other in others) for others in recorded.values())
            text = row["text"] if shared else f"{result}: {row['text']}"
            # a warning of several results is of the settings of all
            of = () if shared and len(recorded) > 1 else settings
            made_of = row.get("code", ""), row.get("values", {})
            warnings.append(ResultWarning(row["kind"], text, tuple(row["measures"]), of, *made_of))
    return tuple(dict.fromkeys(warnings))


def _alike(row: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two warnings of records are one; only newer ones have codes."""
    return all(row[name] == other[name] for name in ("kind", "text", "measures", "settings"))
