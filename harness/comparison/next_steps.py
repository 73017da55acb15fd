"""What to do next, in order: readers are shown the first step, `verdict.json` has all of them.

What is needed to choose at all comes first: queries, a measure that compares the settings, or rankings that
go as deep as it reads. Then come two kinds of steps, and first the one about the larger amount: what the
setting to use may lose to another one (its regret bound), which more queries or documents make smaller, or
its largest loss at a step that another configuration may win back. What was tried and changed nothing is not
a step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from shlex import quote
from typing import Any

from harness.comparison.design import OVERLAPS, Section
from harness.comparison.paired import FEWEST_TO_CHOOSE
from harness.comparison.sentences import deeper, these
from harness.comparison.verdict import Needed, Verdict
from harness.report import CANDIDATES, CHUNKING, FILTER, ORDER, PARSER, size_of
from harness.values import counted, listed

_BY_WORDS = frozenset(("bm25", "sparse", "learned_sparse"))


@dataclass(frozen=True, slots=True)
class NextStep:
    """A next step, and the command that does it, or shows what the text says before a colon ('' for none)."""

    text: str
    command: str = ""

    def __str__(self) -> str:
        if self.text.endswith(":"):
            return f"{self.text} {self.command}"
        return f"{self.text.rstrip('.')} ({self.command})." if self.command else self.text


def steps_of(verdict: Verdict) -> tuple[NextStep, ...]:
    """All next steps, the most useful first."""
    name = verdict.shown
    folder = quote(verdict.folders.get(name, "RESULTS"))
    worst = f"harness show {folder} --worst 10"
    if verdict.leader is None:
        return (NextStep("See what was ranked, and where the labels are:", worst),)
    remedies = ((_remedy(part, name, verdict), lost) for part, lost in largest_losses(verdict))
    remedy, lost = next(((text, lost) for text, lost in remedies if text), ("", 0.0))
    loss = [NextStep(f"{remedy} What is lost, query by query:", worst)] if remedy else []
    if verdict.decision == "few":
        missing = FEWEST_TO_CHOOSE - verdict.population.queries
        return (
            NextStep(
                f"Add at least {counted(missing, 'more query', 'more queries')}. How to make them:",
                "harness testset --help",
            ),
            *_deeper(verdict),
            *loss,
        )
    if verdict.decision == "single":
        return (
            *_deeper(verdict),
            *loss,
            NextStep("Sweep a field, or compare with a second folder of results."),
        )
    surer = list(_surer(verdict))
    if not verdict.across:
        instead = f"harness compare {folder} --measure {verdict.instead}" if verdict.instead else ""
        return (NextStep(fitting(verdict), instead), *_deeper(verdict), *surer, *loss)
    regret = verdict.advice.regret if verdict.advice is not None else 0.0
    ordered = [*_deeper(verdict), *([*loss, *surer] if lost > regret else [*surer, *loss])]
    return tuple(ordered or [NextStep("Try a larger change. What is lost, query by query:", worst)])


def fitting(verdict: Verdict) -> str:
    """What to do where the measure does not compare the settings."""
    if verdict.instead:
        return f"Use {verdict.instead} instead."
    return "Add ndcg_evidence@5000 to the measures."


def largest_losses(verdict: Verdict) -> list[tuple[str, float]]:
    """The parts that cost the setting to use, or the leader, something, and how much, the most first."""
    own = verdict.lost.get(verdict.shown, {}).items()
    return sorted(((part, lost) for part, lost in own if round(lost, 2) > 0), key=lambda one: -one[1])


def _deeper(verdict: Verdict) -> Iterator[NextStep]:
    """To retrieve all that is read, where rankings were cut short."""
    early = verdict.unread or tuple(verdict.read.get(verdict.measure, ()))
    if not early:
        return
    whose = f"{len(early)} settings" if len(early) > 1 else verdict.quoted(early[0])
    search = verdict.configured.get(early[0], {}).get("retrieve") or {}
    key, also = deeper(verdict, early[0]), ", also in its routes," if search.get("routes") else ""
    do = f"Set {key}{also} and run again" if key else "Give more ranks of each query"
    yield NextStep(f"{do}: the rankings of {whose} end before what {verdict.measure} reads.")


def _surer(verdict: Verdict) -> Iterator[NextStep]:
    """What makes the choice surer."""
    people = verdict.population
    _, passing = could_pass(verdict)
    if verdict.holes is not None and passing:
        yield NextStep(f"Judge the rest of {verdict.holes.extent}.")
    if verdict.here:
        matter = "matters" if people.clusters == 1 else "matter"
        yield NextStep(
            f"Add queries on other {people.unit}s. If only {these(people)} {matter}, give every query "
            "its own name in the column cluster of the query file."
        )
    elif verdict.decision in ("best", "better", "equivalent"):
        yield NextStep("Confirm it on queries that were not used for tuning.")
    elif verdict.needed is not None and verdict.needed.queries > people.queries:
        yield NextStep(_asked(verdict.needed, people.queries))


def could_pass(verdict: Verdict) -> tuple[float, tuple[str, ...]]:
    """The leader's mean, and the settings (or the baseline) that judging the rest could lift above it."""
    if verdict.leader is None:
        return 0.0, ()
    mean = verdict.mean(verdict.leader)
    rivals = [one.setting for one in verdict.standings if one.setting != verdict.leader]
    if verdict.baseline is not None:
        rivals = [name for name in rivals if name == verdict.baseline]
    return mean, () if verdict.holes is None else verdict.holes.could_pass(rivals, mean)


