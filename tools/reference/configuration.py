"""The reference of every configuration key, written from the models so that it cannot fall behind."""

from __future__ import annotations

import types
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from harness.judge import JUDGES, LabelsConfig
from harness.models import ComputingConfig, EmbeddingEndpoint, ModelConfig, Prompt, RerankEndpoint
from harness.models.llm.endpoint import Endpoint
from harness.running.config.load import OPTIONAL, TABLES
from harness.running.config.models import STAGES, BenchConfig
from harness.steps import CodeConfig, ServiceConfig
from harness.steps.search.step import TableConfig
from harness.values.kinds import Section, StageConfig

_INTRO = """\
# Configuration

Every key of the YAML file that describes a benchmark: its type, its default and what it means. `make docs`
writes this page from the code. `make validate CONFIG=my.yaml` checks a file; an unknown key is an error,
with the nearest known one. Paths are relative to the folder the command is run in.

- The file: LINKS
- The steps of a setting: STEPS
- Used in several places: SHARED

**Lists are a sweep.** In the sections of steps any value may be a list: every combination of all lists is a
*setting*, named by what varies (`chunk=1000/0 tokens=256`), with the step where names would be the same
(`rewrite=llm`, `filter=llm`). A section may also be a list of mappings, to compare different kinds;
`rerank: null` omits the reranker. A key whose value is itself a list (`separators`, `weights`) is swept by
a list of lists. So are rerankers applied one after the other, `rerank: [[{…}, {…}]]`, and contexts that are
indexed together, `context: [[{…}, {…}]]`. A range stands for a list: `{from: 200, to: 2000, log: true,
values: 6}` for six numbers, each larger than the one before it by the same ratio, without `log` by as much.
It may stand for any number of a step (`chunk_size`, `chunk_overlap`, `top_k`, the `k` of `rrf`), and for an
entry of a list of numbers: `weights: [1, {from: 0.5, to: 2.0}]`. [Many settings](tune.md) says how a sampler
proposes numbers of ranges instead.

**Settings that are not a product of lists** are listed under `settings`. Each entry gives in full the
sections in which it differs; the others are those of the file. An entry may contain lists too:

```yaml
chunk: {kind: recursive_token, chunk_size: 1000}
rerank: {kind: late_interaction}
settings:
  - {}                                                            # as above
  - {rerank: null}
  - {chunk: {kind: token, tokens_per_chunk: [128, 256]}, rerank: null}
```

**An embedding model** belongs to the retriever that uses it. A fusion is a retriever made of others, its
`routes`, which may be fusions too:

```yaml
retrieve:
  kind: rrf
  top_k: 50
  routes:
    - {kind: chroma, model: "embedded:all-MiniLM-L6-v2", top_k: 50}
    - {kind: chroma, model: "intfloat/multilingual-e5-small", query_prefix: "query: ", top_k: 50}
```

**How to read the tables of steps.** The first table lists the kinds of a step, each with its keys; the
second explains each key once. Where kinds give a key another meaning or default, the key has a row for
each, with the kinds it is for. "And [a model on this machine](#a-model-on-this-machine)" means that the
kind has the keys of that section as well.
"""
# What configurations of several steps have in common stands in a section of its own.
_SHARED: dict[type[StageConfig], tuple[str, str]] = {
    ModelConfig: (
        "A language model",
        "Where it is served, what one run may spend on it, and when a run gives up.",
    ),
    ComputingConfig: ("A model on this machine", "How a model computes that runs here."),
    CodeConfig: ("Your own function", "`kind: python`; [your own steps](own-steps.md) has examples."),
    TableConfig: ("A table of documents", "A file with a row for each document."),
}
_ENDPOINTS = "Endpoints and services"
_ABOUT_ENDPOINTS = """\
Where a model is served that does not run here, by the section that has the `endpoint`; and your own service,
`kind: http` in `rewrite` and `retrieve`; [your own steps](own-steps.md) has examples."""
_SERVED: dict[str, type[StageConfig]] = {
    "language model": Endpoint,
    "`retrieve`": EmbeddingEndpoint,
    "`rerank`": RerankEndpoint,
    "`kind: http`": ServiceConfig,
}
_CONFIGS = {kind.config for table in (*TABLES.values(), JUDGES) for kind in table.values()}


