"""A setting as one step made of steps: rewrite, filter, routes, fuse, rerank, read, answer.

Here alone, and where configurations are read, it is known which steps a setting has and what is in them.
Everything else asks the functions at the end of this file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.models import EncoderConfig, ModelConfig, sum_of
from harness.running.config.models import Setting
from harness.running.config.stored_chunks import searches_existing
from harness.steps import (
    ANSWERERS,
    CONTEXTS,
    READERS,
    REWRITERS,
    Answerer,
    AnswerInput,
    AnswerReply,
    Contexts,
    Fingerprint,
    ListScorer,
    PairScorer,
    PairScores,
    Passages,
    Phrasings,
    RerankerConfig,
    RetrievalResult,
    Search,
    Texts,
    context_key,
    fused,
    guessed,
    identity_of,
    passages_read,
    rerank,
)
from harness.values import (
    Chunk,
    Document,
    Heading,
    HeadingStyle,
    Mention,
    Part,
    Query,
    Ranking,
    Run,
    StageConfig,
    ask,
    under_way,
)

REWRITE = "rewrite"
RETRIEVE = "retrieve"
RERANK = "rerank"
ANSWER = "answer"


def reranker_names(setting: Setting) -> tuple[str, ...]:
    """The names of the rerankers of a setting: ``rerank``, ``rerank2`` and so on."""
    return tuple(RERANK if place == 1 else f"{RERANK}{place}" for place in range(1, len(setting.rerank) + 1))


def last_stage(setting: Setting) -> str:
    """The name of the step whose rankings end its search."""
    return (RETRIEVE, *reranker_names(setting))[-1]


def ranking_count(setting: Setting) -> int:
    """How many rankings of each query a setting has: of its retriever and routes, and of its rerankers."""
    return len(list(setting.retrieve.every())) + len(setting.rerank)


@dataclass(frozen=True, slots=True)
class Reranked:
    """The rankings after a reranker, and what language models behind it have cost, whoever paid.

    ``cost`` None: a price is unknown. ``asked``: a language model is asked about lists of passages.
    """

    rankings: list[Ranking]
    cost: float | None = 0.0
    asked: bool = False


@dataclass(frozen=True, slots=True)
class SearchedTexts:
    """What a setting searches: ``passages`` as they are indexed, and the ``bare`` text of each by its id."""

    passages: Passages
    bare: Mapping[str, str]


ScorerOf = Callable[[RerankerConfig], PairScorer]
"""The scorer of pairs of a configuration."""


def searching(
    setting: Setting, texts: SearchedTexts, queries: Sequence[Query], scorer_of: ScorerOf
) -> Run[list[Ranking]]:
    """The search of a setting. Its last rankings."""
    search = Search.of(queries, setting.rewrite, setting.retrieve)
    phrasings = yield Part(search.rewritten(setting.rewrite, queries), REWRITE)
    retrieved: RetrievalResult = yield Part(
        _retrieved(search, setting, texts.passages, queries, phrasings),
        RETRIEVE,
        guess=lambda: guessed(setting.finder, texts.passages, queries),
        config=setting.finder,
    )
    rankings = retrieved.rankings
    for name, config in zip(reranker_names(setting), setting.rerank, strict=True):
        step = reranking(config, scorer_of(config), lists_of(config, texts, queries, rankings), rankings)
        reranked: Reranked = yield Part(step, name, config=config)
        rankings = reranked.rankings
    return rankings


def tried(setting: Setting, scorer_of: ScorerOf) -> Run[None]:
    """A setting with one word for a passage and for a query: its needs name every model that it uses."""
    word: str = "word"
    around: dict[str, Passages] = {}
    passages = Passages((f"{word}:0-{len(word)}",), (word,), (len(word),), word, around)
    around.update({context_key(context): passages for context in route_contexts(setting)})
    texts, query = SearchedTexts(passages, {passages.ids[0]: word}), Query(word, word, "train")
    yield from searching(setting, texts, [query], scorer_of)
    if has_answers(setting):
        yield from answering(setting, [AnswerInput(word, word, (word,))], lambda: [])


@dataclass(frozen=True, slots=True)
class WordSources:
    """Sources with one document of one word, which is the only ``chunk`` however it is cut."""

    chunk: Chunk

    def document(self, doc_id: str) -> Document:
        """The document."""
        return Document(self.chunk.doc_id, self.chunk.text, (), "")

    def sentences(self, doc_id: str) -> NDArray[np.int64]:
        """Its only sentence."""
        return np.array([[self.chunk.start, self.chunk.end]], dtype=np.int64)

    def headings(self, doc_id: str, style: HeadingStyle) -> Sequence[Heading]:
        """It has none."""
        return []

    def chunks(self, config: StageConfig) -> Sequence[Chunk]:
        """The chunk."""
        return [self.chunk]


def tried_on_text(setting: Setting) -> Run[None]:
    """What is done to text before a search, on one word: its needs name every model that it uses."""
    word: str = "word"
    chunk = Chunk.of(Document(word, word, (), ""), 0, len(word))
    around = [config for contexts in (setting.context, *route_contexts(setting)) for config in contexts]
    reader = None if setting.read is None else setting.read.spans
    steps: list[Any] = [CONTEXTS.make(config) for config in around]
    steps += [] if reader is None else [READERS.make(reader)]
    chunkers = [setting.chunk] if reader is None or reader.larger is None else [setting.chunk, reader.larger]
    for encoder in [getattr(chunker, "embed", None) for chunker in chunkers]:
        if encoder is not None:
            yield Mention(ask(Texts(encoder, [word], "passages")))
    for step in steps:
        yield Mention(_on_one(step, chunk))


def _on_one(step: Any, chunk: Chunk) -> Run[Any]:
    """A context or a reader, run on one chunk."""
    return (yield from under_way(step.run([chunk], WordSources(chunk))))


def _retrieved(
    search: Search, setting: Setting, passages: Passages, queries: Sequence[Query], phrasings: Phrasings
) -> Run[RetrievalResult]:
    """The rankings of a setting before any reranker."""
    result = yield from search.run("", setting.finder, passages, phrasings.queries)
    return fused(setting.rewrite, phrasings, result, setting.finder, passages, queries)


def lists_of(
    config: RerankerConfig, texts: SearchedTexts, queries: Sequence[Query], rankings: Sequence[Ranking]
) -> list[tuple[str, ...]]:
    """What a reranker reads after what was before it: texts of each query, then its passages."""
    passages = texts.passages
    shown: Mapping[str, str] = texts.bare
    if config.reads_context:
        shown = dict(zip(passages.ids, passages.texts, strict=True))
    text_of = {query.query_id: query.text for query in queries}
    return [
        (text_of[r.query_id], *(shown[chunk_id] for chunk_id in r.chunk_ids[: config.top_n]))
        for r in rankings
    ]


def reranking(
    config: RerankerConfig,
    scorer: PairScorer,
    lists: Sequence[tuple[str, ...]],
    rankings: Sequence[Ranking],
) -> Run[Reranked]:
    """The first passages of each ranking in the order of their scores."""

    def unchanged() -> Any:
        return [[-float(rank) for rank in range(len(passages) - 1)] for passages in lists]

    pairs, cost, is_list_scorer = (
        sum(len(passages) - 1 for passages in lists),
        None,
        isinstance(scorer, ListScorer),
    )
    if isinstance(scorer, ListScorer):
        distinct = list(dict.fromkeys(lists))
        step = _asked(scorer, distinct)
        scored = yield Part(step, what="lists", guess=lambda: None, config=config, items=pairs)
        if scored is None:
            scores = unchanged()
        else:
            of_list = dict(zip(distinct, scored[0], strict=True))
            scores, cost = [of_list[passages] for passages in lists], scored[1]
    else:
        scores = yield Part(ask(PairScores(config, lists)), guess=unchanged)
    reranked = [rerank(ranking, listed) for ranking, listed in zip(rankings, scores, strict=True)]
    return Reranked(reranked, cost if is_list_scorer else 0.0, is_list_scorer)


def _asked(scorer: ListScorer, lists: Sequence[tuple[str, ...]]) -> Run[tuple[list[Any], float | None]]:
    """The scores of lists, and their cost together."""
    scored = yield from under_way(scorer.run(lists))
    return [scores for scores, _ in scored], sum_of(cost for _, cost in scored)


def answering(
    setting: Setting, asked: Sequence[AnswerInput], guess: Callable[[], list[AnswerReply]]
) -> Run[list[AnswerReply]]:
    """The answers of a setting to questions with passages; ``guess`` stands in for those not known."""
    step = under_way(_answerer(setting).run(asked))
    replies: list[AnswerReply] = yield Part(step, ANSWER, guess=guess, config=setting.answer)
    return replies


def _answerer(setting: Setting) -> Answerer[Any]:
    if setting.answer is None:
        raise ValueError(f"{setting.name} has no answer section")
    return ANSWERERS.make(setting.answer)


def has_answers(setting: Setting) -> bool:
    """Whether it answers questions."""
    return setting.answer is not None


def answered_by(setting: Setting) -> str:
    """The name of its answerer."""
    return _answerer(setting).name


def failures_allowed(setting: Setting) -> float:
    """The share of questions that may stay without an answer."""
    return 1.0 if setting.answer is None else setting.answer.max_failed


def longest_answer(setting: Setting) -> int:
    """The characters of the longest answer that it may give; 0 where that is not known."""
    return 0 if setting.answer is None else setting.answer.longest_answer


def ranks_read(setting: Setting, lengths: Sequence[int]) -> list[int]:
    """The ranks, from 0, that are read to answer, in that order; ``lengths`` are the tokens of the ranked."""
    return passages_read(_answerer(setting).config, lengths)


def alterations_of(setting: Setting) -> list[Any]:
    """What changes the passages that are read for a query, the first one first."""
    configs = []
    before = setting.read
    while before is not None and before.alters:
        configs.append(before)
        before = getattr(before, "read", None)
    return [READERS.make(config) for config in reversed(configs)]


def rewrites(setting: Setting) -> bool:
    """Whether it rewrites all queries, before any route does."""
    return setting.rewrite is not None


def filters(setting: Setting) -> bool:
    """Whether it filters documents for the whole search."""
    return setting.filter is not None


def asks_to_filter(setting: Setting) -> bool:
    """Whether a language model filters documents, for the search or a route of it."""
    return any(isinstance(part.filter, ModelConfig) for part in setting.finder.every())


def encoders_of(setting: Setting) -> tuple[EncoderConfig, ...]:
    """All encoders that it searches with, each once."""
    return setting.retrieve.encoders()


def embeds(setting: Setting) -> bool:
    """Whether it searches by an encoder."""
    return bool(setting.retrieve.encoders())


def embeds_here(setting: Setting) -> bool:
    """Whether it searches by an encoder on this machine."""
    return any(encoder.runs_here for encoder in setting.retrieve.encoders())


def route_contexts(setting: Setting) -> list[Contexts]:
    """What retrievers and routes index around chunks in place of the context of the setting."""
    return [part.context for part in setting.retrieve.every() if part.context is not None]


def contexts_searched(setting: Setting) -> dict[str, bool]:
    """The keys of the contexts that are searched, each with whether an encoder on this machine reads it."""
    searched: dict[str, bool] = {}
    for retriever, around in setting.retrieve.searching():
        key = context_key(setting.context if around is None else around)
        here = any(encoder.runs_here for encoder in retriever.encoders())
        searched[key] = searched.get(key, False) or here
    return searched


def chunks_retrieved(setting: Setting) -> int | None:
    """How many chunks it retrieves for a query; None where it searches to a length of text."""
    return setting.retrieve.top_k if setting.retrieve.top_chars is None else None


def retriever_config(setting: Setting) -> Any:
    """How it retrieves; of a fusion the fusion, with its routes inside."""
    return setting.retrieve


def retrieving(setting: Setting, chunks: int) -> Setting:
    """The same, with so many chunks retrieved for a query."""
    return setting.model_copy(update={"retrieve": setting.retrieve.model_copy(update={"top_k": chunks})})


def collection_searched(setting: Setting) -> Any | None:
    """The retriever of an existing collection; None where what is searched is made of chunks."""
    return setting.retrieve if searches_existing(setting.retrieve) else None


def file_searched(setting: Setting) -> Path | None:
    """The file with the hits of another pipeline; None where the setting searches by itself."""
    file: Path | None = getattr(setting.retrieve, "file", None)
    return file


def reranker_at(setting: Setting, stage: str) -> RerankerConfig | None:
    """The reranker of a stage; None where the stage is none."""
    return dict(zip(reranker_names(setting), setting.rerank, strict=True)).get(stage)


def chunks_reranked(setting: Setting) -> list[int | None]:
    """How many chunks of a ranking each reranker scores; None for all."""
    return [config.top_n for config in setting.rerank]


def search_facts(setting: Setting, fingerprint: Fingerprint, scorer_of: ScorerOf) -> list[Any]:
    """JSON-able facts that decide what a search computes, and so how long it takes."""
    rewrite = None if setting.rewrite is None else REWRITERS.make(setting.rewrite).identity()
    return [
        [rewrite, identity_of(setting.finder, fingerprint)],
        setting.model_dump(mode="json", include={"filter", "retrieve", "rerank", "read"}),
        [scorer_of(config).fingerprint for config in setting.rerank],
    ]
