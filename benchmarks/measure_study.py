"""Which measure can be trusted between chunkings? Prints the tables of docs/study-measure.md.

    python -m benchmarks.measure_study configs/study_measure_meridian.yaml --budget 5000
    python -m benchmarks.measure_study configs/study_measure_meridian.yaml --budget 5000 --bm25
    python -m benchmarks.measure_study configs/study_measure_chunking_eval.yaml --budget 5000 --bm25
    python -m benchmarks.measure_study configs/study_measure_financebench.yaml --budget 10000 --bm25

Ranks the chunks of every setting for every query, by the retriever of the configuration or by BM25, and
scores the rankings by every candidate (``measure_candidates``) with the labels drawn in several ways.
"""

from __future__ import annotations

import argparse
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice, product
from pathlib import Path

import numpy as np

from benchmarks import meridian_pool
from benchmarks.measure_candidates import CANDIDATES, HALF_OR_200, NEEDED, L, Values, item_at
from harness.chunk import Outline, chunk_documents
from harness.config import BenchConfig, load_config
from harness.measures import ChunkTable, SpanQrels, project
from harness.measures.evidence_ndcg import gain_by_place, places
from harness.measures.grading import lay_out
from harness.measures.relabel import Text, median_length, relabelled
from harness.measures.ruler import Characters
from harness.measures.trail import Trail, read
from harness.pipeline.chunks import chunk_corpus
from harness.pipeline.context import Context
from harness.pipeline.corpus import Corpus, load_corpus
from harness.pipeline.judging import judged_by_people
from harness.pipeline.scoring import queries_to_score
from harness.pipeline.search import search
from harness.progress import Silent
from harness.types import Query, Ranking

DEPTH = 200
SEEDS = range(3)
DEPTHS = (1, 5, 20, 50)
ANCHORED = "answer, else half or 200"
MOST_WINDOWS = 10_000
SHOWN = ("ndcg_text", "half", "half or 100", "half or 200")
_FIGURE = re.compile(r"\d[\d,]*(?:\.\d+)?")


@dataclass(frozen=True)
class System:
    """One chunking with its rankings, and the median length of its chunks in characters."""

    name: str
    table: ChunkTable
    rankings: tuple[Ranking, ...]

    @property
    def length(self) -> float:
        """In characters."""
        return float(np.median(self.table.end - self.table.start))


@dataclass(frozen=True)
class Study:
    """What is scored: the systems, the queries with relevant text, the labels in every way of drawing."""

    systems: tuple[System, ...]
    queries: tuple[Query, ...]
    ways: Mapping[str, SpanQrels]
    budget: int

    def trail(
        self,
        system: System,
        way: str,
        rankings: Sequence[Ranking] | None = None,
        drawn: SpanQrels | None = None,
    ) -> Trail:
        """The rankings of a system, or others of its chunks, read with the labels drawn in one way."""
        spans = self.ways[way] if drawn is None else drawn
        number = {query_id: i for i, query_id in enumerate(spans.query_ids)}
        rows = np.array([number.get(query.query_id, -1) for query in self.queries])
        given = system.rankings if rankings is None else rankings
        chunk, offsets = lay_out(given, self.queries, system.table.rows())
        return read(chunk, offsets, rows, spans, system.table, Characters())


def prepared(config: BenchConfig, budget: int, lexical: bool) -> tuple[Study, Corpus]:
    """Search every setting and draw the labels in every way."""
    context = Context.at(config.cache, Silent())
    corpus = load_corpus(config, context)
    judgments = judged_by_people(corpus, config).judgments
    queries = queries_to_score(corpus.queries.queries, judgments, config.relevance)
    asked = tuple(query for query in queries if query.answerable)
    systems = []
    for setting in config.settings:
        if lexical:
            tokenizer = context.encoder(setting.embed).tokenizer
            chunks = tuple(chunk_documents(corpus.documents, setting.chunk, tokenizer))
            index = meridian_pool.Bm25(chunks, meridian_pool.words)
            found = [index.rank(query.query_id, query.text, DEPTH) for query in asked]
        else:
            chunking = chunk_corpus(corpus, setting, context)
            chunks = chunking.chunks
            kept = {query.query_id for query in asked}
            everything = search(setting, chunking, corpus.queries.queries, context).rankings["retrieve"]
            found = [ranking for ranking in everything if ranking.query_id in kept]
        systems.append(System(setting.name, ChunkTable.of(chunks), tuple(found)))
    texts = {d.doc_id: Text(len(d.text), Outline.of(d.text).sentences) for d in corpus.documents}
    ways = relabelled(SpanQrels.from_judgments(judgments), texts)
    return Study(tuple(systems), asked, ways, budget), corpus


