"""The four abilities from a folder of results: its questions, labelled evidence and near misses."""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.measures import Case, Fact, Projection, fact_of, holdings
from harness.report import PassageRow, RankedRow, cells_of, read_any, read_graded_spans, spans_of_chunk
from harness.running.abilities.rgb import RgbOptions
from harness.running.abilities.trial import ABILITIES, Ability, Golden, Trial, parts_in
from harness.running.answering.scores import by_query
from harness.values import Chunk, HarnessError, Judgment, Query, golden_of_query

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
        if len(one.near) >= options.passages:
            yield _shuffled(one, "rejection", 1.0, one.near[: options.passages], options)
        else:
            left["rejection", "too few near misses"] += 1
        if not one.facts:
            left["noise", "a fact of the evidence was found by no ranking"] += 1
            continue
        ability: Ability = "integration" if len(one.facts) > 1 else "noise"
        for rate in options.rates:
            shown = _shown(one, rate, options)
            if shown is None:
                left[ability, f"too few near misses, or no room for all facts, at {rate:g}"] += 1
                left["counterfactual", f"no figure in the golden answer, or no room, at {rate:g}"] += 1
                continue
            signal, noise = shown
            yield _shuffled(one, ability, rate, (*signal, *noise), options)
            yield from _counterfactual(one, rate, signal, noise, options, left)


def _counterfactual(
    one: Evidence,
    rate: float,
    signal: Sequence[str],
    noise: Sequence[str],
    options: RgbOptions,
    left: LeftOut,
) -> Iterator[Trial]:
    figures = dict.fromkeys(figure for answer in one.answers for figure in _FIGURE.findall(answer))
    if not figures:
        left["counterfactual", f"no figure in the golden answer, or no room, at {rate:g}"] += 1
        return
    rng = random.Random(f"{options.seed}:{one.query_id}:figures")
    changes = {figure: _another(figure, rng) for figure in figures}
    changed = [_changed(text, changes) for text in signal]
    if any(all(parts_in(one.golden, text)) for text in (*changed, *noise)) or changed == list(signal):
        left["counterfactual", "the figures of the answer are not in the passages as written"] += 1
        return
    changed_to = ", ".join(f"{old} → {new}" for old, new in changes.items())
    yield _shuffled(one, "counterfactual", rate, (*changed, *noise), options, changed_to)


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
    one: Evidence, ability: Ability, rate: float, shown: Sequence[str], options: RgbOptions, changed: str = ""
) -> Trial:
    name, texts = f"{one.query_id}-{ability}-{rate:g}", list(shown)
    random.Random(f"{options.seed}:{name}").shuffle(texts)
    return Trial(name, ability, rate, one.question, tuple(texts), one.golden, changed)


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


def evidence_of(folder: Path) -> list[Evidence]:
    """The evidence of all answerable questions; raises HarnessError if the result has no passages.

    Passages are those among the first ten of some setting's last ranking, by their best rank there.
    """
    queries = cells_of(folder, "queries")
    texts = {row.chunk_id: row for row in read_any(folder, PassageRow)}
    if not queries or not texts:
        raise HarnessError(
            f"{folder} holds no results with passages. Name a folder that harness bench wrote."
        )
    if "answer" not in queries[0]:
        raise HarnessError(
            f"{folder}: its queries have no column answer. Give the query file one with golden answers, "
            "and run harness bench again."
        )
    ranked = _ranked(folder, texts)
    judged = by_query(read_graded_spans(folder))
    return [
        _evidence(row, [texts[one] for one in ranked.get(query_id, ())], judged.get(query_id, ()))
        for row in queries
        if row["answerable"] == "yes" and (query_id := row["query_id"])
    ]


def _ranked(folder: Path, texts: Mapping[str, PassageRow]) -> dict[str, list[str]]:
    """The chunks of the last stages by query, by their best rank in any setting."""
    last: dict[str, str] = {}
    rows = read_any(folder, RankedRow)
    for row in rows:
        # rows are in the order of the stages
        last[row.setting] = row.stage
    best: dict[str, dict[str, int]] = {}
    for row in rows:
        if row.stage == last[row.setting] and row.chunk_id in texts:
            own = best.setdefault(row.query_id, {})
            own[row.chunk_id] = min(row.rank, own.get(row.chunk_id, row.rank))
    return {query: sorted(own, key=lambda one: (own[one], one)) for query, own in best.items()}


def _evidence(
    row: Mapping[str, str], passages: Sequence[PassageRow], judgments: Sequence[Judgment]
) -> Evidence:
    query = Query(row["query_id"], row["text"], "train")
    chunks = []
    for passage in passages:
        *before, (start, end) = spans_of_chunk(passage.chunk_id)
        chunks.append(Chunk(passage.chunk_id, passage.document, start, end, passage.text, tuple(before)))
    case = Case(query, tuple(chunks), None, "not asked", judgments=tuple(judgments))
    # text with all words of the answer holds the answer; text that overlaps evidence is not a near miss
    held = holdings(case, 1, Projection())
    touched = holdings(case, 1, Projection("any_overlap"))
    facts: dict[str, list[str]] = {}
    names = _names([one for one in judgments if one.grade])
    for passage, own in zip(passages, held, strict=True):
        for name in dict.fromkeys(names[fact] for fact in own.facts if fact in names):
            facts.setdefault(name, []).append(passage.text)
    answers = golden_of_query(row["query_id"], row.get("answer", ""))
    near = [
        passage.text
        for passage, own, part in zip(passages, held, touched, strict=True)
        # an unlabelled passage with a golden answer in it may well answer
        if not (own.facts or part.facts or any(a.lower() in passage.text.lower() for a in answers))
    ]
    # if no ranking found a fact, the evidence is incomplete
    wanted = dict.fromkeys(names.values())
    ordered = {name: tuple(facts[name]) for name in wanted} if wanted.keys() == facts.keys() else {}
    return Evidence(row["query_id"], row["text"], answers, ordered, tuple(dict.fromkeys(near)))


def _names(relevant: Sequence[Judgment]) -> dict[Fact, str]:
    """Which facts must be read: those with evidence names where there are several, else the best graded."""
    named = {one.evidence for one in relevant if one.evidence}
    if len(named) > 1:
        return {fact_of(one): one.evidence for one in relevant if one.evidence}
    best = max((one.grade or 0 for one in relevant), default=0)
    return {fact_of(one): "evidence" for one in relevant if one.grade == best}
