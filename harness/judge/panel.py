"""A panel: several language models grade every pair, and their grades become one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import median_low
from typing import Any, Literal

import numpy as np
from pydantic import Field, field_validator, model_validator

from harness.judge.config import LlmConfig, PoolConfig, PoolJudgeConfig
from harness.judge.llm import LlmJudge, spread_of
from harness.judge.pair_grades import JudgeTools, Pair, PairGrade, Sink, Summary
from harness.judge.prompting import Example
from harness.judge.rater_agreement import krippendorff_alpha
from harness.models import Estimate, ask, sum_of
from harness.store import Ledger
from harness.values import Reporter, most_frequent


class PanelConfig(PoolJudgeConfig):
    """Several language models as judges of the same pairs."""

    kind: Literal["panel"] = "panel"
    members: tuple[LlmConfig, ...] = Field(
        min_length=2,
        description="The judges, each with the keys of `judge: llm` except `pool`, which they share.",
    )
    combine: Literal["median", "majority"] = Field(
        "median",
        description="How the members' grades are combined: the median (of two, the lower), or the most "
        "frequent (in a tie, the lower).",
    )
    pool: PoolConfig = Field(PoolConfig(), description="What is judged.")
    max_unscored: float = Field(
        0.02, ge=0, le=1, description="The largest share of pairs without a grade; above it the run fails."
    )

    @property
    def title(self) -> str:
        """How the panel is named in every table."""
        return f"{self.combine} of {', '.join(member.title for member in self.members)}"

    @property
    def asked(self) -> tuple[LlmConfig, ...]:
        """The members."""
        return self.members

    @field_validator("members")
    @classmethod
    def _share_a_pool(cls, members: tuple[LlmConfig, ...]) -> tuple[LlmConfig, ...]:
        if any("pool" in member.model_fields_set for member in members):
            raise ValueError("members share one pool: set it next to members, not inside")
        return members

    @model_validator(mode="after")
    def _members_differ(self) -> PanelConfig:
        whose = [
            (member.prompt, member.examples, member.endpoint.model, str(member.endpoint.parameters()))
            for member in self.members
        ]
        if len(set(whose)) < len(whose):
            raise ValueError("two members are the same judge; use samples to repeat the calls of one judge")
        return self


class PanelJudge:
    """Lets every member grade all pairs; each answer is in the ledger by itself.

    Batches of all members are answered side by side; where calls are made, one member follows the other.

    A pair has a grade when more than half of the members have given one. The ``samples`` of a graded pair
    are the grades of the members in their order, those without one left out.
    """

    def __init__(self, config: PanelConfig, ledger: Ledger, *, candidates: Sequence[Example] = ()) -> None:
        self.config = config
        self.name = config.title
        self.members = [LlmJudge(member, ledger, candidates=candidates) for member in config.members]

    @classmethod
    def of(cls, config: PanelConfig, tools: JudgeTools) -> PanelJudge:
        """The panel of a run; people's labels serve members as examples where they show any."""
        shown = any(member.examples for member in config.members)
        return cls(config, tools.ledger, candidates=tools.people_graded() if shown else ())

    @property
    def fingerprint(self) -> dict[str, object]:
        """The facts about the panel in a run record."""
        members = [member.fingerprint for member in self.members]
        return {"kind": "panel", "combine": self.config.combine, "members": members}

    def estimates(self, pairs: Iterable[Pair]) -> Sequence[tuple[str, Estimate]]:
        """The cost of grading, member by member."""
        return [(member.name, member.estimate(pairs)) for member in self.members]

    def grade(
        self, pairs: Iterable[Pair], sink: Sink, *, reporter: Reporter, total: int | None = None
    ) -> Summary:
        """Grade the pairs, read once a member and once more; same contract as LlmJudge.grade."""
        grades_by_member: list[dict[tuple[str, str], PairGrade]] = [{} for _ in self.members]
        summary, summaries = Summary(judge=self.name), [Summary(judge=member.name) for member in self.members]

        def keep(grades: dict[tuple[str, str], PairGrade], graded: PairGrade) -> None:
            grades[graded.pair.key] = graded

        inquiries = [
            member.inquiry(pairs, partial(keep, grades), spent, total)
            for member, grades, spent in zip(self.members, grades_by_member, summaries, strict=True)
        ]
        ask(inquiries, reporter=reporter, name="judging", total=len(self.members) * (total or 0))
        for member, spent in zip(self.members, summaries, strict=True):
            spent.check_unscored(member.config.max_unscored, spent.pairs)
            summary.add_spending(spent)
            summary.from_ledger += spent.from_ledger
            summary.seconds += spent.seconds
        table = []
        for pair in pairs:
            answers = [grades[pair.key] for grades in grades_by_member]
            table.append(
                [np.nan if answer.judgment.grade is None else answer.judgment.grade for answer in answers]
            )
            graded = self._combined(pair, answers)
            summary.note(graded)
            sink(graded)
        names = [member.name for member in self.members]
        summary.panel = panel_agreement(names, np.array(table, dtype=float).T) if table else {}
        summary.check_unscored(self.config.max_unscored, summary.pairs)
        return summary

    def _combined(self, pair: Pair, answers: Sequence[PairGrade]) -> PairGrade:
        grades = tuple(answer.judgment.grade for answer in answers if answer.judgment.grade is not None)
        enough = 2 * len(grades) > len(answers)
        combined = median_low if self.config.combine == "median" else most_frequent
        grade = combined(grades) if enough else None
        costs = [answer.cost for answer in answers if answer.cost is not None]
        reason = next((answer.reason for answer in answers if answer.judgment.grade is None), "")
        source = " ".join(answer.judgment.source for answer in answers)
        prompts = " ".join(answer.judgment.prompt_sha for answer in answers)
        judgment = pair.judgment(grade, self.name, source, prompts)
        cost = sum(costs) if len(costs) == len(answers) else None
        explanation = next(
            (
                answer.explanation
                for answer in answers
                if answer.explanation and answer.judgment.grade == grade
            ),
            "",
        )
        return PairGrade(
            pair,
            judgment,
            grades,
            spread_of(grades),
            "" if enough else reason,
            cost,
            explanation=explanation,
        )


