"""The sentences and tables of a text, which a chunk border should not cut."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.values import Span, sentence_spans

Ints = NDArray[np.int64]

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
