"""What to do next, in order: readers are shown the first step, `verdict.json` has all of them.

What is needed to choose at all comes first: queries, a measure that compares the settings, or rankings that
go as deep as it reads. Then come two kinds of steps, and first the one about the larger amount: what the
setting to use may lose to another one (its regret bound), which more queries or documents make smaller, or
its largest loss at a step that another configuration may win back. What was tried and changed nothing is not
a step.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from shlex import quote

from harness.comparison.conclusion import missing_queries
from harness.comparison.doubted_judge import JudgeDoubt
from harness.comparison.needed import POWER, Needed
from harness.comparison.paired import FEWEST_TO_CHOOSE
from harness.comparison.phrases import extent_of, these
from harness.comparison.remedies import remedy
from harness.comparison.stats import FEWEST_CLUSTERS, ROUNDING
from harness.comparison.verdict import Verdict
from harness.comparison.wordings import sentence_of
from harness.measures import reading_depth
from harness.values import counted


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
    if verdict.displaced:
        place = NextStep(sentence_of("step.elsewhere"))
        return (place, *steps_of(replace(verdict, elsewhere={}, holes=None)))
    if verdict.unlabelled:
        # without labels nobody can see what another step does
        return (_labelling(verdict, "step.label"), *steps_of(replace(verdict, holes=None)))
    if verdict.doubt:
        return (_judging(verdict), *steps_of(replace(verdict, doubt=JudgeDoubt())))
    name = verdict.shown
    folder = _folder(verdict, name)
    worst = f"harness show {folder} --worst 10"
    if verdict.leader is None:
        return (NextStep(sentence_of("step.ranked"), worst),)
    part, lost = next(iter(largest_losses(verdict)), ("", 0.0))
    text, config = remedy(part, name, verdict) if part else ("", "")
    shown = NextStep(sentence_of("step.lost"), worst)
    loss = [replace(shown, text=f"{text} {shown.text}")] if text else []
    if config:
        loss = [NextStep(text, config=config), shown]
    if verdict.decision == "few":
        missing = missing_queries(verdict)
        add = sentence_of("step.add.one" if missing == 1 else "step.add", count=f"{missing:,}")
        text = " ".join(filter(None, [add, _enough(verdict), sentence_of("step.testset")]))
        first = NextStep(text, "harness testset --help")
        return (first, *_deeper(verdict), *loss)
    if verdict.decision == "single":
        return (*_deeper(verdict), *loss, NextStep(sentence_of("step.sweep")))
    surer = list(_surer(verdict))
    if not verdict.across:
        instead = f"harness compare {folder} --measure {verdict.instead}" if verdict.instead else ""
        return (NextStep(fitting(verdict), instead), *_deeper(verdict), *surer, *loss)
    regret = verdict.advice.regret if verdict.advice is not None else 0.0
    ordered = [*_deeper(verdict), *([*loss, *surer] if lost > regret else [*surer, *loss])]
    return tuple(ordered or [NextStep(sentence_of("step.larger"), worst)])


def _judging(verdict: Verdict) -> NextStep:
    """To judge by people, where some have graded, else by another judge."""
    if verdict.doubt.kappa is not None:
        return NextStep(sentence_of("step.people"), config="relevance: {judge: labels}")
    return NextStep(sentence_of("step.judge"))


def _labelling(verdict: Verdict, code: str, extent: str = "") -> NextStep:
    """To grade what is unjudged: by people, on a sheet that a command writes, or by the judge of the run."""
    if verdict.judge != "labels":
        return NextStep(sentence_of(f"{code}.pool", extent=extent))
    sheet = f"harness labels unjudged {_folder(verdict, verdict.standings[0].setting)} --output unjudged.csv"
    return NextStep(sentence_of(code, extent=extent), sheet)


def _folder(verdict: Verdict, setting: str) -> str:
    """The folder of a setting, or of another one, as a command takes it."""
    return quote(verdict.folders.get(setting) or next(iter(verdict.folders.values()), "RESULTS"))


def fitting(verdict: Verdict) -> str:
    """What to do where the measure does not compare the settings."""
    if not verdict.instead:
        return sentence_of("unfit.evidence")
    return sentence_of("unfit.instead", instead=verdict.instead)


def largest_losses(verdict: Verdict) -> list[tuple[str, float]]:
    """The parts that cost the setting to use, or the leader, something, and how much, the most first."""
    losses = verdict.lost.get(verdict.shown, {}).items()
    return sorted(((part, lost) for part, lost in losses if round(lost, 2) > 0), key=lambda loss: -loss[1])


def deeper(verdict: Verdict, setting: str) -> str:
    """The key, with its value, that makes a setting retrieve all that the measure reads; '' for none here."""
    search = verdict.configured.get(setting, {}).get("retrieve") or {}
    return depth_key(verdict.measure, search.get("kind"))


def depth_key(measure: str, kind: str | None) -> str:
    """The key, with its value, that makes a retriever of a kind fill what a measure reads; '' for none."""
    depth = reading_depth(measure)
    if depth is None or depth.amount is None or kind in (None, "returned"):
        return ""
    if depth.unit == "ranks":
        return f"`retrieve.top_k: {depth.amount}`"
    # no token of a text is longer than eight characters on average
    return f"`retrieve.top_chars: {depth.amount * (8 if depth.unit == 'tokens' else 1)}`"


def _deeper(verdict: Verdict) -> Iterator[NextStep]:
    """To retrieve all that is read, where rankings were cut short."""
    early = verdict.unread or tuple(verdict.read.get(verdict.measure, ()))
    if not early:
        return
    whose = f"{len(early)} settings" if len(early) > 1 else verdict.quoted(early[0])
    search = verdict.configured.get(early[0], {}).get("retrieve") or {}
    key = deeper(verdict, early[0])
    code = ("step.deeper.routes" if search.get("routes") else "step.deeper") if key else "step.deeper.hits"
    yield NextStep(sentence_of(code, key=key, settings=whose, measure=verdict.measure))


def _surer(verdict: Verdict) -> Iterator[NextStep]:
    """What makes the choice surer."""
    people, needed = verdict.population, verdict.needed
    if verdict.holes is not None and could_pass(verdict)[1]:
        yield _labelling(verdict, "step.label.rest", extent_of(verdict.holes))
    if verdict.here:
        unit, documents = people.unit, these(people)
        add = sentence_of("step.documents", unit=unit, fewest=FEWEST_CLUSTERS, documents=documents)
        yield NextStep(" ".join(filter(None, [add, _enough(verdict)])))
    elif verdict.decision in ("best", "better", "equivalent"):
        yield NextStep(sentence_of("step.confirm"))
    elif needed is not None and (show := _enough(verdict)):
        there, counts = "needed.there", {"queries": f"{people.queries:,}"}
        if needed.clusters:
            there, counts["documents"] = "needed.there.documents", f"{people.clusters:,}"
        code = "needed.range.open" if needed.high is None else "needed.range"
        high = "" if needed.high is None else _about(needed.high)
        estimates = sentence_of(code, low=_about(needed.low), high=high)
        lines = [show, sentence_of(there, **counts), estimates, _on_the_same(verdict, needed)]
        yield NextStep(" ".join(filter(None, lines)))


def _enough(verdict: Verdict) -> str:
    """How many queries, and on how many documents, would show a difference; '' where that many were asked."""
    people, needed = verdict.population, verdict.needed
    if needed is None or needed.queries <= max(people.queries, FEWEST_TO_CHOOSE):
        return ""
    code, documents = "needed", ""
    if people.kind == "few clusters" and people.clusters == 1:
        code = "needed.one"
    elif people.kind in ("clusters", "few clusters"):
        code = "needed.documents"
        own = people.kind == "few clusters"
        documents = these(people) if own else counted(needed.clusters, people.unit)
    elif people.kind == "queries":
        code = "needed.apart"
    return sentence_of(
        code,
        queries=_about(needed.queries),
        documents=documents,
        unit=people.unit,
        difference=f"{needed.difference:g}",
        power=f"{POWER:.0%}",
    )


def _on_the_same(verdict: Verdict, needed: Needed) -> str:
    """How many queries on the present documents alone would show it; '' where they are tested one by one."""
    if not needed.clusters:
        return ""
    documents = these(verdict.population)
    if needed.same is None:
        return sentence_of("needed.same.never", documents=documents)
    return sentence_of("needed.same", documents=documents, queries=_about(needed.same))


def could_pass(verdict: Verdict) -> tuple[str, tuple[str, ...]]:
    """The leader, and the settings that judging the rest could lift above it.

    With a baseline they are the leader and the baseline, or the other way round where that is ahead.
    """
    if verdict.leader is None or verdict.holes is None:
        return "", ()
    names = [standing.setting for standing in verdict.standings]
    if verdict.baseline is not None:
        names = [name for name in names if name in (verdict.leader, verdict.baseline)]
    upper, mean = verdict.holes.upper, verdict.mean(names[0])
    return names[0], tuple(name for name in names[1:] if upper.get(name, mean) > mean + ROUNDING)


def _about(count: int) -> str:
    """A count rounded to two digits, since it is an estimate."""
    digits = max(0, len(str(count)) - 2)
    return f"{round(count, -digits):,}"
