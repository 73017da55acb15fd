"""Losses of queries and settings, from the rows of waterfall.csv and answer_losses.csv; tables of answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TypeVar

from harness.report.plain_table import Table
from harness.report.rows.answer_rows import AnswerLossRow, AnswerSummaryRow, ReplyRow
from harness.report.rows.step_rows import CANDIDATES, CHANGE, CHUNKING, ORDER, LossRow, part_in_words
from harness.values import by_key, counted, interval, listed, number

T = TypeVar("T")
Way = tuple[str, str]
"""A setting, and the route that is meant; without a dot, none."""
# A loss that rounds to zero is none.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class QueryLosses:
    """The losses of one query of a setting by name of the part (`name_of`), in pipeline order.

    ``route`` '' is the way to the final score; else that of a route of a fusion, as if it were used alone.
    """

    setting: str
    query_id: str
    split: str
    measure: str
    route: str
    losses: Mapping[str, float]
    final: float

    @cached_property
    def blame(self) -> str:
        """The name of the part that cost most, the first of equals; '' where nothing was lost."""
        most = max(self.losses, key=self.losses.__getitem__)
        return most if self.losses[most] > _ROUNDING else ""


def name_of(step: str, part: str) -> str:
    """The name of a part of the pipeline: a change as the step that makes it, any other as itself.

    Only one step of a setting has candidates and an order, whatever it is called.
    """
    return step if part == CHANGE else part


def is_route(step: str) -> bool:
    """Whether a step is a route of a fusion, which is not part of the sum of the losses."""
    return "." in step


def losses_by_query(rows: Iterable[LossRow | AnswerLossRow]) -> Iterator[QueryLosses]:
    """Every query of every setting, and after it each of its routes, in the order of the rows."""
    for query_rows in by_key(((row.setting, row.query_id), row) for row in rows).values():
        yield _way([row for row in query_rows if not is_route(row.step)], "")
        before = [row for row in query_rows if row.part not in (CANDIDATES, ORDER, CHANGE)]
        for route in dict.fromkeys(row.step for row in query_rows if is_route(row.step)):
            yield _way([*before, *(row for row in query_rows if row.step == route)], route)


def mean_losses(rows: Iterable[LossRow | AnswerLossRow]) -> Means:
    """For every setting and route ('': none) the mean loss of each part by its name, and what is left."""
    ways = by_key(((query.setting, query.route), query) for query in losses_by_query(rows))
    return {
        way: (
            {name: sum(query.losses[name] for query in queries) / len(queries) for name in queries[0].losses},
            sum(query.final for query in queries) / len(queries),
        )
        for way, queries in ways.items()
    }


def lost_by(rows: Sequence[LossRow], stage: str = "final") -> dict[str, dict[str, float]]:
    """The mean loss of each part by setting, up to a ``stage``: with the score of that they sum to 1.

    Routes are left out, as they are not part of the sum, and settings without the stage.
    """
    if stage != "final":
        by_setting = by_key((row.setting, row.step) for row in rows)
        steps = {
            setting: list(dict.fromkeys(setting_steps))
            for setting, setting_steps in by_setting.items()
            if stage in setting_steps
        }
        kept = {
            (setting, step)
            for setting, setting_steps in steps.items()
            for step in setting_steps[: setting_steps.index(stage) + 1]
        }
        rows = [row for row in rows if (row.setting, row.step) in kept]
    way = stage if is_route(stage) else ""
    return {setting: means for (setting, route), (means, _) in mean_losses(rows).items() if route == way}


def gap_note(rows: Iterable[LossRow]) -> str:
    """A sentence on how far the orders taken for the best may be from it; '' if that is not known.

    It has the mean by part, of the setting where it is largest.
    """
    gaps = by_key(
        ((name_of(row.step, row.part), row.setting), row.bound - row.left)
        for row in rows
        if row.bound is not None and not is_route(row.step)
    )
    largest: dict[str, float] = {}
    for (part, _), setting_gaps in gaps.items():
        largest[part] = max(largest.get(part, 0.0), sum(setting_gaps) / len(setting_gaps))
    if not largest:
        return ""
    gap_words = listed(
        [f"{number(gap)} more after '{part_in_words(part)}'" for part, gap in largest.items()], len(largest)
    )
    return (
        "The best order of chunks, which losses are counted against, is approximated; the true one would "
        f"leave at most {gap_words} (means, for the setting where it is most)."
    )


def loss_table(rows: Sequence[LossRow], headline: str = "", words: Mapping[str, str] | None = None) -> Table:
    """The mean loss of each part, in units of the measure, best setting first, its routes below it.

    ``headline`` is the measure that settings are compared by, '' if that is not to be said. A route with the
    same losses as a setting or an earlier route is left out. ``words``: how settings and routes are called.
    """
    means = shown_once(mean_losses(rows), _in_decimals)
    measure = rows[0].measure
    notes = []
    if headline not in ("", measure):
        notes.append(
            f"Losses are in units of {measure}: {headline} counts the chunks themselves, so it cannot say "
            "what cutting them costs."
        )
    if _gained(means):
        notes.append("A loss below 0 is a gain.")
    if any(CHUNKING not in losses for losses, _ in means.values()):
        notes.append(
            "It is unknown how the other pipeline cut the documents: what that costs is part of what was not "
            "found."
        )
    queries = counted(len({row.query_id for row in rows}), "query", "queries")
    title = f"Lost at each step, from 1 down to {measure}: means over {queries}"
    return _table(title, means, (*notes, gap_note(rows)), part_in_words, words or {})


def answer_loss_table(rows: Sequence[AnswerLossRow]) -> Table:
    """The same on the way to the answer."""
    means = mean_losses(rows)
    counts = Counter(setting for setting, _ in {(row.setting, row.query_id) for row in rows}).values()
    fewest, most = min(counts), max(counts)
    queries = counted(most, "query", "queries") if fewest == most else f"{fewest} to {most} queries"
    title = f"Lost on the way to the answer, from 1 down to {rows[0].measure}: means over {queries}"
    note = "A loss below 0 means that answers are right without the evidence."
    return _table(title, means, (note if _gained(means) else "",))


Means = Mapping[Way, tuple[dict[str, float], float]]


def _gained(means: Means) -> bool:
    return any(loss < 0 for losses, _ in means.values() for loss in losses.values())


def _table(
    title: str,
    means: Means,
    notes: Sequence[str],
    part: Callable[[str], str] = str,
    words: Mapping[str, str] = MappingProxyType({}),
) -> Table:
    left = {setting: final for (setting, route), (_, final) in means.items() if not route}
    ordered = sorted(means.items(), key=lambda item: -left[item[0][0]])
    names = names_in_order(losses for losses, _ in means.values())
    return Table(
        title=title,
        columns=("setting", *map(part, names), "left"),
        rows=tuple(
            (
                words.get(setting, setting) + (f": {words.get(route, route)} alone" if route else ""),
                *(number(losses.get(name)) for name in names),
                number(final),
            )
            for (setting, route), (losses, final) in ordered
        ),
        notes=tuple(filter(None, notes)),
    )


def shown_once(ways: Mapping[Way, T], shown: Callable[[T], Hashable]) -> dict[Way, T]:
    """What is known of settings and routes, without routes that look like a setting or an earlier route.

    ``shown`` gives what a table has of one.
    """
    seen = {shown(figures) for (_, route), figures in ways.items() if not is_route(route)}
    kept = {}
    for way, figures in ways.items():
        if not is_route(way[1]) or shown(figures) not in seen:
            kept[way] = figures
        seen.add(shown(figures))
    return kept


def _in_decimals(figures: tuple[dict[str, float], float]) -> Hashable:
    """Losses and what is left as a table shows them; one that rounds to zero is like none."""
    losses, left = figures
    shown = {name: number(loss) for name, loss in losses.items()}
    return number(left), frozenset(item for item in shown.items() if item[1] != number(0.0))


def names_in_order(ways: Iterable[Iterable[str]]) -> list[str]:
    """All names of parts that occur, the longest way's order first."""
    return list(dict.fromkeys(name for way in sorted(map(list, ways), key=len, reverse=True) for name in way))