Means = dict[tuple[str, str, str], Values]


def scored(study: Study, corpus: Corpus) -> Means:
    """(candidate, setting, way) → the values of all queries."""
    values: Means = {}
    for way in study.ways:
        cores, drawn = anchored(study, corpus, way)
        for system in study.systems:
            if cores:
                trail = study.trail(system, way, drawn=drawn)
                core = np.array([key in cores for key in _keys(trail.spans)])
                needed = np.where(core, trail.length, HALF_OR_200(trail))
                place = places(trail, needed)
                values[ANCHORED, system.name, way] = gain_by_place(trail, place, study.budget, 200, L)
            trail = study.trail(system, way)
            for name, compute in CANDIDATES.items():
                values[name, system.name, way] = compute(trail, study.budget)
    return values


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
    return set(_keys(drawn.take(np.array(sorted(known), dtype=np.int64)))), drawn


def random_means(study: Study) -> dict[str, list[float]]:
    """By candidate the means of all systems over rankings of chunks drawn at random."""
    first = next(iter(study.ways))
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        for system in study.systems:
            ids = np.array(system.table.chunk_ids, dtype=object)
            depth = min(len(ids), 2 * DEPTH)
            scores = tuple(-float(i) for i in range(depth))
            drawn = [
                Ranking(query.query_id, tuple(ids[rng.permutation(len(ids))[:depth]]), scores)
                for query in study.queries
            ]
            trail = study.trail(system, first, drawn)
            for name, compute in CANDIDATES.items():
                found[name][system.name].append(float(compute(trail, study.budget).mean()))
    return {name: [float(np.mean(means)) for means in by.values()] for name, by in found.items()}


def lowered_by_reading_on(study: Study) -> dict[str, int]:
    """By candidate in how many (setting, query) a longer beginning of the ranking scores less."""
    first = next(iter(study.ways))
    counts: dict[str, int] = dict.fromkeys(CANDIDATES, 0)
    for system in study.systems:
        earlier: dict[str, Values] = {}
        lowered = {name: np.zeros(len(study.queries), dtype=bool) for name in CANDIDATES}
        for depth in (*DEPTHS, DEPTH):
            cut = [Ranking(r.query_id, r.chunk_ids[:depth], r.scores[:depth]) for r in system.rankings]
            trail = study.trail(system, first, cut)
            for name, compute in CANDIDATES.items():
                now = compute(trail, study.budget)
                lowered[name] |= now < earlier.get(name, now) - 1e-9
                earlier[name] = now
        for name, flags in lowered.items():
            counts[name] += int(flags.sum())
    return counts


def figures(text: str) -> dict[float, list[tuple[int, int]]]:
    """The figures of a text with two digits or more and the places where they stand."""
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


def without_answer(study: Study, corpus: Corpus, way: str) -> dict[str, tuple[int, int]]:
    """By rule: how many spans were found, and how many of them in text that does not answer.

    Counted are spans whose label holds figures of the written answer. The chunk in which a span was found
    counts as read to its end; text that shows not all of these figures does not answer.
    """
    known = answers(study, corpus, way)
    counts = {name: [0, 0] for name in (*NEEDED, "chunks: half of span or chunk")}
    for system in study.systems:
        trail = study.trail(system, way)
        rows = {key: i for i, key in enumerate(_keys(trail.spans))}
        spans = study.ways[way]
        in_trail = {rows[_keys(spans.take(np.array([row])))[0]]: at for row, at in known.items()}
        shown = system.table
        order, offsets = lay_out(system.rankings, study.queries, shown.rows())
        for name, needed in NEEDED.items():
            place = places(trail, needed(trail))
            found = np.array([row for row in in_trail if place[row] <= study.budget], dtype=np.int64)
            for row, item in zip(found.tolist(), item_at(trail, place, found).tolist(), strict=True):
                begin = offsets[trail.owner[row]]
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


def _keys(spans: SpanQrels) -> list[tuple[int, ...]]:
    columns = (spans.query, spans.doc, spans.start, spans.end, spans.evidence)
    return [tuple(map(int, key)) for key in zip(*columns, strict=True)]


