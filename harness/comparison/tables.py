"""The output of `harness compare`: the verdict, the settings, and their differences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from harness.comparison.advice import front
from harness.comparison.first_screen import pair_of
from harness.comparison.matrix import ScoreMatrix
from harness.comparison.paired import Comparison, Options, compare_changes, reranked
from harness.comparison.phrases import finding_words
from harness.comparison.verdict import Verdict
from harness.comparison.words import sentences_of
from harness.measures import across_chunkings
from harness.report import Part, ScoreRow, Table
from harness.values import FEWEST_FOR_INTERVAL, confidence, counted, interval, number, signed, signed_interval

SHOWN = 30


def compared_parts(verdict: Verdict, *, only_real: bool = False) -> tuple[Part, ...]:
    """The parts of a comparison in the order of reading; ``only_real`` leaves out other differences."""
    parts: list[Part] = [
        sentences_of(verdict),
        *names_table(verdict),
        *_effects(verdict),
        standings_table(verdict),
    ]
    if verdict.comparisons:
        parts += _differences(verdict, only_real and verdict.baseline is None)
        parts += [(verdict.costs.reason,)] if verdict.costs.reason and verdict.leader is not None else []
    return tuple(parts)


def standings_table(verdict: Verdict) -> Table:
    """The settings by their means, each with its interval, its group and its price."""
    people, prices = verdict.population, verdict.costs.by_setting
    columns = ["setting", "n", "mean", f"{confidence(verdict.level)} interval"]
    columns += ["group"] if len(verdict.standings) > 1 else []
    columns += [verdict.costs.unit, "front"] if prices else []
    means = {standing.setting: standing.mean for standing in verdict.standings}
    on_front = front(prices, means) if prices and verdict.leader is not None else []
    rows = []
    for standing in verdict.standings:
        bounds = interval(standing.low, standing.high, people.queries)
        row = [standing.setting, str(people.queries), number(standing.mean), bounds]
        row += [standing.standing] if len(verdict.standings) > 1 else []
        if prices:
            row += [f"{prices[standing.setting]:,.0f}", "yes" if standing.setting in on_front else ""]
        rows.append(tuple(row))
    notes = [
        "Each interval is of one mean; whether two settings differ is shown by the interval of their "
        "difference."
    ]
    if people.kind == "few clusters":
        notes.append(f"The intervals hold for more queries on the same {people.unit}s, not for new ones.")
    notes += ["Too few queries for intervals."] if people.queries < FEWEST_FOR_INTERVAL else []
    if prices:
        notes.append(
            f"front: no other setting is as good for as few {verdict.costs.unit}, and none that is better "
            "scores more per token."
        )
    return Table(
        f"{verdict.measure}: means over {counted(people.queries, 'query', 'queries')}",
        tuple(columns),
        tuple(rows),
        left=frozenset({0, 4}) if len(verdict.standings) > 1 else frozenset({0}),
        notes=tuple(notes),
    )


def _effects(verdict: Verdict) -> list[Part]:
    """What each factor does, and the interactions; nothing where settings are no product of factors."""
    effects = verdict.effects.main
    if not effects:
        return []
    rows = tuple((pair_of(effect), *_bounded(effect.found), effect.words) for effect in effects)
    notes = [
        "Each row is the mean over all pairs of settings that differ in nothing else; intervals are of one "
        f"test of {counted(len(rows), 'effect')}."
    ]
    if verdict.population.kind == "few clusters":
        notes.append(f"They hold for more queries on the same {verdict.population.unit}s, not for new ones.")
    bounds = f"{confidence(verdict.level)} interval"
    title = f"{verdict.measure}: what each factor does"
    table = Table(
        title, ("factor", "difference", bounds, "found"), rows, left=frozenset({0, 3}), notes=tuple(notes)
    )
    return [table, verdict.effects.interactions] if verdict.effects.interactions else [table]


def names_table(verdict: Verdict) -> list[Part]:
    """The technical names of the settings, where these are called otherwise."""
    rows = tuple((standing.words, standing.setting) for standing in verdict.standings)
    if all(words == setting for words, setting in rows):
        return []
    return [Table("settings and their names in files", ("setting", "name"), rows, left=frozenset({0, 1}))]


def _differences(verdict: Verdict, only_real: bool) -> list[Part]:
    comparisons = verdict.comparisons
    shown = [pair for pair in comparisons if pair.real or not only_real]
    against = "settings" if verdict.baseline is not None else "pairs"
    family = f"of one test of all {len(comparisons)} {against}" if len(comparisons) > 1 else "of one test"
    tolerance = verdict.options.tolerance
    if not shown:
        findings = Counter(finding_words(pair, tolerance) for pair in comparisons)
        counts = ", ".join(f"{words} ({count})" for words, count in findings.most_common())
        return [
            (
                f"Neither better nor worse in {counted(len(comparisons), 'pair')}: {counts}; intervals and p "
                f"{family}.",
            )
        ]
    more, bounds = len(shown) - SHOWN, f"{confidence(verdict.level)} interval"
    where = "" if verdict.across else " and both have the same chunks (not comparable)"
    if verdict.measure in verdict.sensitivity:
        where += ", unless longer or shorter labels change the sign (depends on labels)"
    return [
        Table(
            f"{'differences found' if only_real else 'differences'}, the clearest first",
            ("setting", "against", "difference", bounds, "p", "won/tied/lost", "found"),
            tuple((pair.setting, pair.against, *difference_cells(pair, tolerance)) for pair in shown[:SHOWN]),
            names=2,
            left=frozenset({0, 1}),
            notes=(
                f"Intervals and p are {family}: better or worse where the interval excludes 0{where}; "
                f"equal where it lies within ±{tolerance:g}.",
                *([f"{more} more; --csv FILE writes all of them."] if more > 0 else []),
            ),
        )
    ]


def difference_cells(comparison: Comparison, tolerance: float) -> tuple[str, ...]:
    """Difference, interval, p, queries won, tied and lost, and what is known of it."""
    return (
        *_bounded(comparison),
        "<0.001" if comparison.p < 0.001 else f"{comparison.p:.3f}",
        f"{comparison.wins}/{comparison.ties}/{comparison.losses}",
        finding_words(comparison, tolerance),
    )


def _bounded(comparison: Comparison) -> tuple[str, str]:
    return signed(comparison.difference), signed_interval(comparison.low, comparison.high, comparison.n)


def reranked_table(rows: Sequence[ScoreRow], measure: str, options: Options) -> Table | None:
    """Every reranked setting against its own retrieval; None if nothing was reranked."""
    changes, title = reranked(rows, measure, options), f"what the reranker does to {measure}"
    return _changes(changes, title, ("retrieved", "reranked"), options)


def cut_differently(measure: str, before: Mapping[str, str], after: Mapping[str, str]) -> tuple[str, ...]:
    """The settings whose chunkings differ in two results, where the measure compares only over one chunking.

    ``before`` and ``after`` say by setting how it cuts documents.
    """
    if across_chunkings(measure):
        return ()
    return tuple(name for name, cut in after.items() if before.get(name, cut) != cut)


def changed_table(
    before: ScoreMatrix,
    after: ScoreMatrix,
    names: tuple[str, str],
    options: Options,
    apart: Collection[str] = (),
) -> Part | None:
    """The settings that two results have in common, each against itself; None if there are none.

    ``apart`` are settings that the measure cannot compare with themselves, as they cut differently.
    """
    common = [name for name in after.settings if name in before.settings]
    before = before.in_order_of(after.query_ids)
    if common and all(
        np.array_equal(before.row(setting), after.row(setting), equal_nan=True) for setting in common
    ):
        return (f"{after.measure} is unchanged for the settings that both results have.",)
    title = f"what has changed in {after.measure}, setting by setting"
    return _changes(compare_changes(before, after, options), title, names, options, apart)


def _changes(
    changes: Sequence[Comparison],
    title: str,
    names: tuple[str, str],
    options: Options,
    apart: Collection[str] = (),
) -> Table | None:
    if not changes:
        return None
    changes = [
        replace(change, finding="incomparable") if change.setting in apart else change for change in changes
    ]
    bounds = f"{confidence(options.level)} interval"
    family = f"one test of all {len(changes)} settings" if len(changes) > 1 else "one test"
    return Table(
        title,
        ("setting", "n", *names, "difference", bounds, "p", "won/tied/lost", "found"),
        tuple(
            (
                change.setting,
                str(change.n),
                number(change.mean_against),
                number(change.mean),
                *difference_cells(change, options.tolerance),
            )
            for change in changes
        ),
        notes=(
            f"Intervals and p are of {family}: better or worse where the interval excludes 0"
            f"{' and the chunks are the same (not comparable)' if apart else ''}; equal where it is "
            f"within ±{options.tolerance:g}.",
        ),
    )


def label_parts(verdict: Verdict) -> tuple[Part, ...]:
    """The part that `harness compare` prints; nothing if it is unknown or there is one setting.

    A table with a row per setting, the best first, and one with the lengths of the labels.
    """
    drawn = verdict.sensitivity.get(verdict.measure)
    if drawn is None or len(drawn.means) < 2:
        return ()
    rows = sorted(drawn.means.items(), key=lambda item: -item[1][0])
    table = Table(
        f"{verdict.measure} with longer and shorter labels: means",
        ("setting", *drawn.ways),
        (
            *((setting, *map(number, means)) for setting, means in rows),
            ("median label, characters", *(f"{length:,.0f}" for length in drawn.lengths)),
        ),
    )
    return (table,)
