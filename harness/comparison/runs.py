"""Runs of documents, compared query by query with the first of them, as `harness score --run a b` prints it.

The test is that of ``paired``: of each measure one family, all further runs against the first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from harness.comparison.matrix import ScoreMatrix, on_common_questions
from harness.comparison.paired import FEWEST_TO_CHOOSE, Comparison, Options, compare_to
from harness.comparison.stats import FEWEST_CLUSTERS, ROUNDING, Kind, units_of
from harness.comparison.tables import difference_cells
from harness.comparison.verdict_parts import ENOUGH_JUDGED
from harness.measures import Floats, parse_measure
from harness.report import Part, Table
from harness.values import HarnessError, confidence, counted, listed, number, signed

# Of the queries that lost most so many are shown for each run; all values are had with --per-query.
MOST_LOST = 5
# A run whose rankings have less than this part of another's is called shallow.
SHALLOW = 0.5


@dataclass(frozen=True, slots=True)
class LostQuery:
    """A query that scores less under a run than under the ``first``."""

    query_id: str
    first: float
    value: float

    @property
    def difference(self) -> float:
        """How much it lost, below 0."""
        return self.value - self.first


@dataclass(frozen=True, slots=True)
class RunComparison:
    """All further runs against the ``first`` by one ``measure``.

    ``comparisons`` has one entry for each further run, in their order; ``lost`` has, by run, the queries that
    scored less, the largest loss first. ``left_out`` queries have a value under only some of the runs.
    ``tested_by`` are the units of the test, ``clusters`` how many there are (0: none are known).
    """

    measure: str
    first: str
    comparisons: tuple[Comparison, ...]
    lost: Mapping[str, tuple[LostQuery, ...]]
    left_out: int
    tested_by: Kind
    clusters: int


def compare_runs(
    measure: str,
    values: Mapping[str, Mapping[str, float]],
    clusters: Mapping[str, str],
    options: Options,
) -> RunComparison | None:
    """Compare runs by a measure; None where no query has a value under every run.

    ``values`` are, by run and query, the scores (NaN: undefined); ``clusters`` says which cluster a query is
    in (none named: unknown; a query that is not in it is a cluster of its own). Only queries that have a
    value under every run are compared.
    """
    query_ids = tuple(dict.fromkeys(query for scores in values.values() for query in scores))
    matrix = ScoreMatrix(
        measure,
        tuple(values),
        query_ids,
        np.array([[scores.get(query, np.nan) for query in query_ids] for scores in values.values()]),
        ("",) * len(query_ids),
        tuple(clusters.get(query, "") for query in query_ids) if clusters else (),
    )
    try:
        (common,), left_out = on_common_questions([matrix])
    except HarnessError:
        return None
    first, *others = common.settings
    units = units_of(common.clusters, len(common.query_ids))
    return RunComparison(
        measure,
        first,
        tuple(compare_to(common, first, options)),
        {name: _lost(common.query_ids, common.row(first), common.row(name)) for name in others},
        left_out,
        units.kind,
        units.clusters,
    )


def _lost(query_ids: Sequence[str], first: Floats, values: Floats) -> tuple[LostQuery, ...]:
    """The queries that score less than under the first run, the largest loss first."""
    order = np.argsort(values - first, kind="stable").tolist()
    less = (at for at in order if values[at] < first[at] - ROUNDING)
    return tuple(LostQuery(query_ids[at], float(first[at]), float(values[at])) for at in less)


def renamed(compared: RunComparison, names: Mapping[str, str]) -> RunComparison:
    """The same comparison with every run called as ``names`` has it."""
    return replace(
        compared,
        first=names[compared.first],
        comparisons=tuple(
            replace(run, setting=names[run.setting], against=names[run.against])
            for run in compared.comparisons
        ),
        lost={names[run]: queries for run, queries in compared.lost.items()},
    )


def run_parts(
    compared: Sequence[RunComparison],
    judged: Mapping[str, Mapping[str, float]],
    depths: Mapping[str, int],
    options: Options,
) -> tuple[Part, ...]:
    """The tables of a comparison of runs: differences by all measures, and what lost most by the first.

    ``judged`` are, by a measure such as judged@10 and by run, the mean shares that are judged; ``depths``, by
    run, the most documents that are ranked for a query.
    """
    if not compared:
        return ()
    notes = (*_notes(compared, options), *_unjudged(judged), *_shallow(compared, depths))
    return (_differences(compared, notes, options), *_lost_tables(compared[0]))


def _differences(compared: Sequence[RunComparison], notes: tuple[str, ...], options: Options) -> Table:
    """A row for every measure and further run."""
    headline, several = compared[0], len(compared[0].comparisons) > 1
    bounds = f"{confidence(options.level)} interval"
    rows = tuple(
        (
            by.measure,
            *([run.setting] if several else []),
            str(run.n),
            number(run.mean_against),
            number(run.mean),
            *difference_cells(run, options.tolerance),
        )
        for by in compared
        for run in by.comparisons
    )
    names = ("measure", "run") if several else ("measure",)
    mean = "its mean" if several else headline.comparisons[0].setting
    others = "the other runs" if several else headline.comparisons[0].setting
    return Table(
        f"{others} against {headline.first}, query by query",
        (*names, "n", headline.first, mean, "difference", bounds, "p", "won/tied/lost", "found"),
        rows,
        names=len(names),
        left=frozenset(range(len(names))),
        notes=notes,
    )


def _notes(compared: Sequence[RunComparison], options: Options) -> list[str]:
    """What the test is, what it holds for, and what was left out."""
    headline = compared[0]
    unit = f"{headline.clusters} whole clusters" if headline.tested_by == "clusters" else "queries"
    runs = len(headline.comparisons)
    family = f", for all {runs} runs at once" if runs > 1 else ""
    notes = [
        f"Two-sided sign-flip test over {unit}{family}: better or worse where the interval excludes 0; equal "
        f"where it lies within ±{options.tolerance:g}."
    ]
    if len(compared) > 1:
        notes.append(
            "Each measure has a test of its own: decide by one of them, chosen before the figures are seen."
        )
    if headline.tested_by == "few clusters":
        notes.append(
            f"The queries are in {counted(headline.clusters, 'cluster')}, worth fewer than {FEWEST_CLUSTERS} "
            "of equal size: what is found holds for more queries of these clusters, not for new ones."
        )
    if any(run.n < FEWEST_TO_CHOOSE for by in compared for run in by.comparisons):
        notes.append(f"Fewer than {FEWEST_TO_CHOOSE} queries are too few to choose by.")
    if left_out := max(by.left_out for by in compared):
        notes.append(
            f"{counted(left_out, 'query', 'queries')} left out, as only some of the runs have a value; the "
            "means above may count them."
        )
    return notes


def _unjudged(judged: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    """A sentence for every share that is small under some run."""
    for measure, shares in judged.items():
        least = min(shares, key=lambda run: shares[run])
        if shares[least] < ENOUGH_JUDGED:
            yield (
                f"Under {least} only {shares[least]:.0%} are judged ({measure}); the rest counts as "
                "irrelevant, although its relevance is unknown."
            )


def _shallow(compared: Sequence[RunComparison], depths: Mapping[str, int]) -> Iterator[str]:
    """A sentence where the rankings of a run are far shorter than those of another and measures read on."""
    least, most = min(depths, key=depths.__getitem__), max(depths, key=depths.__getitem__)
    cutoffs = {by.measure: parse_measure(by.measure).cutoff for by in compared}
    deeper = [name for name, cutoff in cutoffs.items() if cutoff is None or cutoff > depths[least]]
    if deeper and depths[least] < SHALLOW * depths[most]:
        yield (
            f"{least} ranks at most {counted(depths[least], 'document')} of a query, {most} up to "
            f"{depths[most]:,}. What would come next counts as not found by {listed(deeper)}: compare the "
            f"runs by a measure that reads no further than {counted(depths[least], 'rank')}."
        )


def _lost_tables(headline: RunComparison) -> list[Part]:
    """For each further run the queries that lost most."""
    parts: list[Part] = []
    for run, lost in headline.lost.items():
        if not lost:
            parts.append((f"{run}: no query scores less than under {headline.first}.",))
            continue
        more = len(lost) - MOST_LOST
        parts.append(
            Table(
                f"{run}: the queries that lost most in {headline.measure}",
                ("query", headline.first, run, "difference"),
                tuple(
                    (query.query_id, number(query.first), number(query.value), signed(query.difference))
                    for query in lost[:MOST_LOST]
                ),
                notes=(f"{more} more lost something; --per-query prints every value.",) if more > 0 else (),
            )
        )
    return parts
