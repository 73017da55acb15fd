"""The step ``gather``: for every question, passages that several different retrievers find."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from harness import running, values
from harness.labels.labelling.label_rows import spreadsheet_safe
from harness.labels.labelling.passages import PassageToGrade, covers, overlapping
from harness.labels.testset.config import TestsetConfig
from harness.labels.testset.set_state import Outcome, SetState, Tables, time_to_grade
from harness.labels.testset.testset_rows import Candidate, FoundRow, PoolRow, SearchedRow
from harness.models import default_tokenizer
from harness.steps import (
    Bm25Config,
    ExactConfig,
    MinMaxConfig,
    RecursiveConfig,
    RetrieverConfig,
    SentenceConfig,
    SizedConfig,
)
from harness.store import write_text

# ranks kept of every ranking; more than one needs, since retrievers find the same passages
_DEPTH = 30
SUGGESTED = "suggested with the question"
Key = tuple[str, int, int]
# a retriever's name, and its chunks by query
_Ranked = tuple[str, dict[str, list[values.Chunk]]]
# by passage the retrievers that found it, and at which rank from 1; None: it was suggested
_Finders = dict[Key, dict[str, int | None]]


def gather(state: SetState, session: running.Session, *, also: Path | None, again: bool) -> Outcome:
    """Write pool.csv and found.csv; questions that have their passages already keep them, unless ``again``.

    Every retriever gives its best passage in turn, until there are enough. The passage that was suggested
    with a question comes first. The rows of a question are in an order that says nothing about any of it.
    """
    count = state.config.passages
    more = running.load_config(also).settings if also else ()
    chosen = state.chosen()
    documents = state.documents(session.document_reader)
    pool, old = ([], set()) if again else state.gathered(chosen)
    todo = [candidate for candidate in chosen if candidate.query_id not in old]
    found_rows = [row for row in state.rows(FoundRow) if row.query_id in old]
    settings: list[running.Setting] = []
    if todo:
        settings = _retrievers(state.config, list(documents.values()))
        if also:
            settings += [
                setting.model_copy(update={"name": f"{also.stem}: {setting.name}"}) for setting in more
            ]
        ranked = _rankings(state, session, settings, todo)
        passages = {
            document.doc_id: values.passage_spans(document.text, values.TO_GRADE)
            for document in documents.values()
        }
        for candidate in todo:
            by_passage = _pooled(candidate, ranked, documents, passages, count)
            pool += _hidden(candidate, by_passage, documents)
            found_rows += [
                FoundRow(
                    candidate.query_id, *key, "; ".join(by), min(filter(None, by.values()), default=None)
                )
                for key, by in by_passage.items()
            ]
    place = {candidate.query_id: at for at, candidate in enumerate(chosen)}
    pool.sort(key=lambda row: place[row.query_id])
    found_rows.sort(key=lambda row: place[row.query_id])
    per = Counter(row.query_id for row in pool)
    searched = [
        SearchedRow(candidate.query_id, candidate.text, per[candidate.query_id]) for candidate in chosen
    ]
    if todo or len(pool) != len(state.rows(PoolRow)):
        tables: Tables = {PoolRow: pool, FoundRow: found_rows, SearchedRow: searched}
        tables = {**tables, **state.document_rows(documents.values())}
        state.write("gather", f"{len(settings)} retrievers", tables)
    lines = [
        f"{state.path(PoolRow)}: {values.counted(len(pool), 'passage')} for "
        f"{values.counted(len(chosen), 'question')}; {len(todo)} of these were searched now.",
        f"Grading them all takes {time_to_grade(len(pool))}.",
    ]
    if few := sum(per[candidate.query_id] < count for candidate in todo):
        fewer = f"{values.counted(few, 'question')} with fewer than {values.counted(count, 'passage')}"
        lines.append(f"{fewer}, as the documents give no more.")
    if old and also:
        kept = values.counted(len(old), "question keeps its", "questions keep their")
        lines.append(f"{kept} passages, without --also: add --again to search anew for all.")
    return Outcome(tuple(lines))


def _retrievers(config: TestsetConfig, documents: Sequence[values.Document]) -> list[running.Setting]:
    """Words, meaning and both, each over small and large chunks.

    Without an embedding model: two formulas of BM25 over three lengths of chunks.
    """
    sample = "".join(document.text[:5000] for document in documents)
    sizes = [150, 250, 400] if values.outside_latin(sample) > 0.3 else [300, 600, 1000]
    depth = max(_DEPTH, config.passages)
    words: RetrieverConfig = Bm25Config(top_k=depth)
    by_name: dict[str, RetrieverConfig] = {"bm25": words, "bm25+": Bm25Config(top_k=depth, method="bm25+")}
    if config.embed is not None:
        names = ("model", "query_prefix", "passage_prefix")
        dense = ExactConfig(top_k=depth, **{name: getattr(config.embed, name) for name in names})
        by_name = {"bm25": words, "dense": dense, "hybrid": MinMaxConfig(top_k=depth, routes=(dense, words))}
        sizes = [sizes[0], sizes[2]]
    tokenizer = config.embed.model if config.embed else default_tokenizer()
    chunks: list[SizedConfig] = [SentenceConfig(chunk_size=sizes[0])]
    chunks += [RecursiveConfig(chunk_size=size, chunk_overlap=size // 5) for size in sizes[1:]]
    return [
        running.Setting(
            name=f"{name} {chunk.kind} {chunk.chunk_size}",
            chunk=chunk,
            tokenizer=tokenizer,
            retrieve=retriever,
        )
        for chunk in chunks
        for name, retriever in by_name.items()
    ]


def corpus_of(state: SetState, reader: running.DocumentReader, chosen: Sequence[Candidate]) -> running.Corpus:
    """The documents and the chosen questions, in the form that a run needs; without labels."""
    bench = _bench_of(state, chosen)
    with state.saying_once(reader.notes):
        return running.load_corpus(bench, reader)


def _bench_of(state: SetState, chosen: Sequence[Candidate]) -> running.BenchConfig:
    """A benchmark of the documents and the chosen questions, which it writes."""
    path = state.config.cache / "testset" / "queries.csv"
    rows = [
        (
            candidate.query_id,
            spreadsheet_safe(candidate.text),
            "yes" if candidate.answerable else "no",
            "train",
        )
        for candidate in chosen
    ]
    write_text(path, values.delimited_text([("query_id", "text", "answerable", "split"), *rows]))
    return state.config.bench(state.folder).model_copy(update={"queries": path, "labels": None})


def _pooled(
    candidate: Candidate,
    ranked: Sequence[_Ranked],
    documents: Mapping[str, values.Document],
    passages: Mapping[str, Sequence[values.Span]],
    count: int,
) -> _Finders:
    """Passages by turns of the retrievers, and who found each at which rank."""
    finders: _Finders = {}
    for doc_id, start, end in (
        (candidate.document, candidate.start, candidate.end),
        (candidate.document_2, candidate.start_2, candidate.end_2),
    ):
        if doc_id in documents and start is not None and end is not None:
            for span in _touched(passages[doc_id], start, end):
                finders.setdefault((doc_id, *span), {})[SUGGESTED] = None
    lists = [(name, chunks_by_query.get(candidate.query_id, [])) for name, chunks_by_query in ranked]
    for rank in range(max((len(chunks) for _, chunks in lists), default=0)):
        for name, chunks in lists:
            if rank >= len(chunks):
                continue
            chunk = chunks[rank]
            if chunk.doc_id not in passages:
                # text of a collection that is in no document, which nobody can grade
                continue
            for span in _touched(passages[chunk.doc_id], chunk.start, chunk.end):
                key = (chunk.doc_id, *span)
                if key in finders or len(finders) < count:
                    finders.setdefault(key, {}).setdefault(name, rank + 1)
    return finders


def _rankings(
    state: SetState, session: running.Session, settings: Sequence[running.Setting], todo: Sequence[Candidate]
) -> list[_Ranked]:
    """What each setting retrieves for the questions, in the text of collections too that it searches."""
    bench = _bench_of(state, todo).model_copy(update={"settings": tuple(settings)})
    with state.saying_once(session.notes):
        running.refuse_several_parsers(bench)
        corpus = running.load_searched(bench, session).united
    running.warn_of_languages(corpus, settings, session.notes)
    points = running.cut_for_all(settings, corpus, session)
    return [
        _by_query(setting) for setting in running.search_settings(points, corpus.queries.queries, session)
    ]


def _by_query(searched: running.Searched) -> _Ranked:
    """What a setting retrieves for each question."""
    chunks = {chunk.chunk_id: chunk for chunk in searched.chunking.chunks}
    rankings = searched.rankings[searched.steps[-1]]
    return searched.setting.name, {
        r.query_id: [chunks[chunk_id] for chunk_id in r.chunk_ids] for r in rankings
    }


def _touched(spans: Sequence[values.Span], start: int, end: int) -> list[values.Span]:
    """The passages that share half of either with a range; else the one it shares most with."""
    near = overlapping(spans, (start, end))
    half = [span for span in near if covers(span, (start, end))]
    return half or sorted(near, key=lambda span: max(start, span[0]) - min(end, span[1]))[:1]


def _hidden(
    candidate: Candidate, keys: Iterable[Key], documents: Mapping[str, values.Document]
) -> list[PoolRow]:
    """The rows of a question, shuffled by a hash."""

    def place(key: Key) -> str:
        return values.text_sha256(repr((candidate.query_id, key)))

    order = sorted(keys, key=place)
    passages = (PassageToGrade.of(documents[doc_id], candidate.query_id, *span) for doc_id, *span in order)
    return [PoolRow(*at.key, candidate.text, at.page, at.text) for at in passages]
