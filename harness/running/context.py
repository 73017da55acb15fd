"""The state shared by all steps of a run: cache, reporter, clock, counters, loaded models."""

from __future__ import annotations

import platform
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from harness import models, steps, store, values
from harness.models import LocalConfig, LocalEncoder, Precision
from harness.running.engine import Engine, EngineConfig, LocalEngine
from harness.running.engines import make_engine
from harness.store import Artifacts, CacheLayout, Faults, KeyValue, Lock, digest_of, key_of
from harness.values import Chunk, RecordingReporter, Reporter, ResultWarning, StageConfig, WarningKind

if TYPE_CHECKING:
    from harness.models import Probe


@dataclass(slots=True)
class Bills:
    """What language models and endpoints were asked for, and what it cost."""

    spent: dict[str, models.Spending] = field(default_factory=dict)
    """What steps have asked of language models, by prompt and model."""
    purposes: dict[str, models.Purpose] = field(default_factory=dict)
    """What for."""
    within_limits: dict[str, models.Spending] = field(default_factory=dict)
    """What counts towards one ``max_cost`` and ``max_calls``."""
    served: dict[str, models.Spending] = field(default_factory=dict)
    """What was asked of endpoints, by model."""
    looked_up: dict[str, set[bytes]] = field(default_factory=dict)
    """Which of their numbers were needed, by model."""

    @property
    def calls(self) -> int:
        """How many calls of language models were made."""
        return sum(spent.calls for spent in self.spent.values())


@dataclass(slots=True)
class Prepared:
    """What was made before a search, by the keys of what it was made of."""

    chunks: dict[str, tuple[Chunk, ...]] = field(default_factory=dict)
    """All chunks of a text, a chunker and a tokenizer."""
    lengths: dict[str, NDArray[np.int32]] = field(default_factory=dict)
    """The tokens of chunks that workers have cut, until they are examined."""
    stored: dict[str, Callable[[], Any]] = field(default_factory=dict)
    """By setting what makes the chunks of a collection that is there already."""


Local = TypeVar("Local", bound=StageConfig)


