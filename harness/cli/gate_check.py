"""The check of results against a baseline or a required mean, as gate, comment and tests make it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness import comparison, running
from harness.values import HarnessError, listed

ANSWER = "answer"


@dataclass(frozen=True)
class Checked:
    """What a gate found, in a sentence and check by check.

    ``before`` is what a reader must know before the checks: how results were scored again, what was left
    out, and the warnings that bear on the measure. ``matrices`` are the scores now and of the baseline.
    """

    result: comparison.GateResult
    sentence: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    matrices: tuple[comparison.ScoreMatrix, comparison.ScoreMatrix]


def check_against(
    folder: Path,
    baseline: Path,
    *,
    stage: str = "final",
    measure: str | None = None,
    max_drop: float = 0.0,
    least: float | None = None,
    must_decide: bool = False,
    confidence: float = 0.95,
    tolerance: float | None = None,
) -> Checked:
    """Check every setting of a folder of results against the baseline's; see ``comparison.gate``.

    Raises HarnessError where the two cannot be compared, ConfigError for options that do not fit.
    """
    stored, taken = running.read_to_compare((baseline, folder), stage, measure, baseline)
    now, before = stored[folder], stored[baseline]
    notes = list(now.again)
    if apart := comparison.cut_differently(taken, before.chunkings, now.chunkings):
        notes.append(
            f"{taken} compares settings only over the same chunks, and documents are cut differently than "
            f"in the baseline ({listed(apart)}). Use a measure such as ndcg_evidence@5000."
        )
    (new, old), left_out = now.beside([before], taken)
    settings = {("", name): name for name in new.settings}
    warnings = filter(now.concerned, comparison.warnings_of({"": now.result.record}, settings))
    lines = comparison.warning_lines([warning for warning in warnings if warning.bears_on(taken)])
    result = comparison.gate(
        new,
        old,
        max_drop=max_drop,
        confidence=confidence,
        tolerance=comparison.options_of(now.result.record).tolerance if tolerance is None else tolerance,
        scored_on=(now.scored_on(taken), before.scored_on(taken)),
        read=(now.read(taken), before.read(taken)),
        least=least,
        must_decide=must_decide,
        doubt=None if now.stage == ANSWER else comparison.judge_doubt([now.result.record]),
    )
    unit = "document" if set(new.clusters) - {""} <= now.result.documents else "cluster"
    untested = "" if now.stage == ANSWER else comparison.untested_answers(folder, baseline)
    return Checked(
        result,
        comparison.gate_sentence(result, comparison.design_in(now.result.record).words, unit),
        (*notes, *left_out, *(f"warning: {text}" for text in lines)),
        (untested,) if untested else (),
        (new, old),
    )


@dataclass(frozen=True)
class Means:
    """The means of the settings of a run under one measure, over all queries, and the verdict in words."""

    measure: str
    by_setting: dict[str, float]
    sentences: tuple[str, ...]
    matrix: comparison.ScoreMatrix

    def below(self, least: float | None) -> list[str]:
        """The settings whose mean is below what is required; one without any value is."""
        if least is None:
            return []
        return [name for name, mean in self.by_setting.items() if not mean >= least]


def means_in(folder: Path, measure: str | None = None) -> Means:
    """The means in a folder of results; raises HarnessError for no such measure."""
    stored, taken = running.read_to_compare((folder,), "final", measure)
    matrix = stored[folder].matrix(taken)
    means = dict(zip(matrix.settings, map(float, matrix.means), strict=True))
    try:
        scores = comparison.scores_of({"": stored[folder]}, taken)
        sentences = tuple(comparison.sentences_of(comparison.verdict_of(scores, taken, None)))
    except HarnessError as error:
        sentences = (f"There is no verdict: {error}",)
    return Means(taken, means, sentences, matrix)
