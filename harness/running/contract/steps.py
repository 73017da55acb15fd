"""The user-defined steps of a configuration, and the checks of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.data import PythonParserConfig, find_documents, suffixes_of
from harness.running.config.models import BenchConfig
from harness.running.contract.contracts import CONTRACTS, Check
from harness.steps import (
    RERANKERS,
    RETRIEVERS,
    REWRITERS,
    EndpointRerankerConfig,
    PythonChunkerConfig,
    RetrieverConfig,
)
from harness.values import StageConfig, kind_of

_MOST_FILES = 3


@dataclass(frozen=True, slots=True)
class OwnStep:
    """A user-defined step: its role, its name and its configuration."""

    role: str
    name: str
    config: Any
    files: tuple[Path, ...] = ()

    def checks(self) -> list[Check]:
        """The checks of its contract; raises ConfigError if it cannot be tried."""
        given = (self.config, self.files) if self.role == "parser" else (self.config,)
        return CONTRACTS[self.role](*given).checks()


def own_steps(config: BenchConfig) -> list[OwnStep]:
    """The steps of kind `python` and `http`, and rerankers with a request of their own, each once."""
    found: dict[tuple[str, str], OwnStep] = {}
    for role, one in _all(config):
        if one is not None and _is_own(one):
            files: tuple[Path, ...] = ()
            if isinstance(one, PythonParserConfig):
                endings = suffixes_of(one)
                every = find_documents(config.documents, Path(), endings)
                files = tuple(file.path for file in every if file.path.suffix.lower() in endings)
            found.setdefault(
                (role, one.model_dump_json()), OwnStep(role, _name(one), one, files[:_MOST_FILES])
            )
    return list(found.values())


def step_of_call(
    role: str, call: str, arguments: dict[str, Any], returns: str, files: Sequence[Path]
) -> OwnStep:
    """A function by its name, as a step; raises ValidationError for a name that is none."""
    fields: dict[str, Any] = {"call": call, "version": "check", "arguments": arguments}
    if role == "retriever":
        config: StageConfig = RETRIEVERS["python"].config(**fields, returns=returns)
    elif role == "chunker":
        config = PythonChunkerConfig(**fields)
    elif role == "parser":
        endings = tuple(dict.fromkeys(path.suffix.lower() for path in files)) or (".pdf",)
        config = PythonParserConfig(**fields, suffixes=endings)
    else:
        config = {"reranker": RERANKERS, "rewriter": REWRITERS}[role]["python"].config(**fields)
    return OwnStep(role, call, config, tuple(files))


def _all(config: BenchConfig) -> Iterator[tuple[str, StageConfig | None]]:
    for setting in config.settings:
        yield "parser", setting.parse
        yield "chunker", setting.chunk
        yield "rewriter", setting.rewrite
        yield from _retrieving(setting.retrieve)
        for reranker in setting.rerank:
            yield "reranker", reranker


def _retrieving(retriever: RetrieverConfig) -> Iterator[tuple[str, StageConfig | None]]:
    yield "rewriter", retriever.rewrite
    yield "retriever", retriever
    for part in retriever.parts:
        yield from _retrieving(part)


def _name(config: Any) -> str:
    if isinstance(config, EndpointRerankerConfig):
        return config.endpoint.base_url + config.endpoint.path
    name: str = config.url if kind_of(config) == "http" else config.call
    return name


def _is_own(config: StageConfig) -> bool:
    if isinstance(config, EndpointRerankerConfig):
        return config.endpoint.request is not None
    return kind_of(config) in ("python", "http")
