"""Queries that ask the same thing in other words: they share their evidence, and say much the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from harness.comparison import sentence_of
from harness.running.evaluate.same_question import ask_the_same, weights_of, wording
from harness.running.note_wordings import CORPUS
from harness.values import Judgment, Query, Sentence, by_key, counted, worded

# Two queries share their evidence where they share this part of the shorter evidence.
_SHARED = 0.5
# Two queries have the same evidence where they share this part of the longer evidence.
_SAME = 0.9
# Longer evidence, such as a page, answers many questions.
_SHORT = 1_000
# More queries on one piece of evidence are not rephrasings that somebody wrote.
_MOST = 200
_SHOWN = 3
Places = list[tuple[str, int, int]]


def near_duplicates(queries: Sequence[Query], labels: Iterable[Judgment]) -> list[tuple[str, ...]]:
    """Groups of queries that share their relevant text and ask the same thing, as far as words can tell.

    Queries that the query file puts into one cluster are left out, as they count as one already.
    """
    return list(_groups(tuple(queries), tuple(labels)))


@lru_cache(maxsize=1)  # a warning, a plan and the clusters of a run ask for the same groups in turn
def _groups(queries: tuple[Query, ...], labels: tuple[Judgment, ...]) -> tuple[tuple[str, ...], ...]:
    places = _evidence(labels)
    questions = [query for query in queries if query.query_id in places]
    wordings = {query.query_id: wording(query.text) for query in questions}
    on_one = by_key((tuple(places[name]), words) for name, words in wordings.items())
    weights = weights_of(on_one.values())
    clusters = {query.query_id: query.cluster for query in questions}
    joined = {query.query_id: {query.query_id} for query in questions}
    for first, second in _pairs({query.query_id: places[query.query_id] for query in questions}):
        if clusters[first] and clusters[first] == clusters[second]:
            continue
        if ask_the_same(wordings[first], wordings[second], weights):
            whole = joined[first] | joined[second]
            joined |= dict.fromkeys(whole, whole)
    groups = {id(group): group for group in joined.values() if len(group) > 1}
    return tuple(
        tuple(query.query_id for query in questions if query.query_id in group) for group in groups.values()
    )


def clusters_by_question(queries: Sequence[Query], labels: Iterable[Judgment]) -> dict[str, str]:
    """The cluster of every query: that of the query file, else of those that ask the same, else its own."""
    clusters = {query.query_id: query.cluster or query.query_id for query in queries}
    stated = {query.query_id: query.cluster for query in queries}
    for group in near_duplicates(queries, labels):
        name = next((stated[query] for query in group if stated[query]), group[0])
        clusters |= {query: stated[query] or name for query in group}
    return clusters


def near_duplicates_sentence(queries: Sequence[Query], labels: Iterable[Judgment]) -> Sentence | None:
    """A warning with the number of queries that are no questions of their own; None where there is none."""
    groups = near_duplicates(queries, labels)
    if not groups:
        return None
    extra = sum(map(len, groups)) - len(groups)
    shown = "; ".join(" = ".join(group) for group in groups[:_SHOWN])
    more = f"; and {len(groups) - _SHOWN} more" if len(groups) > _SHOWN else ""
    return sentence_of(
        "questions.alike",
        queries=counted(len(queries), "query", "queries"),
        different=len(queries) - extra,
        alike=extra,
        groups=f"{shown}{more}",
    )


def same_evidence(queries: Sequence[Query], labels: Iterable[Judgment]) -> list[tuple[str, ...]]:
    """Groups of queries with one short piece of evidence whose words differ: they may ask the same thing.

    No measure of words tells synonyms from other questions about one table, so that people have to look.
    Without those that are in one cluster, and those that `near_duplicates` finds.
    """
    labels = list(labels)
    places = {
        query: ranges
        for query, ranges in _evidence(labels).items()
        if sum(end - start for _, start, end in ranges) <= _SHORT
    }
    groups = near_duplicates(queries, labels)
    known = {query: group[0] for group in groups for query in group}
    clusters = {query.query_id: query.cluster or known.get(query.query_id) for query in queries}
    joined = {query.query_id: {query.query_id} for query in queries if query.query_id in places}
    for first, second in _pairs({query: places[query] for query in joined}, _SAME, max):
        if clusters[first] is None or clusters[first] != clusters[second]:
            whole = joined[first] | joined[second]
            joined |= dict.fromkeys(whole, whole)
    order = {query.query_id: number for number, query in enumerate(queries)}
    distinct = {id(group): group for group in joined.values() if len(group) > 1}
    return [tuple(sorted(group, key=order.__getitem__)) for group in distinct.values()]


def same_evidence_words(queries: Sequence[Query], labels: Iterable[Judgment]) -> str:
    """What to look at among queries with the same evidence, and what to do; empty where there are none."""
    groups = same_evidence(queries, labels)
    if not groups:
        return ""
    shown = "; ".join(" = ".join(group) for group in groups[:_SHOWN])
    more = f"; and {len(groups) - _SHOWN} more groups" if len(groups) > _SHOWN else ""
    return (
        f"{shown}{more}. Their words differ: look whether they ask the same thing. If they do, give them one "
        "name in the column cluster of the query file, so that they count as one question."
    )


def _evidence(labels: Iterable[Judgment]) -> dict[str, Places]:
    """The relevant text of every query: sorted ranges of documents that do not overlap."""
    spans = by_key((row.query_id, (row.doc_id, row.start, row.end)) for row in labels if row.grade)
    merged: dict[str, Places] = {}
    for query, ranges in spans.items():
        places: Places = []
        for document, start, end in sorted(set(ranges)):
            if places and places[-1][0] == document and start <= places[-1][2]:
                places[-1] = (document, places[-1][1], max(end, places[-1][2]))
            else:
                places.append((document, start, end))
        merged[query] = places
    return merged


def _pairs(
    places: Mapping[str, Places], least: float = _SHARED, of: Callable[[int, int], int] = min
) -> Iterator[tuple[str, str]]:
    """Pairs of queries that share at least a part of their evidence; of many on one place, none.

    ``of`` says of which evidence: that of the query with less, or with more.
    """
    length = {query: sum(end - start for _, start, end in ranges) for query, ranges in places.items()}
    order = {query: number for number, query in enumerate(places)}
    starts = sorted((*place, query) for query, ranges in places.items() for place in ranges)
    shared: dict[tuple[str, str], int] = defaultdict(int)
    active: list[tuple[str, int, str]] = []
    for document, start, end, query in starts:
        active = [place for place in active if place[0] == document and place[1] > start]
        if len(active) < _MOST:
            for _, until, other in active:
                first, second = sorted((query, other), key=order.__getitem__)
                shared[first, second] += min(end, until) - start
        active.append((document, end, query))
    for (first, second), characters in shared.items():
        if characters >= least * of(length[first], length[second]):
            yield first, second


def clustered_sentence(clusters: Mapping[str, str]) -> Sentence:
    """How many queries are tested as how many clusters."""
    count = counted(len(set(clusters.values())), "cluster")
    return worded(CORPUS, "clusters.questions", count=len(clusters), clusters=count)