def _shows(table: ChunkTable, chunks: Values, doc: str, wanted: list[list[tuple[int, int]]]) -> bool:
    """Whether each figure stands whole in one of the chunks, in any of its places."""
    here = [c for c in chunks.tolist() if table.doc_ids[table.doc[c]] == doc]
    return all(any(table.start[c] <= a and b <= table.end[c] for a, b in at for c in here) for at in wanted)


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    print("| " + " | ".join(head) + " |")
    print("|---" + "|---:" * (len(head) - 1) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def stable_pairs(values: Means, study: Study, name: str, systems: Sequence[System]) -> tuple[int, int]:
    """The pairs of systems whose order is the same under every way of drawing, and all pairs."""
    pairs = list(combinations(systems, 2))
    stable = 0
    for one, other in pairs:
        signs = {
            np.sign(values[name, one.name, way].mean() - values[name, other.name, way].mean())
            for way in study.ways
        }
        stable += len(signs) == 1
    return stable, len(pairs)


def real_pairs(values: Means, study: Study, name: str) -> tuple[int, int]:
    """The pairs of systems whose difference has a paired 95 % t interval off 0 with the labels as they are.

    Returns how many keep their sign under all ways of drawing, and how many there are.
    """
    first = next(iter(study.ways))
    held = real = 0
    for one, other in combinations(study.systems, 2):
        gaps = values[name, one.name, first] - values[name, other.name, first]
        if abs(gaps.mean()) <= 1.98 * gaps.std(ddof=1) / np.sqrt(len(gaps)):
            continue
        real += 1
        held += all(
            np.sign((values[name, one.name, way] - values[name, other.name, way]).mean())
            == np.sign(gaps.mean())
            for way in study.ways
        )
    return held, real


def print_study(study: Study, corpus: Corpus) -> None:
    values = scored(study, corpus)
    first = next(iter(study.ways))
    print(f"{len(study.queries)} queries, budget {study.budget} characters\n")
    print("Labels:\n")
    print_table(
        ["labels", "median characters"], [[w, f"{median_length(s):,.0f}"] for w, s in study.ways.items()]
    )
    for name in (name for name in (*SHOWN, ANCHORED) if (name, study.systems[0].name, first) in values):
        print(f"{name}:\n")
        rows = [
            [s.name, f"{s.length:,.0f}", *(f"{values[name, s.name, way].mean():.3f}" for way in study.ways)]
            for s in study.systems
        ]
        print_table(["setting", "median characters", *study.ways], rows)
    chance, lowered = random_means(study), lowered_by_reading_on(study)
    larger = [system for system in study.systems if system.length >= 150]
    rows = []
    for name in dict.fromkeys(name for name, *_ in values):
        every, of = stable_pairs(values, study, name, study.systems)
        some, of_some = stable_pairs(values, study, name, larger)
        held, real = real_pairs(values, study, name)
        most = max(v.max() for (candidate, *_), v in values.items() if candidate == name)
        rows.append(
            [
                name,
                f"{every} of {of}",
                f"{some} of {of_some}",
                f"{held} of {real}",
                f"{most:.3f}",
                f"{min(chance[name]):.3f}–{max(chance[name]):.3f}" if name in chance else "–",
                str(lowered.get(name, "–")),
            ]
        )
    head = [
        "candidate",
        "order holds",
        "of chunks from 150",
        "of differences off 0",
        "highest value",
        "random rankings",
        "lowered",
    ]
    print_table(head, rows)
    if any(more.get("answer") for more in corpus.queries.extras.values()):
        for way in (next(iter(study.ways)), "padded by 250"):
            rows = [
                [rule, f"{lacking:,} of {total:,}", f"{lacking / total:.1%}" if total else "–"]
                for rule, (total, lacking) in without_answer(study, corpus, way).items()
            ]
            print(f"Found without the answer's figures, labels {way}:\n")
            print_table(["rule", "found without", "share"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("config", type=Path)
    parser.add_argument("--budget", type=int, default=5000, help="characters to read")
    parser.add_argument("--bm25", action="store_true", help="rank by BM25 and embed nothing")
    args = parser.parse_args()
    study, corpus = prepared(load_config(args.config), args.budget, args.bm25)
    print_study(study, corpus)


if __name__ == "__main__":
    main()
