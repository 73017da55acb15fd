"""How a stage offers its variants: one frozen config per kind, and one table of kinds per stage."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict

from harness.errors import ConfigError


class StageConfig(BaseModel):
    """Base of every configuration model: frozen, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)


@dataclass(frozen=True, slots=True)
class Kind:
    """One variant of a stage: the model of its configuration and the function or class that does the work."""

    config: type[StageConfig]
    make: Callable[..., Any]


def find_kind(stage: str, table: Mapping[str, Kind], name: object) -> Kind:
    """Look up a kind by its name; raises ConfigError that lists the known ones."""
    if isinstance(name, str) and name in table:
        return table[name]
    raise ConfigError(f"{stage}: there is no kind {name!r}. Known kinds: {', '.join(sorted(table))}.")
