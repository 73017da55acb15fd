"""How the score runs with what is read, and from where on another setting leads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from harness.comparison.reading_depths import ScoreAtDepth
from harness.comparison.verdict import Verdict
from harness.comparison.wordings import sentence_of
from harness.values import number

_BARS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True, slots=True)
class OtherLeader:
    """The ``setting`` that leads at these depths of reading, which are next to each other."""

    setting: str
    first: int
    last: int


def other_leaders(
    reading: Mapping[str, Mapping[int, ScoreAtDepth]], used: str, least: float
) -> list[OtherLeader]:
    """The settings that are ahead of ``used`` by more than ``least`` at some depths, from the shallowest on.

    Not where rankings of ``used`` end early: it might be as good if they went on.
    """
    leaders: list[OtherLeader] = []
    before = 0
    for depth, mine in sorted(reading.get(used, {}).items()):
        best = max(reading, key=lambda name: reading[name][depth].mean)
        if mine.whole and reading[best][depth].mean - mine.mean > least:
            if leaders and (leaders[-1].setting, leaders[-1].last) == (best, before):
                leaders[-1] = OtherLeader(best, leaders[-1].first, depth)
            else:
                leaders.append(OtherLeader(best, depth, depth))
        before = depth
    return leaders


def leaders_in_words(verdict: Verdict) -> str:
    """Where another setting would lead, such as ``From 10,000 characters on, "1,000 characters" leads.``"""
    reading = verdict.reading
    depths = sorted(reading.get(verdict.shown, {}))
    sentences = []
    for leader in other_leaders(reading, verdict.shown, verdict.options.tolerance):
        if leader.last == depths[-1]:
            code = "depths.on"
        elif leader.first == depths[0]:
            code = "depths.up"
        else:
            code = "depths.at" if leader.first == leader.last else "depths.between"
        values = {"first": f"{leader.first:,}", "last": f"{leader.last:,}"}
        sentences.append(sentence_of(code, leader=verdict.quoted(leader.setting), **values))
    return " ".join(sentences)


def reading_line(verdict: Verdict) -> str:
    """One line: how the score of the setting to use, or the leader, runs; '' where that is not known."""
    means = verdict.reading.get(verdict.shown, {})
    if len(means) < 2:
        return ""
    depths = sorted(means)
    low, high = (number(means[depth].mean, 2) for depth in (depths[0], depths[-1]))
    early = [depth for depth in depths if not means[depth].whole]
    measure = means[depths[0]].measure
    same = measure == verdict.measure.partition("@")[0]
    sentences = [
        sentence_of(
            "depths.read" if same else "depths.read.other",
            measure=measure,
            first=f"{depths[0]:,}",
            last=f"{depths[-1]:,}",
            low=low,
            drawn="".join(_bar(means[depth].mean) for depth in depths),
            high=high,
        ),
        leaders_in_words(verdict),
        sentence_of("depths.ends", depth=f"{early[0]:,}") if early else "",
    ]
    return " ".join(filter(None, sentences))


def _bar(mean: float) -> str:
    """A mean from 0 to 1 as one of eight bars."""
    return _BARS[max(0, min(len(_BARS) - 1, int(mean * len(_BARS))))]


def reading_json(verdict: Verdict) -> list[dict[str, object]]:
    """The means as plain values: a row for every setting and depth."""
    return [
        {"setting": name, "characters": depth, **asdict(means[depth])}
        for name, means in verdict.reading.items()
        for depth in sorted(means)
    ]
