"""Keys that earlier versions had, and how what they said is said now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.config.source import Source
from harness.config.yaml_loader import KeyPath


def refuse_moved(source: Source, section: Mapping[Any, Any] | None = None, at: KeyPath = ()) -> None:
    """Raise ConfigError with the new form where a section has the key ``embed`` or ``parser``.

    ``section`` is the whole file unless given, and stands ``at`` a place in it.
    """
    holder = source.data if section is None else section
    if "parser" in holder:
        new = holder["parser"] if isinstance(holder["parser"], dict) else {"kind": "pypdf"}
        raise source.error(
            (*at, "parser"),
            f"the parser is now a step of every setting, and can be swept. Write parse: {_mapping(new)}",
        )
    if "embed" in holder:
        _refuse_embed(source, holder["embed"], holder.get("retrieve", {}), (*at, "embed"))


def _refuse_embed(source: Source, embed: Any, retrieve: Any, where: KeyPath) -> None:
    if isinstance(embed, dict) and isinstance(retrieve, dict):
        merged = {"kind": retrieve.get("kind", "chroma"), **embed, **retrieve}
        raise source.error(
            where, f"an embedding model now belongs to its retriever. Write retrieve: {_mapping(merged)}"
        )
    raise source.error(
        where,
        "an embedding model now belongs to its retriever: move these keys into each section of retrieve, "
        "such as retrieve: {kind: chroma, model: …}.",
    )


def _mapping(section: Mapping[Any, Any]) -> str:
    return "{" + ", ".join(f"{key}: {_yaml(value)}" for key, value in section.items()) + "}"


def _yaml(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_yaml, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and (":" in value or value == "" or value != value.strip()):
        return f'"{value}"'
    return "null" if value is None else str(value)