@dataclass(slots=True)
class Models:
    """The models of a run, made once per configuration; they load their weights when first used.

    With ``probes``, those on this machine whose configuration leaves open how to compute do so in the
    fastest way there is, which is found and kept there.
    """

    probes: Artifacts | None = None
    _probed: dict[tuple[type, str, str | None], Probe] = field(default_factory=dict)
    _loaded: dict[StageConfig, Any] = field(default_factory=dict)
    """What a probe has loaded, until it is used."""
    compared: dict[str, dict[str, float]] = field(default_factory=dict)
    """How far rankings differ from exact ones, by the names of the models; see ``running/precision.py``."""
    _encoders: dict[models.EncoderConfig, models.Encoder] = field(default_factory=dict)
    _rerankers: dict[str, steps.PairScorer] = field(default_factory=dict)
    _tokenizers: dict[str, models.AnyTokenizer] = field(default_factory=dict)

    def encoder(self, config: models.EncoderConfig) -> models.Encoder:
        """The encoder of a configuration."""
        config = self._fast(config)
        if config not in self._encoders:
            self._encoders[config] = self._loaded.pop(config, None) or config.make()
        return self._encoders[config]

    def tokenizer(self, name: str) -> models.AnyTokenizer:
        """The tokenizer of the model called ``name``, whose weights are not loaded, or that of words."""
        if name not in self._tokenizers:
            self._tokenizers[name] = models.tokenizer_named(name)
        return self._tokenizers[name]

    def reranker(self, config: steps.RerankerConfig) -> steps.PairScorer:
        """The pair scorer of a configuration; those that differ in what they read are the same."""
        key = config.model_copy(update={"top_n": 1, "reads_context": True}).model_dump_json()
        if key not in self._rerankers:
            fast = self._fast(config)
            self._rerankers[key] = self._loaded.pop(fast, None) or steps.RERANKERS.make(fast)
        return self._rerankers[key]

    def is_fast(self, config: models.EncoderConfig | steps.RerankerConfig) -> bool:
        """Whether the model of a configuration computes in another way than without ``probes``."""
        return self._fast(config) != config

    @property
    def probed(self) -> dict[str, Probe]:
        """What was found, by the names of the models."""
        return {name: probe for (_, name, _), probe in self._probed.items()}

    @property
    def exact(self) -> dict[str, LocalConfig]:
        """By name, the configurations of models on this machine that compute in float32 by torch."""
        loaded = [*self._encoders.values(), *self._rerankers.values()]
        configs = [
            model.config for model in loaded if isinstance(model, LocalEncoder | steps.LocalModelScorer)
        ]
        return {config.model: config for config in configs if config.way == models.EXACT}

    def _fast(self, config: Local) -> Local:
        if self.probes is None or not isinstance(config, LocalConfig) or config.way != models.EXACT:
            return config
        key = type(config), config.model, config.device
        model = None
        if key not in self._probed:
            self._probed[key], model = probe_of(config, self.probes)
        fast = config.model_copy(update=self._probed[key].way._asdict())
        if model is not None:
            self._loaded[fast] = model
        return fast

    def try_out(self, tried: Artifacts) -> None:
        """Load every model that is in use and try it on a word; raises ModelError for a damaged one.

        A model that has passed is not loaded again while its files, its settings, the libraries and the
        machine are the same; ``tried`` is where that is kept.
        """
        # an endpoint is sent nothing before there is a real request
        encoders = [encoder for encoder in self._encoders.values() if isinstance(encoder, LocalEncoder)]
        models: list[LocalEncoder | steps.PairScorer] = [*encoders, *self._rerankers.values()]
        for model in models:
            if not isinstance(model, LocalEncoder | steps.LocalModelScorer):
                model.try_out()
                continue
            facts = type(model).__name__, model.model.fingerprint, model.config.model_dump(mode="json")
            key = key_of(*facts, program_key(), platform.node())
            if tried.get("tried", key) is None:
                model.try_out()
                tried.put("tried", key, True)

    def describe(self) -> dict[str, dict[str, str]]:
        """The models in use, by name, for the run record; one used in two ways also by what differs."""
        used = [encoder.describe() for encoder in self._encoders.values()]
        used += [scorer.describe() for scorer in self._rerankers.values()]
        described: dict[str, dict[str, str]] = {}
        for facts in used:
            first = described.setdefault(facts["name"], facts)
            if differs := [value for key, value in facts.items() if value != first.get(key)]:
                described[f"{facts['name']} ({', '.join(differs)})"] = facts
        return described


def probe_of(config: LocalConfig, stored: Artifacts) -> tuple[Probe, models.LocalModel[Any] | None]:
    """How long a model takes in every way, measured unless ``stored`` has it; and the fastest, if loaded."""

    def make(way: models.Way) -> models.LocalModel[LocalConfig]:
        changed = config.model_copy(update=way._asdict())
        model = changed.make() if isinstance(changed, models.EncoderConfig) else steps.RERANKERS.make(changed)
        return cast("models.LocalModel[LocalConfig]", model)

    return models.probe(make(models.EXACT), make, stored)


def _layout_of(cache: Path) -> CacheLayout:
    scheme, url, _ = cache.as_posix().partition(":/")
    if url and scheme.isalnum() and len(scheme) > 1:  # a drive has one letter
        raise values.ConfigError(f"cache: {cache} is a URL. Name a folder here; shared_cache may be a URL.")
    return CacheLayout(cache)


@contextmanager
def in_use(cache: Path) -> Iterator[None]:
    """Keep `harness cache` from emptying the folder during the with block, where something can be written."""
    user = _layout_of(cache).use()
    try:
        yield
    finally:
        if user is not None:
            user.release()


