"""Near-duplicates among questions, by shared words or by vectors."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from harness.steps import Analyser

# The similarity from which two questions are shown as near-duplicates.
ALIKE = {"words": 0.6, "embedding": 0.9}
_FIGURE = re.compile(r"\d[\d,.]*")

Floats = NDArray[np.float64]


def by_words(texts: Sequence[str]) -> Floats:
    """Jaccard similarity [texts, texts] of the terms and pairs of neighbouring terms that two questions hold.

    Terms are those of the lexical search: stems of words, pairs of Chinese, Japanese or Korean characters.
    """
    analyser = Analyser("auto", "none")
    sets = []
    for text in texts:
        terms = analyser.terms(text)
        sets.append({*terms, *pairwise(terms)})
    found = np.zeros((len(sets), len(sets)))
    for row, one in enumerate(sets):
        for column in range(row):
            union = len(one | sets[column])
            found[row, column] = len(one & sets[column]) / union if union else 0.0
    return np.asarray(found + found.T + np.eye(len(sets)))


def by_vectors(texts: Sequence[str], encode: Callable[[Sequence[str]], NDArray[np.float32]]) -> Floats:
    """Cosine similarity [texts, texts] of the embeddings."""
    vectors = np.asarray(encode(texts), dtype=np.float64)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / np.where(lengths == 0, 1, lengths)
    return np.asarray(unit @ unit.T)


def same_figures(one: str, two: str) -> bool:
    """Whether two questions name the same numbers: one of 2022 and one of 2023 are not duplicates."""
    return sorted(_FIGURE.findall(one)) == sorted(_FIGURE.findall(two))
