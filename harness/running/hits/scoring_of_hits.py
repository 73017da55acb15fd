"""Hits of other pipelines as searched settings: one per file, scored by the same measures as our own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np

from harness import values
from harness.comparison import sentence_of
from harness.data import HitFile, ParserConfig, PlacedHit, place_hits, read_hits
from harness.measures import Projection, SpanQrels, project
from harness.report import HitRow, Results
from harness.running.bench.keeping import Finish, keep_results
from harness.running.chunks import Chunking, health_of
from harness.running.config.models import BenchConfig, Setting
from harness.running.corpora import load_corpus
from harness.running.corpus import Corpus
from harness.running.document_reader import file_hashes
from harness.running.evaluate.evaluating import evaluate
from harness.running.evaluate.result_tables import results_of
from harness.running.evaluate.warnings import warn_of_labels, warn_of_unfilled_budgets
from harness.running.hits.times import search_times
from harness.running.note_wordings import STORED
from harness.running.notes import RunNotes
from harness.running.pipeline import RETRIEVE, file_searched, retrieving
from harness.running.readiness import results_folder
from harness.running.run_models import RunModels
from harness.running.search import Searched
from harness.running.session import Session
from harness.steps import ChunkerConfig, Cuts, Documents, RetrieverConfig, Vectors, token_lengths
from harness.store import key_of

_NAME = "not-found"
_BETWEEN = "\n\n"


def text_elsewhere(
    files: Sequence[Sequence[Sequence[PlacedHit]]], used: Collection[str]
) -> tuple[values.Document | None, dict[str, values.Chunk]]:
    """One document of all texts that are in no document (None: there are none), and each text as a chunk.

    ``files`` are the hits of each, by ranking; ``taken`` are the ids of the real documents.
    """
    hits = (hit for file in files for ranking in file for hit in ranking)
    texts = list(dict.fromkeys(hit.row.text for hit in hits if hit.place is None))
    if not texts:
        return None, {}
    name, whole = _NAME, _BETWEEN.join(texts)
    while name in used:
        name += "-"
    digest = values.text_sha256(whole)
    document, chunks, at = values.Document(name, whole, (), digest), {}, 0
    for text in texts:
        chunks[text] = values.Chunk.of(document, at, at + len(text))
        at += len(text) + len(_BETWEEN)
    return document, chunks


def returned(
    setting: Setting,
    rankings: Sequence[Sequence[PlacedHit]],
    elsewhere: Mapping[str, values.Chunk],
    corpus: Corpus,
    config: BenchConfig,
    models: RunModels,
) -> Searched:
    """The hits of one pipeline, each at its rank, as if they had been searched here.

    ``elsewhere`` are the texts that are in no document. Evidence that no returned chunk covers is among the
    chunks as one of its own.
    """
    documents = corpus.by_id
    chunks: dict[str, values.Chunk] = {}
    ranked = []
    for hits in rankings:
        by_name: dict[str, values.Chunk] = {}
        repeats: Counter[str] = Counter()
        for hit in hits:
            place = hit.place
            if place is None:
                chunk = elsewhere[hit.row.text]
            else:
                chunk = values.Chunk.of(documents[place.doc_id], place.start, place.end)
            chunk = under_own_name(chunk, by_name, repeats)
            by_name[chunk.chunk_id] = chunk
        chunks |= by_name
        scores = tuple(values.NOT_SCORED if hit.row.score is None else hit.row.score for hit in hits)
        ranked.append(values.Ranking(hits[0].row.query_id, tuple(by_name), scores))
    missed = missed_evidence(corpus, list(chunks.values()), config.relevance.projection)
    every = [*chunks.values(), *missed]
    tokenizer = models.tokenizer(setting.tokenizer)
    lengths = token_lengths([chunk.text for chunk in every], tokenizer)
    health = health_of(lengths[: len(chunks)], tokenizer.window)
    key = key_of(corpus.key, corpus.strange and corpus.strange.sha256, [c.chunk_id for c in every])
    chunking = Chunking(tuple(every), key, health, lengths - np.int32(tokenizer.special), returned_only=True)
    return Searched(setting, chunking, {RETRIEVE: ranked}, {"evidence_not_returned": len(missed)})


def under_own_name(chunk: values.Chunk, taken: Collection[str], repeats: Counter[str]) -> values.Chunk:
    """The chunk, renamed if its id is ranked already: a repeated text is read twice.

    ``repeats`` counts those of each id, so that none tries the names of all before it.
    """
    name = chunk.chunk_id
    while name in taken:
        repeats[chunk.chunk_id] += 1
        name = f"{chunk.doc_id}~{repeats[chunk.chunk_id] + 1}:{chunk.start}-{chunk.end}"
    return replace(chunk, chunk_id=name)


def missed_evidence(corpus: Corpus, chunks: Sequence[values.Chunk], rule: Projection) -> list[values.Chunk]:
    """For all relevant evidence that no chunk covers its best span, the first of equals, each once."""
    labels, documents = corpus.labels, corpus.by_id
    spans = SpanQrels.from_judgments(labels)
    covered = set(spans.evidence[project(spans, chunks, rule).cover_span].tolist())
    evidence, grade = spans.evidence.tolist(), spans.grade.tolist()
    relevant = [row for row in np.flatnonzero(spans.grade > 0).tolist() if evidence[row] not in covered]
    copies = values.by_key((evidence[row], row) for row in relevant)
    best = [max(rows, key=grade.__getitem__) for rows in copies.values()]
    found = [
        values.Chunk.of(documents[spans.doc_ids[spans.doc[row]]], int(spans.start[row]), int(spans.end[row]))
        for row in best
    ]
    return list({chunk.chunk_id: chunk for chunk in found}.values())


_SHOWN = 3
_WAYS = {
    "offsets": "by offsets",
    "page": "as whole pages",
    "exact": "verbatim",
    "whitespace_free": "except for white space",
    "fuzzy": "by likeness",
}


class ReturnedChunksConfig(ChunkerConfig):
    """Chunks that another pipeline cut, in a way that is not known."""

    kind: Literal["returned"] = "returned"
    file: Path

    def split(
        self, documents: Documents, tokenizer: values.Tokenizer | None, vectors: Vectors | None
    ) -> Cuts:
        """Raise ConfigError: how the other pipeline cuts is not known."""
        raise values.ConfigError(
            f"{self.file}: how these chunks were cut is not known, so no others can be cut."
        )


class ReturnedConfig(RetrieverConfig):
    """Rankings that another pipeline returned."""

    kind: Literal["returned"] = "returned"
    file: Path


def hit_setting(name: str, file: Path, parser: ParserConfig) -> Setting:
    """The setting that a file of hits is scored as; ``parser`` reads the documents."""
    return Setting(
        name=name,
        parse=parser,
        chunk=ReturnedChunksConfig(file=file),
        retrieve=ReturnedConfig(file=file),
    )


def score_hits(
    config: BenchConfig,
    threshold: float,
    keep_other_documents: bool,
    reporter: values.Reporter,
    finish: Finish,
) -> tuple[Results, Path]:
    """Score the files of hits that the settings of ``config`` name, and keep the results as a benchmark's.

    The settings are those of ``hit_setting``; people's labels grade. A hit is placed where text is at least
    as like it as ``threshold``, 0 to 100; ``keep_other_documents`` keeps hits in documents that are not
    there. A ranking keeps every hit at its rank: one that is in no document is unjudged text there. A
    chunk-level ideal needs chunks that were not returned too. They are unknown, so evidence that no returned
    chunk covers counts as a chunk of its own.
    """
    session = Session.at(config.cache, reporter)
    with session, session.notes.timed("total"):
        # before the documents, which may take long
        results_folder(config)
        files = [read_hits(path) for path in map(file_searched, config.settings) if path is not None]
        config = _with_depths(config, files)
        corpus = load_corpus(config, session.document_reader)
        _refuse_unknown_queries(files, corpus.queries.queries)
        warn_of_labels(corpus, config, session.notes)
        skipped, documents = [item.doc_id for item in corpus.skipped], corpus.by_id
        # the texts of all files are sought in one go
        rankings = [rows for file in files for rows in file.rows.values()]
        with session.notes.timed("place"):
            each = iter(place_hits(rankings, documents, threshold, skipped, keep_other_documents))
            placed = [[next(each) for _ in file.rows] for file in files]
        strange, elsewhere = text_elsewhere(placed, documents)
        hashes = file_hashes(file.path for file in files)
        corpus = replace(corpus, strange=strange, hashes=corpus.hashes | hashes)
        searched = []
        for setting, file, hits in zip(config.settings, files, placed, strict=True):
            report_hits(setting.name, file, hits, corpus.queries.queries, session.notes)
            searched.append(returned(setting, hits, elsewhere, corpus, config, session.models))
        warn_of_unfilled_budgets(searched, config, session.notes, "depth.budget.hits")
        evaluated = evaluate(searched, corpus, config, session)
    rows = [
        _row(setting.name, hit, documents)
        for setting, file in zip(config.settings, placed, strict=True)
        for hits in file
        for hit in hits
    ]
    times = [
        row
        for setting, file in zip(config.settings, files, strict=True)
        for row in search_times(setting.name, file.seconds)
    ]
    results = results_of(evaluated, searched, corpus, config, session, [*times, *rows])
    return results, keep_results(results, config, finish)


def _with_depths(config: BenchConfig, files: Sequence[HitFile]) -> BenchConfig:
    """The configuration that says how deep the rankings of every file go."""
    depths = [max(map(len, file.rows.values())) for file in files]
    settings = tuple(
        retrieving(setting, depth) for setting, depth in zip(config.settings, depths, strict=True)
    )
    return config.model_copy(update={"settings": settings})


def _refuse_unknown_queries(files: Sequence[HitFile], queries: Sequence[values.Query]) -> None:
    query_ids = {query.query_id for query in queries}
    for file in files:
        for query_id, rows in file.rows.items():
            if query_id not in query_ids:
                first = min(rows, key=lambda row: row.line)
                near = values.suggestion(query_id, query_ids)
                raise values.CorpusError(
                    f"{first.where}: unknown query {query_id!r}{near}. Correct the id, or add the query to "
                    "--queries."
                )


def _row(setting: str, hit: PlacedHit, documents: Mapping[str, values.Document]) -> HitRow:
    place = hit.place
    return HitRow(
        setting=setting,
        line=hit.row.line,
        query_id=hit.row.query_id,
        rank=hit.row.rank or 0,
        document=place.doc_id if place else "",
        start=place.start if place else None,
        end=place.end if place else None,
        method=place.method if place else "",
        score=hit.best,
        copies=hit.copies,
        repeats=hit.repeats,
        other_page=hit.other_page,
        figures_differ=hit.figures_differ,
        text=hit.row.text or (place.text_in(documents[place.doc_id]) if place else ""),
    )


def report_hits(
    name: str,
    file: HitFile,
    rankings: Sequence[Sequence[PlacedHit]],
    queries: Sequence[values.Query],
    notes: RunNotes,
) -> None:
    """Say how the hits of a file were placed, and warn of what is odd about them."""

    def warn(code: str, **shown: object) -> None:
        notes.warn(sentence_of(code, setting=name, **shown), settings=[name])

    if silent := [query.query_id for query in queries if query.query_id not in file.rows]:
        warn(
            "hits.silent",
            silent=len(silent),
            queries=values.counted(len(queries), "query", "queries"),
            names=values.listed(silent, _SHOWN),
        )
    if file.unread:
        warn("hits.column", column=repr(file.unread))
    if file.rising:
        warn("hits.rising")
    if not file.scores_kept:
        notes.reporter.note(values.worded(STORED, "hits.ignored", setting=name))
    hits = [hit for ranking in rankings for hit in ranking]
    ways: Counter[str] = Counter(hit.place.method for hit in hits if hit.place is not None)
    how = ", ".join(f"{ways[way]} {words}" for way, words in _WAYS.items() if way in ways)
    of = values.counted(len(hits), "hit")
    code = "hits.placed" if how else "hits.unplaced"
    placed = values.worded(STORED, code, setting=name, placed=str(ways.total()), hits=of, ways=how)
    notes.reporter.note(placed)

    for code, odd in _odd(hits).items():
        if odd:
            more = f"; and {len(odd) - _SHOWN} more" if len(odd) > _SHOWN else ""
            shown = {"odd": len(odd), "hits": of, "lines": f"{'; '.join(map(_line, odd[:_SHOWN]))}{more}"}
            if code == _COPIED:
                # which of several places was taken bears on no number
                notes.reporter.note(sentence_of(code, setting=name, **shown))
            else:
                warn(code, **shown)


_COPIED = "hits.copied"


def _odd(hits: Sequence[PlacedHit]) -> dict[str, list[PlacedHit]]:
    """The hits that are odd, by the code of the sentence that says what this means for them."""
    return {
        "hits.not found": [hit for hit in hits if hit.place is None],
        "hits.repeated": [hit for hit in hits if hit.repeats],
        "hits.other page": [hit for hit in hits if hit.other_page],
        "hits.figures": [hit for hit in hits if hit.figures_differ],
        _COPIED: [hit for hit in hits if hit.copies > 1],
    }


def _line(hit: PlacedHit) -> str:
    where = f"line {hit.row.line}"
    if hit.place is not None:
        return where
    return f"{where}, {hit.best:.0f} % similar at best: {values.snippet(hit.row.text, 60)!r}"