def _asked(needed: Needed, n: int) -> str:
    """How many queries show a difference that matters."""
    about, low = _about(needed.queries), _about(needed.low)
    high = _about(needed.high) if needed.high is not None else "far more"
    return (
        f"About {about} queries in total (estimates range from {low} to {high}) would show a true "
        f"difference of {needed.difference:g} with a chance of 80%; there are {n:,}."
    )


def _about(count: int) -> str:
    """A count rounded to two digits, since it is an estimate."""
    digits = max(0, len(str(count)) - 2)
    return f"{round(count, -digits):,}"


def _remedy(part: str, name: str, verdict: Verdict) -> str:
    """Which change to which key of the configuration may win back what a part lost; '' for none untried."""
    setting = verdict.configured.get(name, {})
    if part == PARSER:
        return f"Try another parser: change parse.kind{_now(_kinds(setting.get('parse')))}."
    if part == FILTER:
        return "Let the filter leave out less: filters.csv has what it left out."
    if part == CHUNKING:
        return _recut(setting, verdict)
    if part == CANDIDATES:
        return _find_more(setting, verdict)
    if part == ORDER:
        return _rerank(setting, verdict)
    return f"Leave out {part}: it ranks evidence lower."


def _kinds(*sections: Any) -> dict[str, Any]:
    """The sections by their kinds, each of a list and the routes of a fusion apart."""
    found: dict[str, Any] = {}
    for section in sections:
        if isinstance(section, list | tuple):
            found |= _kinds(*section)
        elif isinstance(section, Mapping):
            found |= (
                _kinds(*section["routes"]) if section.get("routes") else {str(section.get("kind")): section}
            )
    return found


def _now(kinds: Mapping[str, Any], told: str = "now") -> str:
    return f", {told} {listed(list(kinds), len(kinds))}" if kinds else ""


