"""Numbers, measures and findings as parts of sentences, such as ``the first 10 passages``."""

from __future__ import annotations

import math
from collections.abc import Mapping

from harness.comparison.paired import Comparison
from harness.comparison.verdict_parts import Holes, Population
from harness.measures import family_of, parse_measure
from harness.values import counted

_LIKE_THESE = "more queries like these"
FINDINGS: Mapping[str, str] = {
    "better": "better",
    "better.here": "better here",
    "worse": "worse",
    "worse.here": "worse here",
    "equivalent": "equal within {tolerance}",
    "equivalent.here": "equal within {tolerance} here",
    "open": "no difference found",
    "few": "too few queries",
    "turns": "depends on labels",
    "incomparable": "not comparable",
    "unread": "rankings end early",
    # why a setting is ruled out
    "worse by": "worse by {factor}",
    "worse by.here": "worse here by {factor}",
    "beaten": "another is better",
    "beaten.here": "another is better here",
}
"""What is known of a difference or a setting, as tables, charts and sentences name it."""


def finding_words(comparison: Comparison, tolerance: float) -> str:
    """What is known of a difference; with "here" where it holds for these documents alone."""
    finding = comparison.finding
    code = ("better" if comparison.difference > 0 else "worse") if finding == "real" else str(finding)
    if comparison.here and finding in ("real", "equivalent"):
        code += ".here"
    return FINDINGS[code].format(tolerance=f"{tolerance:g}")


def in_words(measure: str) -> str:
    """A measure in a sentence, such as ``NDCG over the first 10 passages``; its name if it has no words."""
    family = family_of(measure)
    if family is None or not family.words or parse_measure(measure).params:
        return measure
    first = first_read(measure)
    return f"{family.words} over {first}" if first else family.words


def first_read(measure: str) -> str:
    """What a measure reads, such as ``the first 10 passages``; '' where that is all, or is not known."""
    family = family_of(measure)
    cutoff = None if family is None else parse_measure(measure).cutoff
    if family is None or cutoff is None:
        return ""
    return f"the first {cutoff:,} {f'{family.reads} read' if family.cut_in_text else 'passages'}"


def extent_of(holes: Holes) -> str:
    """What is judged a share of, such as ``the first 10 passages``."""
    return first_read(holes.measure) or "what is read"


def these(people: Population) -> str:
    """The clusters of the queries: ``these 4 documents``."""
    return f"these {people.clusters:,} {people.unit}s" if people.clusters > 1 else f"this one {people.unit}"


def queries(n: int) -> str:
    """A number of queries."""
    return counted(n, "query", "queries")


def others_like(people: Population) -> str:
    """What a finding on these queries holds for, such as ``new documents like these``."""
    if people.kind == "clusters":
        return f"new {people.unit}s like these"
    return f"more queries on {these(people)}" if people.kind == "few clusters" else _LIKE_THESE


def amount(price: float) -> str:
    """A price, with as many digits as matter."""
    return f"{price:,.0f}" if price >= 1000 else f"{price:.4g}"


def rounded_up(regret: float, digits: int = 2) -> str:
    """A regret bound, rounded up so that it still holds."""
    unit = 10**digits
    return f"{math.ceil(round(unit * regret, 6)) / unit:.{digits}f}"


def rounded_down(bound: float, digits: int = 2) -> str:
    """A lower bound, rounded down so that it still holds."""
    unit = 10**digits
    return f"{math.floor(round(unit * bound, 6)) / unit:.{digits}f}"
