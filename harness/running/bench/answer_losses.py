"""Measured answers → rows of result tables: scores, and where answers are lost."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from harness import measures, report
from harness.running.answering.answer_scores import Measured, answer_rows, measure_all
from harness.running.answering.replies import Replies, reply_rows
from harness.running.config.models import BenchConfig
from harness.running.corpus import Corpus
from harness.running.evaluate.evaluating import Evaluated, lost_evidence
from harness.running.judging.judged import pool_judge_config
from harness.running.loop import Visitor
from harness.running.notes import RunNotes
from harness.running.search import Searched
from harness.values import Chunk, Judgment, QueryScore, by_key


def rows_of_answers(
    replied: Sequence[Replies],
    searched: Sequence[Searched],
    evaluated: Evaluated,
    corpus: Corpus,
    config: BenchConfig,
    visitor: Visitor,
    notes: RunNotes,
) -> list[Any]:
    """Measure the answers of all settings; the rows of every table about them."""
    judgments = evaluated.judged.judgments
    measured = measure_all(replied, corpus, judgments, config.answer_scoring, visitor, notes)
    return [
        *reply_rows(replied, corpus),
        *answer_rows(measured, evaluated.clusters, config),
        *_losses(measured, searched, corpus, config),
    ]


def _losses(
    measured: Sequence[Measured], searched: Sequence[Searched], corpus: Corpus, config: BenchConfig
) -> Iterator[report.AnswerLossRow]:
    """Where answers are lost, by the first measure that can be taken apart; none without such a measure."""
    by_kind = {
        answer_measure.kind: answer_measure.label for answer_measure in reversed(config.answer_measures)
    }
    measure = next((by_kind[kind] for kind in measures.AGAINST_GOLDEN if kind in by_kind), None)
    if measure is None:
        return
    by_people = pool_judge_config(config) is None
    evidence = lost_evidence(corpus.label_rows, corpus.anchored) if by_people else []
    lost = by_key((loss.query_id, loss) for loss in evidence)
    projection = config.relevance.projection
    settings = {result.setting.name: result for result in searched}
    for scores_of in measured:
        yield from answer_loss_rows(scores_of, measure, settings[scores_of.setting], lost, projection)


_FIGURE = re.compile(r"\d[\d,]*(?:\.\d+)?")


def answer_loss_rows(
    measured: Measured,
    measure: str,
    searched: Searched,
    lost: Mapping[str, Sequence[Judgment]],
    projection: measures.Projection,
) -> Iterator[report.AnswerLossRow]:
    """The losses of one setting, question by question.

    ``measure`` is the name of the measure to take apart, ``lost`` are labels that are in no extracted text.
    """
    chunks = by_key((chunk.doc_id, chunk) for chunk in searched.chunking.chunks)
    ranked = {ranking.query_id: set(ranking.chunk_ids) for ranking in searched.rankings[searched.steps[-1]]}
    for case, score in zip(measured.cases, measured.scores[measure], strict=True):
        query = case.query
        if score.value is None:
            continue
        retrieved = ranked.get(query.query_id, set())
        losses = losses_of(case, score, retrieved, lost.get(query.query_id, ()), chunks, projection)
        left = 1.0
        for part, loss in losses.items():
            # the last part leaves the value itself, without rounding
            left = score.value if part == report.WITHOUT else left - loss
            yield report.AnswerLossRow(
                measured.setting, query.query_id, query.split, measure, part, loss, left
            )


def losses_of(
    case: measures.Case,
    score: QueryScore,
    retrieved: set[str],
    lost: Sequence[Judgment],
    chunks: Mapping[str, Sequence[Chunk]],
    projection: measures.Projection,
) -> dict[str, float]:
    """The loss of every part; none for a question without labelled evidence. ``chunks`` are by document."""
    facts = _facts(case.judgments)
    gone = _facts(lost).keys() - facts.keys()
    total = len(facts) + len(gone)
    if not total or score.value is None:
        return {}
    losses = dict.fromkeys(report.ANSWER_PARTS, 0.0)
    losses[report.NOT_EXTRACTED] = len(gone) / total
    read = {passage.chunk_id for passage in case.passages}
    count = dict.fromkeys((report.CUT, report.NOT_FOUND, report.TOO_LOW), 0)
    for judgments in facts.values():
        holding = {
            chunk.chunk_id
            for judgment in judgments
            for chunk in chunks.get(judgment.doc_id, ())
            if measures.holds(chunk, judgment, projection)
        }
        if not holding & read:
            count[report.TOO_LOW if holding & retrieved else report.NOT_FOUND if holding else report.CUT] += 1
    losses |= {part: number / total for part, number in count.items()}
    share = (total - len(gone) - sum(count.values())) / total
    rest = share - score.value
    if rest < 0:
        return losses | {report.WITHOUT: rest}
    missed, beyond_it = _lacks(case, score)
    both = missed + beyond_it
    # if neither is known to lack anything, the fault is unknown
    # a share of at most 1 first: rounding must not make it more than there is to lose
    more = rest * (beyond_it / both) if both else rest
    contradicts, adds, unknown = beyond(case, score) if both else NOTHING_KNOWN
    # each takes the rest, so that the sum is exact
    return losses | {
        report.CONTRADICTS: more * contradicts,
        report.ADDS: more * adds,
        report.SOMETHING_ELSE: more * unknown,
        report.LEFT_OUT: rest - more,
    }


def _facts(judgments: Iterable[Judgment]) -> dict[measures.Fact, list[Judgment]]:
    """The spans that state each relevant fact: copies of one evidence are one fact."""
    return by_key(
        (measures.fact_of(judgment), judgment)
        for judgment in judgments
        if judgment.grade is not None and judgment.grade > 0
    )


def _lacks(case: measures.Case, score: QueryScore) -> tuple[float, float]:
    """The missing recall and precision of an answer, by the details of its measure, else by its words."""
    details = score.details
    if "statements" not in details and measures.refuses(case.answer or ""):
        # a refusal claims nothing, so it adds nothing
        return 1.0, 0.0
    if "recall" in details and "precision" in details:
        return 1 - float(details["recall"]), 1 - float(details["precision"])
    if "statements" in details and "reference" in details:
        return _unsupported(details["reference"]), _unsupported(details["statements"])
    words, golden = (
        Counter(measures.words_of(text)) for text in (case.answer or "", compared_with(case, score))
    )
    common = (words & golden).total()
    return 1 - common / golden.total() if golden else 0.0, 1 - common / words.total() if words else 0.0


def _unsupported(statements: Sequence[Mapping[str, int]]) -> float:
    if not statements:
        return 0.0
    return sum(1 - int(statement["verdict"]) for statement in statements) / len(statements)


Claims = tuple[float, float, float]
"""Shares of the claims beyond the golden answer: what contradicts it, what adds to it, what is unknown."""
NOTHING_KNOWN: Claims = (0.0, 0.0, 1.0)


def beyond(case: measures.Case, score: QueryScore) -> Claims:
    """How the claims of an answer beyond the golden one divide into contradictions and additions.

    Where a model has scored the answer, by its verdicts on the statements that the golden answer does not
    support. Without them only two things are known: an answer that holds all words of the golden answer adds
    to it; and where the golden answer has one figure, one that gives one other figure contradicts it. Figures
    of the question do not count. The rest is unknown.
    """
    if "statements" in score.details:
        unsupported = [detail for detail in score.details["statements"] if not int(detail["verdict"])]
        if not unsupported or any("contradicts" not in statement for statement in unsupported):
            return NOTHING_KNOWN
        share = sum(int(statement["contradicts"]) for statement in unsupported) / len(unsupported)
        return share, 1 - share, 0.0
    golden, answer = compared_with(case, score), case.answer or ""
    if set(measures.words_of(golden)) <= set(measures.words_of(answer)):
        return 0.0, 1.0, 0.0
    stated, right = (figures(text) - figures(case.query.text) for text in (answer, golden))
    return (1.0, 0.0, 0.0) if len(stated) == len(right) == 1 and stated != right else NOTHING_KNOWN


def compared_with(case: measures.Case, score: QueryScore) -> str:
    """The golden answer that a score is based on: of several, the one named in its details."""
    return str(score.details.get("golden", case.reference or ""))


def figures(text: str) -> frozenset[str]:
    """The figures in a text, without commas between digits and zeros at the end of a fraction."""
    plain = (figure.replace(",", "") for figure in _FIGURE.findall(text))
    return frozenset(figure.rstrip("0").rstrip(".") if "." in figure else figure for figure in plain)
