"""What stages cost: counted on a first part of the text, and in proportion on all of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from harness.running.bench.plan import placeholder_rankings
from harness.running.bench.preparing import prepare
from harness.running.bench.spread import Work
from harness.running.compute import LocalPass, ServedPass
from harness.running.config.models import BenchConfig
from harness.running.config.tune_keys import PartConfig
from harness.running.corpora import Corpora
from harness.running.judging.judged import pool_judge_config
from harness.running.judging.pool import estimate_pool, make_pool
from harness.running.model_time import LeftOfModel, speed_by_model
from harness.running.planning import Left, Planning, plan_settings
from harness.running.search import Chunked
from harness.running.session import Session
from harness.store import Artifacts, CacheLayout

# Seconds of a processor that every setting takes besides its models: to cut and index a character, and to
# search and score a query (docs/scale.md, a million chunks and 10,000 queries).
PER_CHARACTER = 1.8e-6
PER_QUERY = 2.4e-3


@dataclass(frozen=True, slots=True)
class Outlay:
    """What something takes: ``seconds`` of computing here, and ``money`` in the unit of the prices."""

    seconds: float = 0.0
    money: float = 0.0

    def __add__(self, other: Outlay) -> Outlay:
        return Outlay(self.seconds + other.seconds, self.money + other.money)

    def times(self, factor: float) -> Outlay:
        """So many times as much."""
        return Outlay(self.seconds * factor, self.money * factor)

    def share_of(self, whole: Outlay) -> float:
        """The larger of its shares of the seconds and of the money of a whole."""
        seconds = self.seconds / whole.seconds if whole.seconds else 0.0
        return max(seconds, self.money / whole.money if whole.money else 0.0)


@dataclass(frozen=True, slots=True)
class Outlays:
    """What the settings of a sweep take on a first part, by what it grows with.

    ``text`` is for all settings, ``single`` for one of them on average: settings share vectors. ``query`` is
    for a query and a setting, ``judging`` for a query and all settings. ``sizes`` is by share of the text how
    many times as large as the first part it is.
    """

    settings: int
    queries: int
    text: Outlay
    single: Outlay
    query: Outlay
    judging: Outlay

    def of_text(self, settings: int, size: float) -> Outlay:
        """Some settings on so many times the text of the first part."""
        shared = min(1.0, settings * _ratio(self.single, self.text))
        return self.text.times(size * shared)

    def of_queries(self, settings: int, queries: float) -> Outlay:
        """Some settings on so many queries."""
        judged = self.judging.times(queries * settings / self.settings)
        return self.query.times(queries * settings) + judged


def _ratio(part: Outlay, whole: Outlay) -> float:
    return part.share_of(whole)


@dataclass(frozen=True, slots=True)
class CountedPart:
    """A configuration on a part, with its documents read and its settings cut, to be counted."""

    config: BenchConfig
    corpora: Corpora
    points: Sequence[Chunked]

    @classmethod
    def of(cls, config: BenchConfig, part: PartConfig, session: Session) -> CountedPart:
        """Read and cut a part."""
        first = config.model_copy(update={"part": part})
        return cls(first, *prepare(first, session, Planning(session)))


def outlays(cut: CountedPart, session: Session) -> Outlays:
    """What settings take on a part if nothing is stored: a plan does not depend on the cache."""
    first, corpora, points = cut.config, cut.corpora, cut.points
    queries = corpora.united.queries.queries
    with TemporaryDirectory() as folder:
        blank = replace(session.again(), cache=CacheLayout(Path(folder)))
        planned = plan_settings(points, queries, Planning(blank))
        work = Work(points, planned, queries, first)
        text = sum(
            (_texts(model, list(items.values()), session.artifacts) for _, model, items, _ in work.texts()),
            Outlay(),
        )
        alone = sum((_of_setting(needs, session.artifacts) for needs in _by_setting(planned.left)), Outlay())
        pairs = sum(
            (
                _pairs(model, count, characters, some, session.artifacts)
                for _, model, count, characters, some in work.pairs()
            ),
            Outlay(),
        )
    calls = Outlay(money=sum(call.estimate.price or 0.0 for call in planned.calls))
    characters = sum(len(document.text) for document in corpora.united.documents)
    light = Outlay(seconds=PER_CHARACTER * characters * len(points))
    count, cells = len(points), len(points) * max(len(queries), 1)
    # what is asked of language models grows with the queries, as rewriting and reranking do
    query = (pairs + calls).times(1 / cells) + Outlay(seconds=PER_QUERY)
    judging = _judging(points, corpora, first, session.cache.ledger, Planning(session))
    judging = judging.times(1 / max(len(queries), 1))
    return Outlays(count, len(queries), text + light, (alone + light).times(1 / count), query, judging)


def _by_setting(left: Sequence[Left]) -> list[list[Left]]:
    """The texts that each setting needs."""
    needs: dict[int, list[Left]] = {}
    for need in left:
        if need.whose:
            needs.setdefault(need.setting, []).append(need)
    return list(needs.values())


def _of_setting(needs: Sequence[Left], artifacts: Artifacts) -> Outlay:
    """What the texts of a setting take if no other setting needs them."""
    return sum((_texts(need.model, list(need.items.values()), artifacts) for need in needs), Outlay())


def _texts(model: object, texts: list[str], artifacts: Artifacts) -> Outlay:
    if isinstance(model, ServedPass):
        return Outlay(money=model.pending(texts, 0).estimate.price or 0.0)
    if not isinstance(model, LocalPass) or not texts:
        return Outlay()
    left = LeftOfModel(model, "", sum(map(len, texts)), [text for text in texts if text][:32])
    return _computing(left, artifacts)


def _pairs(model: object, count: int, characters: float, some: list[object], artifacts: Artifacts) -> Outlay:
    if isinstance(model, ServedPass) and some:
        return Outlay(money=(model.pending(some, 0).estimate.price or 0.0) * count / len(some))
    if not isinstance(model, LocalPass) or not some:
        return Outlay()
    left = LeftOfModel(model, "", characters, some[:32])
    return _computing(left, artifacts)


def _computing(left: LeftOfModel, artifacts: Artifacts) -> Outlay:
    """What a model takes here, by its speed in earlier runs or on a sample; nothing where all is empty."""
    speed = speed_by_model(left, artifacts, stored=True)
    return Outlay(seconds=left.characters / speed) if speed else Outlay()


def _judging(
    points: Sequence[Chunked], corpora: Corpora, config: BenchConfig, ledger: Path, planning: Planning
) -> Outlay:
    """About what judging the pool of all settings costs, by chunks from all over in the place of hits."""
    judge = pool_judge_config(config)
    if judge is None:
        return Outlay()
    queries = corpora.united.queries.queries
    places: Counter[str] = Counter()
    shifted = []
    for point in points:
        # settings that search the same chunks are taken to find others each
        places[point.chunking.key] += 1
        shifted.append(placeholder_rankings([point], queries, places[point.chunking.key])[0])
    pool = make_pool(list(map(corpora.in_united, shifted)), corpora.united, judge.pool)
    estimate = estimate_pool(pool.pairs, judge, ledger, planning, corpora.united)
    price = 0.0 if estimate is None else (estimate.likely_price or estimate.price or 0.0)
    return Outlay(money=price)
