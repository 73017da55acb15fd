"""Settings proposed by Optuna's sampler TPE (Bergstra et al., NIPS 2011), from what earlier ones scored."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from harness.running.config.space import COMBINATION, Space, Values
from harness.running.config.tune_keys import Range
from harness.values import ConfigError, HarnessError

# The settings that are drawn evenly before scores count.
STARTUP = 10
# The sampler is asked for this many times the settings needed: some are invalid or were proposed before.
_ASKS = 20


def optuna() -> Any:
    """The package; HarnessError with the line that installs it where it is missing."""
    try:
        import optuna as package
    except ModuleNotFoundError as error:
        raise HarnessError(
            "tune: {strategy: tpe} needs Optuna, which is not installed: pip install 'ndcg-harness[tune]'. "
            "Or omit strategy: fixed values then stand for each range."
        ) from error
    package.logging.set_verbosity(package.logging.ERROR)
    return package


def propose(
    space: Space, before: Sequence[Values], scores: Sequence[float], count: int, seed: int
) -> list[Values]:
    """At most ``count`` new settings, from the scores of those before: the higher, the better.

    They depend only on the seed, on what came before and on the release of Optuna. There are fewer, or none,
    where the sampler finds hardly any setting that was not proposed before.
    """
    package = optuna()
    numbers = {key: _distribution(package, span) for key, span in space.ranges.items()}
    choice = {COMBINATION: package.distributions.CategoricalDistribution([*range(space.combinations)])}
    distributions = numbers | (choice if space.combinations > 1 else {})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", package.exceptions.ExperimentalWarning)
        sampler = package.samplers.TPESampler(
            seed=seed + len(before), n_startup_trials=STARTUP, multivariate=True, constant_liar=True
        )
    study = package.create_study(direction="maximize", sampler=sampler)
    for values, score in zip(before, scores, strict=True):
        study.add_trial(package.trial.create_trial(params=values, distributions=distributions, value=score))
    points = [space.point(values) for values in before]
    proposals: list[Values] = []
    for _ in range(_ASKS * count):
        if len(proposals) == count:
            break
        trial = study.ask(distributions)
        values = _rounded(trial.params, space.ranges)
        try:
            point = space.point(values)
        except ConfigError:
            study.tell(trial, state=package.trial.TrialState.FAIL)
            continue
        # a repeated trial stays open, which leads the sampler elsewhere
        if point not in points:
            points.append(point)
            proposals.append(values)
    return proposals


def _distribution(package: Any, span: Range) -> Any:
    if span.whole:
        return package.distributions.IntDistribution(int(span.low), int(span.high), log=span.log)
    return package.distributions.FloatDistribution(span.low, span.high, log=span.log)


def _rounded(values: Mapping[str, float], ranges: Mapping[str, Range]) -> Values:
    """The numbers rounded to four digits, so that names of settings stay short; whole numbers as they are."""
    return {
        key: value
        if key not in ranges or ranges[key].whole
        else min(max(float(f"{value:.4g}"), ranges[key].low), ranges[key].high)
        for key, value in values.items()
    }
