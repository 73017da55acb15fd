"""The prompts of a test set: files in English and Chinese, or a file of the user's own."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from pydantic import Field

from harness.errors import ConfigError
from harness.kinds import StageConfig
from harness.llm.prompt_files import SLOT, parse, prompt_path, read_content, slots_of


class TestsetPrompt(StageConfig):
    """A prompt file. Its words are its identity in the ledger, whatever it is called."""

    __test__ = False

    id: str = Field("", description="Its name; empty: that of the file.")
    version: int = Field(1, description="Which of its versions it is.")
    language: str = Field("", description="The language it is written in.")
    description: str = Field("", description="What it asks for.")
    system: str = Field("", description="The system message; may be empty.")
    user: str = Field(description="The user message.")
    kinds: dict[str, str] = Field(default_factory=dict, description="What stands for `{{ kind }}`, by kind.")

    @property
    def name(self) -> str:
        """What it is called where its answers are counted."""
        return f"{self.id} v{self.version}"

    def of_kind(self, kind: str) -> tuple[str, str]:
        """Both messages with the words for a kind."""
        words = self.kinds[kind]

        def fill(text: str) -> str:
            return SLOT.sub(lambda slot: words if slot[1] == "kind" else slot[0], text)

        return fill(self.system), fill(self.user)


def read_prompt(
    name: str, folder: Path, slots: Collection[str], kinds: Collection[str] = ()
) -> TestsetPrompt:
    """A prompt by built-in name, or a user's file when it ends in ``.yaml``; raises ConfigError."""
    known = {"id": prompt_path(name, folder).stem}
    prompt = parse(read_content(name, folder, "test set"), name, TestsetPrompt, known)
    shown = slots_of(prompt.system, prompt.user)
    for slot in slots:
        if slot not in shown:
            raise ConfigError(f"The prompt file {name} has no {{{{ {slot} }}}}; this step needs it.")
    for slot in sorted(shown - set(slots)):
        raise ConfigError(f"The prompt file {name} has {{{{ {slot} }}}}, which this step cannot fill.")
    for kind in kinds:
        if kind not in prompt.kinds:
            raise ConfigError(
                f"The prompt file {name} says nothing for the kind {kind!r}; add it under kinds."
            )
    return prompt
