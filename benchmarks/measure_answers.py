"""Does the text in which evidence was found contain the figures that answer the query?"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice, product

import numpy as np

from benchmarks.measure_candidates import NEEDED, Values, item_at
from benchmarks.measure_systems import Study, System
from harness.measures import ChunkTable, SpanQrels, project
from harness.measures.evidence_ndcg import places
from harness.measures.scorer import lay_out
from harness.running.corpus import Corpus

MOST_WINDOWS = 10_000
_FIGURE = re.compile(r"\d[\d,]*(?:\.\d+)?")


def figures(text: str) -> dict[float, list[tuple[int, int]]]:
    """The figures of a text with two digits or more, and their places."""
    found: dict[float, list[tuple[int, int]]] = defaultdict(list)
    for match in _FIGURE.finditer(text):
        if sum(letter.isdigit() for letter in match[0]) >= 2:
            found[float(match[0].replace(",", ""))].append(match.span())
    return found


def answers(study: Study, corpus: Corpus, way: str) -> dict[int, list[list[tuple[int, int]]]]:
    """Span row → for every figure of the written answer that the *label* holds, its places in the document.

    Rows are those of spans of grade 3 or more; figures that the question names do not count.
    """
    labels, spans = study.ways[next(iter(study.ways))], study.ways[way]
    text = {document.doc_id: document.text for document in corpus.documents}
    asked = {query.query_id: query.text for query in study.queries}
    wanted = {}
    for query_id, more in corpus.queries.extras.items():
        named = figures(asked.get(query_id, ""))
        wanted[query_id] = [figure for figure in figures(more.get("answer", "")) if figure not in named]
    by_fact: dict[int, list[list[tuple[int, int]]]] = {}
    for row in np.flatnonzero(labels.grade >= 3):
        start, end = int(labels.start[row]), int(labels.end[row])
        inside = figures(text[labels.doc_ids[labels.doc[row]]][start:end])
        here = [
            [(start + a, start + b) for a, b in inside[figure]]
            for figure in wanted.get(labels.query_ids[labels.query[row]], [])
            if figure in inside
        ]
        if here:
            by_fact[int(row)] = here
    # the ways of drawing keep the order of the evidence, not of the rows: match rows by what they contain
    middle = {row: (labels.start[row] + labels.end[row]) / 2 for row in by_fact}
    return {_same(labels, row, spans, middle[row]): places_of for row, places_of in by_fact.items()}


def _same(labels: SpanQrels, row: int, spans: SpanQrels, middle: float) -> int:
    alike = np.flatnonzero(
        (spans.query == labels.query[row])
        & (spans.doc == labels.doc[row])
        & (spans.evidence == labels.evidence[row])
        & (spans.start <= middle)
        & (spans.end >= middle)
    )
    return int(alike[0])


def anchored(study: Study, corpus: Corpus, way: str) -> tuple[set[tuple[int, ...]], SpanQrels]:
    """The labels with those that hold figures of the answer cut to the shortest text with all of these.

    Returns which spans were cut, and all spans.
    """
    spans = study.ways[way]
    start, end = spans.start.copy(), spans.end.copy()
    known = answers(study, corpus, way)
    for row, wanted in known.items():
        windows = (
            (min(a for a, _ in chosen), max(b for _, b in chosen))
            for chosen in islice(product(*wanted), MOST_WINDOWS)
        )
        start[row], end[row] = min(windows, key=lambda window: window[1] - window[0])
    drawn = replace(spans, start=start, end=end)
    return set(keys(drawn.take(np.array(sorted(known), dtype=np.int64)))), drawn


def without_answer(study: Study, corpus: Corpus, way: str) -> dict[str, tuple[int, int]]:
    """By rule: how many spans were found, and how many of them in text that does not answer.

    Counted are spans whose label holds figures of the written answer. The chunk in which a span was found
    counts as read to its end; text that shows not all of these figures does not answer.
    """
    known = answers(study, corpus, way)
    counts = {name: [0, 0] for name in (*NEEDED, "chunks: half of span or chunk")}
    for system in study.systems:
        trail = study.trail(system, way)
        rows = {key: i for i, key in enumerate(keys(trail.spans))}
        spans = study.ways[way]
        in_trail = {rows[keys(spans.take(np.array([row])))[0]]: at for row, at in known.items()}
        shown = system.table
        order, offsets = lay_out(system.rankings, [q.query_id for q in study.queries], shown.rows())
        for name, needed in NEEDED.items():
            place = places(trail, needed(trail))
            found = np.array([row for row in in_trail if place[row] <= study.budget], dtype=np.int64)
            for row, item in zip(found.tolist(), item_at(trail, place, found).tolist(), strict=True):
                begin = offsets[trail.spans.query[row]]
                chunks = order[begin : item + 1]
                doc = trail.spans.doc_ids[trail.spans.doc[row]]
                counts[name][0] += 1
                counts[name][1] += not _shows(shown, chunks, doc, in_trail[row])
        _count_chunks(counts["chunks: half of span or chunk"], study, system, way, known, order, offsets)
    return {name: (total, lacking) for name, (total, lacking) in counts.items()}


def _count_chunks(
    count: list[int],
    study: Study,
    system: System,
    way: str,
    known: Mapping[int, list[list[tuple[int, int]]]],
    order: Values,
    offsets: Values,
) -> None:
    """Of the first ten chunks, those that the projection credits with a span whose answer is known."""
    spans = study.ways[way]
    grades = project(spans, system.table)
    number = {query_id: i for i, query_id in enumerate(spans.query_ids)}
    for i, query in enumerate(study.queries):
        chunks = order[offsets[i] : offsets[i + 1]][:10]
        pairs = grades.rows_of(np.full(len(chunks), number[query.query_id]), chunks)
        for chunk, pair in zip(chunks.tolist(), pairs.tolist(), strict=True):
            if pair < 0:
                continue
            for row in grades.cover_span[
                grades.cover_offsets[pair] : grades.cover_offsets[pair + 1]
            ].tolist():
                if row in known:
                    doc = spans.doc_ids[spans.doc[row]]
                    count[0] += 1
                    count[1] += not _shows(system.table, np.array([chunk]), doc, known[row])


def keys(spans: SpanQrels) -> list[tuple[int, ...]]:
    """An identity of spans that does not depend on their order."""
    columns = (spans.query, spans.doc, spans.start, spans.end, spans.evidence)
    return [tuple(map(int, key)) for key in zip(*columns, strict=True)]


def _shows(table: ChunkTable, chunks: Values, doc: str, wanted: list[list[tuple[int, int]]]) -> bool:
    """Whether each figure is whole in one of the chunks, in any of its places."""
    shown = [
        (table.part_start[part], table.part_end[part])
        for chunk in chunks.tolist()
        if table.doc_ids[table.doc[chunk]] == doc
        for part in range(table.part_offsets[chunk], table.part_offsets[chunk + 1])
    ]
    return all(any(start <= a and b <= end for a, b in at for start, end in shown) for at in wanted)
