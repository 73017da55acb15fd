"""Which text each setting searches, where several parsers have read the documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.report.page.tables import Tables
from harness.text.text_id import BY


def parsers_detail(tables: Tables, settings: Sequence[str], documents: Sequence[str]) -> dict[str, Any]:
    """The parser of every setting and of every document of the page; nothing where there is one parser."""
    configured = [one.get("parse") for one in tables.record.get("config", {}).get("settings", [])]
    if all(one == configured[0] for one in configured):
        return {}
    own = {row["setting"]: _parser(row["document"]) for row in tables["rankings"]}
    return {
        "parsers": {
            "settings": [own.get(name, "") for name in settings],
            "documents": [_parser(name) for name in documents],
        }
    }


def _parser(text: str) -> str:
    return text.rpartition(BY)[2]