@dataclass(frozen=True)
class Key:
    """One row of a table: a key as it is written, its type, default and meaning."""

    name: str
    type: str
    default: str
    meaning: str

    def row(self, kinds: str = "") -> str:
        """The row; ``kinds`` says which kinds it is for, where others have another one."""
        return f"| `{self.name}`{kinds} | {self.type} | {self.default} | {self.meaning} |"


def reference() -> str:
    """The Markdown page."""
    top = {name: model for name, field in BenchConfig.model_fields.items() if (model := _model_of(field))}
    parts = [_section("Top level", _table([*(key.row() for key in keys_of(BenchConfig)), *_steps()]))]
    for name, model in top.items():
        about = " ".join(part for part in (_about(model), *map(_also, _bases(model))) if part)
        parts.append(_section(name, about, _table([key.row() for key in keys_of(model)])))
        if name == "relevance":
            judges = {f"`{judge}`": kind.config for judge, kind in JUDGES.items()}
            parts.append(
                _kinds("Judges", judges, "`labels`", "The keys of `relevance` that go with its `judge`.")
            )
    for stage, table in TABLES.items():
        default = "" if stage in OPTIONAL or len(list(table.items())) == 1 else f"`{table.default}`"
        parts.append(_kinds(stage, {f"`{name}`": kind.config for name, kind in table.items()}, default))
    for base, (title, about) in _SHARED.items():
        parts.append(_section(title, about, _table([key.row() for key in keys_of(base, shared=False)])))
    parts.append(_kinds(_ENDPOINTS, _SERVED, "", _ABOUT_ENDPOINTS))
    shared = [*(title for title, _ in _SHARED.values()), _ENDPOINTS]
    intro = _INTRO.replace("LINKS", _links(("Top level", *top, "Judges")))
    return "\n".join([intro.replace("STEPS", _links(TABLES)).replace("SHARED", _links(shared)), *parts])


def keys_of(model: type[StageConfig], *, shared: bool = True) -> list[Key]:
    """The keys of a configuration, those that must be given first, then those of its sections with a dot.

    With ``shared``, without the keys of bases that have a section of their own.
    """
    elsewhere = {key for base in _bases(model) for key in keys_of(base, shared=False)} if shared else set()
    fields = [(name, field) for name, field in model.model_fields.items() if name not in {"kind", "settings"}]
    fields.sort(key=lambda one: not one[1].is_required())
    found = []
    for name, field in fields:
        found.append(Key(name, _type_of(field), _default(field), field.description or ""))
        inner = section_of(field.annotation)
        if inner and model is not BenchConfig and not _described(inner):
            free = ".NAME" if get_origin(field.annotation) is dict else ""
            found += [replace(key, name=f"{name}{free}.{key.name}") for key in keys_of(inner, shared=False)]
    return [key for key in found if key not in elsewhere]


def _described(section: type[StageConfig]) -> bool:
    """Whether a section of the page has its keys: it is a step, a judge or an endpoint."""
    return section in _SERVED.values() or any(issubclass(kind, section) for kind in _CONFIGS)


def _bases(model: type[StageConfig]) -> list[type[StageConfig]]:
    bases: list[type[StageConfig]] = [*_SHARED, ServiceConfig]
    return [base for base in bases if issubclass(model, base) and model is not base]


