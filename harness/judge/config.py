"""The settings that judges share, and those of the LLM judge."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from harness.judge.prompting import load_prompt
from harness.models import ModelConfig
from harness.values import ConfigError, StageConfig

Combine = Literal["majority", "mean", "expected"]
# As many alternatives as there are grades, in the usual case.
_FEWEST_SHOWN = 5


class PoolConfig(StageConfig):
    """The pool to judge: the union over all settings of each query's highest ranked chunks.

    ``unit: passage`` judges the sentence-aligned passages that it touches, which are the same for every
    chunking; ``unit: chunk`` judges each chunk of that union.
    """

    unit: Literal["chunk", "passage"] = Field(
        "passage",
        description="`passage`: passages of the document that overlap retrieved text, the same for every "
        "chunking; `chunk`: each retrieved chunk, as the prompt `seed_list` needs it.",
    )
    depth: int = Field(10, ge=1, description="How many chunks of every ranking go into the pool.")
    passage_chars: int = Field(
        600,
        ge=100,
        le=4000,
        description="The approximate length of a passage; a wide character, such as a Chinese one, counts "
        "as two.",
    )


class PoolJudgeConfig(StageConfig, ABC):
    """Base of the configurations of judges that grade what was retrieved."""

    if TYPE_CHECKING:
        # a field of each of them, where it belongs among the others
        pool: PoolConfig

    by_pool: ClassVar[bool] = False
    """Whether the grade of a passage depends on what else is in the pool, so that no two pools compare."""

    @property
    @abstractmethod
    def title(self) -> str:
        """How the judge is named in every table."""

    @property
    def asked(self) -> tuple[LlmConfig, ...]:
        """The language models that it asks, if any."""
        return ()

    @property
    def served(self) -> bool:
        """Whether an endpoint other than that of a language model gives its scores."""
        return False

    @property
    def model_names(self) -> tuple[str, ...]:
        """The models that judge."""
        return tuple(config.endpoint.model for config in self.asked)


class _GradingConfig(PoolJudgeConfig):
    """The keys of judges that other users of a model do not have."""

    kind: Literal["llm"] = "llm"
    prompt: str = Field(
        "pointwise",
        description="`pointwise`, `umbrela`, `listwise`, `seed_list`, each also with `_zh`; "
        "`umbrela_published`; or a path ending in .yaml.",
    )
    examples: int = Field(
        0,
        ge=0,
        le=20,
        description="How many human-graded passages are shown before the one to grade (few-shot): "
        "from train queries, never from the judged query.",
    )
    pool: PoolConfig = Field(PoolConfig(), description="What is judged.")
    samples: int = Field(
        1, ge=1, le=25, description="How often each call is repeated (for a list prompt: in how many orders)."
    )
    combine: Combine = Field(
        "majority",
        description="How samples become one grade. `expected`: each sample counts for the mean of all "
        "grades, weighted by the probabilities that the model gave them (needs `endpoint.top_logprobs`); "
        "then the mean, halves down.",
    )
    max_unscored: float = Field(
        0.02, ge=0, le=1, description="The largest share of pairs without a grade; above it the run fails."
    )


class LlmConfig(ModelConfig, _GradingConfig):
    """A judge that asks a language model."""

    @property
    def title(self) -> str:
        """How the judge is named in every table: model, prompt and samples; reads the prompt file."""
        prompt = load_prompt(self.prompt)
        shown = f", {self.examples} examples" if self.examples else ""
        samples = f" x{self.samples}" if self.samples > 1 else ""
        return f"{self.endpoint.model} ({prompt.id} v{prompt.version}{shown}{samples})"

    @property
    def asked(self) -> tuple[LlmConfig, ...]:
        """Itself."""
        return (self,)

    @field_validator("prompt")
    @classmethod
    def _can_be_read(cls, name: str) -> str:
        try:
            load_prompt(name)
        except ConfigError as error:
            raise ValueError(str(error)) from None
        return name

    @model_validator(mode="after")
    def _keys_fit_each_other(self) -> LlmConfig:
        prompt, endpoint = self.prompt, self.endpoint
        if prompt.startswith("seed_list") and self.pool.unit != "chunk":
            raise ValueError(f"{prompt} scores retrieved chunks, best rank first: set pool.unit to chunk")
        if prompt == "umbrela_published" and endpoint.structured != "none":
            raise ValueError(f"{prompt} asks for its answer in words: set endpoint.structured to none")
        if self.combine == "expected" and (endpoint.top_logprobs or 0) < _FEWEST_SHOWN:
            raise ValueError(f"combine: expected: set endpoint.top_logprobs to {_FEWEST_SHOWN} or more")
        alone = prompt.startswith(("pointwise", "umbrela"))
        if self.samples > 1 and endpoint.temperature == 0 and alone:
            raise ValueError("samples at temperature 0 are one opinion: set endpoint.temperature above 0")
        return self
