"""What a configuration holds is written whole: a section of a kind keeps the keys of that kind.

Keys of the cache, the files that a run reads and record.json come from what is written. pydantic writes the
keys of the declared class alone, unless the field says ``SerializeAsAny``.
"""

import importlib
import pkgutil
from typing import Annotated, get_args, get_origin

import pytest
from pydantic import SerializeAsAny

import harness
from harness.models import BiEncoderConfig, ModelConfig, Prompt
from harness.values import StageConfig

# a section of these is always read as the class itself, whatever else is built upon it
READ_AS_THEMSELVES = {BiEncoderConfig, ModelConfig, Prompt}


def subclasses(config):
    return {other for child in config.__subclasses__() for other in (child, *subclasses(child))}


def in_part(annotation):
    """The configurations in an annotation of which only the declared keys would be written."""
    if get_origin(annotation) is Annotated:
        inner, *marks = get_args(annotation)
        return () if any(isinstance(mark, SerializeAsAny) for mark in marks) else in_part(inner)
    if isinstance(annotation, type) and issubclass(annotation, StageConfig):
        keys = {*annotation.model_fields}
        return (annotation,) if any({*child.model_fields} - keys for child in subclasses(annotation)) else ()
    return [found for part in get_args(annotation) for found in in_part(part)]


def test_every_section_that_may_be_of_several_kinds_is_written_as_its_kind():
    for module in pkgutil.walk_packages(harness.__path__, "harness."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    of_harness = [one for one in subclasses(StageConfig) if one.__module__.startswith("harness.")]
    assert len(of_harness) > 50
    cut = {
        f"{config.__name__}.{name}": found
        for config in of_harness
        for name, field in config.model_fields.items()
        if (found := [*in_part(Annotated[field.annotation, *field.metadata, "its marks"])])
    }
    declared = {child for children in cut.values() for child in children}
    assert declared == READ_AS_THEMSELVES


class Plain(StageConfig):
    size: int = 1


class Wide(Plain):
    words: str = "a"


@pytest.mark.parametrize(("hint", "expected"), [(Plain | None, [Plain]), (SerializeAsAny[Plain] | None, [])])
def test_a_field_that_would_be_cut_is_seen(hint, expected):
    assert [*in_part(hint)] == expected

    class Holder(StageConfig):
        part: hint = None

    written = Holder(part=Wide(words="b")).model_dump(mode="json")["part"]
    assert ("words" in written) is not bool(expected)
