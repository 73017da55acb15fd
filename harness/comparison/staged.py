"""Bounds after a choice in stages, where some settings were dropped before they had seen everything.

Two bounds, each with its own confidence. *Among the survivors*: one-sided comparisons with the best
(``regret``) on all that the last stage saw, with critical values no smaller than those of the first stage,
whose family is all settings. Which of them survived was decided by looking at some of the same queries; a
critical value that pays for all settings holds for any that are picked from them.

*Against a dropped setting*: from what it was seen on. The best of all settings is one and the same whatever
was looked at, and it is dropped at one stage at most, so the chance that its bound fails is at most the sum
of the chances at all stages at which any were dropped: they share the level in equal parts. Survivors that
were seen on more queries of the same text are control variates: what a ridge regression predicts of the
dropped setting from them on all queries, plus what it misses on those where both were seen (difference
estimator of two-phase sampling, Cochran 1977, ch. 12; prediction-powered inference, Angelopoulos et al.,
Science 2023). The regression for the queries of a cluster is fitted without that cluster, so that it adds no
bias.

A setting whose rankings end earlier than those of another might lead it by any amount if they went on, so
such leads have no bound, and nothing shows it to be worse.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from harness.comparison.matrix import ScoreMatrix
from harness.comparison.paired import Options
from harness.comparison.regret import criticals, upper_leads
from harness.comparison.stats import units_of
from harness.comparison.verdict_parts import ENOUGH_READ
from harness.measures import Bools, Floats

# Of queries that are no clusters, so many are left out at a time when survivors predict a dropped setting.
FOLDS = 10


@dataclass(frozen=True, slots=True)
class SeenStage:
    """The scores that a stage saw; ``basis`` names the text and the grades that they rest on.

    Scores of two stages stand beside each other only where these are the same. The settings in ``held`` were
    seen without a step of theirs, and their scores are of what is left. ``read`` has the settings whose
    rankings were cut short, and the share of what the measure reads that they hold on average.
    """

    matrix: ScoreMatrix
    basis: str
    held: frozenset[str] = frozenset()
    read: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StagedBounds:
    """``survivors``: at most how much each survivor loses to any other one that is not in ``unread``.

    It is NaN where all others are. ``dropped``: by dropped setting at most how much better it may be than
    each survivor, below 0 where it is shown to be worse; NaN where nothing can be said, as of one that was
    never seen with all its steps. It holds for the text that the setting was seen on. ``unread`` has, by
    survivor, the other settings, also dropped ones, that have no bound against it as their rankings end
    earlier.
    """

    survivors: Mapping[str, float]
    dropped: Mapping[str, Mapping[str, float]]
    unread: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def against_dropped(self, setting: str) -> float:
        """At most how much a survivor loses to any dropped setting; 0 if there is none."""
        return max([0.0, *(leads[setting] for leads in self.dropped.values())])


def ending_early(read: Mapping[str, float], settings: Sequence[str]) -> tuple[str, ...]:
    """The settings whose rankings end earlier than those of some other one; ``read`` as in a SeenStage."""
    rows = np.flatnonzero(_shorter(read, settings, settings).any(axis=1)).tolist()
    return tuple(settings[row] for row in rows)


def _shorter(read: Mapping[str, float], settings: Sequence[str], others: Sequence[str]) -> Bools:
    """Where rankings of a setting end earlier than those of another one, [settings, others]."""
    shares, deeper = (np.array([read.get(name, 1.0) for name in names]) for names in (settings, others))
    ends: Bools = deeper[None, :] - shares[:, None] > 1 - ENOUGH_READ
    return ends


def staged_bounds(stages: Sequence[SeenStage], options: Options) -> StagedBounds:
    """The bounds after ``stages``, the first of which saw all settings and each later one fewer.

    Raises ValueError where a stage saw a setting that the one before it did not see.
    """
    seen = [replace(stage, matrix=stage.matrix.defined()) for stage in stages]
    names = [stage.matrix.settings for stage in seen]
    if any(not {*later} <= {*earlier} for earlier, later in pairwise(names)):
        raise ValueError("a stage has a setting that the stage before it did not see")
    # all that were seen as they are pay for the choice, and those that were not as what was seen of them
    families = [stage.matrix for stage in seen[: 1 + sum(1 for stage in seen[:-1] if stage.held)]]
    family = _Family(families, options)
    survivors = _among(seen[-1], family, 1 - options.level, options)
    dropping = [at for at in range(len(seen) - 1) if len(names[at]) > len(names[at + 1])]
    dropped: dict[str, Mapping[str, float]] = {}
    for at in dropping:
        alpha = (1 - options.level) / len(dropping)
        dropped |= _against(seen, at, family, alpha, options)
    return StagedBounds(survivors, dropped, _unread(seen, dropping))


def _unread(seen: Sequence[SeenStage], dropping: Sequence[int]) -> dict[str, frozenset[str]]:
    """By survivor the settings whose rankings ended earlier than its own when both were seen last."""
    survivors = seen[-1].matrix.settings
    shorter: dict[str, set[str]] = {name: set() for name in survivors}
    for at in [*dropping, len(seen) - 1]:
        stage = seen[at]
        left = {*seen[at + 1].matrix.settings} if at + 1 < len(seen) else set[str]()
        gone = [name for name in stage.matrix.settings if name not in left and name not in stage.held]
        for row, column in np.argwhere(_shorter(stage.read, gone, survivors)).tolist():
            shorter[survivors[column]].add(gone[row])
    return {name: frozenset(others) for name, others in shorter.items()}


def shown_worse(stage: SeenStage, options: Options, looks: int = 1) -> dict[str, float]:
    """The settings that are shown to be worse than another, and by how much at least.

    ``looks``: so many stages look in turn, and share what may go wrong.
    """
    matrix = stage.matrix.defined()
    units = units_of(matrix.clusters, len(matrix.query_ids))
    alpha = (1 - options.level) / looks
    leads = upper_leads(
        matrix.values, _each(len(matrix.settings)), units, alpha, options.resamples, options.seed
    )
    shorter = _shorter(stage.read, matrix.settings, matrix.settings)
    least = np.where(np.isnan(leads) | shorter, np.inf, leads).min(axis=1, initial=np.inf)
    return {
        name: -float(lead) for name, lead in zip(matrix.settings, least.tolist(), strict=True) if lead < 0
    }


class _Family:
    """Critical values of all settings at once, by the first stages that saw them."""

    def __init__(self, matrices: Sequence[ScoreMatrix], options: Options) -> None:
        self.matrices, self.options = matrices, options
        self._by_alpha: dict[float, Mapping[str, float]] = {}

    def of(self, names: Sequence[str], alpha: float) -> Floats:
        """Those of some settings at a level."""
        if alpha not in self._by_alpha:
            options, largest = self.options, dict[str, float]()
            for matrix in self.matrices:
                units = units_of(matrix.clusters, len(matrix.query_ids))
                values = criticals(
                    matrix.values, _each(len(matrix.settings)), units, alpha, options.resamples, options.seed
                )
                for name, value in zip(matrix.settings, values.tolist(), strict=True):
                    largest[name] = max(value, largest.get(name, 0.0))
            self._by_alpha[alpha] = largest
        return np.array([self._by_alpha[alpha][name] for name in names])


def _each(count: int) -> Bools:
    """Every row compared with every other one."""
    compared: Bools = ~np.eye(count, dtype=np.bool_)
    return compared


def _among(stage: SeenStage, family: _Family, alpha: float, options: Options) -> dict[str, float]:
    """At most how much each setting of the last stage loses to any other whose rankings end no earlier."""
    matrix = stage.matrix
    count = len(matrix.settings)
    if count == 1:
        return {matrix.settings[0]: 0.0}
    units = units_of(matrix.clusters, len(matrix.query_ids))
    least = family.of(matrix.settings, alpha)
    leads = upper_leads(matrix.values, _each(count), units, alpha, options.resamples, options.seed, least)
    np.fill_diagonal(leads, 0.0)
    shorter = _shorter(stage.read, matrix.settings, matrix.settings)
    bounds = np.maximum(np.where(shorter, 0.0, leads).max(axis=0), 0.0)
    # where all others end earlier, none is bounded
    bounds[shorter.sum(axis=0) == count - 1] = np.nan
    return dict(zip(matrix.settings, bounds.tolist(), strict=True))


def _against(
    stages: Sequence[SeenStage], at: int, family: _Family, alpha: float, options: Options
) -> dict[str, Mapping[str, float]]:
    """At most how much better each setting that was dropped after a stage is than each survivor of all."""
    stage, survivors = stages[at], stages[-1].matrix.settings
    left = {*stages[at + 1].matrix.settings}
    gone = [name for name in stage.matrix.settings if name not in left]
    # what survivors were seen on, of the same text and with all their steps
    same = [other for other in stages[at:] if other.basis == stage.basis and not other.held & {*survivors}]
    if not same:
        return {name: dict.fromkeys(survivors, float("nan")) for name in gone}
    widest = same[-1].matrix
    wider = widest if stage.held or len(widest.query_ids) > len(stage.matrix.query_ids) else stage.matrix
    covariates = np.array([wider.row(name) for name in survivors])
    place = {query: column for column, query in enumerate(wider.query_ids)}
    columns = np.array([place[query] for query in stage.matrix.query_ids if query in place], dtype=np.int64)
    kept = [row for row, query in enumerate(stage.matrix.query_ids) if query in place]
    clusters = wider.clusters or ("",) * len(wider.query_ids)
    rows = [extended(stage.matrix.row(name)[kept], columns, covariates, clusters) for name in gone]
    values = np.vstack([*rows, covariates])
    compared = np.zeros((len(values), len(values)), dtype=np.bool_)
    compared[: len(gone), len(gone) :] = compared[len(gone) :, : len(gone)] = True
    least = family.of([*gone, *survivors], alpha)
    units = units_of(wider.clusters, len(wider.query_ids))
    leads = upper_leads(values, compared, units, alpha, options.resamples, options.seed, least)
    against = np.where(_shorter(stage.read, gone, survivors), np.nan, leads[: len(gone), len(gone) :])
    unseen = dict.fromkeys(survivors, float("nan"))
    return {
        name: unseen if name in stage.held else dict(zip(survivors, against[row].tolist(), strict=True))
        for row, name in enumerate(gone)
    }


def extended(values: Floats, columns: np.ndarray, covariates: Floats, clusters: Sequence[str]) -> Floats:
    """A row [Q] whose mean estimates that of a setting over all Q queries, from its ``values`` on some.

    ``columns`` says which queries the values are of; ``covariates`` [M, Q] are rows of other settings, and
    ``clusters`` [Q] names what queries belong to. Where all were seen it is the values themselves.
    """
    count = covariates.shape[1]
    if len(columns) == count:
        whole = np.empty(count)
        whole[columns] = values
        return whole
    names = [name or f"\0{at % FOLDS}" for at, name in enumerate(clusters)]
    of = np.array(list(map({name: at for at, name in enumerate(dict.fromkeys(names))}.get, names)))
    seen = np.bincount(of[columns], minlength=of.max() + 1)
    sizes = np.bincount(of)
    reached = sizes[seen > 0].sum()
    # each seen query stands for those of its cluster, and these for clusters of which none was seen
    weights = (sizes / np.maximum(seen, 1))[of[columns]] * count / reached
    row = np.empty(count)
    for cluster in range(len(sizes)):
        train = of[columns] != cluster
        intercept, slopes = _ridge(covariates[:, columns[train]], values[train])
        inside = of == cluster
        row[inside] = intercept + slopes @ covariates[:, inside]
        test = ~train
        missed = values[test] - intercept - slopes @ covariates[:, columns[test]]
        row[columns[test]] += weights[test] * missed
    return row


def _ridge(covariates: Floats, values: Floats) -> tuple[float, Floats]:
    """Intercept and slopes [M] of ``values`` on ``covariates`` [M, n]; 0 where there is nothing to fit."""
    if len(values) < 2:
        return float(values.mean()) if len(values) else 0.0, np.zeros(len(covariates))
    means = covariates.mean(axis=1)
    centred = covariates - means[:, None]
    squares = centred @ centred.T
    # shrinks as much as M slopes of n values are in doubt
    penalty = max(float(np.trace(squares)) / len(values), 1e-9)
    slopes = np.linalg.solve(squares + penalty * np.eye(len(means)), centred @ (values - values.mean()))
    return float(values.mean() - slopes @ means), slopes
