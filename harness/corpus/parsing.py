"""What reading a document may cost."""

from __future__ import annotations

from pydantic import Field

from harness.kinds import StageConfig


class ParsingConfig(StageConfig):
    """What reading a PDF may cost. A PDF beyond a limit is a bad document (`on_bad_document`).

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
