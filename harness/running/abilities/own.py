"""The four abilities from the user's own questions, evidence and near misses."""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.running.abilities.marking import parts_in
from harness.running.abilities.rgb import RgbOptions
from harness.running.abilities.trial import ABILITIES, Ability, Golden, Trial

_FIGURE = re.compile(r"\d[\d,]*(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Evidence:
    """A question with its golden answers, of which any is right, and passages of real rankings.

    ``facts`` has for each fact that an answer takes the passages that hold it, the best ranked first; none
    if one of them was not found. Evidence names tell facts apart; without several names there is one fact.
    ``near`` are the best ranked passages that hold none and share no text with one.
    """

    query_id: str
    question: str
    answers: tuple[str, ...]
    facts: Mapping[str, tuple[str, ...]]
    near: tuple[str, ...]

    @property
    def golden(self) -> Golden:
        """The parts of the answer, which `;` separates; figures also without commas.

        Golden answers with as many parts as the first add alternatives for each part, in order; others cannot
        be matched with it and are ignored.
        """
        ways = [[part.strip() for part in one.split(";") if part.strip()] for one in self.answers]
        alike = [parts for parts in ways if len(parts) == len(ways[0])]
        return tuple(
            tuple(dict.fromkeys(form for part in parts for form in (part, _without_commas(part))))
            for parts in zip(*alike, strict=True)
        )


LeftOut = Counter[tuple[Ability, str]]
"""How many questions give no trial of an ability, and why."""


def own_trials(evidence: Sequence[Evidence], options: RgbOptions, left: LeftOut) -> Iterator[Trial]:
    """The trials of all questions.

    ``noise``: passages with the evidence, and ⌈passages · rate⌉ near misses; where there is little evidence,
    fewer passages are shown, so that a rate always means as many near misses. ``rejection``: near misses
    alone. ``integration``: a passage for each of several facts, and near misses. ``counterfactual``: the
    figures of the golden answer are changed wherever they are in the passages.
    """
    for one in evidence:
        if not one.golden:
            for each in ABILITIES:
                left[each, "no golden answer"] += 1
            continue
        yield from _rejection(one, options, left)
        if not one.facts:
            left["noise", "a fact of the evidence was found by no ranking"] += 1
            continue
        several = len(one.facts) > 1
        ability: Ability = "integration" if several else "noise"
        for rate in options.rates:
            yield from _with_noise(one, ability, rate, options, left)
            yield from _counterfactual(one, rate, options, left)


def _rejection(one: Evidence, options: RgbOptions, left: LeftOut) -> Iterator[Trial]:
    if len(one.near) < options.passages:
        left["rejection", "too few near misses"] += 1
        return
    shown = list(one.near[: options.passages])
    yield _shuffled(one, "rejection", 1.0, shown, options)


def _with_noise(
    one: Evidence, ability: Ability, rate: float, options: RgbOptions, left: LeftOut
) -> Iterator[Trial]:
    shown = _shown(one, rate, options)
    if shown is None:
        left[ability, f"too few near misses, or no room for all facts, at {rate:g}"] += 1
        return
    signal, noise = shown
    yield _shuffled(one, ability, rate, [*signal, *noise], options)


def _counterfactual(one: Evidence, rate: float, options: RgbOptions, left: LeftOut) -> Iterator[Trial]:
    shown = _shown(one, rate, options)
    figures = [figure for answer in one.answers for figure in _FIGURE.findall(answer)]
    if shown is None or not figures:
        left["counterfactual", f"no figure in the golden answer, or no room, at {rate:g}"] += 1
        return
    signal, noise = shown
    rng = random.Random(f"{options.seed}:{one.query_id}:figures")
    changes = {figure: _another(figure, rng) for figure in dict.fromkeys(figures)}
    changed = [_changed(text, changes) for text in signal]
    if any(all(parts_in(one.golden, text)) for text in (*changed, *noise)) or changed == list(signal):
        left["counterfactual", "the figures of the answer are not in the passages as written"] += 1
        return
    changed_to = ", ".join(f"{old} → {new}" for old, new in changes.items())
    yield _shuffled(one, "counterfactual", rate, [*changed, *noise], options, changed_to)


def _shown(one: Evidence, rate: float, options: RgbOptions) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Passages with evidence, one for every fact first, and near misses; None if there is no room."""
    noise = math.ceil(round(options.passages * rate, 9))
    room = options.passages - noise
    depth = max(map(len, one.facts.values()))
    ordered = [texts[i] for i in range(depth) for texts in one.facts.values() if i < len(texts)]
    needed = len(dict.fromkeys(texts[0] for texts in one.facts.values()))
    signal = tuple(dict.fromkeys(ordered))[:room]
    if room < needed or len(one.near) < noise:
        return None
    return signal, one.near[:noise]


def _shuffled(
    one: Evidence, ability: Ability, rate: float, shown: list[str], options: RgbOptions, changed: str = ""
) -> Trial:
    name = f"{one.query_id}-{ability}-{rate:g}"
    random.Random(f"{options.seed}:{name}").shuffle(shown)
    return Trial(name, ability, rate, one.question, tuple(shown), one.golden, changed)


def _changed(text: str, changes: Mapping[str, str]) -> str:
    """Replace every figure of the answer by other digits, wherever it is a separate number."""
    plain = {_without_commas(old): new for old, new in changes.items()}
    return _FIGURE.sub(lambda found: _kept_form(found[0], plain), text)


def _kept_form(figure: str, changes: Mapping[str, str]) -> str:
    # a comma or point behind a figure belongs to the sentence
    bare = figure.rstrip(",")
    new = changes.get(_without_commas(bare))
    if new is None:
        return figure
    tail = figure[len(bare) :]
    return (new if "," in bare or "," not in new else new.replace(",", "")) + tail


def _another(figure: str, rng: random.Random) -> str:
    """A figure of the same form in which every digit differs; the first is not 0."""
    digits = []
    for place, letter in enumerate(figure):
        if letter.isdigit():
            letter = rng.choice([d for d in "0123456789" if d != letter and (place or d != "0")])
        digits.append(letter)
    return "".join(digits)


def _without_commas(text: str) -> str:
    return re.sub(r"(?<=\d),(?=\d)", "", text)
