"""What one run shares: its cache, where models compute, the models, and its notes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness import store, values
from harness.models import Precision
from harness.running.document_reader import DocumentReader
from harness.running.engine import Engine, EngineConfig, LocalEngine
from harness.running.engines import make_engine
from harness.running.notes import RunNotes
from harness.running.run_models import RunModels
from harness.store import Artifacts, CacheLayout, Faults, KeyValue, Lock
from harness.values import Chunk, Reporter


@dataclass(slots=True)
class Prepared:
    """What was made before a search, by the keys of what it was made of."""

    chunks: dict[str, tuple[Chunk, ...]] = field(default_factory=dict)
    """All chunks of a text, a chunker and a tokenizer."""
    lengths: dict[str, NDArray[np.int32]] = field(default_factory=dict)
    """The tokens of chunks that workers have cut, until they are examined."""
    stored: dict[str, Callable[[], Any]] = field(default_factory=dict)
    """By setting what makes the chunks of an existing collection."""
    rows_read: dict[str, Any] = field(default_factory=dict)
    """By existing collection its rows as they were read, and who searches them."""


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
class Session:
    """One run: its cache, its engine, its models and its notes.

    As a context manager it warns at the end of what was wrong with the cache. The engine and whole jobs take
    it. Other code takes a part: ``notes`` to warn, count or time, ``models``, the ``document_reader``,
    the path of the ledger, or a visitor over it, which meets the needs of steps.
    """

    cache: CacheLayout
    notes: RunNotes
    may_ask: bool = True
    """False: language models are not asked, as in a plan."""
    engine: Engine = field(default_factory=LocalEngine)
    """Where models compute."""
    faults: Faults = field(default_factory=Faults)
    prepared: Prepared = field(default_factory=Prepared)
    models: RunModels = field(default_factory=RunModels)
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
    ) -> Session:
        """A fresh session over the folder ``cache``, no URL; models compute where ``engine`` says."""
        layout = _layout_of(cache)
        place = make_engine(engine or EngineConfig(), reporter)
        session = cls(layout, RunNotes(reporter), may_ask=may_ask, engine=place, _in_use=layout.use())
        if precision == "fast":
            session.models.probes = session.artifacts
        return session

    def refuse_unless_asking(self, model: str) -> None:
        """Raise RuntimeError where a plan, which meets needs without calls, is about to call a model."""
        if not self.may_ask:
            raise RuntimeError(f"{model} would be called where nothing may be spent")

    def again(self) -> Session:
        """A quiet session over the same cache, engine and models, which asks nothing and counts apart."""
        quiet = Session(self.cache, RunNotes(values.Silent()), False, self.engine, self.faults)
        return replace(quiet, models=self.models)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *failure: object) -> None:
        for sentence in self.faults.sentences():
            self.notes.reporter.warn(sentence)
        self.engine.close()
        if self._in_use is not None:
            self._in_use.release()

    @property
    def artifacts(self) -> Artifacts:
        """The cache of stage outputs."""
        return Artifacts(self.cache.artifacts, self.faults)

    @property
    def document_reader(self) -> DocumentReader:
        """What reads the documents."""
        return DocumentReader(self.artifacts, self.engine, self.notes)

    @property
    def collections(self) -> store.CollectionFolders:
        """The cache of indexes."""
        return store.CollectionFolders(self.cache.chroma, self.faults)

    def values(self, what: str, path: Path) -> KeyValue:
        """A file of the cache with many small values, to be closed after use."""
        return KeyValue(path, self.faults, what)
