"""How the columns of a run or of judgments may be called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

QUERY_NAMES = ("query_id", "qid", "query-id", "topic", "query", "q_id")
DOC_NAMES = ("doc_id", "docid", "docno", "corpus-id", "document", "chunk_id")
SCORE_NAMES = ("score", "sim")
RANK_NAMES = ("rank",)
GRADE_NAMES = ("grade", "relevance", "rel", "label", "score")


def find_column(names: Sequence[str], accepted: Sequence[str]) -> str | None:
    """The first accepted name that is there, whatever its case."""
    present: Mapping[str, str] = {name.lower(): name for name in names}
    return next((present[name] for name in accepted if name in present), None)
