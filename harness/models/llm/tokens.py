"""How many tokens a prompt has, by the model's own tokenizer where that is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

# The chat protocol's own tokens, by OpenAI's guide to counting them.
PER_MESSAGE = 3
PER_REPLY = 3


def estimate_tokens(text: str) -> int:
    """About how many tokens a text has: a quarter of its ASCII characters, and each other character as one.

    An estimate on the high side for current tokenizers, for planning only; what is recorded is what the
    endpoint reports.
    """
    other = sum(not char.isascii() for char in text) if not text.isascii() else 0
    return (len(text) - other + 3) // 4 + other


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
