"""The contract of a chunker."""

from __future__ import annotations

from functools import partial

from harness.running.contract.check import BrokenError, Check, Remark, documents
from harness.steps import ChunkerConfig, chunk_documents
from harness.values import Chunk, Document


def chunker_checks(config: ChunkerConfig) -> list[Check]:
    """The checks of a chunker, the most telling first."""

    def repeats() -> None:
        for document in documents():
            if _cut(document, config) != _cut(document, config):
                raise BrokenError(f"A second call cuts the text {document.doc_id!r} differently.")

    def covers() -> None:
        left_out = {document.doc_id: _left_out(document, _cut(document, config)) for document in documents()}
        total = sum(left_out.values())
        if total:
            worst = max(left_out, key=lambda name: left_out[name])
            raise Remark(
                f"{total:,} characters are in no chunk, {left_out[worst]:,} of them in the text {worst!r}. "
                "What no chunk covers cannot be found, and counts as a loss."
            )

    def no_giant() -> None:
        lengths = ((len(chunk.text), one.doc_id) for one in documents() for chunk in _cut(one, config))
        longest, name = max(lengths, default=(0, ""))
        if longest > 8000:
            raise Remark(f"The longest chunk has {longest:,} characters, in the text {name!r}.")

    checks: list[Check] = [
        (f"cuts by offsets: {document.doc_id}", partial(_cut, document, config)) for document in documents()
    ]
    return [
        *checks,
        ("gives the same chunks when called again", repeats),
        ("covers all text", covers),
        ("gives no chunk of more than 8,000 characters", no_giant),
    ]


def _cut(document: Document, config: ChunkerConfig) -> list[Chunk]:
    return chunk_documents([document], config)


def _left_out(document: Document, chunks: list[Chunk]) -> int:
    """How many characters, white space apart, are in no chunk."""
    covered = bytearray(len(document.text))
    for chunk in chunks:
        for start, end in chunk.spans:
            covered[start:end] = b"\1" * (end - start)
    return sum(not seen and not c.isspace() for c, seen in zip(document.text, covered, strict=True))