def _kinds(title: str, kinds: dict[str, type[StageConfig]], default: str, about: str = "") -> str:
    """A section with a table of kinds and their keys, and one that explains every key once."""
    owners: dict[Key, list[str]] = {}
    for kind, model in kinds.items():
        for key in keys_of(model):
            owners.setdefault(key, []).append(kind)
    common = [key for key, having in owners.items() if len(having) == len(kinds) > 1]
    lines = ["| kind | what it is | keys |", "|---|---|---|"]
    if common:
        lines.append(f"| every kind | | {', '.join(f'`{key.name}`' for key in common)}. |")
    for kind, model in kinds.items():
        own = [f"`{key.name}`" for key in keys_of(model) if key not in common and "." not in key.name]
        also = [_also(base) for base in _bases(model)]
        name = f"{kind} (default)" if kind == default else kind
        lines.append(
            f"| {name} | {_about(model)} | {' '.join([', '.join(own) + '.' * bool(own), *also]).strip()} |"
        )
    names = [key.name.partition(".")[0] for key in owners]
    # those of one name together, after what all kinds have
    ordered = sorted(owners, key=lambda key: (key not in common, names.index(key.name.partition(".")[0])))
    several = {name for name, count in Counter(key.name for key in owners).items() if count > 1}
    rows = [key.row(f" of {', '.join(owners[key])}" if key.name in several else "") for key in ordered]
    return _section(title, about, "\n".join(lines), _table(rows))


def _section(title: str, *parts: str) -> str:
    shown = f"`{title}`" if title.islower() else title
    return f"## {shown}\n\n" + "\n\n".join(part for part in parts if part) + "\n"


def _link(title: str) -> str:
    shown = f"`{title}`" if title.islower() else title[0].lower() + title[1:]
    return f"[{shown}](#{title.lower().replace(' ', '-')})"


def _links(titles: Iterable[str]) -> str:
    return ", ".join(map(_link, titles))


def _also(base: type[StageConfig]) -> str:
    return f"And {_link(_SHARED[base][0] if base in _SHARED else _ENDPOINTS)}."


def _about(model: type[StageConfig]) -> str:
    return (model.__doc__ or "").strip().splitlines()[0]


def _table(rows: list[str]) -> str:
    return "\n".join(["| key | type | default | meaning |", "|---|---|---|---|", *rows]) if rows else ""


def _steps() -> list[str]:
    """The rows of the top level that are no fields of its model."""
    names = ", ".join(f"`{stage}`" for stage in STAGES)
    return [
        f"| {names} | section | | The steps of a setting; a sweep where they contain lists. |",
        "| `settings` | list of sections |  | Settings to compare, if they are not a product of lists. |",
    ]


def section_of(annotation: Any) -> type[StageConfig] | None:
    """The one model within an annotation such as ``Pool``, ``Azure | None`` or ``dict[str, Price]``.

    A prompt is a file of its own and no section.
    """
    if isinstance(annotation, type) and issubclass(annotation, StageConfig):
        return None if issubclass(annotation, Prompt) else annotation
    return next((found for arg in get_args(annotation) if (found := section_of(arg))), None)


def _type_of(field: FieldInfo) -> str:
    """The type of a field; one of another step is a section like that step's."""
    nested = any(isinstance(one, Section) for one in field.metadata)
    return "section" if nested and field.annotation is StageConfig else _type(field.annotation)


def _type(annotation: Any) -> str:
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return " \\| ".join(f"`{str(value).lower() if value is False else value}`" for value in args)
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(_type(arg) for arg in args if arg is not type(None)))
    if origin is Annotated and (args[0] in (int, float) or get_origin(args[0]) is dict):
        return _type(args[0])
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
    if isinstance(value, bool):
        return f"`{value}`".lower()
    if isinstance(value, tuple):
        return "`[" + ", ".join(repr(v) if v in ("", " ") or "\n" in str(v) else str(v) for v in value) + "]`"
    return f"`{value}`" if str(value) else "empty"


def _model_of(field: FieldInfo) -> type[StageConfig] | None:
    annotation = field.annotation
    if isinstance(annotation, type) and issubclass(annotation, StageConfig):
        return annotation
    return None
