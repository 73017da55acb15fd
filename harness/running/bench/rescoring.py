"""The rankings of a result scored again on other judgments, as far as its folder holds what that takes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import Any

from harness.measures import Scorer, family_of
from harness.report import ScoreRow, ScoringInputs, StoredResult, documents_ranked, read_scoring_inputs
from harness.running.config.relevance import RelevanceConfig
from harness.running.judging.judged import GradedQueries
from harness.values import Judgment, finite

SCORING_RULES = ("rule", "span_share", "chunk_share", "unanswerable", "answerable_from")
"""The keys of ``relevance`` that say how judgments become values; the others say where they come from."""


def inputs_of(folder: Path, result: StoredResult, judged: Collection[str]) -> ScoringInputs:
    """What a result was scored from, to score it on ``judged`` documents.

    Raises HarnessError if a file is missing or damaged.
    """
    settings = result.record["config"]["settings"]
    tokenizers = {row["name"]: row.get("tokenizer", "") for row in settings}
    return read_scoring_inputs(folder, tokenizers, judged)


def has_tokens(inputs: ScoringInputs, judgments: Sequence[Judgment]) -> bool:
    """Whether a result keeps where tokens begin in every document that is ranked or judged."""
    if inputs.tokens is None:
        return False
    judged = {row.doc_id for row in judgments}
    ranked = documents_ranked(inputs.rankings, inputs.chunks)
    return all(
        of_setting.keys() >= judged | ranked.get(setting, set())
        for setting, of_setting in inputs.tokens.items()
    )


def can_be_rescored(measure: str, tokens: bool) -> bool:
    """Whether a column of per_query.csv can be computed on other judgments.

    ``tokens``: the places of the tokens of all documents are there. What counts the tokens of whole chunks
    does not depend on judgments, and stays as it is.
    """
    family = family_of(measure)
    if family is None:
        return False
    if family.reads == "lengths":
        return not family.needs_relevant
    return family.reads in ("ranks", "characters") or (family.reads == "tokens" and tokens)


def rescored(
    per_query: Sequence[ScoreRow],
    inputs: ScoringInputs,
    judgments: Sequence[Judgment],
    rules: Mapping[str, Any],
) -> tuple[list[ScoreRow], dict[str, int]]:
    """The rows of per_query.csv with the values that these judgments give.

    Also how many queries the means leave out, by reason. ``per_query`` has only measures that can be scored
    again; ``rules`` are those of ``relevance``.
    """
    relevance = RelevanceConfig(**{key: rules[key] for key in SCORING_RULES if key in rules})
    graded = GradedQueries(inputs.queries, judgments, relevance)
    queries, spans = graded.to_score(), graded.spans(None)
    families = {name: family_of(name) for name in dict.fromkeys(row.measure for row in per_query)}
    measures = [name for name, family in families.items() if family and family.reads != "lengths"]
    values: dict[tuple[str, str, str, str], float | None] = {}
    tokens = inputs.tokens or {}
    scorers = {
        setting: Scorer(
            queries,
            spans,
            chunks,
            projection=relevance.projection,
            unanswerable=relevance.without_relevant_text,
            token_boundaries=tokens[setting].__getitem__ if setting in tokens else None,
        )
        for setting, chunks in inputs.chunks.items()
    }
    for (setting, stage), rankings in inputs.rankings.items():
        table = scorers[setting].score(rankings, measures)
        for query, row in zip(table.query_ids, table.values.tolist(), strict=True):
            for measure, value in zip(measures, row, strict=True):
                values[setting, stage, query, measure] = finite(value)
    key = attrgetter("setting", "stage", "query_id", "measure")
    rows = [replace(row, value=values[key(row)]) if row.measure in measures else row for row in per_query]
    return rows, graded.left_out()
