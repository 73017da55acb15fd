"""Windows of tokens: their sizes, their edges, and that they are the field's where told to be."""

import re
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from langchain_text_splitters.base import Tokenizer as LangchainTokenizer
from langchain_text_splitters.base import split_text_on_tokens

from harness.steps import CHUNKERS, chunk_documents, token_lengths
from harness.values import TokenWindows, token_offsets
from tests.chunk.conftest import document
from tests.chunk.texts import EDGE_CASES, texts

RecursiveTokenConfig = CHUNKERS["recursive_token"].config
TokenChunkerConfig = CHUNKERS["token"].config

quick = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
sizes = st.integers(1, 30).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size - 1)))


def cut(text, tokenizer, size, overlap, whole_words):
    (offsets,) = token_offsets(tokenizer, [text])
    return offsets, TokenWindows(size, overlap, whole_words).cut(text, offsets)


def one_character_or_more_each(offsets):
    """Not so for Korean, whose syllables this tokenizer takes apart, nor for bytes."""
    return all(before[1] <= after[0] for before, after in pairwise(offsets))


def tokens_in(offsets, window):
    """Tokens of the whole text that begin in a window."""
    return [i for i, (start, _) in enumerate(offsets) if window[0] <= start < window[1]]


@quick
@given(text=texts, size=sizes, whole_words=st.booleans())
def test_windows_hold_the_size_and_share_the_overlap(minilm, text, size, whole_words):
    offsets, windows = cut(text, minilm, *size, whole_words)
    assume(one_character_or_more_each(offsets))
    assert all(before[1] < after[1] for before, after in pairwise(windows)), "a window adds nothing"
    held = [tokens_in(offsets, window) for window in windows]
    assert all(len(tokens) <= size[0] for tokens in held)
    assert all(len(set(a) & set(b)) <= size[1] for a, b in pairwise(held))
    assert sorted(set().union(*held)) == list(range(len(offsets)))
    if not whole_words:
        assert all(len(tokens) == size[0] for tokens in held[:-1])
        assert all(len(set(a) & set(b)) == size[1] for a, b in pairwise(held))


@quick
@given(text=texts, size=sizes)
def test_exact_windows_are_those_of_langchains_token_splitter(minilm, text, size):
    text = text.encode("utf-8", "ignore").decode()
    ids = minilm.ids(text)
    theirs = []
    split_text_on_tokens(
        text=text,
        tokenizer=LangchainTokenizer(
            chunk_overlap=size[1],
            tokens_per_chunk=size[0],
            encode=lambda _: ids,
            decode=lambda window: theirs.append(list(window)) or "x",
        ),
    )
    offsets, windows = cut(text, minilm, *size, whole_words=False)
    assume(one_character_or_more_each(offsets))
    assert [[ids[i] for i in tokens_in(offsets, window)] for window in windows if offsets] == theirs


@quick
@given(
    words=st.lists(
        st.sampled_from(
            ["unaffordability", "net", "2,345.6", "(loss)", "€100", "PepsiCo’s", "naïve", "ﬁscal"]
        ),
        max_size=80,
    ),
    tokens=st.integers(14, 40),
    overlap=st.integers(0, 11),
)
@example(words=["unaffordability", "unaffordability", "net", "2,345.6"], tokens=14, overlap=10)
def test_a_chunk_of_whole_words_reads_as_long_as_its_window(minilm, words, tokens, overlap):
    # 14 tokens hold the 2 special ones and, in the second half of the other 12, a whole word of at most 6.
    config = TokenChunkerConfig(tokens_per_chunk=tokens, token_overlap=overlap)
    doc = document(" ".join(words))
    chunks = chunk_documents([doc], config, minilm)
    assert all(length <= tokens for length in token_lengths([c.text for c in chunks], minilm))


@pytest.mark.parametrize("size", [1, 2, 3, 5, 16])
def test_a_byte_level_window_never_cuts_a_character(byte_level, size):
    for name in ("Chinese", "Japanese", "emoji with joiners", "combining marks", "ligatures"):
        text = EDGE_CASES[name]
        offsets, windows = cut(text, byte_level, size, 0, whole_words=False)
        assert "".join(text[start:end] for start, end in windows) == text
        for start, end in windows:
            # At most `size` tokens, or one character that has more of them.
            assert len(tokens_in(offsets, (start, end))) <= size or end - start == 1


def test_a_character_that_does_not_fit_whole_opens_the_next_window(byte_level):
    # "a" is one token, "净" three bytes, three tokens: 1 + 3 > 3.
    assert cut("a净b", byte_level, 3, 0, whole_words=False)[1] == [(0, 1), (1, 2), (2, 3)]
    assert cut("a净b", byte_level, 4, 0, whole_words=False)[1] == [(0, 2), (2, 3)]


def test_special_tokens_count_and_text_between_windows_is_kept_or_trimmed(minilm):
    doc = document("one two three four  five")
    # 4 tokens a chunk, [CLS] and [SEP] among them: two words a chunk.
    config = TokenChunkerConfig(tokens_per_chunk=4)
    assert [c.text for c in chunk_documents([doc], config, minilm)] == ["one two", "three four", "five"]
    loose = config.model_copy(update={"strip": False})
    assert [c.text for c in chunk_documents([doc], loose, minilm)] == ["one two ", "three four  ", "five"]


def test_the_overlap_begins_at_a_word(minilm):
    doc = document("one unaffordability two three four")  # 1 + 4 + 1 + 1 + 1 tokens
    config = TokenChunkerConfig(tokens_per_chunk=8, token_overlap=3)
    chunks = [chunk.text for chunk in chunk_documents([doc], config, minilm)]
    # The last 3 tokens of the first window begin inside the long word: the overlap is "two" alone.
    assert chunks == ["one unaffordability two", "two three four"]


def test_chinese_breaks_anywhere_and_english_within_it_does_not(minilm):
    doc = document("净收入unaffordability净收入" * 30)
    chunks = chunk_documents([doc], TokenChunkerConfig(tokens_per_chunk=18, token_overlap=2), minilm)
    assert len(chunks) > 10
    assert all(set(re.findall("[a-z]+", chunk.text)) <= {"unaffordability"} for chunk in chunks)
    shared = [before.end - after.start for before, after in pairwise(chunks)]
    # A character is a token; none are shared where the window ended with the long word.
    assert set(shared) <= {0, 1, 2}
    assert 2 in shared


def test_a_piece_that_fits_is_left_whole_and_a_long_one_is_windowed(minilm):
    doc = document("short one\n\n" + "word " * 30)
    config = RecursiveTokenConfig(chunk_size=160, tokens_per_chunk=12)
    chunks = [chunk.text for chunk in chunk_documents([doc], config, minilm)]
    assert chunks == ["short one", *["word " * 9 + "word"] * 3]


def test_published_windows_of_cl100k_tokens(cl100k):
    text = "The company's net revenue grew 10.5% to $86.4 billion. " * 60
    config = TokenChunkerConfig(
        unit="cl100k_base", tokens_per_chunk=250, token_overlap=125, whole_words=False, strip=False
    )
    chunks = [chunk.text for chunk in chunk_documents([document(text)], config)]
    encoding = cl100k._encoding
    theirs = split_text_on_tokens(
        text=text,
        tokenizer=LangchainTokenizer(125, 250, encoding.decode, encoding.encode_ordinary),
    )
    assert chunks == theirs
