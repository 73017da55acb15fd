"""The prompts of a test set: files in English and Chinese, or a user-defined file."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from pydantic import Field

from harness.models import SLOT, Prompt, read_prompt
from harness.values import ConfigError


class TestsetPrompt(Prompt):
    """A prompt file of a step that makes a test set."""

    __test__ = False

    kinds: dict[str, str] = Field(default_factory=dict, description="What stands for `{{ kind }}`, by kind.")

    def of_kind(self, kind: str) -> tuple[str, str]:
        """Both messages with the words for a kind."""
        words = self.kinds[kind]

        def fill(text: str) -> str:
            return SLOT.sub(lambda slot: words if slot[1] == "kind" else slot[0], text)

        return fill(self.system), fill(self.user)


def load_prompt(
    name: str, folder: Path, slots: Collection[str], kinds: Collection[str] = ()
) -> TestsetPrompt:
    """A prompt by built-in name, or a user's file when it ends in ``.yaml``; raises ConfigError."""
    prompt = read_prompt(name, folder, TestsetPrompt, "this step of a test set", slots)
    for kind in kinds:
        if kind not in prompt.kinds:
            raise ConfigError(
                f"The prompt file {name} says nothing for the kind {kind!r}; add it under kinds."
            )
    return prompt
