"""Before every chunk a line that a language model writes about it, given its document."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field

from harness.models import FailurePolicy, LlmStepConfig, Prompt, Request, prompts_of
from harness.steps.search.context import ContextText, Contextualizer, line
from harness.steps.search.needs import Warned, answers_of
from harness.steps.search.passages import ContextConfig
from harness.steps.search.search_wordings import FAILURES
from harness.steps.search.tools import Sources
from harness.values import Chunk, Run, Silent

FOLDER = Path(__file__).parent / "prompts"
_GAP = "\n[…]\n"
_FAILING = FailurePolicy(FAILURES, "context", "leave_out")


class LlmContextConfig(LlmStepConfig, ContextConfig):
    """A language model says what each chunk is about; its answers are paid once and kept in the ledger."""

    load = prompts_of(FOLDER, Prompt, "a context", ("passages",))
    kind: Literal["llm"] = "llm"
    prompt: Prompt = Field(
        "situate",
        validate_default=True,
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
        "(`leave_out`), and the run lists them.",
    )


class LlmContext(Contextualizer[LlmContextConfig]):
    """Contextual retrieval (Anthropic, 2024), with a bounded part of the document in place of all of it."""

    def run(self, chunks: Sequence[Chunk], sources: Sources) -> Run[list[ContextText]]:
        """The line of each chunk; raises LlmError if one has none and that is a failure."""
        c = self.config
        about = [("", (self._excerpt(chunk, sources), chunk.text)) for chunk in chunks]
        answers = yield from answers_of(Request(c, c.prompt.form, about, c.prompt.name, "context"))
        names, heard = (chunk.chunk_id for chunk in chunks), Silent()
        texts = _FAILING.usable(c, names, answers, str, heard)
        yield Warned(heard.warnings)
        return [line(" ".join((text or "").split())[: c.longest].rstrip()) for text in texts]

    @property
    def longest(self) -> ContextText:
        """A line of as many characters as a model may say of a chunk."""
        return line("-" * self.config.longest)

    def _excerpt(self, chunk: Chunk, sources: Sources) -> str:
        """The beginning of the document and the text around the chunk, with the chunk itself."""
        c, text = self.config, sources.document(chunk.doc_id).text
        start, end = max(0, chunk.start - c.window), min(len(text), chunk.end + c.window)
        if start <= c.beginning:
            return text[:end] + (_GAP if end < len(text) else "")
        begins = text[: c.beginning] + _GAP if c.beginning else _GAP
        return begins + text[start:end] + (_GAP if end < len(text) else "")
