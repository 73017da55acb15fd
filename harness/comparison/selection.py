"""Choose on train, report on validation, and say how good the choice was."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from harness.comparison.matrix import ScoreMatrix
from harness.comparison.paired import FEWEST_TO_CHOOSE, Comparison, Options, compare_rows, mean_of
from harness.comparison.sentences import finding_words
from harness.comparison.stats.intervals import Interval, student_quantile
from harness.comparison.stats.units import units_of
from harness.comparison.verdict import Turning, checked_against_labels
from harness.comparison.words import p_value
from harness.measures import Floats, Ints
from harness.values import FEWEST_FOR_INTERVAL, HarnessError, counted

Words = Callable[[str], str]
"""What a setting is called in a sentence."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The result of choosing on train.

    ``chosen`` is best on train; ``train`` and ``validation`` are its means there. ``best_on_validation`` is
    best there, and ``regret`` compares the two on validation where they differ (None if they do not).
    ``optimism`` is train minus validation of the chosen; it holds also how much easier the train queries are.
    ``selection_optimism`` is the same of its lead over the mean of all settings, which leaves that out.
    """

    measure: str
    chosen: str
    best_on_validation: str
    n_train: int
    n_validation: int
    train: Interval
    validation: Interval
    optimism: Interval
    selection_optimism: Interval
    regret: Comparison | None
    tolerance: float

    def sentences(self, words: Words = str) -> tuple[str, ...]:
        """Sentences for the reader; with few queries on either side nothing is concluded."""
        fewest = min(self.n_train, self.n_validation)
        if fewest < FEWEST_TO_CHOOSE:
            which = "validation" if self.n_validation == fewest else "train"
            few = f"{fewest} {which} {'query is' if fewest == 1 else 'queries are'} too few"
            return (
                f"{few} to choose on train and check the choice on validation (each needs at least "
                f"{FEWEST_TO_CHOOSE}).",
            )
        lines = [
            f"{words(self.chosen)} was chosen on {self.n_train} train queries, with a {self.measure} of "
            f"{self.train.value:.3f}, and reaches {_bounded(self.validation, self.n_validation)} on "
            f"{self.n_validation} validation queries."
        ]
        if self.regret is not None:
            # the best against the chosen one
            ahead = replace(self.regret, difference=-self.regret.difference)
            lines.append(
                f"On validation {words(self.best_on_validation)} is ahead by {ahead.difference:.3f}: "
                f"{finding_words(ahead, self.tolerance)} ({p_value(ahead.p)})."
            )
        lines.append(
            f"On train it looks better than on validation by {_bounded(self.optimism, fewest)}. Part of that "
            "is luck in the choice, and part is that the queries of one split are harder. Its lead over the "
            f"mean of all settings shrinks by {_bounded(self.selection_optimism, fewest)}: that part is luck."
        )
        return tuple(lines)


@dataclass(frozen=True, slots=True)
class CrossValidation:
    """Selection repeated over folds.

    ``estimate`` is the mean score of what was chosen without the query; ``picks`` says how often each setting
    was chosen, over ``folds`` times ``repeats``; ``winner`` is best on all queries, and ``optimism`` how much
    its mean on the queries that chose it is above the estimate.
    """

    measure: str
    winner: str
    estimate: Interval
    optimism: float
    picks: Mapping[str, int]
    folds: int
    repeats: int

    def sentences(self, words: Words = str) -> tuple[str, ...]:
        """Sentences for the reader."""
        times = self.folds * self.repeats
        often = sorted((-count, name) for name, count in self.picks.items() if count)
        picked = ", ".join(f"{words(name)} in {-count}" for count, name in often)
        return (
            f"Choosing by cross-validation ({self.folds} folds, {self.repeats} times over) reaches a "
            f"{self.measure} of {_bounded(self.estimate)} on queries that took no part in the choice. "
            f"Chosen of {times} times: {picked}.",
            f"Best on all queries is {words(self.winner)}, with a mean {self.optimism:+.3f} from that "
            "estimate: the bias of choosing on the same queries that are reported.",
        )


def select(matrix: ScoreMatrix, options: Options | None = None, turning: Turning | None = None) -> Selection:
    """Choose the best setting on train and report it on validation; of equals the first one wins.

    ``turning`` are the differences that other labels give another sign, which are not real. Raises
    HarnessError where train or validation has no query with a value.
    """
    options = options or Options()
    defined = matrix.defined()
    train, validation = defined.split("train"), defined.split("validation")
    for name, part in (("train", train), ("validation", validation)):
        if not part.query_ids:
            raise HarnessError(
                f"No {name} query has a value of {matrix.measure}, so settings cannot be chosen on train and "
                "reported on validation. Put queries in both splits, or cross-validate."
            )
    chosen, best = (int(np.argmax(part.means)) for part in (train, validation))
    names = defined.settings
    regret = None
    if chosen != best:
        units = units_of(validation.clusters, len(validation.query_ids))
        tested, _ = compare_rows(names, validation.values, [(chosen, best)], units, options)
        (regret,) = checked_against_labels(tested, turning)
    return Selection(
        measure=matrix.measure,
        chosen=names[chosen],
        best_on_validation=names[best],
        n_train=len(train.query_ids),
        n_validation=len(validation.query_ids),
        train=mean_of(train.values[chosen], train.clusters, options.level),
        validation=mean_of(validation.values[chosen], validation.clusters, options.level),
        optimism=_gap(train.values[chosen], validation.values[chosen], options),
        selection_optimism=_gap(_lead(train, chosen), _lead(validation, chosen), options),
        regret=regret,
        tolerance=options.tolerance,
    )


def cross_validate(
    matrix: ScoreMatrix, count: int = 5, repeats: int = 10, options: Options | None = None
) -> CrossValidation:
    """Score every query under the setting that is best on the other folds (Stone, JRSS B 1974).

    Uses all queries, whatever their split. The interval treats queries as independent although their choices
    share queries, so it is a little too narrow.
    """
    options = options or Options()
    defined = matrix.defined()
    if count < 2:
        raise HarnessError(f"{count} folds leave nothing to choose on; cross-validation needs two or more.")
    if len(defined.query_ids) < count:
        raise HarnessError(
            f"{counted(len(defined.query_ids), 'query has', 'queries have')} a value of {matrix.measure}, "
            f"too few for {count} folds."
        )
    scores = np.zeros(len(defined.query_ids))
    picks = dict.fromkeys(defined.settings, 0)
    for repeat in range(repeats):
        fold = folds(defined.query_ids, count, options.seed + repeat)
        for held_out in range(count):
            inside = fold == held_out
            pick = int(np.argmax(defined.values[:, ~inside].mean(axis=1)))
            scores[inside] += defined.values[pick, inside] / repeats
            picks[defined.settings[pick]] += 1
    winner = int(np.argmax(defined.means))
    estimate = mean_of(scores, defined.clusters, options.level)
    return CrossValidation(
        measure=matrix.measure,
        winner=defined.settings[winner],
        estimate=estimate,
        optimism=float(defined.means[winner]) - estimate.value,
        picks=picks,
        folds=count,
        repeats=repeats,
    )


def _lead(matrix: ScoreMatrix, setting: int) -> Floats:
    lead: Floats = matrix.values[setting] - matrix.values.mean(axis=0)
    return lead


def _gap(one: Floats, other: Floats, options: Options) -> Interval:
    """The difference of the means of two independent samples with Welch's interval (Biometrika 1947)."""
    gap = float(one.mean() - other.mean())
    if min(len(one), len(other)) < 2:
        return Interval(gap)
    squares = [float(sample.var(ddof=1)) / len(sample) if np.ptp(sample) else 0.0 for sample in (one, other)]
    if sum(squares) == 0:
        return Interval(gap, gap, gap)
    freedom = sum(squares) ** 2 / sum(
        square**2 / (len(sample) - 1) for square, sample in zip(squares, (one, other), strict=True)
    )
    reach = student_quantile(1 - options.alpha / 2, freedom) * float(np.sqrt(sum(squares)))
    return Interval(gap, gap - reach, gap + reach)


def _bounded(estimate: Interval, n: int = FEWEST_FOR_INTERVAL) -> str:
    none = estimate.low is None or n < FEWEST_FOR_INTERVAL
    bounds = "" if none else f" ({estimate.low:.3f} to {estimate.high:.3f})"
    return f"{estimate.value:.3f}{bounds}"


def folds(query_ids: Sequence[str], count: int, seed: int) -> Ints:
    """The fold 0..count-1 of every query, [Q], by a hash of its id; folds differ by at most one query."""
    if not 2 <= count <= len(query_ids):
        raise ValueError(f"{len(query_ids)} queries cannot be divided into {count} folds")
    hashes = [hashlib.sha256(f"{seed}:{query_id}".encode()).digest() for query_id in query_ids]
    fold = np.empty(len(query_ids), dtype=np.int64)
    fold[sorted(range(len(query_ids)), key=hashes.__getitem__)] = np.arange(len(query_ids)) % count
    return fold
