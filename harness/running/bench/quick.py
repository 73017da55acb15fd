"""What is fast runs first: settings that need no model, their first means, and an estimate of the rest."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

from harness.comparison import sentence_of
from harness.running.bench.preparing import prepare
from harness.running.bench.spread import Work
from harness.running.compute import LocalPass
from harness.running.config.models import BenchConfig, Setting
from harness.running.corpora import Corpora
from harness.running.evaluate.evaluating import run_headline
from harness.running.judging.judged import pool_judge_config
from harness.running.model_time import LeftOfModel, Remaining, spread_over, texts_left
from harness.running.note_wordings import RUN
from harness.running.pipeline import last_stage
from harness.running.planning import Planning, plan_settings
from harness.running.search import Chunked, Searched
from harness.running.session import Session
from harness.steps import LocalModelScorer
from harness.store import Faults
from harness.values import ConfigError, Reporter, Sentence, counted, listed, number, worded

# Keys by which a step names what takes long: a model, an endpoint or a service, code of the user.
_ELSEWHERE = frozenset(("endpoint", "url", "call"))
_SLOW = _ELSEWHERE | {"model", "models"}
_SEARCH = ("chunk", "context", "rewrite", "filter", "retrieve", "rerank", "read", "answer")
_SHOWN = 4


def is_quick(setting: Setting) -> bool:
    """Whether a setting names no model, endpoint, service or code, as a search by words alone does."""
    return not _names(setting, _SLOW)


def _names(setting: Setting, keys: Set[str]) -> bool:
    """Whether a step of a setting has one of the keys, with a value."""
    whole = setting.model_dump(mode="json")
    return any(_has(whole[step], keys) for step in _SEARCH)


def _has(value: Any, keys: Set[str]) -> bool:
    if isinstance(value, Mapping):
        return any((key in keys and bool(part)) or _has(part, keys) for key, part in value.items())
    return isinstance(value, list | tuple) and any(_has(part, keys) for part in value)


def quick_part(config: BenchConfig) -> BenchConfig:
    """The benchmark with its quick settings alone, whose results lie beside those of the whole.

    Raises ConfigError where there is none, or where a language model judges.
    """
    quick = tuple(setting for setting in config.settings if is_quick(setting))
    if not quick:
        raise ConfigError(
            f"{config.name}: every setting needs a model, so --quick has nothing to run. Add one that "
            "searches by words, such as retrieve: {kind: bm25, top_k: 20}, or run without --quick."
        )
    if pool_judge_config(config) is not None:
        raise ConfigError(
            f"{config.name}: a language model judges, so that nothing is scored at once. Run without "
            "--quick; --dry-run says what that takes."
        )
    return config.model_copy(update={"settings": quick, "name": f"{config.name}-quick"})


def left_out(config: BenchConfig, reporter: Reporter, whole: str) -> str:
    """How many settings a quick run leaves out, what they will take, and the ``whole`` command."""
    others = [setting for setting in config.settings if not is_quick(setting)]
    with Session.at(config.cache, reporter, precision=config.precision, engine=config.engine) as session:
        corpora, points = prepare(config, session, Planning(session))
        rest = [point for point in points if not is_quick(point.setting)]
        apart = session.engine.apart
        planning = Planning(session.again())
        needs = None if apart else left_of(rest, corpora, config, planning)
        left = None if needs is None else needs.takes(session.artifacts, stored=True)
    code = "quick.unknown" if apart else "quick.left out" if left else "quick.stored"
    code += ".one" if len(others) == 1 else ""
    total = counted(len(config.settings), "setting")
    return f"{sentence_of(code, count=len(others), total=total, takes=left or '')} {whole}"


@dataclass(slots=True)
class FirstResults:
    """Notes the means of the settings that need no model once all of them are searched, the best first.

    ``stages`` is by setting the step that ends its search; ``rest`` then finds out what the others take.
    """

    stages: Mapping[str, str]
    rest: Callable[[], Sentence]
    measure: str
    reporter: Reporter
    means: dict[str, float | None] = field(default_factory=dict)

    def scored(self, result: Searched, mean: Callable[[str], float | None]) -> None:
        """A setting has new rankings; ``mean`` gives that of the headline at a stage."""
        name = result.setting.name
        if self.stages.get(name) != result.steps[-1]:
            return
        self.means[name] = mean(result.steps[-1])
        if len(self.means) < len(self.stages):
            return
        # a mean of no query comes last
        best_first = sorted(self.means.items(), key=lambda pair: math.inf if pair[1] is None else -pair[1])
        shown = listed([f"{name} {number(mean)}" for name, mean in best_first], _SHOWN)
        self.reporter.note(worded(RUN, "quick.first", measure=self.measure, means=shown))
        self.reporter.note(self.rest())


def first_results(
    corpora: Corpora, points: Sequence[Chunked], config: BenchConfig, session: Session
) -> FirstResults | None:
    """What shows the first results of a search; None where there is nothing to show, or to score by.

    That is where all settings are quick, or the others are stored already. Where none is quick, or a language
    model judges, what models take is noted at once.
    """
    quick = [point for point in points if is_quick(point.setting)]
    rest = [point for point in points if not is_quick(point.setting)]
    if not rest or session.engine.apart:
        return None
    # damage is told where the run itself meets it, and computes anew
    left = left_of(rest, corpora, config, Planning(replace(session.again(), faults=Faults())))
    if left is None:
        return None

    def sentence() -> Sentence:
        return worded(RUN, "quick.to go", count=len(rest), takes=left.takes(session.artifacts))

    if not quick or pool_judge_config(config) is not None:
        session.notes.reporter.note(sentence())
        return None
    stages = {point.setting.name: last_stage(point.setting) for point in quick}
    return FirstResults(stages, sentence, run_headline(config), session.notes.reporter)


def left_of(
    points: Sequence[Chunked], corpora: Corpora, config: BenchConfig, planning: Planning
) -> Remaining | None:
    """What models still have to compute for settings; None: nothing, as all that they compute is stored."""
    queries = corpora.united.queries.queries
    planned = plan_settings(points, queries, planning)
    if all(planned.searched):
        return None
    work = Work(points, planned, queries, config)
    left = [*_texts(work), *_pairs(work)]
    elsewhere = any(_names(point.setting, _ELSEWHERE) for point in points)
    return Remaining(left, elsewhere) if left or elsewhere else None


def _texts(work: Work) -> Iterator[LeftOfModel]:
    for name, model, items, _ in work.texts():
        if items and isinstance(model, LocalPass):
            yield texts_left(name, model, list(items.values()))


def _pairs(work: Work) -> Iterator[LeftOfModel]:
    """At most so many pairs, as settings share them."""
    for name, model, count, characters, some in work.pairs():
        if count and isinstance(model, LocalPass) and isinstance(model.model, LocalModelScorer):
            if model.model.reads_once:
                characters = min(characters, _characters(work))
            amount = f"at most {counted(count, 'pair')} to score by {name}"
            yield LeftOfModel(model, amount, characters, spread_over(some))


def _characters(work: Work) -> int:
    """The characters of all queries and of every passage that settings may score, each once."""
    every: set[str] = {query.text for query in work.queries}
    for point in work.points:
        passages = point.texts.passages
        every.update(point.texts.bare.values(), passages.texts)
        every.update(*(other.texts for other in passages.by_context.values()))
    return sum(map(len, every))
