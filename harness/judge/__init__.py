"""Judging: (query, passage) -> graded span."""

from typing import TYPE_CHECKING

from harness.door import door

if TYPE_CHECKING:
    from harness.judge.agreement import (
        Agreement,
        GradedPair,
        OrderAgreement,
        PairAgreement,
        agreement_csv,
        alpha_of_all,
        kendall_tau,
        match_judgments,
        measure_agreement,
        order_agreement,
        pair_agreements,
    )
    from harness.judge.attacks import find_injection
    from harness.judge.check import CheckReport, check_judge
    from harness.judge.config import LlmConfig, PoolConfig, PoolJudgeConfig
    from harness.judge.corrected import FEWEST, Corrected, corrected_difference, corrected_mean
    from harness.judge.kinds import JUDGES, PEOPLE, LabelsConfig
    from harness.judge.llm import LlmJudge
    from harness.judge.panel import (
        PanelConfig,
        PanelJudge,
        panel_agreement,
        panel_sentence,
        together,
        votes_in_words,
    )
    from harness.judge.pool import Pool, pool_of
    from harness.judge.prompting import Example, Examples, GradingForm, candidates_of, load_prompt
    from harness.judge.records import GradedPairs, JudgeTools, Lazy, Pair, PairGrade, PoolJudge, Sink, Summary
else:
    __getattr__ = door(__name__, __file__)
