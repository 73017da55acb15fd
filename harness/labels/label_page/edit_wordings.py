"""What is said of reviewed answers when their page is opened: each sentence by its code."""

from __future__ import annotations

from collections.abc import Mapping

EDITS: Mapping[str, str] = {
    "step.undone": "Undone, as it was killed while it wrote: {step} of {when}.",
    "answers.reviewed": "{file}: {answers} reviewed by {experts}, {changed} of them changed.",
    "answers.left": "Not taken, as the question was reworded or left out since: {questions}.",
}
