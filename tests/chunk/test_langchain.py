"""Splitters of langchain-text-splitters: exact offsets, or a refusal that names the place."""

import langchain_text_splitters
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.steps import RecursiveConfig, chunk_documents
from harness.steps.chunk.langchain import AlteredError, LangchainConfig, places_of
from harness.values import ConfigError, CorpusError
from tests.chunk.conftest import document
from tests.chunk.test_every_kind import check, slow_is_fine
from tests.chunk.texts import texts

CODE = """import os


class Yard:
    def size(self):
        return 4200

    def name(self):
        return os.name
"""
SHIPPED = [
    {"arguments": {"chunk_size": 40, "chunk_overlap": 15}},
    {"language": "python", "arguments": {"chunk_size": 40, "chunk_overlap": 0}},
    {"splitter": "MarkdownTextSplitter", "arguments": {"chunk_size": 40, "chunk_overlap": 0}},
]


@pytest.mark.parametrize("fields", SHIPPED, ids=str)
def test_chunks_are_the_splitters_own_and_are_in_the_document(fields):
    config = LangchainConfig(**fields)
    doc = document(CODE * 3)
    chunks = chunk_documents([doc], config)
    check(chunks, doc, config)
    made = getattr(langchain_text_splitters, config.splitter)
    make = (lambda **given: made.from_language(config.language, **given)) if config.language else made
    assert [chunk.text for chunk in chunks] == make(**config.arguments).split_text(doc.text)


def test_sizes_in_tokens_are_counted_by_the_model(minilm):
    arguments = {"chunk_size": 12, "chunk_overlap": 0}
    config = LangchainConfig(arguments=arguments, unit="model")
    theirs = chunk_documents([document(CODE)], config, minilm)
    ours = RecursiveConfig(chunk_size=12, unit="model")
    assert theirs == chunk_documents([document(CODE)], ours, minilm)


@slow_is_fine
@given(text=texts, size=st.integers(1, 30), overlap=st.integers(0, 12))
def test_offsets_are_those_of_our_splitter_or_none(text, size, overlap):
    """It cuts alike by offsets from the beginning, so it knows where each piece stands."""
    overlap = min(overlap, size - 1)
    doc = document(text)
    config = LangchainConfig(arguments={"chunk_size": size, "chunk_overlap": overlap})
    ours = chunk_documents([doc], RecursiveConfig(chunk_size=size, chunk_overlap=overlap))
    try:
        chunks, refused = chunk_documents([doc], config), ""
    except CorpusError as error:
        chunks, refused = [], str(error)
    if refused:
        # without an overlap there is but one place
        assert overlap
        assert "may begin at character" in refused
    else:
        assert chunks == ours


@pytest.mark.parametrize(
    ("pieces", "text", "overlap", "spans"),
    [
        (["ab", "ab"], "ab ab", 0, [(0, 2), (3, 5)]),
        (["ab", "ba"], "aba", 1, [(0, 2), (1, 3)]),
        # the second one could begin at 2 or 4; only from 4 on is the end of the text reached
        (["abab", "abab"], "abababab", 2, [(0, 4), (4, 8)]),
        (["ab", " ", "cd"], "ab  cd", None, [(0, 2), (4, 6)]),
        ([], " \n", 0, []),
    ],
)
def test_pieces_are_placed_where_all_of_them_agree(pieces, text, overlap, spans):
    assert places_of(pieces, text, overlap) == spans


@pytest.mark.parametrize(
    ("pieces", "text", "overlap", "says"),
    [
        (["The yard"], "The  yard", 0, r"piece 1 has 'yard' where the document has ' yard' \(character 4\)"),
        (["one", "three"], "one two three", 0, "piece 2 has 'hree' where the document has 'wo three'"),
        (["one"], "one two", 0, r"left out the text from character 4 on: 'two'"),
        (["aaa", "aaa", "aaa"], "aaaaaa", 2, "piece 2, 'aaa', may begin at character 1 or 2"),
    ],
)
def test_text_that_was_altered_or_repeats_is_refused_with_the_place(pieces, text, overlap, says):
    with pytest.raises(AlteredError, match=says):
        places_of(pieces, text, overlap)


def test_separators_that_are_not_kept_may_be_left_out():
    arguments = {"separator": ";", "chunk_size": 3, "chunk_overlap": 0}
    config = LangchainConfig(splitter="CharacterTextSplitter", arguments=arguments)
    doc = document("abc;def; ghi")
    assert [c.text for c in chunk_documents([doc], config)] == ["abc", "def", "ghi"]
    with pytest.raises(CorpusError, match=r"doc: .*piece 1 has 'b' where .* ';b;cd'.*docs/chunking"):
        chunk_documents([document("a;;b;cd")], config)


def test_an_unusable_splitter_is_reported():
    with pytest.raises(ConfigError, match=r"has no such splitter of text\. It has CharacterTextSplitter"):
        chunk_documents([document("a")], LangchainConfig(splitter="NoSplitter"))
    with pytest.raises(ConfigError, match=r"cannot be made with .*chunk_sise"):
        chunk_documents([document("a")], LangchainConfig(arguments={"chunk_sise": 4}))
    with pytest.raises(ConfigError, match="for language klingon"):
        chunk_documents([document("a")], LangchainConfig(language="klingon"))
