"""The measure that settings are compared by, and the reliable use of each measure."""

from __future__ import annotations

from collections.abc import Sequence

from harness.measures.table import FAMILIES, family_of, parse_measure

# The first of these families that was scored is the headline; of one family the first that was named.
# Where settings cut documents differently (each must be ``across_chunkings`` in the table of measures):
ACROSS_CHUNKINGS = ("ndcg_evidence", "ndcg_evidence_tokens", "ndcg_text", "ndcg_text_tokens")
# Of these the ones that compare texts of several parsers: what they count is the same in all of them, while
# ndcg_text is about the length of labels, which differs by text.
ACROSS_PARSERS = ACROSS_CHUNKINGS[:2]
# Where they share their chunks:
SAME_CHUNKS = ("ndcg_exp",)


def headline(names: Sequence[str], chunkings_differ: bool) -> str:
    """The measure to compare settings by, of those that were scored.

    Where chunkings differ it is one that can be compared between them, if there is any; else, and where
    settings share their chunks, ``ndcg_exp``; else the first that says how good a ranking is, else the first.
    """
    if chunkings_differ:
        fit = [name for name in names if across_chunkings(name)]
        if fit:
            return _preferred(fit, ACROSS_CHUNKINGS)
    qualities = [name for name in names if trusted_for(name)]
    return _preferred(qualities or list(names), SAME_CHUNKS)


def across_chunkings(name: str) -> bool:
    """Whether settings that cut documents differently can be compared by a measure; unknown ones cannot."""
    family = family_of(name)
    return family is not None and family.across_chunkings


def across_parsers(name: str) -> bool:
    """Whether settings whose documents different parsers have read can be compared by a measure."""
    return across_chunkings(name) and parse_measure(name).family in ACROSS_PARSERS


def trusted_for(name: str) -> str:
    """The use of a measure for ordering settings; empty for unknown names and non-quality measures."""
    family = family_of(name)
    return "" if family is None else family.trusted_for


def _preferred(names: Sequence[str], families: Sequence[str]) -> str:
    for wanted in families:
        for name in names:
            if family_of(name) is FAMILIES[wanted]:
                return name
    return names[0]