def together(estimates: Sequence[Estimate]) -> Estimate:
    """One estimate out of those of several members; a single unknown price makes the sum unknown.

    Members without a call to make count in neither the price nor what is said of it.
    """
    if len(estimates) == 1:
        return estimates[0]
    called = [estimate for estimate in estimates if estimate.calls]
    unpriced = [estimate for estimate in called if estimate.price is None]
    counts = ("calls", "already_answered", "in_batches")
    summed = (*counts, "prompt_tokens", "completion_tokens", "likely_completion_tokens")
    changed: dict[str, Any] = {
        name: sum(getattr(estimate, name) for estimate in estimates) for name in summed
    }
    for name in ("price", "likely_price"):
        changed[name] = sum_of(getattr(estimate, name) for estimate in called)
    for name in ("likely_by", "counted_by"):
        changed[name] = "; ".join(dict.fromkeys(getattr(estimate, name) for estimate in called))
    model = ", ".join(estimate.model for estimate in unpriced or called)
    return replace(estimates[0], rate=None, model=model, **changed)


def panel_agreement(members: Sequence[str], table: np.ndarray) -> dict[str, Any]:
    """How far the members of a panel agree: ``table`` [members, items], NaN if a member gave no grade.

    They all agree on a share of the items that two or more graded; None if there is no such item.
    """
    alpha, graded = krippendorff_alpha(table), np.isfinite(table).sum(axis=0)
    any_graded, several_graded = table[:, graded > 0], table[:, graded > 1]
    # as where grades are combined, of two in the middle the lower
    middle = np.nanquantile(any_graded, 0.5, axis=0, method="lower")
    same = np.nanmin(several_graded, axis=0) == np.nanmax(several_graded, axis=0)
    return {
        "alpha_ordinal": None if np.isnan(alpha) else alpha,
        "all_agree": float(same.mean()) if same.size else None,
        "above_the_median": {
            name: None if np.isnan(grades).all() else float(np.nanmean(grades - middle))
            for name, grades in zip(members, any_graded, strict=True)
        },
    }


def panel_sentence(panel: Mapping[str, Any], items: str, unit: str) -> str:
    """The same in words, about ``items`` such as pairs, each given a number of ``unit``."""
    members = [
        f"{name} is {above:+.2f} {unit} from the median" if above is not None else name
        for name, above in panel["above_the_median"].items()
    ]
    if panel["all_agree"] is None:
        return f"None of the {items} has a {unit.removesuffix('s')} by two members."
    agree = f"All members agree on {panel['all_agree']:.0%} of the {items} with two or more {unit}"
    if panel["alpha_ordinal"] is not None:
        agree += f" (Krippendorff's alpha, ordinal, {panel['alpha_ordinal']:.2f})"
    which = "" if len(members) % 2 else " (of two in the middle, the lower)"
    return f"{agree}; {', '.join(members)}{which}."


def votes_in_words(facts: Mapping[str, Any]) -> str:
    """How a panel voted on answers: its agreement, ties, and the votes that are missing."""
    missing = ", ".join(f"{name} {count}" for name, count in facts["no_vote"].items() if count)
    return (
        f"{panel_sentence(facts, 'answers', 'votes')} Ties, which count as no: {facts['ties']} of "
        f"{facts['answers']}.{f' Missing votes: {missing}.' if missing else ''}"
    )
