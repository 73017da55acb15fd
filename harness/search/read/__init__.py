"""Readers: small chunks to search, larger text to read. One file per kind."""

from typing import Any

from harness.kinds import Kind, Kinds
from harness.search.read.parent import Parent, ParentConfig
from harness.search.read.step import ReadConfig, Reader
from harness.search.read.window import Window, WindowConfig

KINDS: Kinds[Reader[Any]] = Kinds(
    "read",
    Kind(ParentConfig, Parent),
    Kind(WindowConfig, Window),
    retired=dict.fromkeys(("merge", "adjacent"), "Use `parent` or `window`, or larger chunks."),
)
