"""Breaks where sentences differ: which of them, and what sizes do to them."""

import numpy as np
import pytest

from harness.steps import chunk_documents
from harness.steps.chunk.semantic import SemanticConfig, distances
from tests.chunk.conftest import document


def by_topic(texts, _config):
    """A vector that says how often each topic is named."""
    counts = [[text.count(word) for word in ("yard", "pump")] for text in texts]
    return np.array(counts, dtype=np.float32).reshape(-1, 2)


def chunks(text, vectors=by_topic, **fields):
    config = SemanticConfig(**{"min_size": 0, "neighbours": 0, **fields})
    return [chunk.text for chunk in chunk_documents([document(text)], config, None, vectors)]


YARDS = "The yard is paved. The yard is full. A yard it was."
PUMPS = "The pump failed. The pump was old. No pump lasts."


def test_a_chunk_ends_where_the_topic_changes():
    assert chunks(f"{YARDS} {PUMPS} {YARDS}", percentile=70) == [YARDS, PUMPS, YARDS]
    # nothing differs, so nothing is cut, whatever the percentile
    assert chunks(f"{YARDS} {YARDS}", percentile=0) == [f"{YARDS} {YARDS}"]


def test_a_chunk_that_is_too_short_is_joined_where_there_is_room():
    text = f"{YARDS} Old pump. {YARDS}"
    assert chunks(text, percentile=50) == [YARDS, "Old pump.", YARDS]
    # both breaks are alike, so the first one goes
    assert chunks(text, percentile=50, min_size=20) == [f"{YARDS} Old pump.", YARDS]
    # no room: it stays short
    assert chunks(text, percentile=50, min_size=20, chunk_size=55) == [YARDS, "Old pump.", YARDS]


def test_a_chunk_that_is_too_long_is_cut_where_its_sentences_differ_most():
    vectors = {"Aa.": (1, 0), "Bb.": (1, 0.1), "Cc.": (1, 1), "Dd.": (1, 1.1)}

    def near(texts, _config):
        return np.array([vectors[text] for text in texts], dtype=np.float32)

    def cut(text, chunk_size, min_size=0):
        return chunks(text, near, percentile=99.9, chunk_size=chunk_size, min_size=min_size)

    # the greatest distance is one that the percentile has cut already
    assert cut("Aa. Bb. Cc. Dd.", 8) == ["Aa. Bb.", "Cc. Dd."]
    assert cut("Aa. Bb. Cc. Dd.", 3) == ["Aa.", "Bb.", "Cc.", "Dd."]
    # two breaks are alike; the first would leave a part that is too short
    assert cut("Bb. Cc. Bb. Bb.", 14) == ["Bb.", "Cc. Bb. Bb."]
    assert cut("Bb. Cc. Bb. Bb.", 14, 5) == ["Bb. Cc.", "Bb. Bb."]


def test_sentences_are_embedded_with_their_neighbours():
    seen = []

    def note(texts, _config):
        seen.extend(texts)
        return by_topic(texts, _config)

    chunks("One. Two. Three.", note, neighbours=1)
    assert seen == ["One. Two.", "One. Two. Three.", "Two. Three."]


def test_distances_are_of_angles_and_a_null_vector_is_far_from_all():
    vectors = np.array([[2, 0], [5, 0], [0, 3], [0, 0], [0, 0]], dtype=np.float32)
    assert distances(vectors) == pytest.approx([0, 1, 1, 1])
    assert len(distances(np.zeros((0, 2), dtype=np.float32))) == 0
