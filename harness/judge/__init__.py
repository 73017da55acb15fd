"""Judging: (query, passage) -> graded span."""

from typing import TYPE_CHECKING

from harness.door import door

if TYPE_CHECKING:
    from harness.judge.attacks import find_injection, known_set
    from harness.judge.check import CheckReport, check_judge
    from harness.judge.config import LlmConfig, PoolConfig, PoolJudgeConfig
    from harness.judge.corrected import FEWEST, Corrected, corrected_difference, corrected_mean
    from harness.judge.kinds import JUDGES, PEOPLE, LabelsConfig
    from harness.judge.llm import LlmJudge
    from harness.judge.pair_grades import (
        GradedPairs,
        JudgeTools,
        Labelled,
        Lazy,
        Pair,
        PairGrade,
        PoolJudge,
        Sink,
        Summary,
    )
    from harness.judge.panel import (
        PanelConfig,
        PanelJudge,
        panel_agreement,
        panel_sentence,
        together,
        votes_in_words,
    )
    from harness.judge.pooling import Pool, pool_of
    from harness.judge.prompting import Example, Examples, GradingForm, candidates_of, load_prompt
    from harness.judge.rater_agreement import (
        Agreement,
        GradedPair,
        OrderAgreement,
        PairAgreement,
        agreement_csv,
        alpha_of_all,
        bias_per_grade,
        cohen_kappa,
        confusion_matrix,
        kendall_tau,
        krippendorff_alpha,
        match_judgments,
        measure_agreement,
        order_agreement,
        pair_agreements,
    )
    from harness.judge.scored import ScoredConfig, ScoredJudge
else:
    __getattr__ = door(
        __name__,
        {
            "harness.judge.attacks": "find_injection known_set",
            "harness.judge.check": "CheckReport check_judge",
            "harness.judge.config": "LlmConfig PoolConfig PoolJudgeConfig",
            "harness.judge.corrected": "Corrected FEWEST corrected_difference corrected_mean",
            "harness.judge.kinds": "JUDGES LabelsConfig PEOPLE",
            "harness.judge.llm": "LlmJudge",
            "harness.judge.pair_grades": (
                "GradedPairs JudgeTools Labelled Lazy Pair PairGrade PoolJudge Sink Summary"
            ),
            "harness.judge.panel": (
                "PanelConfig PanelJudge panel_agreement panel_sentence together votes_in_words"
            ),
            "harness.judge.pooling": "Pool pool_of",
            "harness.judge.prompting": "Example Examples GradingForm candidates_of load_prompt",
            "harness.judge.rater_agreement": (
                "Agreement GradedPair OrderAgreement PairAgreement agreement_csv alpha_of_all bias_per_grade "
                "cohen_kappa confusion_matrix kendall_tau krippendorff_alpha match_judgments "
                "measure_agreement order_agreement pair_agreements"
            ),
            "harness.judge.scored": "ScoredConfig ScoredJudge",
        },
    )
