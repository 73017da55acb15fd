"""Prompt files of answerers: those that come with the harness, and a user's own."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from harness.llm.prompt import Prompt, read_prompt

FOLDER = Path(__file__).parent / "prompts"


class AnswerPrompt(Prompt):
    """A prompt file of an answerer, which shows ``{{ query }}`` and ``{{ passages }}``."""

    cites: bool = Field(
        False, description="Whether it asks for citations such as [1]; only then are they read."
    )


def load_prompt(name: str) -> AnswerPrompt:
    """A prompt by built-in name, or a user's file when it ends in ``.yaml``; raises ConfigError."""
    return read_prompt(name, FOLDER, AnswerPrompt, "an answer", ("query", "passages"), ("count",))
