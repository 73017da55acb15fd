"""Which section of a configuration an annotation stands for."""

from __future__ import annotations

from typing import Any, get_args

from harness.kinds import StageConfig


def section_of(annotation: Any) -> type[StageConfig] | None:
    """The one model within an annotation such as ``Pool``, ``Azure | None`` or ``dict[str, Price]``."""
    if isinstance(annotation, type) and issubclass(annotation, StageConfig):
        return annotation
    return next((found for arg in get_args(annotation) if (found := section_of(arg))), None)
