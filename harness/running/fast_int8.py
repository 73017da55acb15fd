"""With `precision: fast` and `int8_changes`: which models compute in int8, by a trial on texts of the run."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.models import (
    INT8,
    WORTH,
    EmbedConfig,
    InInt8,
    LocalConfig,
    LocalEncoder,
    LocalModel,
    Probe,
    Quantising,
    ScreenEncoder,
    calibration_of,
    seconds_of,
)
from harness.running.corpus import Corpus
from harness.running.note_wordings import RUN
from harness.running.notes import RunNotes
from harness.running.precision import changed_share, orders
from harness.running.run_models import RunModels, model_of
from harness.steps import CrossEncoderConfig, Int8CrossEncoder, PairScorer
from harness.store import Artifacts, key_of
from harness.values import ModelError, Sentence, first_line, worded

_SEED = 7
_QUERIES, _PASSAGES = 40, 200
_FIRST = 10
# passages that a reranker orders for a query, and queries of a reranker
_RERANKED, _FEWER = 12, 20


@dataclass(frozen=True, slots=True)
class Int8Trial:
    """What a model in int8 did: seconds of one batch, and the share of first ten places that it changed.

    ``changed`` is None where it gained too little to be compared, ``fault`` says why it does not run.
    """

    seconds: float = 0.0
    changed: float | None = None
    fault: str = ""


def allow_int8(most: float, corpus: Corpus, models: RunModels, stored: Artifacts, notes: RunNotes) -> None:
    """Have every probed model compute in int8 that is a tenth faster so, and changes no more than ``most``.

    Models are calibrated by pieces of the documents and compared by the queries of the run with other
    pieces; ``stored`` keeps models and outcomes.
    """
    documents = [document.text for document in corpus.documents]
    quantising = Quantising(calibration_of(documents, _SEED), stored)
    passages = calibration_of(documents, _SEED + 1, _PASSAGES).texts
    queries = queries_compared([query.text for query in corpus.queries.queries])
    for config, probe in models.left_open:
        model = in_int8(config, quantising)
        if model is None or probe.way == INT8:
            continue
        best = probe.seconds[probe.way]
        key = key_of(model.fingerprint, platform.node(), best, queries, passages)
        kept = stored.get("int8", key)
        trial = Int8Trial(**kept) if kept else _tried(config, model, best, queries, passages)
        stored.put("int8", key, {"seconds": trial.seconds, "changed": trial.changed, "fault": trial.fault})
        if trial.changed is not None and trial.changed <= most:
            models.take_int8(config, model, Probe({**probe.seconds, INT8: trial.seconds}))
        notes.reporter.note(_outcome(config.model, trial, probe, most))


def queries_compared(texts: Sequence[str]) -> list[str]:
    """At most 40 queries, evenly from all over; all of them where there are fewer."""
    count = min(_QUERIES, len(texts))
    return [texts[at * len(texts) // count] for at in range(count)]


def in_int8(config: LocalConfig, quantising: Quantising) -> InInt8[Any] | None:
    """The model that computes in int8; None for a kind that cannot."""
    if isinstance(config, EmbedConfig):
        return ScreenEncoder(config, *quantising)
    if isinstance(config, CrossEncoderConfig):
        return Int8CrossEncoder(config, *quantising)
    return None


def _tried(
    config: LocalConfig,
    model: LocalModel[Any],
    best: float,
    queries: Sequence[str],
    passages: Sequence[str],
) -> Int8Trial:
    try:
        seconds = seconds_of(model)
        if best < WORTH * seconds:
            return Int8Trial(seconds)
        return Int8Trial(
            seconds, changed_share(*(_first(each, queries, passages) for each in (model, model_of(config))))
        )
    except ModelError as error:
        return Int8Trial(fault=first_line(error))


def _outcome(name: str, trial: Int8Trial, probe: Probe, most: float) -> Sentence:
    """What follows of a trial, in words."""
    way = probe.way
    if trial.fault:
        return worded(RUN, "fast.int8 fails", model=name, fault=trial.fault, way=way)
    if trial.changed is None:
        return worded(RUN, "fast.int8 slow", model=name, way=way)
    return worded(
        RUN,
        "fast.int8 tried",
        model=name,
        time=f"{trial.seconds / probe.seconds[way]:.0%}",
        way=way,
        changed=f"{trial.changed:.1%}",
        allowed=f"{most:.1%}",
        chosen=INT8 if trial.changed <= most else way,
    )


def _first(model: LocalModel[Any], queries: Sequence[str], passages: Sequence[str]) -> list[list[int]]:
    """The places of the first passages of every query, the best first."""
    if isinstance(model, LocalEncoder):
        near = _vectors(model, queries) @ _vectors(model, passages).T
        return [np.argsort(-row, kind="stable")[:_FIRST].tolist() for row in near]
    assert isinstance(model, PairScorer)
    pairs = [(query, passages[at]) for query in queries[:_FEWER] for at in _sharing_words(query, passages)]
    return orders(model, pairs)


def _vectors(model: LocalEncoder, texts: Sequence[str]) -> Any:
    """Unit vectors, float32 [texts, dimension]."""
    rows: dict[int, Any] = {}
    for batch in model.batches(texts):
        rows |= dict(zip(batch, model.encode([texts[at] for at in batch]), strict=True))
    vectors = np.array([rows[at] for at in range(len(texts))])
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)


def _sharing_words(query: str, passages: Sequence[str]) -> list[int]:
    """The places of the passages that share most words with a query, as a retriever would hand them on."""
    words = set(query.lower().split())
    shared = [len(words & set(passage.lower().split())) for passage in passages]
    return sorted(range(len(passages)), key=lambda at: (-shared[at], at))[:_RERANKED]