def worst_table(
    rows: Sequence[LossRow],
    setting: str,
    count: int,
    questions: Mapping[str, str],
    passages: Mapping[str, str],
    expected: Mapping[str, str],
    called: str = "",
) -> Table:
    """The ``count`` queries of a setting that score lowest by the measure of the losses, the worst first.

    ``questions`` maps queries to their text, ``passages`` to the passage that came first, ``expected`` to
    the evidence that should have. ``called`` is what the setting is called, by default as it is named.
    """
    ways = (
        query for query in losses_by_query(row for row in rows if row.setting == setting) if not query.route
    )
    lowest = sorted(ways, key=lambda query: query.final)[:count]
    measure = lowest[0].measure if lowest else "score"
    worst = "worst query" if len(lowest) == 1 else f"{len(lowest)} worst queries"
    return Table(
        title=f"The {worst} of {called or setting} by {measure}",
        columns=("query", "split", measure, "largest losses", "text", "expected", "ranked first"),
        rows=tuple(
            (
                query.query_id,
                query.split,
                number(query.final),
                f"{part_in_words(query.blame)} {query.losses[query.blame]:.3f}" if query.blame else "–",
                questions.get(query.query_id, "–"),
                expected.get(query.query_id, "–"),
                passages.get(query.query_id, "–"),
            )
            for query in lowest
        ),
        left=frozenset({0, 1, 3, 4, 5, 6}),
        prose=3,
    )


