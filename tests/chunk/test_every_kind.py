"""Properties of every chunker, whatever the text."""

import json
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.steps import CHUNKERS, chunk_documents, chunker_fingerprint
from harness.values import ConfigError
from tests.chunk.conftest import document, letters
from tests.chunk.texts import EDGE_CASES, texts

CONFIGS = [
    {
        "kind": "recursive_token",
        "chunk_size": 90,
        "chunk_overlap": 30,
        "tokens_per_chunk": 9,
        "token_overlap": 3,
    },
    {"kind": "recursive_token", "chunk_size": 9, "chunk_overlap": 4, "tokens_per_chunk": 3, "strip": False},
    {"kind": "recursive", "chunk_size": 40, "chunk_overlap": 20, "keep_separator": "end"},
    {"kind": "recursive", "chunk_size": 30, "chunk_overlap": 10, "keep_separator": False},
    {"kind": "recursive", "chunk_size": 12, "chunk_overlap": 5, "unit": "model"},
    {"kind": "recursive", "chunk_size": 1},
    {"kind": "token", "tokens_per_chunk": 10, "token_overlap": 4},
    {"kind": "token", "tokens_per_chunk": 10, "token_overlap": 7, "whole_words": False},
    {"kind": "token", "tokens_per_chunk": 7, "token_overlap": 2, "strip": False},
    {"kind": "sentence", "chunk_size": 80, "sentence_overlap": 2},
    {"kind": "sentence", "chunk_size": 20, "sentence_overlap": 1, "unit": "model"},
    {"kind": "markdown", "chunk_size": 60, "chunk_overlap": 20, "merge_short": True},
    {"kind": "page"},
    {"kind": "page", "strip": False},
    {"kind": "python", "call": "tests.chunk.own:lines", "version": "1"},
    {"kind": "python", "call": "tests.chunk.own:fixed", "version": "1", "arguments": {"size": 7}},
    {"kind": "rows", "chunk_size": 40},
    {"kind": "rows", "chunk_size": 40, "rows": 3, "header_rows": 2, "above": 0, "strip": False},
    {"kind": "rows", "chunk_size": 40, "delimiter": " ", "header_rows": 0},
    {"kind": "rows", "chunk_size": 40, "delimiter": " ", "heading_rows": (2, 4)},
    {"kind": "semantic", "chunk_size": 60, "min_size": 20, "percentile": 50},
    {"kind": "semantic", "chunk_size": 90, "min_size": 0, "percentile": 0, "neighbours": 0},
    {"kind": "semantic", "chunk_size": 20, "min_size": 5, "unit": "model", "strip": False},
]


def parse(config):
    return CHUNKERS.find(config["kind"]).config.model_validate(config)


