"""Token offsets of tiktoken, lengths of chunks, and the errors of both."""

import numpy as np
import pytest
import tiktoken
from hypothesis import given, settings

from harness.steps import PageConfig, chunk_documents, token_lengths
from harness.values import ModelError, load_tiktoken, token_counts, token_offsets
from harness.values.text.tokenizer import Tiktoken
from tests.chunk.conftest import document
from tests.chunk.texts import texts

BYTES = Tiktoken(
    tiktoken.Encoding(
        "bytes", pat_str=r"\S+|\s+", mergeable_ranks={bytes([i]): i for i in range(256)}, special_tokens={}
    )
)


@given(text=texts)
@settings(deadline=None)
def test_tiktoken_offsets_are_the_characters_each_token_touches(text):
    (offsets,) = token_offsets(BYTES, [text])
    # One token a byte, so a character appears as often as it has bytes; U+FFFD, like a surrogate, has three.
    expected = [
        (i, i + 1) for i, character in enumerate(text) for _ in character.encode("utf-8", "surrogatepass")
    ]
    assert offsets == expected
    assert token_counts(BYTES, [text, "", text]) == [len(expected), 0, len(expected)]


def test_cl100k_tokens_tile_the_text_and_special_strings_are_text(cl100k):
    text = "净收入 grew <|endoftext|> 10.5% 👩‍🚀"
    (offsets,) = cl100k.offsets([text])
    assert offsets[0][0] == 0
    assert offsets[-1][1] == len(text)
    assert all(start < end for start, end in offsets)
    assert len(offsets) == cl100k.counts([text])[0] == len(cl100k._encoding.encode_ordinary(text))


def test_a_vocabulary_that_cannot_be_loaded_says_what_to_do(monkeypatch):
    def refuse(name):
        raise OSError("no route to host")

    monkeypatch.setattr(tiktoken, "get_encoding", refuse)
    load_tiktoken.cache_clear()
    with pytest.raises(ModelError, match=r"o200k_base .*: no route to host.*TIKTOKEN_CACHE_DIR"):
        load_tiktoken("o200k_base")
    monkeypatch.setitem(__import__("sys").modules, "tiktoken", None)
    load_tiktoken.cache_clear()
    with pytest.raises(ModelError, match=r"pip install .ndcg-harness\[tiktoken\]"):
        load_tiktoken("cl100k_base")


def test_lengths_count_special_tokens(minilm):
    docs = [
        document("one two", doc_id="a"),
        document("word " * 300, doc_id="b"),
        document("word " * 254, doc_id="c"),
    ]
    chunks = chunk_documents(docs, PageConfig())
    lengths = token_lengths([chunk.text for chunk in chunks], minilm)
    assert lengths.dtype == np.int32
    assert lengths.tolist() == [4, 302, 256]
    assert token_lengths([], minilm).tolist() == []


def test_texts_are_tokenized_a_batch_at_a_time():
    sizes = []

    class Counting:
        name, window, special = "counting", 0, 0

        def offsets(self, texts):
            sizes.append(len(texts))
            return [[(0, len(text))] * len(text) for text in texts]

    texts = ["a" * (1 + i % 3) for i in range(2_500)] + ["b" * 1_000_001, "c"]
    assert [len(one) for one in token_offsets(Counting(), texts)] == [len(text) for text in texts]
    assert sizes == [1_000, 1_000, 501, 1]
