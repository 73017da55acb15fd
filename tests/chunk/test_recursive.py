"""Parity with langchain-text-splitters, and what it cannot promise: exact offsets where text repeats."""

import tracemalloc

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_text_splitters import RecursiveCharacterTextSplitter

from harness.steps import RecursiveConfig, chunk_documents
from harness.steps.chunk import recursive
from harness.steps.chunk.recursive import RecursiveSplitter
from harness.steps.chunk.sizes import in_characters, measure_in
from tests.chunk.conftest import document
from tests.chunk.texts import EDGE_CASES, texts

quick = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
sizes = st.integers(1, 60).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size - 1)))
separators = st.sampled_from(
    [
        ("\n\n", "\n", " ", ""),
        ("\n\n", "\n", ".", "?", "!", " ", ""),  # of a published study
        ("\n\n", "\n"),  # none that always splits: pieces may stay too long
        ("",),
        ("ab", "a", ""),
        ("(?=a)", ".", ""),  # no regular expressions: special characters are themselves
    ]
)


def langchain(text, size, overlap, separators, keep="start", strip=False, length=len):
    splitter = RecursiveCharacterTextSplitter(
        separators=list(separators),
        keep_separator=keep,
        chunk_size=size,
        chunk_overlap=overlap,
        strip_whitespace=strip,
        length_function=length,
    )
    return splitter.split_text(text)


def ours(text, size, overlap, separators, keep="start", measure=None):
    splitter = RecursiveSplitter(measure or in_characters, size, overlap, separators, keep)
    return [text[start:end] for start, end in splitter.split(text)]


@quick
@given(text=texts, size=sizes, separators=separators, keep=st.sampled_from(["start", "end"]))
def test_the_pieces_are_langchains_for_any_text(text, size, separators, keep):
    assert ours(text, *size, separators, keep) == langchain(text, *size, separators, keep)


@pytest.mark.parametrize(("size", "overlap"), [(100, 0), (100, 50), (7, 3)])
def test_the_pieces_are_langchains_for_hard_texts(size, overlap):
    separators = ("\n\n", "\n", " ", "")
    for name, text in EDGE_CASES.items():
        assert ours(text, size, overlap, separators) == langchain(text, size, overlap, separators), name


@quick
@given(text=texts, size=sizes)
def test_the_pieces_are_langchains_in_tokens(minilm, text, size):
    text = text.encode("utf-8", "ignore").decode()  # lone surrogates: langchain fails on them
    separators = ("\n\n", "\n", " ", "")
    theirs = langchain(text, *size, separators, length=lambda piece: len(minilm.ids(piece)))
    assert ours(text, *size, separators, measure=measure_in("model", minilm)) == theirs


@quick
@given(
    words=st.lists(st.text("abc", min_size=1, max_size=9), max_size=40),
    gaps=st.lists(st.sampled_from(["\n\n", "\n", " "]), min_size=40, max_size=40),
    size=sizes,
)
def test_without_kept_separators_the_pieces_are_langchains_where_no_two_are_together(words, gaps, size):
    text = "".join(word + gap for word, gap in zip(words, gaps, strict=False))
    separators = ("\n\n", "\n", " ", "")
    assert ours(text, *size, separators, keep=False) == langchain(text, *size, separators, keep=False)


def test_without_kept_separators_all_inside_a_chunk_stay_and_count():
    # langchain: "a--b" becomes ["a", "b"] joined by one "-": "a-b", which the text does not hold.
    assert langchain("a--b", 4, 0, ["-"], keep=False) == ["a-b"]
    assert ours("a--b", 4, 0, ["-"], keep=False) == ["a--b"]
    assert ours("a--b", 3, 0, ["-"], keep=False) == ["a", "b"]


@quick
@given(text=texts, size=st.integers(1, 60))
def test_chunks_are_langchains_stripped_output_without_overlap(text, size):
    config = RecursiveConfig(chunk_size=size)
    chunks = [chunk.text for chunk in chunk_documents([document(text)], config)]
    theirs = langchain(text, size, 0, ("\n\n", "\n", " ", ""), strip=True)
    assert chunks == [piece.strip() for piece in theirs if piece.strip()]


def test_repeated_text_has_the_offsets_where_it_is():
    # Searching from `previous start + length - overlap` finds the first copy here; by construction
    # the line of chunk n is the n-th copy.
    text = "same words here\n" * 50
    chunks = chunk_documents([document(text)], RecursiveConfig(chunk_size=16, chunk_overlap=0))
    assert [chunk.start for chunk in chunks] == list(range(0, 800, 16))
    assert {chunk.text for chunk in chunks} == {"same words here"}


def test_a_chunk_of_the_same_range_is_given_once():
    # Pieces " ", " ", "ab ", " ": " ab " fills a window, "ab  " the next one; both are "ab" once trimmed.
    text, size, overlap = "  ab  ", 4, 3
    assert ours(text, size, overlap, (" ", ""), keep="end") == ["  ", " ab ", "ab  "]
    config = RecursiveConfig(
        chunk_size=size, chunk_overlap=overlap, separators=(" ", ""), keep_separator="end"
    )
    chunks = chunk_documents([document(text)], config)
    assert [(chunk.start, chunk.end) for chunk in chunks] == [(2, 4)]


@quick
@given(text=texts, size=sizes, separators=separators, keep=st.sampled_from(["start", "end", False]))
def test_pieces_may_be_measured_in_any_batches(text, size, separators, keep):
    splitter = RecursiveSplitter(in_characters, *size, separators, keep)
    whole = splitter.split(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recursive, "_BATCH", 2)
        assert splitter.split(text) == whole


LINES = {"x": "x" * 1_000_000, "words": "word " * 200_000, "breaks": "\n\n" * 500_000}


@pytest.mark.slow
@pytest.mark.parametrize("text", LINES.values(), ids=LINES)
def test_memory_does_not_grow_with_the_pieces_of_a_line(text):
    """A document of 50 MB on one line has 50 million pieces; as tuples they took 8 GB."""
    splitter = RecursiveSplitter(in_characters, 1000, 100)
    tracemalloc.start()
    try:
        spans = splitter.split(text)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert spans[0][0] == 0
    assert spans[-1][1] == len(text)
    # all pieces of the first line at once took 160 MB
    assert peak < 40_000_000
