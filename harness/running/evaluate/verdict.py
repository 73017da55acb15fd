"""The verdict on a run that has just been scored, from the same values that its files will hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from harness import comparison
from harness.measures import headline, less_is_better
from harness.report import FilterRow, LabelSensitivityRow, LossRow, PriceRow, lost_by
from harness.running.config.models import BenchConfig
from harness.values import HarnessError, QueryScore, RunRecord


def run_headline(config: BenchConfig) -> str:
    """The measure that the settings of a configuration are compared by."""
    chunkings = comparison.chunkings_of(setting.model_dump(mode="json") for setting in config.settings)
    return headline(config.measures, len(set(chunkings.values())) > 1)


def run_verdict(
    per_query: Iterable[QueryScore],
    splits: Mapping[str, str],
    clusters: Mapping[str, str],
    prices: Sequence[PriceRow],
    documents: Iterable[str],
    drawn: Sequence[LabelSensitivityRow],
    config: BenchConfig,
    filtered: Sequence[FilterRow],
    record: RunRecord,
    losses: Iterable[LossRow],
) -> tuple[comparison.Verdict | None, dict[str, Any]]:
    """The verdict, and the same as plain values with its ``sentences``; without one, a sentence says why.

    ``drawn`` are the means with labels drawn longer and shorter, ``filtered`` is what filters found, and
    ``losses`` what was lost by query.
    """
    by_measure: dict[str, list[QueryScore]] = {}
    for row in per_query:
        by_measure.setdefault(row.measure, []).append(row)
    settings = {setting.name: setting.model_dump(mode="json") for setting in config.settings}
    scores = comparison.Scores(
        # the last stages by every measure that is not a cost
        matrices={
            measure: comparison.from_scores(rows, measure, splits, clusters=clusters)
            for measure, rows in by_measure.items()
            if not less_is_better(measure)
        },
        design=comparison.design_of(settings),
        configured=settings,
        folders=dict.fromkeys(settings, str(config.results / config.name)),
        documents=frozenset(documents),
        options=comparison.options_of(
            {"config": config.model_dump(include={"bootstrap", "tolerance", "price_limit"})}
        ),
        warnings=record.warnings,
    )
    details = comparison.Details(
        comparison.chunkings_of(settings.values()),
        lost_by(losses),
        [asdict(row) for row in prices],
        drawn,
        filtered,
        record.counts["left_out"],
        record.counts["read"],
    )
    scores = comparison.detailed(scores, {"": details}, {("", name): name for name in settings})
    try:
        verdict = comparison.verdict_of(scores)
    except HarnessError as error:
        kept = [one for one in record.warnings if one.bears_on(scores.headline)]
        return None, {
            "measure": scores.headline,
            "decision": None,
            "why": str(error),
            "warnings": [asdict(one) for one in kept],
            "sentences": (
                str(error),
                *(f"{comparison.LABELS['warning']}: {text}" for text in comparison.warning_lines(kept)),
            ),
        }
    return verdict, {**comparison.verdict_json(verdict), "sentences": comparison.sentences_of(verdict)}
