"""Chinese, Japanese and Korean without a dictionary: every two neighbouring characters are a term."""

from __future__ import annotations


def bigrams(run: str) -> list[str]:
    """All pairs of neighbours in a run of CJK characters; a character that stands alone is a term.

    Needs no dictionary and misses no word: see Nie and Ren (1999) on bigrams against word segmentation.
    """
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]