def _recut(setting: Section, verdict: Verdict) -> str:
    """Another size, where the losses of those tried show a direction; else overlap, or another chunker."""
    chunk = setting.get("chunk") or {}
    size = size_of(setting)
    if size is None:
        return f"Try chunks of another size, or another chunker{_now(_kinds(chunk))}."
    key, value, _ = size
    cut: dict[int, list[float]] = {}
    for name, lost in verdict.lost.items():
        other = size_of(verdict.configured.get(name, {}))
        if other is not None and other[0] == key and CHUNKING in lost:
            cut.setdefault(other[1], []).append(lost[CHUNKING])
    if len(cut) > 1:
        sizes, best = sorted(cut), min(cut, key=lambda one: sum(cut[one]) / len(cut[one]))
        further = {sizes[0]: best // 2, sizes[-1]: 2 * best}.get(best)
        if further:
            return f"Set chunk.{key} to {further}, so far {listed([str(one) for one in sizes], len(sizes))}."
    overlap = next((one for one in OVERLAPS if one in chunk), "")
    if overlap and not chunk[overlap]:
        return f"Let chunks overlap: set chunk.{overlap} to {value // 5}, now 0."
    return f"Set chunk.{key} to {2 * value}, now {value}."


def _find_more(setting: Section, verdict: Verdict) -> str:
    """The other way to search, by words or by vectors, if none has tried it; else more candidates.

    More of them help where rankings end early or a reranker brings them up; else another encoder may.
    """
    search = setting.get("retrieve") or {}
    if search.get("kind") in (None, "returned"):
        return "Return more hits for each query, or search in another way."
    tried = _kinds(*(one.get("retrieve") for one in verdict.configured.values()))
    words = any(kind in _BY_WORDS for kind in tried)
    vectors = any(one.get("model") or one.get("endpoint") for one in tried.values())
    own = listed(list(_kinds(search)), 2)
    if words and not vectors:
        return f"Search by vectors too: set retrieve.kind to minmax, with the routes {own} and chroma."
    if vectors and not words:
        return f"Search by words too: set retrieve.kind to minmax, with the routes {own} and bm25."
    if not setting.get("rerank") and not verdict.read.get(verdict.measure):
        models = dict.fromkeys(one["model"] for one in _kinds(search).values() if one.get("model"))
        return f"Try another encoder: change its model{_now(models)}." if models else ""
    key = "top_chars" if search.get("top_chars") else "top_k"
    if not search.get(key):
        return "Retrieve more, or search in another way."
    return f"Retrieve more: raise retrieve.{key} above {search[key]:,}."


def _rerank(setting: Section, verdict: Verdict) -> str:
    """A reranker, or another one where some setting has one that was not found to change nothing."""
    if (setting.get("retrieve") or {}).get("kind") in (None, "returned"):
        return "Try a reranker."
    tried = _kinds(*(one.get("rerank") for one in verdict.configured.values()))
    if tried and not _helps("rerank", verdict):
        return ""
    if not tried:
        return "Add a reranker: rerank: {kind: late_interaction, model: embedded:maxsim}."
    if "cross_encoder" not in tried:
        return f"Try another reranker: set rerank.kind to cross_encoder{_now(tried, 'so far')}."
    models = dict.fromkeys(one["model"] for one in tried.values() if one.get("model"))
    return f"Try another reranker: change rerank.model{_now(models, 'so far')}."


def _helps(step: str, verdict: Verdict) -> bool:
    """Whether a step is shown to be better than leaving it out, all else the same; True if untried."""

    def added(setting: str, other: str) -> int:
        """1 if the first of two has the step that the second lacks, -1 the other way round, else 0."""
        first, second = (verdict.configured.get(name, {}) for name in (setting, other))
        alike = all(first.get(key) == second.get(key) for key in {*first, *second} - {"name", step})
        return (bool(first.get(step)) - bool(second.get(step))) * alike

    effects = [(one.found, pair) for one in verdict.effects.main for pair in one.pairs]
    pairs = [(one, (one.setting, one.against)) for one in verdict.comparisons]
    found = [(one, side) for one, pair in (*effects, *pairs) if (side := added(*pair))]
    return not found or any(one.real and one.difference * side > 0 for one, side in found)
