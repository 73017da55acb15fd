"""What of a configured setting its rankings depend on, and what only its answers do."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from harness import steps
from harness.values import ConfigError


def spans_read(reader: Any) -> Any:
    """The configured reader of a setting without what alters text before it is answered from, if any."""
    while isinstance(reader, Mapping) and _alters(reader.get("kind")):
        reader = reader.get("read")
    return reader


def alters(setting: Mapping[str, Any]) -> bool:
    """Whether a setting puts noise or false facts into what is read: a test of its answers, and no choice."""
    reader = setting.get("read")
    return isinstance(reader, Mapping) and _alters(reader.get("kind"))


def _alters(kind: Any) -> bool:
    try:
        return issubclass(steps.READERS.find(kind).config, steps.AlterationConfig)
    except ConfigError:
        # of a package that is not installed here
        return False


def ranked_alike(settings: Mapping[str, Mapping[str, Any]]) -> list[list[str]]:
    """The settings in groups that have the same rankings, as only what is read or answered differs.

    ``settings`` are configured settings as plain values, by what they are called.
    """
    groups: dict[str, list[str]] = {}
    for called, setting in settings.items():
        ranking = {key: value for key, value in setting.items() if key not in ("name", "answer", "read")}
        ranking["read"] = spans_read(setting.get("read"))
        groups.setdefault(json.dumps(ranking, sort_keys=True, default=str), []).append(called)
    return list(groups.values())
