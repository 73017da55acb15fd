"""What a run lends to the steps that look at documents: their text, and what is known of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from harness.kinds import StageConfig
from harness.llm import Form, ModelConfig
from harness.progress import Reporter
from harness.text.headings import Heading, HeadingStyle
from harness.types import Answered, Chunk, Document


class Sources(Protocol):
    """The side of a run that contexts and readers may use. Nothing else of a run is theirs to see."""

    @property
    def reporter(self) -> Reporter:
        """Progress and warnings."""

    def document(self, doc_id: str) -> Document:
        """A document of the corpus."""

    def sentences(self, doc_id: str) -> NDArray[np.int64]:
        """The spans of its sentences, half-open [N, 2], in the order of the text."""

    def headings(self, doc_id: str, style: HeadingStyle) -> Sequence[Heading]:
        """Its headings in the order of the text."""

    def chunks(self, config: StageConfig) -> Sequence[Chunk]:
        """All chunks of another chunker, by document and in the order of the text."""

    def facts(self, file: Path, key: str, columns: Sequence[str]) -> Mapping[str, Mapping[str, str]]:
        """The cells of a table of documents by document and column; ``key`` is the column of their names.

        Documents without a row are left out. Raises ConfigError for a column that is not there.
        """

    def answers(
        self, model: ModelConfig, form: Form, shown: Sequence[tuple[str, ...]], name: str
    ) -> list[Answered]:
        """The answers of a language model about passages shown together, as ``Tools.answers`` has it."""
