"""What to do next, in order: readers are shown the first step, `verdict.json` has all of them.

What is needed to choose at all comes first: queries, a measure that compares the settings, or rankings that
go as deep as it reads. Then come two kinds of steps, and first the one about the larger amount: what the
setting to use may lose to another one (its regret bound), which more queries or documents make smaller, or
its largest loss at a step that another configuration may win back. What was tried and changed nothing is not
a step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from shlex import quote
from typing import Any

from harness.comparison.design import OVERLAPS, Section
from harness.comparison.paired import FEWEST_TO_CHOOSE
from harness.comparison.sentences import deeper, extent_of, these
from harness.comparison.stats import ROUNDING
from harness.comparison.verdict import Verdict
from harness.report import CANDIDATES, CHUNKING, FILTER, ORDER, PARSER, size_of
from harness.values import counted

_BY_WORDS = frozenset(("bm25", "sparse", "learned_sparse"))
# what to try, in this order; the first needs no network
_ENCODERS = ("embedded:all-MiniLM-L6-v2", "BAAI/bge-m3", "BAAI/bge-small-en-v1.5")
_RERANKERS = ("cross-encoder/ms-marco-MiniLM-L-6-v2", "BAAI/bge-reranker-v2-m3")


@dataclass(frozen=True, slots=True)
class NextStep:
    """A next step, and the command that does it, or shows what the text says before a colon ('' for none).

    ``config``: instead of a command the line to write to the configuration.
    """

    text: str
    command: str = ""
    config: str = ""

    @property
    def copied(self) -> str:
        """The command, or the line."""
        return self.config or self.command

    def __str__(self) -> str:
        if self.text.endswith(":"):
            return f"{self.text} {self.copied}"
        return f"{self.text.rstrip('.')} ({self.copied})." if self.copied else self.text


def steps_of(verdict: Verdict) -> tuple[NextStep, ...]:
    """All next steps, the most useful first."""
    if verdict.unlabelled:
        # without labels nobody can see what another step does
        return (_labelling(verdict, "Label what is unjudged"), *steps_of(replace(verdict, holes=None)))
    name = verdict.shown
    folder = _folder(verdict, name)
    worst = f"harness show {folder} --worst 10"
    if verdict.leader is None:
        return (NextStep("See what was ranked, and where the labels are:", worst),)
    part, lost = next(iter(largest_losses(verdict)), ("", 0.0))
    text, config = _remedy(part, name, verdict) if part else ("", "")
    shown = NextStep("See what is lost, query by query:", worst)
    loss = [replace(shown, text=f"{text} {shown.text}")] if text else []
    if config:
        loss = [NextStep(text, config=config), shown]
    if verdict.decision == "few":
        missing = counted(FEWEST_TO_CHOOSE - verdict.population.queries, "more query", "more queries")
        first = NextStep(f"Add at least {missing}. How to make them:", "harness testset --help")
        return (first, *_deeper(verdict), *loss)
    if verdict.decision == "single":
        last = NextStep("Sweep a field, or compare with a second folder of results.")
        return (*_deeper(verdict), *loss, last)
    surer = list(_surer(verdict))
    if not verdict.across:
        instead = f"harness compare {folder} --measure {verdict.instead}" if verdict.instead else ""
        return (NextStep(fitting(verdict), instead), *_deeper(verdict), *surer, *loss)
    regret = verdict.advice.regret if verdict.advice is not None else 0.0
    ordered = [*_deeper(verdict), *([*loss, *surer] if lost > regret else [*surer, *loss])]
    return tuple(ordered or [NextStep("Try a larger change. What is lost, query by query:", worst)])


def _labelling(verdict: Verdict, do: str) -> NextStep:
    """To grade what is unjudged: by people, on a sheet that a command writes, or by the judge of the run."""
    if verdict.judge != "labels":
        return NextStep(f"{do}: raise the depth of the pool in `relevance` and run again.")
    sheet = f"harness labels unjudged {_folder(verdict, verdict.standings[0].setting)} --output unjudged.csv"
    return NextStep(f"{do}, beginning with what most settings found. For a sheet to fill in:", sheet)


def _folder(verdict: Verdict, setting: str) -> str:
    """The folder of a setting, or of another one, as a command takes it."""
    return quote(verdict.folders.get(setting) or next(iter(verdict.folders.values()), "RESULTS"))


def fitting(verdict: Verdict) -> str:
    """What to do where the measure does not compare the settings."""
    return f"Use {verdict.instead} instead." if verdict.instead else "Add ndcg_evidence@5000 to the measures."


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
    people, needed = verdict.population, verdict.needed
    if verdict.holes is not None and could_pass(verdict)[1]:
        yield _labelling(verdict, f"Label the rest of {extent_of(verdict.holes)}")
    if verdict.here:
        yield NextStep(
            f"Add queries on other {people.unit}s. For {these(people)} alone, give every query its own name "
            "in the column cluster of the query file."
        )
    elif verdict.decision in ("best", "better", "equivalent"):
        yield NextStep("Confirm it on queries that were not used for tuning.")
    elif needed is not None and needed.queries > people.queries:
        high = _about(needed.high) if needed.high is not None else "far more"
        estimates = f"estimates range from {_about(needed.low)} to {high}"
        yield NextStep(
            f"About {_about(needed.queries)} queries in total ({estimates}) would show a true difference of "
            f"{needed.difference:g} with a chance of 80%; there are {people.queries:,}."
        )


def could_pass(verdict: Verdict) -> tuple[str, tuple[str, ...]]:
    """The leader, and the settings that judging the rest could lift above it.

    With a baseline they are the leader and the baseline, or the other way round where that is ahead.
    """
    if verdict.leader is None or verdict.holes is None:
        return "", ()
    names = [one.setting for one in verdict.standings]
    if verdict.baseline is not None:
        names = [name for name in names if name in (verdict.leader, verdict.baseline)]
    upper, mean = verdict.holes.upper, verdict.mean(names[0])
    return names[0], tuple(name for name in names[1:] if upper.get(name, mean) > mean + ROUNDING)


def _about(count: int) -> str:
    """A count rounded to two digits, since it is an estimate."""
    digits = max(0, len(str(count)) - 2)
    return f"{round(count, -digits):,}"


def _remedy(part: str, name: str, verdict: Verdict) -> tuple[str, str]:
    """What may win back what a part lost, and the line for the configuration ('' where no line can say it).

    Where nothing that was measured supports a change, the text says which measurement decides.
    """
    setting = verdict.configured.get(name, {})
    if part == PARSER:
        own = next((one.get("kind") for one in _sections(setting.get("parse"))), "pypdf")
        other = "pypdf" if own == "pypdfium2" else "pypdfium2"
        return _untried("another parser", "it loses less"), f"parse: {{kind: {other}}}"
    if part == FILTER:
        return "Let the filter leave out less: filters.csv has what it left out.", ""
    remedies = {CHUNKING: _recut, CANDIDATES: _find_more, ORDER: _rerank}
    if part in remedies:
        return remedies[part](setting, verdict)
    return f"Leave out {part}: it ranks evidence lower.", ""


def _untried(what: str, does: str, where: str = "the configuration") -> str:
    """That nothing here says whether something helps, but a run would, and where its line goes."""
    return f"Try {what}: only a run shows whether {does}. Set in {where} and run again:"


def _sections(*given: Any) -> list[Mapping[str, Any]]:
    """The sections in those given, each of a list and the routes of a fusion apart."""
    found: list[Mapping[str, Any]] = []
    for section in given:
        if isinstance(section, list | tuple):
            found += _sections(*section)
        elif isinstance(section, Mapping):
            found += _sections(*section["routes"]) if section.get("routes") else [section]
    return found


def _recut(setting: Section, verdict: Verdict) -> tuple[str, str]:
    """Another size, where the losses of those tried show a direction; else overlap, or another size."""
    chunk = setting.get("chunk") or {}
    size = size_of(setting)
    if size is None:
        return "Try chunks of another size, or another chunker.", ""
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
            do = f"try a {'smaller' if further < best else 'larger'} one"
            return (
                f"Of the sizes tried, {best:,} loses least: {do}. Set in chunk and run again:",
                f"{key}: {further}",
            )
    overlap = next((one for one in OVERLAPS if one in chunk), "")
    if overlap and not chunk[overlap]:
        return _untried("overlap", "it loses less", "chunk"), f"{overlap}: {value // 5}"
    return _untried("larger chunks", "they lose less", "chunk"), f"{key}: {2 * value}"


def _find_more(setting: Section, verdict: Verdict) -> tuple[str, str]:
    """The other way to search, by keywords or by vectors, if none has tried it; else more candidates.

    More of them help where rankings end early or a reranker brings them up; else another encoder may.
    """
    search = setting.get("retrieve") or {}
    if search.get("kind") in (None, "returned"):
        return "Return more hits for each query, or search in another way.", ""
    tried = _sections(*(one.get("retrieve") for one in verdict.configured.values()))
    words = any(one.get("kind") in _BY_WORDS for one in tried)
    vectors = any(one.get("model") or one.get("endpoint") for one in tried)
    key = "top_chars" if search.get("top_chars") else "top_k"
    models = [one["model"] for one in _sections(search) if one.get("model")]
    if words != vectors:
        deep = f", {key}: {search[key]}" if search.get(key) else ""
        routes = f'{{kind: bm25{deep}}}, {{kind: chroma, model: "{[*models, *_ENCODERS][0]}"{deep}}}'
        other, own = ("vector", "keyword") if words else ("keyword", "vector")
        line = f"retrieve: {{kind: minmax{deep}, routes: [{routes}]}}"
        return _untried(f"{other} search as well", f"it finds what {own} search does not"), line
    known = {one.get("model") for one in tried}
    new = next((one for one in (*_ENCODERS[1:], *_ENCODERS) if one not in known), "")
    if models and new and not setting.get("rerank") and not verdict.read.get(verdict.measure):
        what = "another encoder" if new.startswith("embedded:") else "another encoder from the model hub"
        return _untried(what, "it finds more", f"place of model {models[0]}"), f"model: {new}"
    if not search.get(key):
        return "Retrieve more, or search in another way.", ""
    return (
        f"What is not found may come after the first {search[key]:,}. In retrieve:",
        f"{key}: {2 * search[key]}",
    )


def _rerank(setting: Section, verdict: Verdict) -> tuple[str, str]:
    """A reranker that was not tried."""
    if (setting.get("retrieve") or {}).get("kind") in (None, "returned"):
        return "Try a reranker.", ""
    tried = _sections(*(one.get("rerank") for one in verdict.configured.values()))
    if not tried:
        line = 'rerank: {kind: late_interaction, model: "embedded:maxsim"}'
        return _untried("the bundled reranker", "it ranks evidence higher"), line
    used = {one.get("model") for one in tried}
    left = [f"rerank: {{kind: cross_encoder, model: {one}}}" for one in _RERANKERS if one not in used]
    if not left:
        return "Try another reranker.", ""
    return _untried("another reranker from the model hub", "it ranks evidence higher"), left[0]