@dataclass(slots=True)
class Context:
    """The state of one run.

    As a context manager it warns at the end of what was wrong with the cache.
    """

    cache: CacheLayout
    reporter: Reporter
    may_ask: bool = True
    """False: language models are not asked, as in a plan."""
    engine: Engine = field(default_factory=LocalEngine)
    """Where models compute."""
    faults: Faults = field(default_factory=Faults)
    begun: datetime = field(default_factory=lambda: datetime.now(UTC))
    timings: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    """The seconds of its stages."""
    counts: Counter[str] = field(default_factory=Counter)
    """The counters of its record."""
    bills: Bills = field(default_factory=Bills)
    prepared: Prepared = field(default_factory=Prepared)
    models: Models = field(default_factory=Models)
    warnings: list[ResultWarning] = field(default_factory=list)
    """What bears on numbers of the result."""
    panels: dict[str, dict[str, Any]] = field(default_factory=dict)
    """How the models of panels voted, by measure of answers."""
    _in_use: Lock | None = None

    @classmethod
    def at(
        cls,
        cache: Path,
        reporter: Reporter,
        *,
        may_ask: bool = True,
        precision: Precision = "exact",
        engine: EngineConfig | None = None,
    ) -> Context:
        """A fresh context over the folder ``cache``, no URL; models compute where ``engine`` says."""
        layout = _layout_of(cache)
        engine_made = make_engine(engine or EngineConfig(), reporter)
        context = cls(layout, reporter, may_ask=may_ask, engine=engine_made, _in_use=layout.use())
        if precision == "fast":
            context.models.probes = context.artifacts
        return context

    def refuse_unless_asking(self, model: str) -> None:
        """Raise RuntimeError where a plan, which meets needs without calls, is about to call a model."""
        if not self.may_ask:
            raise RuntimeError(f"{model} would be called where nothing may be spent")

    def again(self) -> Context:
        """The same, for what was done before: it asks nothing, says nothing and counts for itself."""
        quiet = Context(self.cache, values.Silent(), False, self.engine, self.faults)
        return replace(quiet, models=self.models)

    def __enter__(self) -> Context:
        return self

    def __exit__(self, *failure: object) -> None:
        for sentence in self.faults.sentences():
            self.reporter.warn(sentence)
        self.engine.close()
        if self._in_use is not None:
            self._in_use.release()

    @property
    def artifacts(self) -> Artifacts:
        """The cache of stage outputs."""
        return Artifacts(self.cache.artifacts, self.faults)

    @property
    def collections(self) -> store.CollectionFolders:
        """The cache of indexes."""
        return store.CollectionFolders(self.cache.chroma, self.faults)

    def values(self, what: str, path: Path) -> KeyValue:
        """A file of the cache with many small values, to be closed after use."""
        return KeyValue(path, self.faults, what)

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the wall time of the with block, in seconds, to ``stage``."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.timings[stage] += time.perf_counter() - start

    def warn(
        self, kind: WarningKind, text: str, measures: Iterable[str] = (), settings: Iterable[str] = ()
    ) -> None:
        """Warn of what bears on numbers (see ``ResultWarning``): said at once, and kept with the result."""
        self.warnings.append(ResultWarning(kind, text, tuple(measures), tuple(settings)))
        self.reporter.warn(text)

    def keeping(self, kind: WarningKind) -> Reporter:
        """The reporter for a step whose warnings all bear on numbers."""
        return RecordingReporter(self.reporter, lambda text: self.warnings.append(ResultWarning(kind, text)))


_METADATA = (".dist-info", ".egg-info")


@lru_cache(maxsize=1)
def program_key() -> str:
    """A hash of everything in the package, of Python and of the libraries: names and versions of all.

    The content of libraries is not read; after editing an installed one, run with ``--again``.
    """
    digest = digest_of(Path(__file__).parents[1]).hex()
    return key_of(digest, sys.version, platform.machine(), sorted(_libraries()))


def _libraries() -> set[str]:
    """The folders of metadata of what is installed, which are called by name and version.

    But for our own: a checkout has one, which is seen only where the path of imports leads there. And but for
    what a package brings along, as Ray does: that is on the path only once the package is imported.
    """
    entries = [Path(entry) for entry in sys.path if entry]
    folders = [entry for entry in entries if entry.is_dir() and not (entry.parent / "__init__.py").is_file()]
    names = {path.name for folder in folders for path in folder.iterdir() if path.suffix in _METADATA}
    return {name for name in names if not name.startswith("ndcg_harness")}
