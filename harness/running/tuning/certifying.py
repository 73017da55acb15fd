"""What a certificate takes: settings go on until they are shown to be worse, or the budget ends."""

from __future__ import annotations

from collections.abc import Sequence

from harness.running.config.tune_keys import TuneConfig
from harness.running.tuning.ladder import Ladder, fits, outlay_in_words
from harness.running.tuning.outlay import Outlay
from harness.running.tuning.standing import TuneChoice
from harness.values import HarnessError, counted


def refuse_beyond(ladder: Ladder, entered: Sequence[int], tuning: TuneConfig, *, certify: bool) -> None:
    """Stop where the stages so far and the next one, with what enters them, are beyond the budget.

    ``entered`` has the number of settings of each stage. ``certify``: it was asked for whatever it takes.
    """
    if certify or fits(ladder.outlay_of(entered), ladder.whole, tuning.allowed):
        return
    left, count = entered[-1], counted(entered[0], "setting")
    stages = [*entered, *[left] * (len(ladder.stages) - len(entered))]
    raise HarnessError(
        f"To certify takes more than the tune.budget of {tuning.budget}. After stage {len(entered) - 1} of "
        f"{len(ladder.stages)}, {left} of {count} are not shown to be worse than another one. With them it "
        f"takes about {outlay_in_words(ladder.outlay_of(stages), ladder.whole)} in all. Raise the budget, "
        "run `harness tune --certify`, which goes on whatever that takes, or have `give: search`. What was "
        "computed stays in the cache."
    )


def affords(ladder: Ladder, entered: Sequence[int], standing: TuneChoice, tuning: TuneConfig) -> bool:
    """Whether the dropped settings that may be better can see everything too, within the budget."""
    spent = ladder.outlay_of(entered)
    return fits(spent + certifying(ladder, len(standing.candidates)), ladder.whole, tuning.allowed)


def certifying(ladder: Ladder, settings: int) -> Outlay:
    """About what some settings take on everything."""
    return ladder.whole.times(settings / ladder.stages[0].enter)
