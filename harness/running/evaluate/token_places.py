"""Where the tokens of every document begin: as rows of a result, so that it can be scored again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from harness import report
from harness.measures import TokenBoundaries, family_of
from harness.running.corpus import Corpus
from harness.running.evaluate.evaluating import Scorers
from harness.running.search import Searched

# tokens of a row: a cell that every reader of CSV files takes
_TOKENS_OF_A_ROW = 10_000


def token_rows(
    searched: Sequence[Searched], scorers: Scorers, corpus: Corpus, measures: Sequence[str]
) -> Iterator[report.TokenStartRow]:
    """The places of the tokens by every tokenizer that measures have counted by; none if no measure does."""
    families = map(family_of, measures)
    if not any(family is not None and family.reads == "tokens" for family in families):
        return
    for tokenizer in dict.fromkeys(result.setting.tokenizer for result in searched):
        boundaries = scorers.boundaries(tokenizer)
        for document in corpus.texts:
            yield from _rows_of(tokenizer, document.doc_id, boundaries)


def _rows_of(tokenizer: str, doc_id: str, boundaries: TokenBoundaries) -> Iterator[report.TokenStartRow]:
    edges = np.asarray(boundaries(doc_id), dtype=np.int64)
    for first in range(0, len(edges) - 1, _TOKENS_OF_A_ROW):
        part = edges[first : first + _TOKENS_OF_A_ROW + 1]
        lengths = " ".join(map(str, np.diff(part).tolist()))
        yield report.TokenStartRow(tokenizer, doc_id, int(part[0]), lengths)
