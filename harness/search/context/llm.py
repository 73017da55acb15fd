"""Before every chunk a line that a language model writes about it, given its document."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field, field_validator

from harness.errors import LlmError
from harness.llm import Endpoint, ModelConfig, TextForm, text_of
from harness.search.context.step import Around, ContextConfig, Contextualizer, line
from harness.search.prompts import Prompt, read_prompt
from harness.search.sources import Sources
from harness.types import Chunk

FOLDER = Path(__file__).parent / "prompts"
_SHOWN = 5
_GAP = "\n[…]\n"


class LlmContextConfig(ModelConfig, ContextConfig):
    """A language model says what each chunk is about; its answers are paid once and kept in the ledger."""

    kind: Literal["llm"] = "llm"
    endpoint: Endpoint = Field(
        description="Where the model is served; its keys are those of `relevance.endpoint`."
    )
    prompt: str = Field(
        "situate",
        description="`situate`, `situate_zh`, or the path of your own file: it ends in `.yaml` and has "
        "`{{ passages }}`, which are an excerpt of the document and the chunk.",
    )
    beginning: int = Field(
        1000, ge=0, description="Characters of the beginning of the document that the model reads."
    )
    window: int = Field(
        4000, ge=0, description="Characters on each side of the chunk that the model reads besides."
    )
    longest: int = Field(500, ge=1, description="A longer answer ends after so many characters.")
    on_failure: Literal["fail", "leave_out"] = Field(
        "fail",
        description="A chunk without a usable answer ends the run, or is indexed without such a line "
        "(`leave_out`), and the run tells which.",
    )

    @field_validator("prompt")
    @classmethod
    def _can_be_read(cls, name: str) -> str:
        _prompt(name)
        return name


class LlmContext(Contextualizer[LlmContextConfig]):
    """Contextual retrieval (Anthropic, 2024), with a bounded part of the document in place of all of it."""

    def run(self, chunks: Sequence[Chunk], sources: Sources) -> list[Around]:
        """The line of each chunk; raises LlmError where one has none and that is a failure."""
        c = self.config
        prompt = _prompt(c.prompt)
        shown = [(self._excerpt(chunk, sources), chunk.text) for chunk in chunks]
        answers = sources.answers(c, TextForm(prompt.system, prompt.user), shown, prompt.name)
        texts = [text_of(answer) for answer in answers]
        failed = [
            f"{chunk.chunk_id} ({answer.reason or 'no words'})"
            for chunk, answer, text in zip(chunks, answers, texts, strict=True)
            if text is None
        ]
        if failed:
            self._tell(failed, len(chunks), sources)
        return [line(" ".join((text or "").split())[: c.longest].rstrip()) for text in texts]

    def _excerpt(self, chunk: Chunk, sources: Sources) -> str:
        """The beginning of the document and what stands around the chunk, the chunk itself among it."""
        c, text = self.config, sources.document(chunk.doc_id).text
        start, end = max(0, chunk.start - c.window), min(len(text), chunk.end + c.window)
        if start <= c.beginning:
            return text[:end] + (_GAP if end < len(text) else "")
        begins = text[: c.beginning] + _GAP if c.beginning else _GAP
        return begins + text[start:end] + (_GAP if end < len(text) else "")

    def _tell(self, failed: Sequence[str], total: int, sources: Sources) -> None:
        c = self.config
        said = f"{len(failed)} of {total} chunks have no usable context by {c.endpoint.model}"
        shown = ", ".join(failed[:_SHOWN]) + (", …" if len(failed) > _SHOWN else "")
        if c.on_failure == "leave_out":
            sources.reporter.warn(f"{said} and are indexed without: {shown}.")
            return
        raise LlmError(
            f"{said}: {shown}. Set `context.on_failure: leave_out` to index them without, "
            "`context.ask_again: true` to ask the model again, or name another prompt or model. Every other "
            "answer is in the ledger."
        )


def _prompt(name: str) -> Prompt:
    return read_prompt(name, FOLDER, "context", ("passages",))
