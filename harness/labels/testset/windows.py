"""How much text a language model reads in one call, by its name, as its maker documents it."""

from __future__ import annotations

import re

from harness.models import ModelConfig

# The first pattern that the last part of a name, after any slash, begins with. Of several sizes that go by
# one name the smallest stands here.
_WINDOWS = (
    (r"gpt-4\.1", 1_000_000),
    (r"gpt-4o|gpt-4-turbo|chatgpt-4o", 128_000),
    (r"gpt-5", 400_000),
    (r"o[134](-|$)", 128_000),
    (r"claude-", 200_000),
    (r"gemini-", 1_000_000),
    (r"deepseek-", 64_000),
    (r"(meta-)?llama-?3[.-][123]", 128_000),
    (r"qwen(2\.5|3)|qwen-(plus|max|turbo)", 32_000),
    (r"mistral-(large|small)", 32_000),
    (r"minimax-(text|m)", 128_000),
    (r"glm-4", 128_000),
)
_UNKNOWN = 16_000
# of the window, since the tokens of texts are estimated and a prompt stands around them
_SHARE = 0.75


def material_of(model: ModelConfig | None) -> int:
    """How many tokens of text a call shows a model by default: three quarters of what it reads.

    The longest answer is left out first. 16,000 for a model whose name says nothing, and without one.
    """
    if model is None:
        return _UNKNOWN
    name = model.endpoint.model.lower().rpartition("/")[2]
    window = next((size for pattern, size in _WINDOWS if re.match(pattern, name)), None)
    if window is None:
        return _UNKNOWN
    return max(1, int(_SHARE * (window - model.endpoint.max_tokens)))
