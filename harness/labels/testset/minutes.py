"""How long people take, said before it is spent."""

from __future__ import annotations

SECONDS = 12
"""Of a person for one passage: a rule of thumb; the labelling page measures its own raters."""


def time_to_grade(passages: int) -> str:
    """The time that grading takes, in words."""
    minutes = max(1, round(passages * SECONDS / 60))
    shown = f"{minutes} minutes" if minutes < 100 else f"{minutes / 60:.1f} hours"
    return f"about {shown} of a person's time, at {SECONDS} seconds a passage"
