"""What of the hits of another pipeline could not be placed, or only with doubt: how many, and the first."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.corpus import HitFile, PlacedHit
from harness.progress import Reporter
from harness.report import counted
from harness.text.characters import snippet
from harness.types import Query

_SHOWN = 3


def tell_of_file(name: str, file: HitFile, queries: Sequence[Query], reporter: Reporter) -> None:
    """Say which queries have no hits, and what is odd about scores."""
    silent = [query.query_id for query in queries if query.query_id not in file.rows]
    if silent:
        more = f" and {len(silent) - _SHOWN} more" if len(silent) > _SHOWN else ""
        reporter.warn(
            f"{name}: {len(silent)} of {counted(len(queries), 'query', 'queries')} have no hits "
            f"({', '.join(silent[:_SHOWN])}{more}): queries that have an answer score 0 and count."
        )
    if file.rising:
        reporter.warn(
            f"{name}: scores rise from row to row in every query, as distances do, but the highest score is "
            "taken as the best. If less is better, write a column rank instead."
        )
    if not file.scores_kept:
        reporter.note(
            f"{name}: scores do not decrease with rank in all queries. Ranks decide; scores "
            "are ignored, so answerability by score is not reported."
        )


def tell_of_places(name: str, rankings: Sequence[Sequence[PlacedHit]], reporter: Reporter) -> None:
    """Say how the hits were placed: what was not found, repeats, stands elsewhere or several times."""
    hits = [hit for ranking in rankings for hit in ranking]
    ways = [hit.place.method for hit in hits if hit.place is not None]
    told = ", ".join(f"{ways.count(way)} {_WAYS[way]}" for way in _WAYS if way in ways)
    reporter.note(f"{name}: {len(ways)} of {counted(len(hits), 'hit')} placed{': ' if told else ''}{told}.")
    missing = [hit for hit in hits if hit.place is None]
    _tell(
        reporter.warn,
        name,
        missing,
        len(hits),
        "not found in the documents; each keeps its rank as unjudged text",
        lambda hit: f"line {hit.row.line}, {hit.best:.0f} % alike at best: {snippet(hit.row.text, 60)!r}",
    )
    _tell(
        reporter.warn,
        name,
        [hit for hit in hits if hit.repeats],
        len(hits),
        "returned twice for one query; the second earns nothing",
        lambda hit: f"line {hit.row.line}",
    )
    _tell(
        reporter.warn,
        name,
        [hit for hit in hits if hit.other_page],
        len(hits),
        "found, but not on the page of the row; the text decides (do pages count from 1?)",
        lambda hit: f"line {hit.row.line}",
    )
    _tell(
        reporter.warn,
        name,
        [hit for hit in hits if hit.figures_differ],
        len(hits),
        "found by similarity, but the figures in hit and document differ; compare them in hits.csv",
        lambda hit: f"line {hit.row.line}",
    )
    _tell(
        reporter.note,
        name,
        [hit for hit in hits if hit.copies > 1],
        len(hits),
        "in several places of the searched text; the first was used, or the next one for the next such "
        "hit. Give start and end, page or document to distinguish them",
        lambda hit: f"line {hit.row.line}",
    )


_WAYS = {
    "offsets": "by offsets",
    "page": "as whole pages",
    "exact": "verbatim",
    "whitespace_free": "except for white space",
    "fuzzy": "by likeness",
}


def _tell(
    say: Callable[[str], None],
    name: str,
    some: Sequence[PlacedHit],
    total: int,
    what: str,
    show: Callable[[PlacedHit], str],
) -> None:
    if some:
        more = f"; and {len(some) - _SHOWN} more" if len(some) > _SHOWN else ""
        shown = "; ".join(show(hit) for hit in some[:_SHOWN])
        say(f"{name}: {len(some)} of {counted(total, 'hit')} {what} ({shown}{more}).")
