"""Readable names for the settings of a sweep, which say what varies and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from harness.config.models import STAGES
from harness.kinds import StageConfig

# Two fields that are read together: (first, second, short name, whether the second is always shown)
_PAIRS = [
    ("chunk_size", "chunk_overlap", "chunk", True),
    ("tokens_per_chunk", "token_overlap", "tokens", False),
]
ONLY = "base"
# What a key that is left out means, where it is not simply absent.
_UNSET = {"top_n": "all"}

Dump = Mapping[str, Any] | None


def name_settings(combinations: Sequence[Mapping[str, StageConfig | None]]) -> list[str]:
    """One name per combination; a sweep of a single point is called ``base``."""
    parts: list[list[str]] = [[] for _ in combinations]
    for stage in STAGES:
        dumps = [_dump(combination[stage]) for combination in combinations]
        for name, label in zip(parts, _labels(stage, dumps), strict=True):
            name += label
    return [" ".join(name) or ONLY for name in parts]


def file_name(setting: str) -> str:
    """A setting's name as part of a file name."""
    return setting.replace("/", "-").replace(" ", "_")


def _dump(config: StageConfig | None) -> Dump:
    return None if config is None else config.model_dump(mode="json")


def _labels(stage: str, dumps: Sequence[Dump]) -> list[list[str]]:
    kinds = [None if dump is None else dump.get("kind") for dump in dumps]
    labels = []
    for dump, kind in zip(dumps, kinds, strict=True):
        if dump is None:
            labels.append([f"{stage}=none"] if len(set(kinds)) > 1 else [])
            continue
        same_kind = [
            other for other, its in zip(dumps, kinds, strict=True) if other is not None and its == kind
        ]
        varying = {key for key in dump if len({repr(other[key]) for other in same_kind}) > 1}
        shown_kind = [str(kind)] if len({k for k in kinds if k is not None}) > 1 else []
        labels.append(shown_kind + _fields(stage, dump, varying))
    return labels


def _fields(stage: str, dump: Mapping[str, Any], varying: set[str]) -> list[str]:
    out = []
    for first, second, short, always in _PAIRS:
        if {first, second} & varying:
            tail = f"/{dump[second]}" if second in dump and (always or second in varying) else ""
            out.append(f"{short}={dump[first]}{tail}")
            varying = varying - {first, second}
    return out + [
        f"{_short(stage, key)}={_UNSET.get(key, 'none') if dump[key] is None else _value(dump[key])}"
        for key in dump
        if key in varying
    ]


def _short(stage: str, key: str) -> str:
    return stage if key == "model" else key


def _value(value: Any) -> str:
    text = value if isinstance(value, str) else repr(value)
    name = PurePosixPath(text).name if "/" in text else text
    return "".join("_" if letter.isspace() else letter for letter in name.replace("embedded:", "")) or "none"
