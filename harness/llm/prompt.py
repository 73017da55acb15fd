"""A prompt in words, as its file says it: what steps of a search and measures of answers ask with."""

from __future__ import annotations

from pydantic import Field

from harness.kinds import StageConfig


class Prompt(StageConfig):
    """A prompt file. Its words are its identity in the ledger, whatever it is called."""

    id: str = Field("", description="Its name; empty: that of the file.")
    version: int = Field(1, description="Which of its versions it is.")
    language: str = Field("", description="The language it is written in.")
    description: str = Field("", description="What it asks for.")
    system: str = Field("", description="The system message; may be empty.")
    user: str = Field(description="The user message.")

    @property
    def name(self) -> str:
        """What it is called where its answers are counted."""
        return f"{self.id} v{self.version}"
