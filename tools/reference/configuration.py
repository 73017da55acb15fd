"""The reference of every configuration key, written from the models so that it cannot fall behind."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from harness.judge import JUDGES, LabelsConfig
from harness.models import Prompt
from harness.models.served.endpoint import ServedEndpoint
from harness.running.config.models import STAGES, BenchConfig
from harness.running.config.sweep import OPTIONAL, TABLES
from harness.values.kinds import Section, StageConfig

_INTRO = """\
# Configuration

One YAML file describes one benchmark. Paths are relative to the folder the command is run in. An unknown key
is an error. In the sections `parse`, `chunk`, `context`, `rewrite`, `filter`, `retrieve`, `rerank`, `read`
and `answer` any value may be a list: the sweep is the product of all lists, and each of its points is a
*setting*, named by what varies (`chunk=1000/0 tokens=256`), with the step where names would be the same
(`rewrite=llm`, `filter=llm`). A section may also be a list of mappings, to compare different kinds; `rerank:
null` omits the reranker. A key whose value is itself a list (`separators`, `weights`) is swept by a list of
lists, and so are rerankers applied one after the other: `rerank: [[{…}, {…}]]`, and contexts that are indexed
together: `context: [[{…}, {…}]]`. [What is searched, and what is read](context.md) has more about `context`
and `read`.

An embedding model belongs to the retriever that uses it. A fusion is a retriever made of others, its
`routes`, which may be fusions too:

```yaml
retrieve:
  kind: rrf
  top_k: 50
  routes:
    - {kind: chroma, model: "embedded:all-MiniLM-L6-v2", top_k: 50}
    - {kind: chroma, model: "intfloat/multilingual-e5-small", query_prefix: "query: ", top_k: 50}
```

If the settings to compare are not a product of lists, list them under `settings`. Each entry gives in full
the sections in which it differs; the others are those of the file. An entry may contain lists too:

```yaml
chunk: {kind: recursive_token, chunk_size: 1000}
rerank: {kind: late_interaction}
settings:
  - {}                                                            # as above
  - {rerank: null}
  - {chunk: {kind: token, tokens_per_chunk: [128, 256]}, rerank: null}
```

This page is written by `make docs` from the models in `harness/`.
"""


def reference() -> str:
    """The Markdown page."""
    parts = [_INTRO, _table("Top level", BenchConfig, skip={"settings", "kind"})]
    for name, field in BenchConfig.model_fields.items():
        model = _model_of(field)
        if model is not None:
            parts.append(_table(f"`{name}`", model))
    parts += _judges()
    for stage in TABLES:
        parts += _kinds(stage, TABLES[stage], "" if stage in OPTIONAL else TABLES[stage].default)
        parts += _served(stage, TABLES[stage])
    return "\n".join(parts)


def _kinds(stage: str, table: Any, default: str) -> Iterator[str]:
    for name, kind in table.items():
        note = " (default)" if name == default and len(table) > 1 else ""
        yield _table(f"`{stage}: {{kind: {name}}}`{note}", kind.config)


def _served(stage: str, table: Any) -> Iterator[str]:
    """The keys of the endpoints that give the numbers of a step, each once."""
    found: dict[type[StageConfig], str] = {}
    for kind in table.values():
        for path, model in _sections(stage, kind.config).items():
            if issubclass(model, ServedEndpoint):
                found.setdefault(model, path)
    for model, path in found.items():
        yield _table(f"`{path}`", model)


def _judges() -> Iterator[str]:
    """The keys of every judge, and of the sections within them, each once."""
    inner: dict[str, type[StageConfig]] = {}
    for name, kind in JUDGES.items():
        note = " (default)" if name == "labels" else ""
        yield _table(f"`relevance: {{judge: {name}}}`{note}", kind.config)
        inner |= _sections("relevance", kind.config)
    described = {kind.config for kind in JUDGES.values()}
    for path, model in inner.items():
        if model in described:
            continue
        described.add(model)
        yield _table(f"`{path}`", model)


def section_of(annotation: Any) -> type[StageConfig] | None:
    """The one model within an annotation such as ``Pool``, ``Azure | None`` or ``dict[str, Price]``.

    A prompt is a file of its own and no section.
    """
    if isinstance(annotation, type) and issubclass(annotation, StageConfig):
        return None if issubclass(annotation, Prompt) else annotation
    return next((found for arg in get_args(annotation) if (found := section_of(arg))), None)


def _sections(path: str, model: type[StageConfig]) -> dict[str, type[StageConfig]]:
    """The sections within a model by their path, depth first."""
    found: dict[str, type[StageConfig]] = {}
    for name, field in model.model_fields.items():
        section = section_of(field.annotation)
        if section is not None:
            free = ".NAME" if get_origin(field.annotation) is dict else ""
            found[f"{path}.{name}{free}"] = section
            found |= _sections(f"{path}.{name}{free}", section)
    return found


def _table(
    title: str, model: type[StageConfig], skip: set[str] | frozenset[str] = frozenset({"kind"})
) -> str:
    about = "" if model is BenchConfig else f"{(model.__doc__ or '').strip().splitlines()[0]}\n\n"
    fields = [(name, field) for name, field in model.model_fields.items() if name not in skip]
    fields.sort(key=lambda one: not one[1].is_required())
    if not fields:
        return f"## {title}\n\n{about}"
    rows = [
        f"| `{name}` | {_type_of(field)} | {_default(field)} | {field.description or ''} |"
        for name, field in fields
    ]
    if model is BenchConfig:
        rows += [f"| `{stage}` | section | | See below; a sweep if it contains lists. |" for stage in STAGES]
        rows.append(
            "| `settings` | list of sections |  | Settings to compare, if they are not a product of lists. |"
        )
    head = "| key | type | default | meaning |\n|---|---|---|---|"
    return f"## {title}\n\n{about}{head}\n" + "\n".join(rows) + "\n"


def _type_of(field: FieldInfo) -> str:
    """The type of a field; one of another step is a section like that step's."""
    nested = any(isinstance(one, Section) for one in field.metadata)
    return "section" if nested and field.annotation is StageConfig else _type(field.annotation)


def _type(annotation: Any) -> str:
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return " \\| ".join(f"`{value}`" for value in args)
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(_type(arg) for arg in args if arg is not type(None)))
    if origin in (list, tuple):
        return f"list of {_type(args[0])}".replace("section", "sections") if args else "list"
    if annotation is StageConfig:
        return " \\| ".join(f"`{name}`" for name in JUDGES)
    if origin is dict or section_of(annotation) is not None:
        return "section"
    names = {"int": "whole number", "float": "number", "str": "text", "bool": "yes/no", "Path": "path"}
    return names.get(getattr(annotation, "__name__", ""), "text")


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "**required**"
    value = field.default
    if isinstance(value, LabelsConfig):
        return "`labels`"
    if value is PydanticUndefined or isinstance(value, StageConfig) or value is None:
        return ""
    if isinstance(value, tuple):
        return "`[" + ", ".join(repr(v) if v in ("", " ") or "\n" in str(v) else str(v) for v in value) + "]`"
    return f"`{value}`" if str(value) else "empty"


def _model_of(field: FieldInfo) -> type[StageConfig] | None:
    annotation = field.annotation
    if isinstance(annotation, type) and issubclass(annotation, StageConfig):
        return annotation
    return None
