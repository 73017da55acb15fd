"""Pseudo-relevance feedback: terms of the chunks first found are added to the query. One file per kind."""

from typing import Any

from harness.steps.search.feedback.step import Feedback
from harness.values import KindAt, Kinds

KINDS: Kinds[Feedback[Any]] = Kinds(
    "feedback",
    KindAt("rm3", "Rm3Config", "Rm3"),
    retired={"rocchio": "Use `rm3`."},
    home=__name__,
)
