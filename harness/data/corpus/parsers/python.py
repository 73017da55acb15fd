"""A user-defined parser."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, field_validator

from harness.data.corpus.parsers.pdf_file import OnPage, PdfPages
from harness.steps import CodeConfig, call_function
from harness.values import CorpusError, HarnessError, refuse_special


class PythonParserConfig(CodeConfig):
    """Your own function reads files."""

    kind: Literal["python"] = "python"
    suffixes: tuple[str, ...] = Field(
        (".pdf",),
        min_length=1,
        description="Which files it reads, such as `[.pdf, .docx]`; all others are read as without it.",
    )

    @field_validator("suffixes")
    @classmethod
    def _are_suffixes(cls, suffixes: tuple[str, ...]) -> tuple[str, ...]:
        for suffix in suffixes:
            if not suffix.startswith(".") or len(suffix) < 2 or suffix != suffix.lower():
                raise ValueError(f"{suffix!r} is not a lower-case file extension such as .docx")
        return suffixes

    def read(self, path: Path, on_page: OnPage) -> PdfPages:
        """Call ``function(path, **arguments)``; it returns the texts of the pages, or one text without pages.

        Raises CorpusError, as every parser does, where it fails or returns anything else.
        """
        refuse_special(path)
        on_page(1)
        try:
            returned = call_function(self.call, str(path), **self.arguments)
            texts = (returned,) if isinstance(returned, str) else returned
            if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
                kind = type(returned).__name__
                raise self.broken(f"returned {kind}, not a text, nor a list of a text a page")
        except HarnessError as error:
            raise CorpusError(f"{path}: {error}") from error
        if not texts:
            raise CorpusError(f"{path}: call: {self.call} returned no page.")
        return PdfPages(tuple(texts), "none", paged=not isinstance(returned, str))
