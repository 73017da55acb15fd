"""Readers: small chunks to search, larger text to read. One file per kind."""

from typing import Any

from harness.steps.search.read.step import Reader
from harness.values import KindAt, Kinds

KINDS: Kinds[Reader[Any]] = Kinds(
    "read",
    KindAt("parent", "ParentConfig", "Parent"),
    KindAt("window", "WindowConfig", "Window"),
    retired=dict.fromkeys(("merge", "adjacent"), "Use `parent` or `window`, or larger chunks."),
    home=__name__,
)
