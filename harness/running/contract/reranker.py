"""The contract of a reranker."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.running.contract.check import QUESTIONS, TEXTS, BrokenError, Check, Remark
from harness.steps import RERANKERS, RerankerConfig

PAIRS = [(question, text) for question in QUESTIONS for text in TEXTS[:5]]
_CLOSE = 1e-3


def reranker_checks(config: RerankerConfig) -> list[Check]:
    """The checks of a reranker, the most telling first."""
    scorer = RERANKERS.make(config)

    def scores_of(pairs: Sequence[tuple[str, str]]) -> list[float]:
        scores: dict[int, float] = {}
        for batch in scorer.batches(pairs):
            scores |= zip(batch, scorer.score([pairs[i] for i in batch]).tolist(), strict=True)
        return [scores[i] for i in range(len(pairs))]

    def repeats() -> None:
        _close(scores_of(PAIRS), scores_of(PAIRS), "The same pairs scored twice have different scores")

    def turned() -> None:
        backwards = scores_of(PAIRS[::-1])[::-1]
        _close(scores_of(PAIRS), backwards, "In another order, pairs have different scores")

    def alone() -> None:
        one_by_one = [scores_of([pair])[0] for pair in PAIRS[:6]]
        _close(scores_of(PAIRS)[:6], one_by_one, "A pair has a different score alone than among others")

    def distinguishes() -> None:
        scores = scores_of([(TEXTS[0], text) for text in TEXTS[:4]])
        if len(set(scores)) == 1:
            raise Remark(f"All passages have the score {scores[0]:g}.")
        if scores.index(max(scores)) != 0:
            raise Remark(
                "A passage that is the query itself does not have the highest score. Is higher better?"
            )

    return [
        ("gives every pair one finite score", lambda: scores_of(PAIRS)),
        ("gives the same scores when called again", repeats),
        ("gives a pair the same score in any order", turned),
        ("gives a pair the same score alone and among others", alone),
        ("accepts an empty query and an empty passage", lambda: scores_of([("", TEXTS[0]), ("a", "")])),
        ("accepts a very long passage", lambda: scores_of([(QUESTIONS[0], " ".join(TEXTS) * 100)])),
        ("distinguishes passages, with the query itself first", distinguishes),
    ]


def _close(first: Sequence[float], second: Sequence[float], otherwise: str) -> None:
    if not np.allclose(first, second, rtol=_CLOSE, atol=_CLOSE):
        place = int(np.argmax(np.abs(np.subtract(first, second))))
        raise BrokenError(f"{otherwise}: {first[place]:g} and {second[place]:g} for {PAIRS[place]!r}.")
