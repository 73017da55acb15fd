"""Finding a passage that differs from the text in spaces, spelling, or here and there."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz import fuzz
from rapidfuzz.distance import Indel

from harness.data.corpus.align import (
    TextPlace,
    align_fuzzy,
    find_exact,
    find_in_view,
    folded,
    whitespace_free,
)

SMALL = st.text(alphabet="abc", min_size=1, max_size=12)


def test_views_map_back():
    view = whitespace_free(" a\u00a0b\n\u00ad c")
    assert (view.text, list(view.offsets)) == ("abc", [1, 3, 7])
    assert view.source_span(1, 3) == (3, 8)


def test_folding_unifies_lookalikes():
    assert folded("Pro\ufb01t \u2019s \u2014 \u2033\u00bd").text == folded("profit 's - \"1\u20442").text
    assert folded("e\u0301 \u00e9").text == "ee"  # an accent may be a character of its own
    # The ligature is one character of the source, whichever half of it is hit.
    view = folded("x\ufb01y")
    assert view.text == "xfiy"
    assert view.source_span(1, 2) == view.source_span(2, 3) == (1, 2)


@given(st.text(alphabet=st.sampled_from("aB9 `'\u2019\n\t\x1c\x00\u0301\u00e9\ufb01\u00bd\u5b57\u200b")))
def test_a_text_is_folded_as_its_characters_are(text):
    each = [folded(character) for character in text]
    view = folded(text)
    assert view.text == "".join(character.text for character in each)
    assert list(view.offsets) == [place for place, part in enumerate(each) for _ in part.offsets]


def test_exact_and_whitespace_free_count_copies_and_take_the_first():
    assert find_exact("ab", "xab ab") == TextPlace("exact", 1, 3, 100.0, 2)
    assert find_exact("abc", "xab ab") is None
    assert find_in_view(whitespace_free("a b"), whitespace_free("x a\nb ab")) == TextPlace(
        "whitespace_free", 2, 5, 100.0, 2
    )


def test_the_fuzzy_range_ends_where_the_passage_ends():
    text = "Before. Net sales were $ 1,234 million in the year. After."
    found = align_fuzzy(folded("net sales were 1,234 million in the yeer."), folded(text))
    assert text[found.start : found.end] == "Net sales were $ 1,234 million in the year."
    # 34 characters in the quote, 35 in the range, without spaces; "$" is inserted, "e" replaced by "a":
    # indel distance 1 + 2 = 3, score 100 * (1 - 3 / (34 + 35)).
    assert found.score == pytest.approx(100 * (1 - 3 / 69))


def test_no_similar_text_gives_none():
    assert align_fuzzy(folded("xyz"), folded("abc")) is None
    assert align_fuzzy(folded(""), folded("abc")) is None
    assert align_fuzzy(folded("abc"), folded(" ")) is None


@given(SMALL, SMALL)
def test_no_range_takes_fewer_insertions_and_deletions(quote, text):
    ranges = [text[i:j] for i in range(len(text) + 1) for j in range(i, len(text) + 1)]
    best = min(Indel.distance(quote, part) for part in ranges)
    found = align_fuzzy(folded(quote), folded(text))
    if found is None:
        assert best == len(quote)  # the empty range is as good as any
    else:
        part = text[found.start : found.end]
        assert Indel.distance(quote, part) == best
        assert found.score == pytest.approx(fuzz.ratio(quote, part))


@given(st.integers(0, 10_000), st.floats(0, 0.06))
def test_a_noisy_slice_is_found_within_the_noise(seed, noise):
    rng = random.Random(seed)
    text = "".join(rng.choice("abcdefghijklmnopqrstuvwxyz ") for _ in range(1500))
    start = rng.randrange(0, 900)
    end = start + rng.randrange(150, 500)
    quote = "".join(rng.choice("xyz#") if rng.random() < noise else c for c in text[start:end])
    found = align_fuzzy(folded(quote), folded(text))
    # Noise at an end may cost a few characters there, never more than a run of noise is long.
    assert abs(found.start - start) <= 12
    assert abs(found.end - end) <= 12
    assert found.score > 80
