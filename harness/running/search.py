"""Search every setting: all of them step by step, with one pass of each model over what they need."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from time import perf_counter
from typing import Any, TypeVar

from harness.comparison import sentence_of
from harness.report import AskedRow, is_route
from harness.running.chunks import Chunking, chunk_corpus
from harness.running.config.models import Setting
from harness.running.corpus import Corpus
from harness.running.cut_apart import cut_apart
from harness.running.frames import Where
from harness.running.loop import Loop, Visitor
from harness.running.meeting import Bought, Running
from harness.running.pipeline import RETRIEVE, Reranked, SearchedTexts, searching
from harness.running.resources import Resources, RunSources
from harness.running.run_models import RunModels
from harness.running.session import Session
from harness.steps import Effort, FilterResult, IndexPrice, Phrasings, RetrievalResult
from harness.values import Part, Query, Ranking, Run, StageConfig, listed

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Searched:
    """The rankings of one setting by step, with notes on the search.

    ``rankings`` has the routes of a fusion first, by names with a dot (``retrieve.bm25``), then the steps in
    their order. ``asked`` are the queries as a rewriter put them, by step; none if nothing was rewritten.
    ``filtered`` is what filters made of the queries, by step. ``efforts``: what it took up to and with each
    step. ``exact_shares`` is the share of the true nearest chunks among what a retriever or a route has
    found, by its name; it is left out where that has no meaning, as for words. ``rewriting_costs`` is what
    language models were paid to rewrite all queries, by ``retrieve`` and its routes, no matter which run
    paid; None if a price is unknown. ``bought`` is by step and route what endpoints give for it, and
    ``paid`` what language models were paid that a retriever, a route or a reranker asks. ``configs`` are
    those of retrievers, routes and rerankers, and ``indexes`` what was built for a retriever or a route.

    Where something else is read than the chunks that were searched, ``chunking`` and ``rankings`` hold what
    would be read if the search ended with a step, and ``over_chunks`` is the same search by its chunks.
    """

    setting: Setting
    chunking: Chunking
    rankings: dict[str, list[Ranking]]
    notes: dict[str, Any]
    asked: dict[str, tuple[Query, ...]] = field(default_factory=dict)
    efforts: list[Effort] = field(default_factory=list)
    filtered: dict[str, tuple[FilterResult, ...]] = field(default_factory=dict)
    over_chunks: Searched | None = None
    exact_shares: dict[str, float] = field(default_factory=dict)
    rewriting_costs: dict[str, float | None] = field(default_factory=dict)
    bought: dict[str, Bought] = field(default_factory=dict)
    paid: dict[str, float | None] = field(default_factory=dict)
    configs: dict[str, StageConfig] = field(default_factory=dict)
    indexes: dict[str, tuple[IndexPrice, ...]] = field(default_factory=dict)

    @property
    def steps(self) -> tuple[str, ...]:
        """The names of the steps in their order, routes left out."""
        return tuple(name for name in self.rankings if not is_route(name))


def asked_rows(searched: Iterable[Searched]) -> Iterator[AskedRow]:
    """Every query as each step of each setting searched for it, where it was rewritten."""
    for result in searched:
        for step, queries in result.asked.items():
            phrasings: Counter[str] = Counter()
            for query in queries:
                phrasings[query.query_id] += 1
                yield AskedRow(
                    result.setting.name, step, query.query_id, phrasings[query.query_id], query.text
                )


@dataclass(frozen=True, slots=True)
class Chunked:
    """A setting with its chunks, and the seconds it took to cut them."""

    setting: Setting
    chunking: Chunking
    seconds: float = 0.0

    @property
    def texts(self) -> SearchedTexts:
        """What is searched."""
        bare = {chunk.chunk_id: chunk.text for chunk in self.chunking.chunks}
        return SearchedTexts(self.chunking.passages, bare)


def cut_for_all(
    settings: Sequence[Setting],
    corpora: Corpus | Mapping[str, Corpus],
    session: Session,
    done: Callable[[], None] = lambda: None,
    visitor: Visitor | None = None,
) -> list[Chunked]:
    """The chunks of every setting; a problem of several is reported once.

    ``corpora`` is the corpus of all settings, or that of each by its name. ``done`` is called after each.
    ``visitor`` meets what contexts and readers need; None: a run, which asks for what is missing.
    """
    visitor = visitor or Running(session)
    points: list[Chunked] = []
    problems: dict[tuple[str, tuple[tuple[str, str | int], ...]], list[str]] = {}
    of = {
        setting.name: corpora if isinstance(corpora, Corpus) else corpora[setting.name]
        for setting in settings
    }

    def sources_of(setting: Setting) -> RunSources:
        return RunSources(session, of[setting.name], session.models.tokenizer(setting.tokenizer))

    def note_problem(name: str, code: str, /, **values: str | int) -> None:
        problems.setdefault((code, tuple(values.items())), []).append(name)

    if session.engine.apart and session.may_ask:
        left = [setting for setting in settings if setting.name not in session.prepared.stored]
        cut_apart(((setting, sources_of(setting)) for setting in left), Resources(session))
    for setting in settings:
        begun = perf_counter()
        stored = session.prepared.stored.get(setting.name)
        if stored is None:
            chunking = chunk_corpus(
                setting, sources_of(setting), visitor, partial(note_problem, setting.name)
            )
        else:
            chunking = stored()
        points.append(Chunked(setting, chunking, perf_counter() - begun))
        done()
    for (code, values), names in problems.items():
        sentence = sentence_of(code, settings=listed(names, 3), **dict(values))
        session.notes.warn(sentence, settings=names)
    return points


def as_read(result: Searched) -> Searched:
    """The search with the text read in place of its chunks, by step."""
    reading = result.chunking.reading
    if reading is None:
        return result
    rankings = {step: list(map(reading.ranking, ranking)) for step, ranking in result.rankings.items()}
    return replace(result, chunking=reading.chunking(result.chunking), rankings=rankings, over_chunks=result)


def searching_of(point: Chunked, queries: Sequence[Query], models: RunModels) -> Run[Any]:
    """The search of a setting in its chunks, as a step."""
    return searching(point.setting, point.texts, queries, models.reranker)


@dataclass(slots=True)
class FoundBySettings:
    """Puts together what the settings have found, as their parts end.

    ``show`` is called with each as it gets rankings, as they are read.
    """

    points: Sequence[Chunked]
    queries: Sequence[Query]
    running: Running
    show: Callable[[Searched], None] = lambda _: None
    searched: dict[str, Searched] = field(default_factory=dict)
    configs: dict[str, dict[str, StageConfig]] = field(default_factory=dict)

    def ended(self, where: Where, part: Part, value: Any) -> None:
        """A step of a setting has its rankings."""
        if not part.name or where.what:
            return
        configs = self.configs.setdefault(where.setting, {})
        if part.config is not None:
            configs[where.stage] = part.config
        if "." in where.stage:
            return
        if isinstance(value, RetrievalResult):
            point = self.points[int(where.setting)]
            result = Searched(point.setting, point.chunking, {}, {"exact_share": value.exact_share})
            result = replace(result, configs=configs)
            self.searched[where.setting] = result
            _collect(value, RETRIEVE, result, tuple(self.queries), ())
            paid = self.running.paid.items()
            result.paid.update({stage: cost for (name, stage), cost in paid if name == where.setting})
            _note(result, RETRIEVE, Effort(point.seconds) + self._effort(where))
        elif isinstance(value, Reranked):
            result = self.searched[where.setting]
            result.rankings[where.stage] = value.rankings
            _note(result, where.stage, result.efforts[-1] + self._effort(where))
            if value.asked:
                result.paid[where.stage] = value.cost
        else:
            return
        bought = self.running.bought.items()
        result.bought.update({stage: amount for (name, stage), amount in bought if name == where.setting})
        self.show(as_read(result))

    def _effort(self, where: Where) -> Effort:
        """What a stage and its routes took."""
        return sum(
            (
                effort
                for (setting, stage), effort in self.running.efforts.items()
                if setting == where.setting and f"{stage}.".startswith(f"{where.stage}.")
            ),
            Effort(),
        )


def search_settings(
    points: Sequence[Chunked],
    queries: Sequence[Query],
    session: Session,
    found: Callable[[Searched], None] = lambda _: None,
) -> list[Searched]:
    """Rank all chunks of every setting for all queries; ``found`` is called with each as it gets rankings.

    The results are given as they are read.
    """
    running = Running(session)
    with session.notes.reporter.task("search", len(points)) as task:

        def show(result: Searched) -> None:
            found(result)
            if len(result.steps) == 1:
                task.advance()

        results = FoundBySettings(points, queries, running, show)
        running.watch = results.ended
        Loop(running).run(
            {str(at): searching_of(point, queries, session.models) for at, point in enumerate(points)}
        )
    return [as_read(results.searched[str(at)]) for at in range(len(points))]


def run_step(run: Run[T], visitor: Visitor) -> T:
    """What a single step returns, its needs met by ``visitor``."""
    result: T = Loop(visitor).run({"0": run})["0"]
    return result


_Rewritings = tuple[Phrasings, ...]


def _collect(
    output: RetrievalResult, name: str, result: Searched, queries: tuple[Query, ...], before: _Rewritings
) -> _Rewritings:
    """Put the routes of a fusion before what was made of them, each under its full name.

    ``before`` are the rewritings of what it is a route of; returns these and all that were made for it.
    """
    rewritings = made = (*before, *output.rewritings)
    for route in output.routes:
        rewritings += _collect(route, f"{name}.{route.name}", result, queries, made)
    # each once, as routes share them; None if a price is unknown
    costs = [made.cost for made in {id(rewriting): rewriting for rewriting in rewritings}.values()]
    result.rewriting_costs[name] = None if None in costs else math.fsum(cost for cost in costs if cost)
    result.rankings[name] = output.rankings
    # routes may share an index
    of_routes = (result.indexes[f"{name}.{route.name}"] for route in output.routes)
    result.indexes[name] = tuple(dict.fromkeys(chain(output.indexes, *of_routes)))
    if output.exact_share is not None:
        result.exact_shares[name] = output.exact_share
    if output.asked != queries:
        result.asked[name] = output.asked
    if output.filtered:
        # a query may be asked in several texts
        result.filtered[name] = tuple({its.query_id: its for its in output.filtered}.values())
    return rewritings


def _note(result: Searched, step: str, effort: Effort) -> None:
    """Keep, by step, the seconds up to and with it, and the share of its values that had to be computed."""
    result.notes.setdefault("seconds", {})[step] = effort.seconds
    result.notes.setdefault("computed_share", {})[step] = (
        effort.computed / effort.values if effort.values else 0.0
    )
    result.efforts.append(effort)
