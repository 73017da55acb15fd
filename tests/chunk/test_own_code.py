"""Chunkers of the user's own: what they return is checked before it counts."""

import pytest

from harness.steps import CHUNKERS, ChunkerConfig, chunk_documents
from harness.values import HarnessError
from tests.chunk.conftest import document

PythonChunkerConfig = CHUNKERS["python"].config


def cut(call, **arguments):
    config = PythonChunkerConfig(call=f"tests.chunk.own:{call}", version="1", arguments=arguments)
    return chunk_documents([document("One line.\nAnd a second.\n")], config)


def test_chunks_are_the_ranges_that_were_returned():
    assert [chunk.text for chunk in cut("lines")] == ["One line.", "And a second."]
    assert [chunk.text for chunk in cut("fixed", size=10)] == ["One line.", "And a seco", "nd."]


@pytest.mark.parametrize(
    ("ranges", "says"),
    [
        (["One line."], r"returned 'One line.' for d.*not \(start, end\)"),
        ([(0, 25)], r"returned \(0, 25\) for d.*<= 24"),
        ([(3, 3)], r"returned \(3, 3\)"),
        ([(5, 9), (0, 5)], r"returned \(0, 5\) after \(5, 9\)"),
        ([(0, 2.5)], r"returned \(0, 2.5\) .*not \(start, end\)"),
        ("whole", "returned str for d"),
    ],
)
def test_an_answer_that_breaks_the_contract_is_named(ranges, says):
    with pytest.raises(HarnessError, match=says):
        cut("given", ranges=ranges)


@pytest.mark.parametrize("call", ["fails", "fails_late"])
def test_code_that_fails_is_named_with_its_line(call):
    with pytest.raises(HarnessError, match=r"failed: AttributeError: .*own.py:\d+"):
        cut(call)


@pytest.mark.parametrize("span", [(0, 99), (-1, 3), (0.0, 3.0), (False, True), (0, 3, 5), "whole"])
def test_offsets_of_the_chunker_of_a_package_are_checked_too(span):
    class Theirs(ChunkerConfig):
        kind: str = "theirs"

        def split(self, documents, tokenizer, vectors):
            return [[span] for _ in documents]

    with pytest.raises(HarnessError, match="kind theirs returned"):
        chunk_documents([document("One line.\n")], Theirs())
