"""Prompt files of answerers: those that come with the harness, and a user's own."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from harness.errors import ConfigError
from harness.kinds import StageConfig
from harness.llm import TextForm
from harness.llm.prompt_files import built_in, parse, prompt_path, read_content, slots_of

FOLDER = Path(__file__).parent / "prompts"


class AnswerPrompt(StageConfig):
    """A prompt file. Its words are its identity in the ledger, whatever it is called."""

    id: str = Field("", description="Its name; empty: that of the file.")
    version: int = Field(1, description="Which of its versions it is.")
    language: str = Field("", description="The language it is written in.")
    description: str = Field("", description="What it asks for.")
    cites: bool = Field(
        False, description="Whether it asks for citations such as [1]; only then are they read."
    )
    system: str = Field("", description="The system message; may be empty.")
    user: str = Field(description="The user message, with `{{ query }}` and `{{ passages }}`.")

    @property
    def form(self) -> TextForm:
        """How a call is worded."""
        return TextForm(self.system, self.user)

    @property
    def name(self) -> str:
        """What it is called where its answers are counted."""
        return f"{self.id} v{self.version}"


def built_in_prompts() -> list[str]:
    """The names of the prompts that come with the harness."""
    return built_in(FOLDER)


def load_prompt(name: str) -> AnswerPrompt:
    """A prompt by built-in name, or a user's file when it ends in ``.yaml``; raises ConfigError."""
    known = {"id": prompt_path(name, FOLDER).stem}
    prompt = parse(read_content(name, FOLDER, "answer"), name, AnswerPrompt, known)
    shown = slots_of(prompt.system, prompt.user)
    for slot in ("query", "passages"):
        if slot not in shown:
            raise ConfigError(f"The prompt file {name} has no {{{{ {slot} }}}}; an answer needs it.")
    for slot in sorted(shown - {"query", "passages", "count"}):
        raise ConfigError(f"The prompt file {name} has {{{{ {slot} }}}}, which an answer cannot fill.")
    return prompt
