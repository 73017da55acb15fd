"""What may win back what a setting loses at a step: another way of doing the step that no setting has tried.

What there is to try is said by the kinds: which of their keys are sizes, depths and ordered levels, what a
search goes by, and with which keys a kind is worth a try (``Kinds.tries``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from pydantic_core import to_jsonable_python

from harness.comparison.sweep import (
    Dump,
    amounts_in,
    config_of,
    depths_of,
    leaves,
    marks_in,
    searched_by,
    size_of,
    table_of,
)
from harness.comparison.verdict import Verdict
from harness.comparison.wordings import sentence_of
from harness.report import CANDIDATES, CHUNKING, FILTER, ORDER, PARSER
from harness.values import Ordered

_BUNDLED = "embedded:"
# words that YAML does not read as text
_NO_TEXT = frozenset(("yes", "no", "on", "off", "true", "false", "null", "y", "n"))
Remedy = tuple[str, str]
"""What to do, and the line for the configuration ('' where no line can say it)."""


def remedy(part: str, name: str, verdict: Verdict) -> Remedy:
    """What may win back what the setting ``name`` lost at a part.

    Where nothing that was measured supports a change, the text says which measurement decides.
    """
    text, line = _remedy(part, verdict.configured.get(name, {}), verdict)
    if _BUNDLED in line and find_spec("sentence_transformers") is None:
        return f"{sentence_of('try.install')} {text}", line
    return text, line


def _remedy(part: str, setting: Dump, verdict: Verdict) -> Remedy:
    if part == PARSER:
        return _reparse(verdict)
    if part == FILTER:
        return sentence_of("try.filter"), ""
    remedies = {CHUNKING: _recut, CANDIDATES: _find_more, ORDER: _rerank}
    if part in remedies:
        return remedies[part](setting, verdict)
    return sentence_of("try.without", step=part), ""


def _reparse(verdict: Verdict) -> Remedy:
    """A parser that no setting has; the default is what most have tried."""
    parsers = table_of("parse")
    tried = {part.get("kind") for part in _tried("parse", verdict)} or {parsers.default}
    left = [kind for kind, _ in parsers.tries if kind not in tried]
    if not left:
        return sentence_of("try.parser.any"), ""
    other = next((kind for kind in left if kind != parsers.default), left[0])
    return sentence_of("try.parser"), f"parse: {{kind: {other}}}"


def _tried(step: str, verdict: Verdict) -> list[Dump]:
    """The sections of a step in all settings, each of a list and each route apart."""
    return leaves(*(setting.get(step) for setting in verdict.configured.values()))


def _further_level(step: str, part: str, name: str, setting: Dump, verdict: Verdict) -> Remedy | None:
    """The next level of a key whose kind orders its levels; None where there is none that losses speak for.

    Where one level was tried it is the next higher one, else the one in the direction that loses less.
    """
    for section in leaves(setting.get(step)):
        for key, mark in marks_in(step, section).items():
            if not isinstance(mark, Ordered) or section.get(key) not in mark.levels:
                continue
            lost = _lost_by_level(step, part, (section.get("kind"), key), mark, verdict)
            best = min(lost, key=lambda level: sum(lost[level]) / len(lost[level]))
            further = best - 1 if len(lost) > 1 and best == min(lost) else best + 1
            if further in lost or not 0 <= further < len(mark.levels) or best not in (min(lost), max(lost)):
                continue
            words, level = key.replace("_", " "), mark.levels[further]
            line = f"{key}: {_scalar(level)}"
            if len(lost) == 1:
                return sentence_of("try.level", key=words, level=level, part=name, step=step), line
            tried = {"key": words, "best": mark.levels[best], "level": level, "step": step}
            return sentence_of("try.level.further", **tried), line
    return None


def _lost_by_level(
    step: str, part: str, place: tuple[Any, str], mark: Ordered, verdict: Verdict
) -> dict[int, list[float]]:
    """What settings lost at a part, by the level that they have at the ``place``: a kind and a key of it."""
    kind, key = place
    lost: dict[int, list[float]] = {}
    for name, setting in verdict.configured.items():
        for section in leaves(setting.get(step)):
            if section.get("kind") == kind and section.get(key) in mark.levels:
                level = mark.levels.index(section[key])
                lost.setdefault(level, []).append(verdict.lost.get(name, {}).get(part, 0.0))
    return lost


def _scalar(value: str | float) -> str:
    """A value in YAML; in quotes where it would be read as something else."""
    plain = isinstance(value, str) and value.isidentifier() and value.lower() not in _NO_TEXT
    return value if plain and isinstance(value, str) else json.dumps(value)


def _recut(setting: Dump, verdict: Verdict) -> Remedy:
    """Another size, where the losses of those tried show a direction; else overlap, or another size."""
    size = size_of(setting)
    further_level = _further_level("chunk", CHUNKING, "chunking", setting, verdict)
    if size is None:
        return further_level or (sentence_of("try.chunks"), "")
    chunk = setting["chunk"]
    lost: dict[int, list[float]] = {}
    for name, losses in verdict.lost.items():
        other = size_of(verdict.configured.get(name, {}))
        if other is not None and other.key == size.key and CHUNKING in losses:
            lost.setdefault(other.value, []).append(losses[CHUNKING])
    if len(lost) > 1:
        sizes, best = sorted(lost), min(lost, key=lambda length: sum(lost[length]) / len(lost[length]))
        further = {sizes[0]: best // 2, sizes[-1]: 2 * best}.get(best)
        if further:
            code = "try.chunks.smaller" if further < best else "try.chunks.larger"
            return sentence_of(code, best=f"{best:,}"), _line(chunk, size.key, further)
    if further_level:
        return further_level
    if size.overlap_key and not _value(chunk, size.overlap_key):
        line = _line(chunk, size.overlap_key, size.value // 5)
        return sentence_of("try.chunks.overlap"), line
    line = _line(chunk, size.key, 2 * size.value)
    return sentence_of("try.chunks.double"), line


def _value(section: Dump, key: str) -> Any:
    """The value of a dotted key."""
    first, _, then = key.partition(".")
    return _value(section[first], then) if then else section.get(first)


def _line(section: Dump, key: str, value: int) -> str:
    """The line that sets a key; one in a section of its own with all that this has."""
    inside, _, last = key.rpartition(".")
    if not inside:
        return f"{key}: {value}"
    items = ", ".join(f"{name}: {content}" for name, content in {**section[inside], last: value}.items())
    return f"{inside}: {{{items}}}"


def _is_elsewhere(search: Dump) -> bool:
    """Whether another pipeline searched, so that no key here changes how: its hits were read from a file."""
    return not set(search) - {"kind"} or ("file" in search and config_of("retrieve", search) is None)


def _find_more(setting: Dump, verdict: Verdict) -> Remedy:
    """The other way to search, by keywords or by vectors, if none has tried it; else more candidates.

    More of them help where rankings end early or a reranker brings them up; else another encoder may.
    """
    search = setting.get("retrieve") or {}
    if _is_elsewhere(search):
        return sentence_of("try.hits"), ""
    tried = _tried("retrieve", verdict)
    by = set().union(*map(searched_by, tried))
    models = [part["model"] for part in leaves(search) if part.get("model")]
    depths = depths_of("retrieve", search)
    if len(by) == 1 and (line := _both_ways(search, depths)):
        return sentence_of("try.vectors" if by == {"words"} else "try.words"), line
    used = {part.get("model") for part in tried}
    encoders = [keys["model"] for kind, keys in _tries_by("vectors") if "model" in keys]
    # what comes from the hub is mostly larger than what is bundled
    encoders.sort(key=lambda model: model.startswith(_BUNDLED))
    new = next((model for model in encoders if model not in used), "")
    if models and new and not setting.get("rerank") and not verdict.read.get(verdict.measure):
        code = "try.encoder" if new.startswith(_BUNDLED) else "try.encoder.hub"
        return sentence_of(code, model=models[0]), f"model: {new}"
    if level := _further_level("retrieve", CANDIDATES, "search", setting, verdict):
        return level
    if not depths:
        return sentence_of("try.more"), ""
    key, depth = [*depths.items()][-1]
    return sentence_of("try.deeper", depth=f"{depth:,}"), f"{key}: {2 * depth}"


def _tries_by(what: str) -> list[tuple[str, Mapping[str, Any]]]:
    """The retrievers worth a try that find passages by words, or by vectors."""
    retrievers = table_of("retrieve")
    return [(kind, keys) for kind, keys in retrievers.tries if what in retrievers.by(kind)]


def _both_ways(search: Dump, depths: Mapping[str, int]) -> str:
    """A section for search by words and by vectors: the search in use and another; '' where no kind can."""
    retrievers = table_of("retrieve")
    fusions = [(kind, keys) for kind, keys in retrievers.tries if not retrievers.by(kind)]
    ways = [_tries_by("words"), _tries_by("vectors")]
    if not fusions or not all(ways):
        return ""
    in_use = next(iter(leaves(search)), {})
    routes = []
    for way, ((kind, keys), *_) in zip(("words", "vectors"), ways, strict=True):
        if searched_by(in_use) == {way} and config_of("retrieve", in_use) is not None:
            kind, keys = in_use["kind"], _set_by_user(in_use)
        routes.append(_flow(kind, keys, depths))
    (fusion, keys), *_ = fusions
    return f"retrieve: {_flow(fusion, keys, depths)[:-1]}, routes: [{', '.join(routes)}]}}"


def _set_by_user(section: Dump) -> dict[str, Any]:
    """The keys of a search that differ from their defaults, without its depths."""
    config = config_of("retrieve", section)
    fields = config.model_fields if config is not None else {}
    left_out = {"kind", *amounts_in("retrieve", section)}
    return {
        key: value
        for key, value in section.items()
        if key in fields and key not in left_out and value is not None
        if fields[key].is_required()
        or value != to_jsonable_python(fields[key].get_default(call_default_factory=True))
    }


def _flow(kind: str, keys: Mapping[str, Any], depths: Mapping[str, int]) -> str:
    """A section on one line, with the depths that its kind has."""
    config = table_of("retrieve").config(kind)
    fields = config.model_fields if config is not None else {}
    items = [f"{key}: {json.dumps(value)}" for key, value in keys.items()]
    items += [f"{key}: {depth}" for key, depth in depths.items() if key in fields]
    return f"{{{', '.join([f'kind: {kind}', *items])}}}"


def _rerank(setting: Dump, verdict: Verdict) -> Remedy:
    """A reranker, or a level of one, that was not tried."""
    if _is_elsewhere(setting.get("retrieve") or {}):
        return sentence_of("try.reranker.any"), ""
    tries, tried = table_of("rerank").tries, _tried("rerank", verdict)
    if not tried:
        bundled = [(kind, keys) for kind, keys in tries if str(keys.get("model", "")).startswith(_BUNDLED)]
        kind, keys = (bundled or tries)[0]
        code = "try.reranker.bundled" if bundled else "try.reranker"
        return sentence_of(code), _section(kind, keys)
    if level := _further_level("rerank", ORDER, "ranking", setting, verdict):
        return level
    used = {part.get("model") for part in tried}
    kinds = {part.get("kind") for part in tried}
    for kind, keys in tries:
        model = str(keys.get("model", ""))
        if model.startswith(_BUNDLED) or (model in used if model else kind in kinds):
            continue
        return sentence_of("try.reranker.hub" if model else "try.reranker.another"), _section(kind, keys)
    return sentence_of("try.reranker.another.any"), ""


def _section(kind: str, keys: Mapping[str, Any]) -> str:
    """A reranker as a line of the configuration."""
    items = [f"{key}: {json.dumps(value) if ':' in str(value) else value}" for key, value in keys.items()]
    return f"rerank: {{{', '.join([f'kind: {kind}', *items])}}}"
