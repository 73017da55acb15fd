"""A language model says what queries and passages name, and what they are for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field as Key

from harness import models
from harness.models import FailurePolicy, LlmStepConfig, Prompt, prompts_of
from harness.steps.search.field import Field, FieldConfig, Fingerprint, Names, NamesOfQueries
from harness.steps.search.needs import Prompts, Talked, Warned
from harness.steps.search.rewrite.prompted import lines_of
from harness.steps.search.search_wordings import FAILURES
from harness.values import Run, Silent

FOLDER = Path(__file__).parent / "prompts"
_NONE = frozenset({"none", "none.", "n/a", "无", "无。", "没有"})
_FAILING = FailurePolicy(FAILURES, "field", "nameless")


class LlmEntitiesConfig(LlmStepConfig, FieldConfig):
    """A language model names what is in every query and every passage; its answers are paid once and kept."""

    load = prompts_of(FOLDER, Prompt, "a field", ("query",))
    kind: Literal["llm_entities"] = "llm_entities"
    prompt: Prompt = Key(
        "names_and_intent",
        validate_default=True,
        description="`names_and_intent`, `names_and_intent_zh`, or the path of your own file: it shows the "
        "query or the passage as `{{ query }}`; the model answers with one name a line, or `none`.",
    )
    on_failure: Literal["fail", "nameless"] = Key(
        "fail",
        description="A text without a usable answer ends the run or counts as naming nothing (`nameless`), "
        "and the run lists them.",
    )


class LlmEntitiesField(Field[LlmEntitiesConfig]):
    """A prompt about every text; passages are asked about apart from queries, and priced apart."""

    finds_known: ClassVar[bool] = False

    def identity(self, fingerprint: Fingerprint) -> list[Any]:
        """The prompt, the model and its parameters, and the handling of an answer that cannot be used."""
        c = self.config
        return [c.kind, c.prompt.form.sha256, [c.endpoint.model, c.endpoint.parameters()], c.on_failure]

    def of_passages(self, texts: Sequence[str]) -> Run[Sequence[Names]]:
        """The lines of the model's answers; raises LlmError for one that cannot be used."""
        talks = yield self._prompts(texts, "passages", "naming")
        return (yield from self._names(texts, talks))

    def of_texts(self, texts: Sequence[str]) -> Run[NamesOfQueries]:
        """The lines of the model's answers, and what they cost; raises LlmError as for passages."""
        talks = yield self._prompts(texts, "queries", "rewriting")
        cost = models.sum_of(talk.cost for talk in dict(zip(texts, talks, strict=True)).values())
        return NamesOfQueries((yield from self._names(texts, talks)), cost)

    def _prompts(self, texts: Sequence[str], whose: str, purpose: models.Purpose) -> Prompts:
        c, about = self.config, [(text, ()) for text in texts]
        return Prompts(models.Request(c, c.prompt.form, about, f"{c.prompt.name} of {whose}", purpose))

    def _names(self, texts: Sequence[str], talks: Sequence[Talked]) -> Run[Sequence[Names]]:
        answers = [talk.answers[0] for talk in talks]
        shown, heard = (repr(text[:60]) for text in texts), Silent()
        names = _FAILING.usable(self.config, shown, answers, names_of, heard)
        yield Warned(heard.warnings)
        return [name or () for name in names]


def names_of(text: str) -> Names | None:
    """The names in an answer, one a line, none for an answer of none; None for no words."""
    lines = lines_of(text)
    return tuple(line for line in lines if line.lower() not in _NONE) if lines else None
