"""Where answers are lost, from the documents to the words; the parts sum to 1 minus the value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from harness.answer import AnswerScore, Case
from harness.answer.evidence import Fact, fact_of, holds
from harness.answer.refusing import refuses
from harness.answer.words import words_of
from harness.answering.beyond import NOTHING_KNOWN, beyond, compared_with
from harness.answering.measuring import Measured
from harness.measures.projection import Projection
from harness.report.rows import AnswerLossRow
from harness.report.rows.answers import (
    ADDS,
    ANSWER_PARTS,
    CONTRADICTS,
    CUT,
    LEFT_OUT,
    NOT_EXTRACTED,
    NOT_FOUND,
    SOMETHING_ELSE,
    TOO_LOW,
    WITHOUT,
)
from harness.running.search import Searched
from harness.types import Chunk, Judgment

UNITS = ("answer_correctness", "token_f1", "exact_match")
"""Measures that can be taken apart, by kind; the first that is measured is."""


def answer_loss_rows(
    measured: Measured,
    measure: str,
    searched: Searched,
    lost: Mapping[str, Sequence[Judgment]],
    projection: Projection,
) -> Iterator[AnswerLossRow]:
    """The losses of one setting, question by question.

    ``measure`` is the name of the measure to take apart, ``lost`` are labels that are in no extracted text.
    """
    chunks: dict[str, list[Chunk]] = {}
    for chunk in searched.chunking.chunks:
        chunks.setdefault(chunk.doc_id, []).append(chunk)
    ranked = {one.query_id: set(one.chunk_ids) for one in searched.rankings[searched.steps[-1]]}
    for case, score in zip(measured.cases, measured.scores[measure], strict=True):
        query = case.query
        if score.value is None:
            continue
        found = ranked.get(query.query_id, set())
        losses = losses_of(case, score, found, lost.get(query.query_id, ()), chunks, projection)
        left = 1.0
        for part, loss in losses.items():
            # the last part leaves the value itself, without rounding
            left = score.value if part == WITHOUT else left - loss
            yield AnswerLossRow(measured.setting, query.query_id, query.split, measure, part, loss, left)


def losses_of(
    case: Case,
    score: AnswerScore,
    found: set[str],
    lost: Sequence[Judgment],
    chunks: Mapping[str, Sequence[Chunk]],
    projection: Projection,
) -> dict[str, float]:
    """The loss of every part; none for a question without labelled evidence. ``chunks`` are by document."""
    facts = _facts(case.judgments)
    gone = _facts(lost).keys() - facts.keys()
    total = len(facts) + len(gone)
    if not total or score.value is None:
        return {}
    losses = dict.fromkeys(ANSWER_PARTS, 0.0)
    losses[NOT_EXTRACTED] = len(gone) / total
    read = {passage.chunk_id for passage in case.passages}
    count = dict.fromkeys((CUT, NOT_FOUND, TOO_LOW), 0)
    for judgments in facts.values():
        holding = {
            chunk.chunk_id
            for one in judgments
            for chunk in chunks.get(one.doc_id, ())
            if holds(chunk, one, projection)
        }
        if not holding & read:
            count[TOO_LOW if holding & found else NOT_FOUND if holding else CUT] += 1
    losses |= {part: number / total for part, number in count.items()}
    share = (total - len(gone) - sum(count.values())) / total
    rest = share - score.value
    if rest < 0:
        return losses | {WITHOUT: rest}
    missed, beyond_it = _lacks(case, score)
    both = missed + beyond_it
    # where neither is known to lack anything, nothing is known of what is wrong
    more = rest * beyond_it / both if both else rest
    parted = beyond(case, score) if both else NOTHING_KNOWN
    losses |= {CONTRADICTS: more * parted.contradicts, ADDS: more * parted.adds}
    # the rest of each is what sums exactly
    losses[SOMETHING_ELSE] = more * parted.untold
    return losses | {LEFT_OUT: rest - more}


def _facts(judgments: Iterable[Judgment]) -> dict[Fact, list[Judgment]]:
    """The spans that state each relevant fact: copies of one evidence are one fact."""
    found: dict[Fact, list[Judgment]] = {}
    for one in judgments:
        if one.grade is not None and one.grade > 0:
            found.setdefault(fact_of(one), []).append(one)
    return found


def _lacks(case: Case, score: AnswerScore) -> tuple[float, float]:
    """What an answer lacks in recall and in precision, as the details of its measure say, else its words."""
    details = score.details
    if "statements" not in details and refuses(case.answer or ""):
        # a refusal says nothing, and so nothing beyond
        return 1.0, 0.0
    if "recall" in details and "precision" in details:
        return 1 - float(details["recall"]), 1 - float(details["precision"])
    if "statements" in details and "reference" in details:
        return _unsupported(details["reference"]), _unsupported(details["statements"])
    said, golden = (Counter(words_of(text)) for text in (case.answer or "", compared_with(case, score)))
    common = (said & golden).total()
    return 1 - common / golden.total() if golden else 0.0, 1 - common / said.total() if said else 0.0


def _unsupported(statements: Sequence[Mapping[str, int]]) -> float:
    if not statements:
        return 0.0
    return sum(1 - int(one["verdict"]) for one in statements) / len(statements)
