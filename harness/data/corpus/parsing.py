"""Limits on reading a document, and on the share of suspect text."""

from __future__ import annotations

from pydantic import Field

from harness.values import StageConfig


class ParsingConfig(StageConfig):
    """Limits on reading. A document beyond a limit is a bad one (`on_bad_document`).

    PDFs are read in worker processes, so that a hostile or damaged one costs nothing but itself.
    """

    workers: int | None = Field(
        None, ge=1, le=1024, description="PDFs read at the same time; by default one per CPU."
    )
    memory_mb: int = Field(
        2048,
        ge=64,
        le=1_000_000,
        description="Memory a worker process may take beyond its start, in MB; kept on Linux.",
    )
    page_seconds: float = Field(120, gt=0, le=86_400, description="The longest a page may take.")
    document_seconds: float = Field(3600, gt=0, le=604_800, description="The longest a document may take.")
    second_reading: bool = Field(
        True,
        description="Compare the text of every PDF with a second reading: pypdf with pypdfium2 where that is "
        "installed, else with the content streams; pypdfium2 with the content streams.",
    )
    max_suspect_pages: float = Field(
        0.5,
        ge=0,
        le=1,
        description="A document with a larger share of suspect pages is bad: pages without text though "
        "something is drawn on them, with far less text than the second reading finds, or with damaged "
        "content.",
    )
    max_suspect_characters: float = Field(
        0.05,
        ge=0,
        le=1,
        description="A document with a larger share of suspect characters is bad: undecodable, control and "
        "private-use characters.",
    )
