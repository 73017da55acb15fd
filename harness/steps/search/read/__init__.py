"""Readers: small chunks to search, larger text to read. One file per kind."""

from typing import Any

from harness.steps.search.read.parent import Parent, ParentConfig
from harness.steps.search.read.step import ReadConfig, Reader
from harness.steps.search.read.window import Window, WindowConfig
from harness.values import Kind, Kinds

KINDS: Kinds[Reader[Any]] = Kinds(
    "read",
    Kind(ParentConfig, Parent),
    Kind(WindowConfig, Window),
    retired=dict.fromkeys(("merge", "adjacent"), "Use `parent` or `window`, or larger chunks."),
)
