"""What a run offers the steps that look at documents: text, sentences, headings, chunks, tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from harness.chunk import ChunkerConfig, Outline
from harness.kinds import StageConfig
from harness.models import ModelTokenizer
from harness.running.corpus import Corpus
from harness.running.cutting import cut, outlines
from harness.running.resources import Resources
from harness.text.headings import Heading, HeadingStyle, markdown_headings, numbered_headings
from harness.types import Chunk, Document

_FIND = {"markdown": markdown_headings, "numbered": numbered_headings}


@dataclass(frozen=True, slots=True)
class RunSources(Resources):
    """``harness.search.sources.Sources`` over a corpus; what was computed once is kept."""

    corpus: Corpus
    tokenizer: ModelTokenizer
    _documents: dict[str, Document] = field(default_factory=dict)
    _outlines: dict[str, Outline] = field(default_factory=dict)
    _headings: dict[tuple[str, str], list[Heading]] = field(default_factory=dict)

    def document(self, doc_id: str) -> Document:
        """A document of the corpus."""
        if not self._documents:
            self._documents.update({one.doc_id: one for one in self.corpus.documents})
        return self._documents[doc_id]

    def sentences(self, doc_id: str) -> NDArray[np.int64]:
        """The spans of its sentences [N, 2]."""
        if not self._outlines:
            self._outlines.update(outlines(self.corpus, self.context))
        return self._outlines[doc_id].sentences

    def headings(self, doc_id: str, style: HeadingStyle) -> Sequence[Heading]:
        """Its headings in the order of the text."""
        if (doc_id, style) not in self._headings:
            self._headings[doc_id, style] = list(_FIND[style](self.document(doc_id).text))
        return self._headings[doc_id, style]

    def chunks(self, config: StageConfig) -> Sequence[Chunk]:
        """All chunks of another chunker."""
        if not isinstance(config, ChunkerConfig):
            raise TypeError(f"{type(config).__name__} is not a chunker")
        return cut(self.corpus, config, self.tokenizer, self.context)[0]
