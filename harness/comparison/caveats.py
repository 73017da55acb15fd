"""Caveats of a verdict: filters that leave labelled text out, equal rankings, stored warnings."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

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
                str(one.queries),
                str(one.named),
                str(one.dropped),
                f"{one.left:.1f} of {one.of:.0f}",
                f"{one.wrong} of {one.labelled}",
            )
            for (setting, step), one in count_filters(rows).items()
        ),
    )


def left_out_notes(counts: Iterable[Mapping[str, int]]) -> tuple[str, ...]:
    """The caveat about queries that no label lets count; none where all that are left out are unanswerable.

    ``counts`` are those of each result by reason; several results are of the same queries.
    """
    found = [one for one in counts if one.get("ungraded") or one.get("irrelevant")]
    if not found:
        return ()
    return (f"{left_out_words(found[0])} The verdict is on the other queries alone.",)


def filter_notes(
    rows: Mapping[str, Iterable[FilterRow]], names: Mapping[tuple[str, str], str]
) -> tuple[str, ...]:
    """The caveat about filters that are wrong, most often wrong first; none if all are right.

    ``rows`` are those of each result, ``names`` what a (result, setting) is called.
    """
    worst: dict[str, FilterCounts] = {}
    for result, own in rows.items():
        for (setting, _), one in count_filters(own).items():
            name = names.get((result, setting))
            if name is not None and one.wrong > (worst[name].wrong if name in worst else 0):
                worst[name] = one
    if not worst:
        return ()
    shown = [
        f"{name} ({one.wrong} of {counted(one.labelled, 'query', 'queries')})"
        for name, one in sorted(worst.items(), key=lambda item: -item[1].wrong)
    ]
    return (f"Filters leave out labelled documents: {listed(shown, _NAMED)}. filters.csv lists them.",)


def same_ranking_notes(settings: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """The caveat that settings tie because they differ only in how they answer; none if none do.

    ``settings`` are configured settings as plain values, by what they are called.
    """
    same = [names for names in ranked_alike(settings) if len(names) > 1]
    if not same:
        return ()
    shown = "; ".join(listed(names, 4) for names in same[:_NAMED])
    more = "; and more" if len(same) > _NAMED else ""
    return (
        f"Settings that differ only in `answer` have the same rankings, so they tie here: {shown}{more}. "
        "Choose between them by their answers.",
    )


def ranked_alike(settings: Mapping[str, Mapping[str, Any]]) -> list[list[str]]:
    """The settings in groups that have the same rankings, as they differ at most in ``answer``."""
    groups: dict[str, list[str]] = {}
    for called, setting in settings.items():
        own = {key: value for key, value in setting.items() if key not in ("name", "answer")}
        groups.setdefault(json.dumps(own, sort_keys=True, default=str), []).append(called)
    return list(groups.values())


def warnings_of(
    records: Mapping[str, Mapping[str, Any]], names: Mapping[tuple[str, str], str]
) -> tuple[ResultWarning, ...]:
    """The warnings of run records by result, each once; ``names`` as for ``tokens_of``.

    Those that not all results share name theirs. Results of older versions have none.
    """
    own = {result: record.get("warnings", []) for result, record in records.items()}
    found = []
    for result, rows in own.items():
        for row in rows:
            settings = tuple(names[result, one] for one in row["settings"] if (result, one) in names)
            if row["settings"] and not settings:
                continue
            shared = all(row in others for others in own.values())
            text = row["text"] if shared else f"{result}: {row['text']}"
            # a warning of several results is of the settings of all
            of = () if shared and len(own) > 1 else settings
            found.append(ResultWarning(row["kind"], text, tuple(row["measures"]), of))
    return tuple(dict.fromkeys(found))
