"""Everything that the settings name is looked for before anything is computed or paid for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.config import BenchConfig
from harness.judge import PoolJudgeConfig
from harness.kinds import StageConfig
from harness.progress import Reporter
from harness.running.context import Context


def check_ready(config: BenchConfig, context: Context) -> None:
    """Find every model, package and function; raises ModelError or ConfigError for one that is missing.

    `validate`, `bench --dry-run` and `bench` all begin with it. No weights are loaded and nothing is asked.
    """
    for part in parts_of(config):
        part.check_ready()
    for setting in config.settings:
        context.tokenizer(setting.tokenizer)
        for encoder in setting.retrieve.encoders():
            context.encoder(encoder)
        if setting.chunk.embed is not None:
            context.encoder(setting.chunk.embed)
        for encoder in setting.answer.encoders if setting.answer is not None else ():
            context.encoder(encoder)
        for reranker in setting.rerank:
            context.reranker(reranker)


def warn_of_judge(config: BenchConfig, reporter: Reporter) -> None:
    """Warn of a judge that cannot be asked, such as for want of a key; the ledger may have all its grades."""
    judge = config.relevance.judge
    if isinstance(judge, PoolJudgeConfig):
        for problem in dict.fromkeys(filter(None, (one.endpoint.problem() for one in judge.asked))):
            reporter.warn(problem)


def parts_of(value: Any) -> Iterator[StageConfig]:
    """Every section of a configuration, however deep."""
    if isinstance(value, StageConfig):
        yield value
        inner: Any = [getattr(value, name) for name in type(value).model_fields]
    else:
        inner = value.values() if isinstance(value, Mapping) else value
        inner = inner if isinstance(value, Mapping | list | tuple) else ()
    for part in inner:
        yield from parts_of(part)
