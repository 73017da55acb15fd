"""Pseudo-relevance feedback: terms of the chunks first found are added to the query. One file per kind."""

from typing import Any

from harness.steps.search.feedback.rm3 import Rm3, Rm3Config
from harness.steps.search.feedback.step import Feedback, FeedbackConfig
from harness.values import Kind, Kinds

KINDS: Kinds[Feedback[Any]] = Kinds("feedback", Kind(Rm3Config, Rm3), retired={"rocchio": "Use `rm3`."})
