"""testset.yaml: the documents, how many questions, which models may be asked; and their prompts."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from shlex import quote
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, SerializeAsAny

from harness.data import ParsingConfig
from harness.judge import JUDGES, LlmConfig, PoolJudgeConfig
from harness.labels.testset.windows import material_of
from harness.models import ModelConfig, Prompt, prompt, prompts_of
from harness.running import BenchConfig, read_source
from harness.values import ConfigError, StageConfig

FILE = "testset.yaml"
_PASSAGES = "passages://"
_OF_SETTINGS = ("retrieve", "settings", "chunk", "rerank")


class EmbedModel(StageConfig):
    """The embedding model of the retriever by meaning."""

    model: str = Field(description="Hub id, local folder, or `embedded:all-MiniLM-L6-v2`.")
    query_prefix: str = Field("", description="What the model wants before a query.")
    passage_prefix: str = Field("", description="What the model wants before a passage.")


class TestsetConfig(StageConfig):
    """How a test set is made."""

    # not a test, despite its name
    __test__ = False

    documents: Annotated[
        tuple[str, ...], BeforeValidator(lambda value: (value,) if isinstance(value, str) else value)
    ] = Field(min_length=1, description="Glob or list of globs, as in a benchmark.")
    parsing: ParsingConfig = Field(ParsingConfig(), description="As in a benchmark.")
    on_bad_document: Literal["fail", "skip"] = Field("fail", description="As in a benchmark.")
    language: Literal["en", "zh"] = Field(
        "en", description="The language of the prompts. Questions are in that of the documents."
    )
    questions: int = Field(60, ge=1, le=10_000, description="How many questions to propose.")
    chosen: int = Field(34, ge=1, le=10_000, description="How many of them to keep.")
    passages: int = Field(9, ge=1, le=1000, description="How many passages to gather for a question.")
    material_tokens: int | None = Field(
        None,
        ge=1,
        description="How many tokens of text a call may show where it shows as much as there is: the "
        "passages of a golden answer, the excerpts for a prompt that asks for many questions. null: for "
        "answers three quarters of what the model reads, by its name, else 16,000.",
    )
    embed: EmbedModel | None = Field(
        None, description="The retriever by meaning that helps to gather; null: words alone are searched."
    )
    seed: int = Field(7, ge=0, description="Of everything that is drawn by chance.")
    cache: Path = Field(Path(".cache/harness"), description="As in a benchmark.")
    results: Path = Field(Path("results"), description="Where a benchmark on the export writes.")
    llm: ModelConfig | None = Field(None, description="The language model that proposes.")
    answer: ModelConfig | None = Field(
        None, description="The one that answers, the strongest you have; null: that of `llm`."
    )
    judge: SerializeAsAny[PoolJudgeConfig] | None = Field(
        None, description="The judge that grades, as `relevance` in a benchmark; null: `llm` grades."
    )

    @property
    def answering(self) -> ModelConfig | None:
        """The model that answers."""
        return self.answer or self.llm

    @property
    def answer_tokens(self) -> int:
        """How many tokens of passages a call for a golden answer may show."""
        return self.material_tokens or material_of(self.answering)

    @property
    def proposal_tokens(self) -> int:
        """How many tokens of excerpts a call for many questions may show: no window is filled unasked."""
        return self.material_tokens or material_of(None)

    @property
    def grading(self) -> PoolJudgeConfig | None:
        """The judge that grades; that of ``llm`` where none is named."""
        if self.judge is not None or self.llm is None:
            return self.judge
        prompt = "pointwise_zh" if self.language == "zh" else "pointwise"
        llm = self.llm.model_dump(exclude_unset=True)
        return LlmConfig.model_validate({**llm, "prompt": prompt})

    def bench(self, folder: Path) -> BenchConfig:
        """A benchmark over the documents, of whose settings nothing is used."""
        same = {name: getattr(self, name) for name in ("parsing", "on_bad_document", "cache")}
        queries, labels = folder / "queries.csv", folder / "labels.csv"
        return BenchConfig.of_documents(self.documents, queries, labels, **same)


def load_testset(folder: Path) -> TestsetConfig:
    """Read testset.yaml of a folder; raises ConfigError naming file, line, key and remedy."""
    path = folder / FILE
    if not path.is_file():
        raise ConfigError(
            f"{path} is not there. Make it from a folder of documents: harness init DOCUMENTS "
            f"--out {quote(str(folder))}"
        )
    source = read_source(path, "testset.md")
    data = dict(source.data)
    if key := next((key for key in _OF_SETTINGS if key in data), None):
        raise source.error(
            (key,),
            "a test set is gathered by retrievers of its own. Have the settings of a benchmark, such as "
            "bench.yaml, find passages too, also in an existing collection: harness testset "
            f"{quote(str(folder))} gather --also bench.yaml",
        )
    if isinstance(section := data.get("judge"), dict):
        name = section.get("kind", "llm")
        if not issubclass(model := source.kind(JUDGES, name, ("judge",)), PoolJudgeConfig):
            raise source.error(("judge",), f"{name} does not judge passages. Take llm, panel or another.")
        data["judge"] = source.validated(model, section, ("judge",))
    config = source.validated(TestsetConfig, data)
    if any(pattern.lower().startswith(_PASSAGES) for pattern in config.documents):
        raise source.error(
            ("documents",),
            f"{_PASSAGES} is for benchmarks, where a setting says which store it is. Run that benchmark with "
            "--dry-run once: each passage is then a file in a folder copies/passages-… in its cache. Name "
            "these files here; the labels that you export fit that benchmark.",
        )
    return config


class TestsetPrompt(Prompt):
    """A prompt file of a step that makes a test set."""

    __test__ = False

    kinds: dict[str, str] = Field(default_factory=dict, description="What stands for `{{ kind }}`, by kind.")

    @property
    def by_kind(self) -> bool:
        """Whether one call asks for one question, of a kind; else it asks for many."""
        return "kind" in prompt.slots_of(self.system, self.user)

    def of_kind(self, kind: str) -> tuple[str, str]:
        """Both messages with the words for a kind."""
        return self.filled(kind=self.kinds[kind])


def load_prompt(
    name: str,
    folder: Path,
    slots: Collection[str],
    kinds: Collection[str] = (),
    also: Collection[str] = (),
) -> TestsetPrompt:
    """A prompt by built-in name, or a user's file when it ends in ``.yaml``; raises ConfigError.

    It shows each of ``slots``, and may show those of ``also``; one by kind has words for all ``kinds``.
    """
    loaded = prompts_of(folder, TestsetPrompt, "this step of a test set", slots, also)(name)
    for kind in kinds if loaded.by_kind else ():
        if kind not in loaded.kinds:
            raise ConfigError(
                f"The prompt file {name} says nothing for the kind {kind!r}; add it under kinds."
            )
    if loaded.by_kind and "count" in prompt.slots_of(loaded.system, loaded.user):
        raise ConfigError(
            f"The prompt file {name} has {{{{ kind }}}}, so that each call asks for one question. Remove "
            "{{ count }}, or ask for many at once without {{ kind }}."
        )
    return loaded
