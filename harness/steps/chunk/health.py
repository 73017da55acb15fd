"""Sentences and tables of a text, and the health of chunks: lengths, what is truncated, what borders cut."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.values import Span, Tokenizer, sentence_spans, token_counts

OUTLINE_VERSION = 2
"""Raised whenever the same text may get another outline than before; part of cache keys."""

TABLE_ROWS = 3
NUMBERS_A_ROW = 2

# A number of a table: signs and currency before it, per cent and brackets after it, blanks or bars around it.
_NUMBER = re.compile(r"(?<![^\s|])[$€£¥(+\-–−]*\d[\d,.]*[%)]*(?![^\s|])")


@dataclass(frozen=True, slots=True)
class Outline:
    """Half-open character ranges [N, 2] in the order of the text; those of one kind never overlap."""

    sentences: Ints
    tables: Ints

    @classmethod
    def of(cls, text: str) -> Outline:
        """Find the sentences and tables of a text."""
        return cls(_array(sentence_spans(text)), _array(table_spans(text)))


def table_spans(text: str) -> list[Span]:
    """Runs of at least three lines in a row that hold at least two numbers each, without blanks at the ends.

    A rule of thumb for tables in extracted text, where no lines are drawn. Prose with two figures in each of
    three lines counts as a table too; a table of words does not.
    """
    tables: list[Span] = []
    run: list[Span] = []
    at = 0
    for line in text.splitlines(keepends=True):
        bare = line.strip()
        if len(_NUMBER.findall(bare)) >= NUMBERS_A_ROW:
            start = at + len(line) - len(line.lstrip())
            run.append((start, start + len(bare)))
        else:
            tables += _as_table(run)
            run = []
        at += len(line)
    return tables + _as_table(run)


def _as_table(run: list[Span]) -> list[Span]:
    return [(run[0][0], run[-1][1])] if len(run) >= TABLE_ROWS else []


def _array(spans: list[Span]) -> Ints:
    return np.array(spans, dtype=np.int64).reshape(-1, 2)


Ints = NDArray[np.int64]

HEALTH_VERSION = 1
"""Raised whenever the same chunks may be described otherwise than before; part of cache keys."""

BINS = (0, 16, 32, 64, 128, 192, 256, 384, 512, 768, 1024, 2048, 4096)
"""Where each bin of the histogram begins, in tokens; the last one is open."""

SHORT = 32


def token_lengths(texts: Sequence[str], tokenizer: Tokenizer) -> NDArray[np.int32]:
    """The length of each text in tokens, special tokens included, measured in batches."""
    return np.asarray(token_counts(tokenizer, texts), dtype=np.int32) + np.int32(tokenizer.special)


def examine(
    shown: Mapping[str, Iterable[Sequence[Span]]],
    lengths: NDArray[np.int32],
    outlines: Mapping[str, Outline],
    window: int,
) -> dict[str, Any]:
    """The columns of chunks.csv for all chunks of a chunking, less the setting; empty if there are none.

    ``shown`` are the spans of every chunk by document, its own place the last one; ``lengths`` those of
    ``token_lengths``, ``outlines`` the outline of every document by its id, ``window`` the encoder's (0:
    unknown).
    """
    if not len(lengths):
        return {}
    low, middle, high = (int(q) for q in np.percentile(lengths, [5, 50, 95]))
    cut_ends, tables_cut, covered, twice = 0, 0, 0, 0
    for doc_id, spans_of_chunks in shown.items():
        outline, chunks = outlines[doc_id], list(spans_of_chunks)
        ends = np.array([spans[-1][1] for spans in chunks], dtype=np.int64)
        spans = np.array(sorted(span for chunk_spans in chunks for span in chunk_spans), dtype=np.int64)
        cut_ends += _inside(ends, outline.sentences)
        tables_cut += _not_whole(outline.tables, spans)
        once, more = _coverage(spans)
        covered, twice = covered + once, twice + more
    read = np.minimum(lengths, window) if window else lengths
    counts = np.bincount(np.searchsorted(BINS, lengths, side="right") - 1, minlength=len(BINS))
    return {
        "chunks": len(lengths),
        "tokens_mean": float(lengths.mean()),
        "tokens_p5": low,
        "tokens_p50": middle,
        "tokens_p95": high,
        "tokens_max": int(lengths.max()),
        "share_under_32": float((lengths < SHORT).mean()),
        "share_overlong": float((lengths > window).mean()) if window else None,
        "share_cut_mid_sentence": cut_ends / len(lengths),
        "tables_cut": tables_cut,
        "share_covered_twice": twice / covered if covered else 0.0,
        "index_tokens": int(read.sum()),
        "histogram": " ".join(map(str, counts.tolist())),
    }


def _inside(places: Ints, spans: Ints) -> int:
    """How many places lie inside a span, at neither end."""
    after = np.searchsorted(spans[:, 1], places, side="right")
    starts = np.append(spans[:, 0], np.iinfo(np.int64).max)
    return int(np.count_nonzero(starts[after] < places))


def _not_whole(wanted: Ints, spans: Ints) -> int:
    """How many of the wanted ranges are whole in no span; spans are sorted by start."""
    furthest = np.append(np.maximum.accumulate(spans[:, 1]), -1)
    last = np.searchsorted(spans[:, 0], wanted[:, 0], side="right") - 1
    return int(np.count_nonzero(furthest[last] < wanted[:, 1]))


def _coverage(spans: Ints) -> tuple[int, int]:
    """How many characters are in any span, and in more than one."""
    edges = np.concatenate([spans[:, 0], spans[:, 1]])
    steps = np.repeat([1, -1], len(spans))
    order = np.argsort(edges, kind="stable")
    lengths, depth = np.diff(edges[order]), np.cumsum(steps[order])[:-1]
    return int(lengths[depth > 0].sum()), int(lengths[depth > 1].sum())
