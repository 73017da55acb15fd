"""The user-defined steps of a configuration, and the checks of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    for setting in config.settings:
        steps: list[tuple[str, StageConfig | None]] = [("parser", setting.parse), ("chunker", setting.chunk)]
        steps.append(("rewriter", setting.rewrite))
        for retriever in setting.retrieve.every():
            steps += [("rewriter", retriever.rewrite), ("retriever", retriever)]
        steps += [("reranker", reranker) for reranker in setting.rerank]
        for role, step in steps:
            if step is None or not (name := _name_of_own(step)):
                continue
            files: tuple[Path, ...] = ()
            if isinstance(step, PythonParserConfig):
                endings = suffixes_of(step)
                every = find_documents(config.documents, Path(), endings)
                files = tuple(file.path for file in every if file.path.suffix.lower() in endings)
            own = OwnStep(role, name, step, files[:_MOST_FILES])
            found.setdefault((role, step.model_dump_json()), own)
    return list(found.values())


def _name_of_own(config: StageConfig) -> str:
    """The name of a user-defined step, '' for one of ours."""
    if isinstance(config, EndpointRerankerConfig):
        endpoint = config.endpoint
        return "" if endpoint.request is None else endpoint.base_url + endpoint.path
    return str(getattr(config, {"python": "call", "http": "url"}.get(kind_of(config), ""), ""))


def step_of_call(
    role: str, call: str, arguments: dict[str, Any], returns: str, files: Sequence[Path]
) -> OwnStep:
    """A function by its name, as a step; raises ValidationError for a name that is none."""
    fields: dict[str, Any] = {"call": call, "version": "check", "arguments": arguments}
    if role == "retriever":
        fields["returns"] = returns
    if role == "parser":
        fields["suffixes"] = tuple(dict.fromkeys(path.suffix.lower() for path in files)) or (".pdf",)
    models: dict[str, Callable[..., StageConfig]] = {
        "parser": PythonParserConfig,
        "chunker": PythonChunkerConfig,
        "retriever": RETRIEVERS["python"].config,
        "reranker": RERANKERS["python"].config,
        "rewriter": REWRITERS["python"].config,
    }
    return OwnStep(role, call, models[role](**fields), tuple(files))
