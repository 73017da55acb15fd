"""The step ``choose``: measure the candidates; people mark those to keep, or a choice is made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import numpy as np

from harness.labels.testset.choose.balance import balanced
from harness.labels.testset.choose.leading import copied
from harness.labels.testset.choose.likeness import ALIKE, Floats, by_vectors, by_words, same_figures
from harness.labels.testset.config import TestsetConfig
from harness.labels.testset.rows import Candidate, Question
from harness.labels.testset.state import SetState
from harness.labels.testset.steps import Outcome
from harness.models import EmbedConfig
from harness.running import Context, vectors
from harness.values import ConfigError, counted

_LEADS = "copies its passage"
_TWIN = "near-duplicate"


def choose(
    state: SetState,
    context: Context,
    count: int,
    auto: bool = False,
    again: bool = False,
    by: str = "words",
) -> Outcome:
    """Write chosen.csv from the proposals; marks and edits that it has are kept, unless ``again``.

    With ``auto`` questions are marked until ``count`` are kept. ``by`` says how near-duplicates are found:
    ``words``, or ``embedding`` by the model of testset.yaml.
    """
    if not state.has(Question):
        raise ConfigError(
            f"{state.path(Question)} is not there yet. Propose questions first: harness testset "
            f"{state.folder} propose"
        )
    edited = {} if again else {one.query_id: one for one in state.rows(Candidate)}
    candidates = _merged(state.rows(Question), edited)
    if not candidates:
        raise ConfigError(
            f"{state.path(Question)} has no question. Propose some: harness testset … propose --again"
        )
    alike = _likeness(candidates, state.config, context, by)
    measured, twins = _measured(candidates, alike, ALIKE[by])
    leading = {one.query_id for one in measured if _LEADS in one.look}
    if auto:
        kept = balanced(measured, count, leading, twins)
        measured = [
            replace(one, keep="yes" if one.query_id in kept else one.keep or "no") for one in measured
        ]
    now = [one for one in measured if one.keep == "yes"]
    facts = {
        "proposed": len(measured),
        "kept": len(now),
        "leading": len(leading),
        "kept_leading": sum(one.query_id in leading for one in now),
        "near_duplicates": sum(_TWIN in one.look for one in measured),
        "likeness_by": by,
    }
    how = "a balanced choice" if auto else "to be marked by people"
    state.write("choose", how, {Candidate: measured}, facts)
    return Outcome(tuple(_summary(state, facts, now, count, auto)))


def _summary(
    state: SetState, facts: Mapping[str, Any], now: Sequence[Candidate], count: int, auto: bool
) -> list[str]:
    path = state.path(Candidate)
    kinds = ", ".join(f"{kind} {times}" for kind, times in Counter(one.kind for one in now).most_common())
    lines = [
        f"{path}: {counted(facts['proposed'], 'question')}; {facts['kept']} "
        f"kept{f' ({kinds})' if kinds else ''}.",
        f"To look at: {counted(facts['leading'], 'leading question')} that copy the words of their "
        f"passage, {facts['near_duplicates']} near-duplicates by {facts['likeness_by']} (columns look, like, "
        "copied_words).",
    ]
    if auto and facts["kept_leading"]:
        lines.append(
            f"{facts['kept_leading']} leading ones were kept, as there are not enough others. Reword them."
        )
    if len(now) < count:
        lines.append(
            f"Fewer than {count}: write yes into keep for more, or propose more (propose --add)."
            if auto
            else "Mark with yes or no in the column keep, and edit text as you like; or: choose --auto"
        )
    return lines


def _merged(proposed: Sequence[Question], edited: Mapping[str, Candidate]) -> list[Candidate]:
    """Every proposal, as it was edited where it was; then the questions that people have added."""
    rows = [edited.get(one.query_id) or Candidate(keep="", **asdict(one)) for one in proposed]
    known = {one.query_id for one in proposed}
    return [*rows, *(one for query_id, one in edited.items() if query_id not in known)]


def _likeness(candidates: Sequence[Candidate], config: TestsetConfig, context: Context, by: str) -> Floats:
    texts = [one.text for one in candidates]
    if by == "words":
        return by_words(texts)
    if config.embed is None:
        raise ConfigError(
            "--by embedding needs a model: name one under embed in testset.yaml, or take --by words."
        )
    encode = partial(vectors, config=EmbedConfig(model=config.embed.model), context=context)
    return by_vectors([config.embed.query_prefix + text for text in texts], encode)


def _measured(
    candidates: Sequence[Candidate], alike: Floats, from_: float
) -> tuple[list[Candidate], dict[str, set[str]]]:
    """The candidates with what was measured, and the near-duplicates of each.

    A duplicate is shown at the later one of two.
    """
    rows, twins = [], dict[str, set[str]]()
    for at, one in enumerate(candidates):
        before = alike[at, :at]
        nearest = int(np.argmax(before)) if at else -1
        likeness = float(before[nearest]) if at else 0.0
        taken = copied(one.text, f"{one.passage}\n{one.passage_2}")
        same = [
            other
            for number, other in enumerate(candidates[:at])
            if before[number] >= from_ and same_figures(one.text, other.text)
        ]
        for other in same:
            twins.setdefault(one.query_id, set()).add(other.query_id)
            twins.setdefault(other.query_id, set()).add(one.query_id)
        look = [f"{_TWIN} of {same[0].query_id}"] if same else []
        look += [_LEADS] if taken is not None and taken.leads and one.answerable == "yes" else []
        rows.append(
            replace(
                one,
                look="; ".join(look),
                like=candidates[nearest].query_id if likeness > 0 else "",
                likeness=round(likeness, 2) if likeness > 0 else None,
                copied_words=None if taken is None else taken.words,
                copied_share=None if taken is None else round(taken.share, 2),
            )
        )
    return rows, twins
