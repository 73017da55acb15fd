"""The health of chunks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from harness.report.columns import table
from harness.report.rows.common import Setting
from harness.values import Column


@table("chunks", "chunk statistics", key=("setting",))
@dataclass(frozen=True, slots=True)
class ChunkRow:
    """The health of one setting's chunks.

    Lengths are in tokens of the embedding model, its special tokens included, as the encoder sees them. The
    bins of the histogram begin at 0, 16, 32, 64, 128, 192, 256, 384, 512, 768, 1024, 2048 and 4096 tokens;
    the last one is open.

    A table is a run of three or more lines without a blank line between, each with at least two numbers
    standing alone (``1,200``, ``(1,100)``, ``$900``, ``25%``; blanks or ``|`` around them). Extracted text
    has no ruled lines, so this is a rule of thumb: prose with two figures in each of three lines counts too,
    a table of words does not.
    """

    setting: Setting
    chunks: Annotated[int, Column("how many")]
    tokens_mean: Annotated[float, Column("their mean length", unit="tokens")]
    tokens_p5: Annotated[int, Column("one in twenty is shorter", unit="tokens")]
    tokens_p50: Annotated[int, Column("their median length", unit="tokens")]
    tokens_p95: Annotated[int, Column("one in twenty is longer", unit="tokens")]
    tokens_max: Annotated[int, Column("the longest", unit="tokens")]
    share_under_32: Annotated[
        float, Column("the share with fewer than 32 tokens: headings, leftovers, page numbers")
    ]
    share_overlong: Annotated[
        float | None,
        Column(
            "the share longer than the encoder reads; the rest of each is not searched (the run warns). "
            "Empty where its window is unknown"
        ),
    ]
    share_cut_mid_sentence: Annotated[
        float, Column("the share that ends inside a sentence, according to the sentence splitter")
    ]
    tables_cut: Annotated[int, Column("tables that no chunk contains completely")]
    share_covered_twice: Annotated[
        float, Column("the share of covered characters that are in more than one chunk")
    ]
    index_tokens: Annotated[
        int,
        Column(
            "what the encoder reads to index all chunks: each up to its window, equal chunks counted each "
            "time",
            unit="tokens",
        ),
    ]
    histogram: Annotated[str, Column("the number of chunks in each bin of length, separated by blanks")]
