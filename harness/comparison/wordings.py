"""The sentences of verdicts, gates and next steps: one table, each readable as it stands.

A conclusion is a code and its values (`conclusion.py`); the table turns it into words for terminal, page,
Markdown, JSON, gate and notebook. Here are the sentences that a verdict or a gate begins with; all others are
in `line_wordings.py` and `step_wordings.py`, and the warnings of a run in `warning_wordings.py`. A slot in
braces takes a value: a number, a name, or a list of these; ``{setting}`` and the other slots of ``NAMES``
take what a setting is called, cut where the sentences would have more than 25 words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import Formatter

from harness.comparison.doubted_judge import JudgeDoubt
from harness.comparison.line_wordings import LINES
from harness.comparison.step_wordings import CHECKS, FAULTS, STEPS
from harness.comparison.warning_wordings import HINTS, WARNINGS
from harness.values import Sentence, worded

MOST_WORDS = 25
NAMES = frozenset(("setting", "early", "baseline"))
"""The slots that take the names of settings."""

VERDICTS: Mapping[str, str] = {
    # what speaks against the judge comes first, then what its grades say
    "judge.disagrees": "Do not rely on this: the judge agrees little with people (kappa {kappa}).",
    "judge.ranks": "Do not rely on this: the judge also ranks, so it grades itself.",
    "judge.both": "Do not rely on this: the judge also ranks, and agrees little with people (kappa {kappa}).",
    "doubted.nothing found": "By its grades nothing was found.",
    "doubted.single": "By its grades the mean is {mean}.",
    "doubted.few": "By its grades {setting} leads, on too few queries.",
    "doubted.few.tied": "By its grades {tied} are level, on too few queries.",
    "doubted.poor": "By its grades {setting} is not good enough.",
    "doubted.better": "By its grades {setting} beats the baseline, {baseline}.",
    "doubted.not better": "By its grades none beats the baseline, {baseline}.",
    "doubted.best": "By its grades {setting} leads by {ahead}.",
    "doubted.equivalent": "By its grades {setting} is as good as any.",
    "doubted.open": "By its grades {setting} leads, not proven best.",
    "doubted.open.tied": "By its grades {tied} are level.",
    # nothing can be chosen
    "nothing": "Nothing was found: {measure} is 0 for every query under every setting.",
    "nothing.unlabelled": (
        "Nothing was found: {measure} is 0 for every query under every setting. Labels may be missing."
    ),
    "nothing.elsewhere": (
        "Nothing was found: {share} of the hits are in no document, so {measure} is 0 for every query."
    ),
    "elsewhere": (
        "Hardly anything can be scored: {share} of the hits are in no document. Best so far: {setting} "
        "({mean})."
    ),
    "elsewhere.few": (
        "Hardly anything can be scored: {share} of the hits are in no document. {queries} are too few to "
        "choose by."
    ),
    "elsewhere.one": (
        "Hardly anything can be scored: {share} of the hits are in no document. 1 query is too few to choose "
        "by."
    ),
    "unlabelled": (
        "Hardly anything is judged ({judged} of {extent}): labels may be missing. Best so far: {setting} "
        "({mean})."
    ),
    "unlabelled.few": (
        "Hardly anything is judged ({judged} of {extent}): labels may be missing. {queries} are too few "
        "to choose by."
    ),
    "unlabelled.one": (
        "Hardly anything is judged ({judged} of {extent}): labels may be missing. 1 query is too few to "
        "choose by."
    ),
    "single": "One setting, nothing to compare it with: {mean} in {measure}, on {queries}.",
    "single.poor": "One setting, not good enough: {mean} in {measure}, on {queries}.",
    "few": "{queries} are too few to choose by: add {missing}. So far the leader is {setting}.",
    "few.one": "1 query is too few to choose by: add {missing}. So far the leader is {setting}.",
    "few.tied": "{queries} are too few to choose by: add {missing}. So far {tied} are level.",
    "few.tied.one": "1 query is too few to choose by: add {missing}. So far {tied} are level.",
    "few.baseline": (
        "{queries} are too few to choose by: add {missing}. Compared with the baseline: {setting}."
    ),
    "few.baseline.one": (
        "1 query is too few to choose by: add {missing}. Compared with the baseline: {setting}."
    ),
    "poor": "None is good enough: the best, {setting}, reaches {mean} of 1. Look at the losses first.",
    # answers under tests, such as shares of noise, which nobody chooses
    "tested.best": "Best by {measure}: {setting}, {ahead} above the next ({level}).",
    "tested.open": "Best by {measure}: {setting}, not shown to be better than the next ({level}).",
    # against a baseline
    "baseline.none": "No setting is shown to be better than the baseline, {baseline}.",
    "baseline.none.here": (
        "On {documents} alone no setting is shown to be better than the baseline, {baseline}."
    ),
    "baseline.unread": (
        "No setting is shown to be better than the baseline, {baseline}; rankings of {early} end before "
        "what is read."
    ),
    "baseline.unread.several": (
        "No setting is shown to be better than the baseline, {baseline}; rankings of {count} settings "
        "end before what is read."
    ),
    "baseline.better": "Better than the baseline, {baseline}: {setting}.",
    "baseline.better.here": "On {documents} alone better than the baseline, {baseline}: {setting}.",
    "baseline.another": "So is 1 other.",
    "baseline.others": "So are {count} others.",
    # none can be advised
    "unaffordable": "No setting is within the price limit of {limit} {unit}.",
    "unread": "The leader is {setting}, but rankings of {early} end before what is read.",
    "unread.several": "The leader is {setting}, but rankings of {count} settings end before what is read.",
    "incomparable": (
        "The leader by {measure} is {setting}, but that does not compare settings that cut documents "
        "differently."
    ),
    # one to use: what it may lose at most, to any other or to those within the price limit
    "best": "Use {setting}. It is shown to be best ({level}), {ahead} above the next.",
    "best.as read": (
        "Use {setting}. It is shown to be best as far as rankings go ({level}), {ahead} above the next."
    ),
    "affordable": "Use {setting}, the only setting within the price limit.",
    "here.best": "On {documents} alone use {setting}, better than all others, the next by {ahead} ({level}).",
    "here": "On {documents} alone use {setting}, at most {bound} worse than any other ({level}).",
    "here.labels": (
        "On {documents} alone use {setting}, at most {bound} worse than any other ({level}), with labels "
        "as given."
    ),
    "here.limit": (
        "On {documents} alone use {setting}, at most {bound} worse than any other within the price limit "
        "({level})."
    ),
    "here.limit.labels": (
        "On {documents} alone use {setting}, at most {bound} worse than any other within the price limit "
        "({level}), with labels as given."
    ),
    "here.none": "On {documents} alone use {setting}, no worse than any other ({level}).",
    "here.none.labels": (
        "On {documents} alone use {setting}, no worse than any other ({level}), with labels as given."
    ),
    "here.none.limit": (
        "On {documents} alone use {setting}, no worse than any other within the price limit ({level})."
    ),
    "here.none.limit.labels": (
        "On {documents} alone use {setting}, no worse than any other within the price limit ({level}), "
        "with labels as given."
    ),
    "limit": "Use {setting}: at most {bound} worse than any other within the price limit ({level}).",
    "limit.labels": (
        "Use {setting}: at most {bound} worse than any other within the price limit ({level}), with "
        "labels as given."
    ),
    "limit.none": "Use {setting}: no worse than any other within the price limit ({level}).",
    "limit.none.labels": (
        "Use {setting}: no worse than any other within the price limit ({level}), with labels as given."
    ),
    "equivalent": "Use {setting}. No other is better by more than {bound} ({level}).",
    "equivalent.none": "Use {setting}. No other is better ({level}).",
    "open": "Use {setting}. Not proven best, but at most {bound} worse than any other ({level}).",
    "open.labels": (
        "Use {setting}. Not proven best, but at most {bound} worse than any other ({level}), with labels "
        "as given."
    ),
    # the bound is one-sided and of the best alone; what is real, of all pairs on both sides
    "open.none": (
        "Use {setting}. No other can be better by the one-sided bound ({level}), though two-sided intervals "
        "leave some open."
    ),
    # the gate: whether it passes, then what bears on that
    "gate.dropped": "Failed: {setting} dropped by at least {bound} ({level}).",
    "gate.low": "Failed: {setting} has a mean of {mean}, below the {least} required.",
    "gate.undecided": "Failed: {setting} is undecided: a drop of up to {bound} is not excluded ({level}).",
    "gate.undecided.any": "Failed: {setting} is undecided: any drop is not excluded ({level}).",
    "gate.another failed": "1 other failed too.",
    "gate.others failed": "{count} others failed too.",
    "gate.one query": "Passed: a single query cannot show whether a drop is real.",
    "gate.few queries": "Passed: {units} are too few to show whether a drop is real ({level}).",
    "gate.equal": "Passed: all {count} settings are equal to the baseline within {tolerance} ({level}).",
    "gate.equal.both": "Passed: both settings are equal to the baseline within {tolerance} ({level}).",
    "gate.equal.one": "Passed: the setting is equal to the baseline within {tolerance} ({level}).",
    "gate.excluded": "Passed: a drop is excluded ({level}).",
    "gate.tolerated": (
        "Passed: a drop of more than {bound} is excluded, with {tolerated} tolerated ({level})."
    ),
    "gate.open": (
        "Passed: no drop beyond the {tolerated} tolerated is shown, though one of up to {bound} is not "
        "excluded ({level})."
    ),
    "gate.untested": "{new} settings have no baseline.",
    "gate.untested.one": "1 setting has no baseline.",
    "gate.here": "This holds for these {unit}s alone.",
    "gate.poor": "Best {mean}: none is good enough.",
    "gate.unread": "Rankings end earlier in one of the two runs.",
}


SENTENCES: Mapping[str, str] = {**VERDICTS, **LINES, **STEPS, **CHECKS, **FAULTS, **WARNINGS, **HINTS}
"""Every sentence by its code."""


def sentence_of(code: str, /, **values: object) -> Sentence:
    """The sentence of a code with its values, as ``worded`` puts them in."""
    return worded(SENTENCES, code, **values)


def doubt_sentence(doubt: JudgeDoubt) -> str:
    """The sentence on a judge in doubt."""
    return SENTENCES[doubt.code].format(**doubt.values)


def sentences_said(
    codes: Sequence[str], values: Mapping[str, str], names: Mapping[str, str], every: Sequence[str]
) -> str:
    """The sentences of some codes with their values.

    ``names`` are what settings in the slots of ``NAMES`` are called, ``every`` what each setting is, so that
    a name that is cut still tells it from the others.
    """
    template = " ".join(SENTENCES[code] for code in codes)
    slots = [slot for _, slot, _, _ in Formatter().parse(template) if slot in NAMES]
    text = template.format(**values, **{slot: f"{{{slot}}}" for slot in NAMES})
    left = MOST_WORDS - len(text.split()) + len(slots)
    shown: dict[str, str] = {}
    for place, slot in enumerate(slots):
        name = names[slot]
        words = name.split()
        most = max(1, left // (len(slots) - place))
        sized = len(words) > 1 and words[0][0].isdigit() and words[1].rstrip(",") in ("characters", "tokens")
        whole = f"chunks of {name}" if sized and len(words) + 2 <= most else name
        # a mark of its own would count as a word
        shown[slot] = whole if len(whole.split()) <= most else _cut(name, most, every)
        left -= min(len(words), most)
    return text.format(**shown)


def _cut(name: str, most: int, every: Sequence[str]) -> str:
    """The beginning of a name, or where that is the beginning of others too, what tells it from them."""
    head = " ".join(name.split()[:most]).rstrip(",")
    parts, alike = name.split(", "), [other for other in every if other != name and other.startswith(head)]
    telling = [part for part in parts if not any(part in other.split(", ") for other in alike)]
    last = telling[-1] if alike and telling else ""
    before = " ".join(name.split()[: most - len(last.split())]).rstrip(",")
    if not last or len(before) == 0:
        return f"{head}…"
    return f"{before}…, {last}"