def _way(rows: Sequence[LossRow | AnswerLossRow], route: str) -> QueryLosses:
    first, last = rows[0], rows[-1]
    losses = {name_of(row.step, row.part): row.loss for row in rows}
    return QueryLosses(first.setting, first.query_id, first.split, first.measure, route, losses, last.left)


def answer_table(summary: Sequence[AnswerSummaryRow], replies: Sequence[ReplyRow]) -> Table:
    """The means of every measure of answers by setting, or, without measures, how much was answered."""
    settings = list(dict.fromkeys(row.setting for row in replies))
    answered = Counter(row.setting for row in replies if not row.reason)
    totals = Counter(row.setting for row in replies)
    rows = [row for row in summary if row.split == "all"]
    means = {(row.setting, row.measure): row for row in rows}
    measures = list(dict.fromkeys(row.measure for row in rows))
    return Table(
        title=f"Answers: means over {counted(max(totals.values()), 'query', 'queries')}",
        columns=("setting", "answered", *measures),
        rows=tuple(
            (
                setting,
                f"{answered[setting]} of {totals[setting]}",
                *(_mean(means[setting, measure]) for measure in measures),
            )
            for setting in settings
        ),
        notes=tuple(_notes(rows)),
    )


def _mean(row: AnswerSummaryRow) -> str:
    bounds = interval(row.ci_low, row.ci_high, row.n_queries)
    return number(row.mean) if row.mean is None or bounds == "–" else f"{number(row.mean)} ({bounds})"


def _notes(rows: Sequence[AnswerSummaryRow]) -> Iterator[str]:
    """How many answers each measure leaves without a value, under the setting that has most of them."""
    by_measure = by_key((row.measure, row) for row in rows)
    worst = [max(measure_rows, key=lambda row: row.n_not_scored) for measure_rows in by_measure.values()]
    measures_by_reason = by_key(
        (f"{row.n_not_scored} ({row.reasons})", row.measure) for row in worst if row.n_not_scored
    )
    for count_and_why, measures in measures_by_reason.items():
        yield f"Not scored, and not in the mean of {', '.join(measures)}: at most {count_and_why}."
    uneven = [
        measure
        for measure, measure_rows in by_measure.items()
        if len({row.n_not_scored for row in measure_rows}) > 1
    ]
    if uneven:
        yield (
            f"Means of {', '.join(uneven)} are over different queries: harness compare takes those for "
            "which all settings have a value."
        )