every_config = pytest.mark.parametrize(
    "config", [parse(config) for config in CONFIGS], ids=[str(config) for config in CONFIGS]
)
slow_is_fine = settings(
    deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def check(chunks, doc, config):
    """The offset invariant, the order, the coverage."""
    covered = bytearray(len(doc.text))
    for chunk in chunks:
        assert chunk.doc_id == doc.doc_id
        assert chunk.text == "".join(doc.text[start:end] for start, end in chunk.spans)
        assert chunk.chunk_id == f"{doc.doc_id}:" + "+".join(f"{a}-{b}" for a, b in chunk.spans)
        assert all(before <= after for (_, before), (after, _) in pairwise(chunk.spans))
        assert chunk.text.strip()
        own = doc.text[chunk.start : chunk.end]
        assert own.strip()
        assert not config.strip or own == own.strip()
        for start, end in chunk.spans:
            covered[start:end] = b"\1" * (end - start)
    ranges = [(chunk.start, chunk.end) for chunk in chunks]
    assert ranges == sorted(set(ranges))
    missed = [c for c, seen in zip(doc.text, covered, strict=True) if not seen and not c.isspace()]
    assert not missed


def without_overlap(config):
    return not any(value for name, value in config.model_dump().items() if name.endswith("overlap"))


@every_config
@slow_is_fine
@given(text=texts, data=st.data())
def test_offsets_order_and_coverage_hold_for_any_text(config, minilm, text, data):
    starts = sorted(data.draw(st.sets(st.integers(1, len(text)), max_size=4))) if text else []
    doc = document(text, [0, *starts] if starts else [])
    chunks = chunk_documents([doc], config, minilm, letters)
    check(chunks, doc, config)
    if without_overlap(config):
        assert all(a.end <= b.start for a, b in pairwise(chunks))


@every_config
def test_offsets_order_and_coverage_hold_for_hard_texts_alone_and_together(config, minilm, byte_level):
    docs = [document(text, doc_id=name) for name, text in EDGE_CASES.items()]
    for tokenizer in (minilm, byte_level):
        alone = [chunk_documents([doc], config, tokenizer, letters) for doc in docs]
        for doc, chunks in zip(docs, alone, strict=True):
            check(chunks, doc, config)
            assert bool(chunks) == bool(doc.text.strip())
    few = [place for place, doc in enumerate(docs) if len(doc.text) < 400]
    together = chunk_documents([docs[place] for place in few], config, byte_level, letters)
    assert together == [chunk for place in few for chunk in alone[place]]
    assert chunk_documents([], config, minilm, letters) == []


def test_a_window_must_fit_the_model(minilm):
    with pytest.raises(ConfigError, match=r"tokens_per_chunk is 257.*minilm reads at most 256"):
        chunk_documents([document("a")], parse({"kind": "token", "tokens_per_chunk": 257}), minilm)
    config = parse({"kind": "recursive_token", "tokens_per_chunk": 4, "token_overlap": 3})
    with pytest.raises(ConfigError, match=r"leaves 2 tokens.*token_overlap \(3\)"):
        chunk_documents([document("a")], config, minilm)


@pytest.mark.parametrize(
    "config", [{"kind": "token"}, {"kind": "recursive_token"}, {"kind": "sentence", "unit": "model"}]
)
def test_model_tokens_and_sentences_that_are_compared_need_a_model(config):
    with pytest.raises(ConfigError, match="no model that embeds"):
        chunk_documents([document("One. Two.")], parse({"kind": "semantic"}))
    with pytest.raises(ConfigError, match="no embedding model"):
        chunk_documents([document("a")], parse(config), None)
    with pytest.raises(ConfigError, match="needs the tokenizer"):
        chunker_fingerprint(parse(config), None)


def test_the_fingerprint_knows_the_rules_and_libraries_that_cut(monkeypatch):
    rows, tokens = parse({"kind": "rows"}), parse({"kind": "langchain", "splitter": "TokenTextSplitter"})
    before = chunker_fingerprint(rows)
    assert "tiktoken" in json.loads(chunker_fingerprint(tokens))["libraries"]
    monkeypatch.setattr(type(rows), "versions", {"tables": -1})
    assert chunker_fingerprint(rows) != before


def test_the_fingerprint_tells_apart_what_gives_other_chunks(minilm, byte_level):
    prints = [chunker_fingerprint(parse(config), minilm) for config in CONFIGS]
    assert len(set(prints)) == len(CONFIGS)
    assert chunker_fingerprint(parse(CONFIGS[0]), byte_level) not in prints
    assert chunker_fingerprint(parse({"kind": "page"}), minilm) == chunker_fingerprint(
        parse({"kind": "page"})
    )


def test_a_tab_that_has_no_tokens_is_not_in_two_chunks(minilm):
    # one sentence of 40 tokens, cut at 20: the tab between the words has none and may not be shared
    text = "x" * 40 + "\t" + "x" * 40
    config = parse({"kind": "semantic", "chunk_size": 20, "min_size": 5, "unit": "model", "strip": False})
    chunks = chunk_documents([document(text, [0])], config, minilm, letters)
    assert all(a.end <= b.start for a, b in pairwise(chunks))
    assert "".join(chunk.text for chunk in chunks) == text
