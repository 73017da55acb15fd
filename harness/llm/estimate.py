"""What judging will take before anything is spent: how tokens are counted, how long answers will be."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from harness.judge.prompting import Prompt
from harness.llm.money import estimate_tokens

# The chat protocol's own tokens, by OpenAI's guide to counting them.
PER_MESSAGE = 3
PER_REPLY = 3


@dataclass(frozen=True, slots=True)
class TokenCounter:
    """Counts the tokens of messages; ``source`` says how."""

    source: str
    count: Callable[[str], int]

    def of_messages(self, messages: Sequence[dict[str, str]]) -> int:
        """The tokens of one call's messages."""
        return sum(self.count(message["content"]) + PER_MESSAGE for message in messages) + PER_REPLY


@lru_cache(maxsize=8)
def token_counter(model: str) -> TokenCounter:
    """By tiktoken where it is installed, knows ``model`` and has its vocabulary; else from the characters."""
    estimated = TokenCounter("estimated from the characters", estimate_tokens)
    try:
        import tiktoken
    except ImportError:
        return estimated
    try:
        encoding = tiktoken.encoding_for_model(model)
    # An unknown model; a vocabulary that cannot be downloaded.
    except (KeyError, OSError, ValueError):
        return estimated
    # A text that looks like a control token is text.
    return TokenCounter(
        f"counted with {encoding.name}", lambda text: len(encoding.encode(text, disallowed_special=()))
    )


def shortest_answer(prompt: Prompt, passages: int) -> str:
    """An answer in the form that the prompt asks for, with nothing around it."""
    if prompt.answer == "plain":
        return json.dumps({"scores": [0] * passages})
    if prompt.answer == "labelled":
        return json.dumps({"grades": [{"passage": n, "grade": 0} for n in range(1, passages + 1)]})
    if prompt.answer == "final_score":
        return "##final score: 0"
    return json.dumps({**dict.fromkeys(prompt.aspects, 0), "grade": 0})
