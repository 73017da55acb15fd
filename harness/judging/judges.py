"""The judge that a configuration names, with what it needs to work: a ledger, or a model of the pipeline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.config import BenchConfig
from harness.errors import ConfigError
from harness.judge import (
    KINDS,
    CosineConfig,
    LlmConfig,
    LlmJudge,
    PanelConfig,
    PanelJudge,
    RerankerConfig,
)
from harness.judge.examples import Example, candidates_of
from harness.judge.llm import llm_name
from harness.judge.prompting import load_prompt
from harness.judge.threshold import ThresholdJudge, same_model_warning, threshold_name
from harness.kinds import StageConfig
from harness.models import EMBEDDED, resolve
from harness.models.encoder import EmbedConfig
from harness.running.context import Context
from harness.running.corpus import Corpus
from harness.running.passes import score_for_all
from harness.running.tools import vectors
from harness.search.rerank import CrossEncoderConfig, LateInteractionConfig
from harness.search.rerank.local_model import LocalModelConfig
from harness.store.ledger import Ledger

PoolJudge = LlmJudge | PanelJudge | ThresholdJudge
PoolJudgeConfig = LlmConfig | PanelConfig | CosineConfig | RerankerConfig


def pool_judge_config(config: BenchConfig) -> PoolJudgeConfig | None:
    """The judge's configuration, or None where people have judged."""
    judge = config.relevance.judge
    return judge if isinstance(judge, PoolJudgeConfig) else None


def make_judge(config: PoolJudgeConfig, ledger: Ledger, context: Context, corpus: Corpus) -> PoolJudge:
    """The judge; nothing is asked and no weights are loaded yet. People's labels may serve it as examples."""
    if any(one.examples for one in asked(config)):
        shown: PoolJudge = KINDS.make(config)(ledger, candidates=people_graded(corpus))
        return shown
    needs: Any = ledger
    if isinstance(config, CosineConfig):
        needs = _Encoder(EmbedConfig(model=config.model), context)
    elif isinstance(config, RerankerConfig):
        needs = _Scorer(_reranker(config.model), context)
    judge: PoolJudge = KINDS.make(config)(needs)
    return judge


def people_graded(corpus: Corpus) -> tuple[Example, ...]:
    """What people have graded for train queries, to be shown to a judge."""
    documents = {document.doc_id: document for document in corpus.documents}
    return candidates_of(corpus.labels, corpus.queries.queries, documents)


def judge_name(config: PoolJudgeConfig) -> str:
    """How the judge is named in every table."""
    if isinstance(config, LlmConfig):
        return llm_name(config, load_prompt(config.prompt))
    if isinstance(config, PanelConfig):
        return f"{config.combine} of {', '.join(judge_name(member) for member in config.members)}"
    return threshold_name(config)


def asked(config: StageConfig | None) -> tuple[LlmConfig, ...]:
    """The language models that a judge asks: itself, the members of a panel, or none."""
    if isinstance(config, PanelConfig):
        return config.members
    return (config,) if isinstance(config, LlmConfig) else ()


def llm_configs(config: BenchConfig) -> tuple[LlmConfig, ...]:
    """The language models that judge; raises ConfigError where another judge is configured."""
    judge = config.relevance.judge
    if asked(judge):
        return asked(judge)
    kind = getattr(judge, "kind", "labels")
    raise ConfigError(
        f"{config.name}: the judge is {kind}, not a language model. Configure relevance: {{judge: llm, …}}; "
        "docs/judge.md describes it."
    )


def warn_of_same_model(config: BenchConfig, context: Context) -> None:
    """Warn where the judge is also a ranker: by its name, or, where it runs here, by its weights."""
    judge = pool_judge_config(config)
    if judge is None:
        return
    rankers = sorted(
        {
            name
            for setting in config.settings
            for name in (
                *(encoder.model_name for encoder in setting.retrieve.encoders()),
                *(reranker.model_name for reranker in setting.rerank),
            )
        }
    )
    if isinstance(judge, CosineConfig | RerankerConfig):
        # those of an endpoint, or of code of the user's own, are not at hand
        weights = {name: resolve(name).weights() for name in (judge.model, *_models_here(config))}
        warnings = [same_model_warning(judge.model, rankers, weights)]
    else:
        warnings = [same_model_warning(one.endpoint.model, rankers) for one in asked(judge)]
    for warning in filter(None, warnings):
        context.reporter.warn(warning)


def _models_here(config: BenchConfig) -> Iterator[str]:
    """The rankers whose weights are on this machine."""
    for setting in config.settings:
        yield from (one.model_name for one in setting.retrieve.encoders() if one.runs_here)
        yield from (one.model_name for one in setting.rerank if isinstance(one, LocalModelConfig))


def _reranker(model: str) -> LateInteractionConfig | CrossEncoderConfig:
    return LateInteractionConfig(model=model) if model in EMBEDDED else CrossEncoderConfig(model=model)


@dataclass(frozen=True, slots=True)
class _Encoder:
    """The pipeline's encoder as the cosine judge wants it."""

    config: EmbedConfig
    context: Context

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return vectors(texts, self.config, self.context)


@dataclass(frozen=True, slots=True)
class _Scorer:
    """The pipeline's pair scorer as the reranker judge wants it."""

    config: LateInteractionConfig | CrossEncoderConfig
    context: Context

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        return score_for_all([(self.config, pairs)], self.context)[0].scores
