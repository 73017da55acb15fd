"""The plan of stages: which part each sees and how many settings it leaves, within a budget."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any, Literal

from harness.running.config.tune_keys import Allowance, PartConfig
from harness.running.tuning.outlay import Outlay, Outlays
from harness.values import ConfigError, duration

# The shares of the documents without a label, and of the queries, that a first stage may see. Among fewer
# documents small chunks look better than they are among all.
TEXTS = (0.5, 0.3, 0.2)
QUERIES = (1.0, 0.7, 0.5, 0.35, 0.25, 0.15)
# On fewer queries an order is chance.
FEWEST_QUERIES = 10
# With fewer settings there is nothing to drop.
FEWEST_SETTINGS = 3
# The shares of the settings that go on from a stage that holds rerankers back.
_HELD = (0.5, 0.25)


@dataclass(frozen=True, slots=True)
class PlannedStage:
    """One stage: what it sees, how many settings enter it and leave it, and about what it takes.

    ``held``: settings are seen without their rerankers, so that those that retrieve alike are seen once.
    ``quantised``: vectors are computed in int8. ``answered``: so many of the queries have an answer, and so a
    score; None where that is not known before.
    """

    part: PartConfig
    enter: int
    leave: int
    queries: int
    outlay: Outlay
    held: bool = False
    quantised: bool = False
    answered: int | None = None


@dataclass(frozen=True, slots=True)
class Ladder:
    """The stages of a plan, the last of which sees everything, and what all settings would take there.

    ``early`` are settings whose rankings will end before what the measure reads, earlier than others.
    """

    stages: tuple[PlannedStage, ...]
    whole: Outlay
    early: tuple[str, ...] = ()

    @property
    def outlay(self) -> Outlay:
        """What all stages take together."""
        return sum((stage.outlay for stage in self.stages), Outlay())

    def outlay_of(self, entered: Sequence[int]) -> Outlay:
        """About what the first stages take where so many settings enter each."""
        return sum(
            (
                stage.outlay.times(count / stage.enter)
                for stage, count in zip(self.stages, entered, strict=False)
            ),
            Outlay(),
        )

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        stages = [
            {**asdict(stage), "part": stage.part.model_dump(mode="json"), "outlay": asdict(stage.outlay)}
            for stage in self.stages
        ]
        return {"stages": stages, "whole": asdict(self.whole), "early": list(self.early)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Ladder:
        """The plan that was written."""
        stages = tuple(
            PlannedStage(
                PartConfig.model_validate(stage["part"]),
                stage["enter"],
                stage["leave"],
                stage["queries"],
                Outlay(**stage["outlay"]),
                stage["held"],
                stage.get("quantised", False),
                stage["answered"],
            )
            for stage in value["stages"]
        )
        return cls(stages, Outlay(**value["whole"]), tuple(value["early"]))


@dataclass(frozen=True, slots=True)
class Extent:
    """How much there is: settings, queries that may choose, all queries, and how large parts of the text are.

    ``sizes`` is by share of the documents without a label how many times as large a part is as the first
    one, which holds none of them; a single entry where every document has a label, or none is known.
    So many settings are left as ``retrieving`` without their rerankers. ``proposed``: a sampler proposes the
    settings, in the first stage.
    """

    settings: int
    train: int
    queries: int
    sizes: Mapping[float, float]
    seed: int
    retrieving: int
    proposed: bool = False

    @property
    def split(self) -> Literal["train", "all"]:
        """The queries that a stage chooses by: those for training, where there are enough."""
        return "train" if FEWEST_QUERIES <= self.train < self.queries else "all"

    def drawn(self, share: float) -> int:
        """How many queries a share is."""
        return max(1, round(share * (self.train if self.split == "train" else self.queries)))


@dataclass(frozen=True, slots=True)
class _Step:
    """A stage that is thought of: shares of text and queries, and how many settings enter and leave."""

    text: float
    queries: float
    enter: int
    leave: int
    held: bool = False


def make_ladder(
    extent: Extent,
    costs: Outlays,
    budget: Allowance,
    retrieving: Outlays | None = None,
    quantised: Outlays | None = None,
) -> Ladder:
    """The plan that sees most within the budget; raises ConfigError where even the least is beyond it.

    ``retrieving`` is what settings take without their rerankers, where these may be held back. ``quantised``
    is what stages before the last take where they compute in int8; ``retrieving`` then is of int8 too.
    """
    whole = costs.of_text(extent.settings, extent.sizes[1.0]) + costs.of_queries(
        extent.settings, extent.queries
    )
    everything = PlannedStage(PartConfig(), extent.settings, extent.settings, extent.queries, whole)
    if fits(whole, whole, budget) or extent.settings < FEWEST_SETTINGS:
        if not extent.proposed:
            return Ladder((everything,), whole)
        # a proposal is scored on the train queries alone, a part of everything
        part = PartConfig(split=extent.split, seed=extent.seed)
        first = PlannedStage(part, extent.settings, extent.settings, extent.drawn(1.0), Outlay())
        return Ladder((first, everything), whole)
    best: tuple[tuple[float, ...], Ladder] | None = None
    least: Ladder | None = None
    for steps in _candidates(extent, retrieving is not None):
        ladder = Ladder(tuple(_priced(steps, extent, costs, retrieving, quantised)), whole)
        if least is None or _compared(ladder.outlay, budget) < _compared(least.outlay, budget):
            least = ladder
        if fits(ladder.outlay, whole, budget):
            worth = _worth(ladder, extent)
            best = (worth, ladder) if best is None or worth > best[0] else best
    if best is not None:
        return best[1]
    raise ConfigError(
        f"tune.budget is too small: it is {budget}, and the least that settles on one of {extent.settings} "
        f"settings takes about {outlay_in_words(least.outlay if least else whole, whole)}. Raise it, or have "
        + ("fewer trials." if extent.proposed else "fewer settings, or run all of them with `harness bench`.")
    )


def _candidates(extent: Extent, held: bool) -> Iterator[list[_Step]]:
    """The stages of many plans; ``held``: also such that hold rerankers back from the first one."""
    texts = [share for share in TEXTS if share in extent.sizes] if len(extent.sizes) > 1 else [1.0]
    queries = [share for share in QUERIES if extent.drawn(share) >= FEWEST_QUERIES] or [1.0]
    lasts = sorted(
        {
            max(FEWEST_SETTINGS, math.ceil(extent.settings * share))
            for share in (0.5, 0.35, 0.25, 0.15, 0.1, 0.05)
        }
    )
    for text, share, last in product(texts, queries, lasts):
        if (text, share) == (1.0, 1.0) or last >= extent.settings:
            continue
        everything = _Step(1.0, 1.0, last, last)
        yield [_Step(text, share, extent.settings, last), everything]
        middle = round(math.sqrt(extent.settings * last))
        wider = max(texts), math.sqrt(share)
        if last < middle < extent.settings and wider != (text, share):
            yield [_Step(text, share, extent.settings, middle), _Step(*wider, middle, last), everything]
        for part in _HELD if held else ():
            if last < (middle := math.ceil(extent.settings * part)):
                first = _Step(text, max(queries), extent.settings, middle, held=True)
                yield [first, _Step(text, share, middle, last), everything]


def _priced(
    steps: Sequence[_Step],
    extent: Extent,
    costs: Outlays,
    retrieving: Outlays | None,
    quantised: Outlays | None,
) -> Iterator[PlannedStage]:
    """Stages with what they take: text that a stage before has seen is not computed again."""
    before, asked = 0.0, 0.0
    for at, step in enumerate(steps):
        last = at == len(steps) - 1
        screens = quantised is not None and not last
        if last and quantised is not None:
            # no exact vector is there yet
            before, asked = 0.0, 0.0
        part = (
            PartConfig()
            if last
            else PartConfig(text=step.text, queries=step.queries, split=extent.split, seed=extent.seed)
        )
        size = extent.sizes[step.text]
        queries = extent.queries if last else extent.drawn(step.queries)
        # the rankings of a smaller text are others, so its queries are asked again on a larger one
        again = asked if size == before else 0.0
        of, count = (
            (retrieving, extent.retrieving)
            if step.held and retrieving is not None
            else (quantised if screens and quantised is not None else costs, step.enter)
        )
        outlay = of.of_text(count, size - before) + of.of_queries(count, max(queries - again, 0))
        yield PlannedStage(part, step.enter, step.leave, queries, outlay, step.held, screens)
        # what was held back is still to be asked
        before, asked = size, 0.0 if step.held else queries


def _worth(ladder: Ladder, extent: Extent) -> tuple[float, ...]:
    """How much a plan sees, by roots: of the first look, and of the settings that see everything.

    The first look is that at whole settings. By its fourth root counts how many of them are left to see
    where others were dropped by what their rerankers were to rank.
    """
    first = next(stage for stage in ladder.stages if not stage.held)
    last = ladder.stages[-1]
    seen = extent.sizes[first.part.text] / extent.sizes[1.0]
    look = math.sqrt(first.queries / extent.queries) * seen**0.5
    tried = (first.enter / extent.settings) ** 0.25
    return (look * tried * math.sqrt(last.enter / extent.settings), float(len(ladder.stages)))


def fits(outlay: Outlay, whole: Outlay, budget: Allowance) -> bool:
    """Whether something is within a budget, of which a ``whole`` sweep is all."""
    if budget.of == "share":
        return outlay.share_of(whole) <= budget.amount
    return _compared(outlay, budget) <= budget.amount


def _compared(outlay: Outlay, budget: Allowance) -> float:
    return outlay.money if budget.of == "money" else outlay.seconds


def outlay_in_words(outlay: Outlay, whole: Outlay) -> str:
    """What something takes, in time, money where any is spent, and per cent of the whole."""
    money = f" and {outlay.money:.2f} in prices" if whole.money else ""
    return f"{duration(outlay.seconds)}{money} ({100 * outlay.share_of(whole):.0f} % of a full sweep)"
