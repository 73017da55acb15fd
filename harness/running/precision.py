"""With ``precision: fast``: how far the rankings of a sample differ from exact ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from harness.comparison import sentence_of
from harness.models import EXACT, INT8, LocalConfig
from harness.running.compute import digest
from harness.running.meeting import Running
from harness.running.notes import RunNotes
from harness.running.pipeline import RETRIEVE, lists_of
from harness.running.run_models import RunModels, probe_of
from harness.running.search import Chunked, Searched, run_step
from harness.running.session import Session
from harness.steps import Pair, PairScorer, Passages, RerankerConfig, RetrieverConfig, Search, pairs_of
from harness.store import Artifacts, key_of
from harness.values import Query, Ranking, Silent, by_key, counted

_FIRST = 10
# the passages of a question: the first ones that were found, some of which are not in the first ten
_PASSAGES = 12
_FEWEST, _MOST = 8, 50
# one question for so many chunks, so that the sample stays a twentieth of the work
_CHUNKS = 250
# of fewer vectors and scores it saves seconds
_WORTH_A_PROBE = 500


def compare_with_exact(
    searched: Sequence[Searched],
    queries: Sequence[Query],
    most: float,
    models: RunModels,
    artifacts: Artifacts,
    notes: RunNotes,
) -> None:
    """Rank what a sample of queries found again, by every fast model and as it would be in float32.

    ``most`` of the first ten places may change in int8. The result is warned of, and kept for the record.
    The exact numbers are made aside: in the cache, their batches would not be those of an exact run.
    """
    chunks = sum(len(result.chunking.chunks) for result in searched)
    # at equal distances, more where there is more to search
    count = min(len(queries), _MOST, max(_FEWEST, chunks // _CHUNKS))
    some = [queries[i * len(queries) // count] for i in range(count)]
    compared = models.compared
    users: dict[str, list[str]] = {}
    seen: set[tuple[str, str]] = set()
    for result in searched:
        for name, use, facts, rank in _checks(result, some, models):
            users.setdefault(name, []).append(result.setting.name)
            if (name, use) in seen:
                continue
            seen.add((name, use))
            key = key_of(name, facts, [query.text for query in some])
            stored = artifacts.get("precision", key) or {"queries": len(some), "changed": rank()}
            artifacts.put("precision", key, stored)
            # of a model that searches and reranks, the use that changes more
            if name not in compared or stored["changed"] > compared[name]["changed"]:
                compared[name] = stored
    for name, sample in compared.items():
        way, changed = models.probed[name].way, float(sample["changed"])
        notes.warn(
            sentence_of(
                "precision.beyond" if way == INT8 and changed > most else "precision.changed",
                model=name,
                way=way,
                queries=counted(int(sample["queries"]), "sampled query", "sampled queries"),
                changed=f"{changed:.1%}",
                most=f"{most:.1%}",
            ),
            settings=dict.fromkeys(users[name]),
        )


def what_fast_saves(
    waiting: int, models: RunModels, artifacts: Artifacts, notes: RunNotes
) -> tuple[str, ...]:
    """For an exact dry run: what ``precision: fast`` would save, in sentences.

    ``waiting`` are the vectors and scores that have not been computed. Models are probed where there is
    enough to compute.
    """
    counts, timings = notes.counts, notes.timings
    computed = sum(counts.get(f"{what}_computed", 0) for what in ("vectors", "pairs"))
    if models.probes is not None or computed + waiting < _WORTH_A_PROBE:
        return ()
    probes = {name: probe_of(config, artifacts)[0] for name, config in models.exact.items()}
    faster = {name: probe for name, probe in probes.items() if probe.way != EXACT}
    if not faster:
        return ("precision: fast saves nothing here.",) if probes else ()
    sentences = [
        f"precision: fast: {name} would compute in {probe.way}, {probe.gain:.1f} times as fast as in float32 "
        "by a short probe on this machine."
        for name, probe in faster.items()
    ]
    if computed and len(faster) == len(probes):
        took = timings.get("embed", 0.0) + timings.get("rerank", 0.0)
        least = took / min(probe.gain for probe in faster.values())
        sentences.append(
            f"The exact vectors and scores of this dry run took {took:,.0f} s and are kept for the run; fast "
            f"ones would take about {least:,.0f} s, and are kept apart."
        )
    return tuple(sentences)


_Check = tuple[str, str, list[str], Callable[[], float]]


def _checks(result: Searched, queries: Sequence[Query], models: RunModels) -> Iterator[_Check]:
    """The fast models of a setting: name, use, what the comparison depends on, and the comparison."""
    by_chunks = result.over_chunks or result
    ids = {query.query_id for query in queries}
    rankings = {step: [r for r in rows if r.query_id in ids] for step, rows in by_chunks.rankings.items()}
    few = replace(by_chunks, rankings=rankings)
    passages = _found(few.chunking.passages, rankings[RETRIEVE])
    rerankers = [step for step in few.steps if isinstance(result.configs.get(step), RerankerConfig)]
    for step, config in result.configs.items():
        if isinstance(config, RetrieverConfig):
            encoder = config.embed
            if isinstance(encoder, LocalConfig) and models.is_fast(encoder):
                facts = [models.encoder(encoder).fingerprint, passages.key]
                rank = partial(_reordered, config, passages, queries, models)
                yield encoder.model, "search", facts, rank
        elif isinstance(config, RerankerConfig) and isinstance(config, LocalConfig):  # noqa: SIM102
            if models.is_fast(config):
                before = few.steps[rerankers.index(step)]
                pairs = _pairs(config, few, before, queries)
                facts = [
                    models.reranker(config).fingerprint,
                    *(digest(*pair).hex() for pair in pairs),
                ]
                yield config.model, "rerank", facts, partial(_rescored, config, pairs, models)


def _found(passages: Passages, rankings: Iterable[Ranking]) -> Passages:
    """The first passages of every ranking."""
    wanted = {chunk_id for ranking in rankings for chunk_id in ranking.chunk_ids[:_PASSAGES]}
    kept = [i for i, chunk_id in enumerate(passages.ids) if chunk_id in wanted]
    return passages.part(kept, lambda key: key_of(key, "found", sorted(wanted)))


def _pairs(config: RerankerConfig, few: Searched, before: str, queries: Sequence[Query]) -> list[Pair]:
    """The first pairs of every query that a reranker has scored, after the step ``before`` it."""
    left = dict.fromkeys((query.text for query in queries), _PASSAGES)
    kept = []
    texts = Chunked(few.setting, few.chunking).texts
    for query, passage in pairs_of(lists_of(config, texts, queries, few.rankings[before])):
        left[query] -= 1
        if left[query] >= 0:
            kept.append((query, passage))
    return kept


def _reordered(
    retriever: RetrieverConfig, passages: Passages, queries: Sequence[Query], models: RunModels
) -> float:
    """The changed share, where the retriever searches in these passages alone."""
    left_out = dict.fromkeys(("rewrite", "filter", "top_chars"))
    bare = retriever.model_copy(update={**left_out, "top_k": _FIRST})
    with TemporaryDirectory() as folder, Session.at(Path(folder), Silent()) as exact:
        fast = replace(exact, models=models)
        changed = [
            run_step(
                Search.of(queries, None, bare).run("", bare, passages, queries), Running(session)
            ).rankings
            for session in (fast, exact)
        ]
    return changed_share(*([ranking.chunk_ids for ranking in rankings] for rankings in changed))


def _rescored(reranker: RerankerConfig, pairs: Sequence[Pair], models: RunModels) -> float:
    """The changed share, where the reranker orders the passages of each query."""
    return changed_share(*(orders(models.reranker(reranker), pairs) for models in (models, RunModels())))


def orders(scorer: PairScorer, pairs: Sequence[Pair]) -> list[list[int]]:
    """By query, the places of its pairs, those with the highest score first."""
    scores: dict[int, float] = {}
    for batch in scorer.batches(pairs):
        scores |= dict(zip(batch, scorer.score([pairs[i] for i in batch]).tolist(), strict=True))
    best_first = sorted(scores, key=lambda i: (-scores[i], i))
    by_query = by_key((pairs[place][0], place) for place in best_first)
    return [by_query[query] for query in sorted(by_query)]


def changed_share(fast: Sequence[Sequence[Any]], exact: Sequence[Sequence[Any]]) -> float:
    """The share of the first ten places that differ, over all rankings."""
    places = [
        hit != other
        for row, right in zip(fast, exact, strict=True)
        for hit, other in zip_longest(row[:_FIRST], right[:_FIRST])
    ]
    return sum(places) / len(places) if places else 0.0
