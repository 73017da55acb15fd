"""One step of a trace of any tool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from harness.data.corpus.reading import read_objects
from harness.data.external.exchange import Passage

Kind = Literal["retriever", "reranker", "llm", "other"]
# Keys under which tools keep the text of a document, its source and its id.
_TEXTS = ("page_content", "pageContent", "content", "text", "document.content", "chunk", "snippet")
_SOURCES = ("source", "file_name", "filename", "file_path", "document", "title", "url", "source_id")
_IDS = ("id", "doc_id", "document_id", "chunk_id", "node_id", "id_", "document.id")
# Where answers of web interfaces keep their list.
_LISTS = ("data", "runs", "traces", "results")


@dataclass(frozen=True, slots=True)
class TraceStep:
    """A span, run or observation. ``parent`` is '' at the top; ``began`` orders the steps of a trace.

    ``sent`` and ``received`` are its input and output as recorded; ``passages`` what a retriever or reranker
    returned, in its order.
    """

    trace: str
    step_id: str
    parent: str
    began: str
    kind: Kind
    sent: Any = None
    received: Any = None
    passages: tuple[Passage, ...] = ()
    error: str = ""


def passages_in(value: Any) -> tuple[Passage, ...]:
    """The documents in the output of a retriever: a list of texts or objects, or an object that holds one."""
    if isinstance(value, dict):
        for key in ("documents", "docs", "output", "results", "matches", "nodes", "chunks", "context"):
            if isinstance(value.get(key), list):
                return passages_in(value[key])
        return ()
    if not isinstance(value, Sequence) or isinstance(value, str):
        return ()
    return tuple(found for one in value if (found := _passage(one)) is not None)


def _passage(value: Any) -> Passage | None:
    if isinstance(value, str):
        return Passage(value) if value.strip() else None
    if not isinstance(value, dict):
        return None
    # LlamaIndex wraps a node with its score; LangChain's serialised documents keep their fields in kwargs.
    for inner in ("node", "document", "kwargs", "payload"):
        if isinstance(value.get(inner), dict):
            value = {**value, **value[inner]}
    more = value.get("metadata")
    metadata = more if isinstance(more, dict) else {}
    text = _first(value, _TEXTS)
    passage_id = _first(value, _IDS) or _first(metadata, _IDS)
    source = _first(metadata, _SOURCES) or _first(value, _SOURCES)
    return Passage(text, source, passage_id) if text or passage_id else None


def _first(value: dict[str, Any], keys: Sequence[str]) -> str:
    for key in keys:
        found = value.get(key)
        if isinstance(found, str) and found.strip():
            return found
        if isinstance(found, int) and not isinstance(found, bool):
            return str(found)
    return ""


def read_records(path: Path) -> list[dict[str, Any]]:
    """All objects of a JSON or JSON Lines file; raises CorpusError that names the line or entry at fault."""
    return read_objects(path, _unpacked)


def _unpacked(whole: Any) -> list[Any]:
    if isinstance(whole, dict):
        for key in _LISTS:
            if isinstance(whole.get(key), list) and not {"resourceSpans", "run_type", "traceId"} & set(whole):
                return list(whole[key])
    return [whole]
