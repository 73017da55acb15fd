"""Of many random results: what a sentence claims, the comparisons behind it have."""

import re

import numpy as np
import pytest

from harness.comparison import MOST_WORDS, Options, Scores, gate, gate_sentence, sentence, verdict_of

from .build import matrix

NAMES = tuple("abcde")


def drawn(seed):
    """Scores of a few settings, some alike to the letter, in few or many clusters, and their costs."""
    rng = np.random.default_rng(seed)
    settings, n = NAMES[: rng.integers(2, 6)], int(rng.choice([30, 36, 60, 120]))
    base = np.where(rng.random(n) < 0.3, 0, rng.random(n))
    offsets = rng.choice([0, 0, 0.005, 0.02, 0.1, 0.3], len(settings))[:, None]
    noise = rng.choice([0, 0.01, 0.2]) * rng.normal(size=(len(settings), n))
    values = np.clip(base + offsets + noise, 0, 1)
    scores = matrix(dict(zip(settings, values, strict=True)), "ndcg_evidence@5000")
    clusters = tuple(f"d{place % rng.choice([1, 3, 6, 8, n])}" for place in range(n))
    object.__setattr__(scores, "clusters", clusters)
    costs = {name: float(rng.choice([100, 200, 300])) for name in settings}
    limit = rng.choice([0, 150, 250])
    return scores, costs, float(limit) or None, rng


def better_than(name, verdict):
    """The settings that are shown to be better."""
    real = [one for one in verdict.comparisons if one.real]
    ahead = {one.setting for one in real if one.against == name and one.difference > 0}
    return ahead | {one.against for one in real if one.setting == name and one.difference < 0}


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_what_the_verdict_claims_is_what_was_found(first):
    advised = 0
    for seed in range(first, first + 50):
        scores, costs, limit, _ = drawn(seed)
        options = Options(resamples=200, price_limit=limit)
        given = Scores(matrices={scores.measure: scores}, tokens={"5000 characters": costs}, options=options)
        verdict = verdict_of(given)
        said = sentence(verdict)
        assert len(said.split()) <= MOST_WORDS, said
        for one in verdict.standings:
            assert one.group != "may" or not better_than(one.setting, verdict), (seed, said)
        if not verdict.used:
            continue
        advised += 1
        used, better = verdict.used, better_than(verdict.used, verdict)
        assert re.search(rf"[Uu]se {used}\b", said), (seed, said)
        allowed = {name for name in costs if limit is None or costs[name] <= limit}
        assert used in allowed
        assert [one.setting for one in verdict.standings if one.group == "use"] == [used]
        if "No other is better (" in said or "no worse than any other (" in said:
            assert not (better & allowed if "price limit" in said else better), (seed, said)
        if "shown to be best" in said or "better than all others" in said:
            assert all(used in better_than(name, verdict) for name in costs if name != used), (seed, said)
        if bound := re.search(r"(?:at most|better by more than) (0\.\d\d)", said):
            lost = [one.high for one in verdict.comparisons if one.against == used and one.setting in allowed]
            lost += [
                -one.low for one in verdict.comparisons if one.setting == used and one.against in allowed
            ]
            assert -1e-9 <= float(bound[1]) - verdict.advice.regret < 0.0101, (seed, said)
            # a one-sided bound against the best is within the intervals of all pairs
            assert verdict.advice.regret <= max(lost) + 1e-9, (seed, said, lost)
    assert advised > 10


def test_what_the_gate_claims_is_what_was_found():
    told = set()
    for seed in range(60):
        scores, _, _, rng = drawn(seed)
        worse = np.clip(scores.values - rng.choice([0, 0.03, 0.2]), 0, 1)
        now = matrix(dict(zip(scores.settings, worse, strict=True)), scores.measure)
        result = gate(
            now, matrix(dict(zip(scores.settings, scores.values, strict=True)), scores.measure), max_drop=0.05
        )
        said = gate_sentence(result, str, "document")
        failed = [one.at_least for one in result.checks if one.failed]
        open_ = max(one.most for one in result.checks)
        assert said.startswith("Failed" if failed else "Passed")
        if failed:
            assert -1e-9 <= max(failed) - float(re.search(r"at least (\d\.\d\d)", said)[1]) < 0.0101
            assert re.search(rf"\b{len(failed) - 1} others? failed too", said) or len(failed) == 1
        elif bound := re.search(r"(?:more than|up to) (\d\.\d\d)", said):
            assert -1e-9 <= float(bound[1]) - open_ < 0.0101
            assert ("is excluded" in said) == (open_ <= 0.05)
        told.add(said.split()[0] + said.split()[-2])
    assert len(told) > 2
