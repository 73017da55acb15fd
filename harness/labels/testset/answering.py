"""The step ``answer``: golden answers by the strongest model available, or by a person in answers.csv."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from harness.labels.testset.config import load_prompt
from harness.labels.testset.finished import final_grades
from harness.labels.testset.rows import AnswerRow, Candidate, DisagreementRow, GradeRow
from harness.labels.testset.state import Outcome, SetState, calls_made
from harness.models import Model, TextForm, answers, jobs_of, text_of
from harness.running import Context
from harness.store import Ledger
from harness.values import LlmAnswer, by_key, counted

FOLDER = Path(__file__).parent / "answer_prompts"
UNANSWERABLE = "UNANSWERABLE"
_SHOWN = 8
_RELEVANT = 2


def answer(
    state: SetState, context: Context, *, by_hand: bool, prompt: str, again: bool, dry_run: bool
) -> Outcome:
    """Write answers.csv with a row for every kept question; answers by people always stay.

    Answers that are missing, or all ``again``, are asked of a model, unless people write them ``by_hand``.
    The model sees the passages of grade 2 and above, the best eight. A question without such a passage is
    left out and named. Raises LlmError if the model cannot be asked; its answers are in the ledger.
    """
    chosen = state.chosen()
    rows = _rows(state, chosen)
    if by_hand:
        state.write("answer", "to be written by people", {AnswerRow: rows})
        empty = sum(not row.answer and one.answerable for row, one in zip(rows, chosen, strict=True))
        questions, missing = counted(len(rows), "question"), counted(empty, "answer")
        return Outcome((f"{state.path(AnswerRow)}: {questions}; {missing} to write into the column answer.",))
    if state.config.answering is None:
        raise state.no_model("answer or llm", "answer --by-hand")
    name = prompt or ("answer_zh" if state.config.language == "zh" else "answer")
    words = load_prompt(name, FOLDER, ("query", "passages"))
    title = f"{state.config.answering.endpoint.model} ({words.name})"
    evidence = _evidence(state, context)
    open_ = [
        row
        for row, one in zip(rows, chosen, strict=True)
        if one.answerable and (not row.answer or (again and row.by.endswith(f"({words.name})")))
    ]
    todo = [row for row in open_ if evidence.get(row.query_id)]
    with Ledger(context.cache.ledger) as ledger:
        model = Model(state.config.answering, TextForm(words.system, words.user), ledger)
        calls = [model.call(row.question, evidence[row.query_id]) for row in todo]
        if dry_run:
            estimate = model.estimate(jobs_of(calls), noun="answers")
            return Outcome(
                (f"{title} would answer {counted(len(calls), 'question')}.",), ((title, estimate),), dry=True
            )
        answered, spending = answers(model, calls, reporter=context.reporter, name="answering")
    given = {row.query_id: _answered(row, one, title) for row, one in zip(todo, answered, strict=True)}
    rows = [given.get(row.query_id, row) for row in rows]
    state.write("answer", f"answered by {title}", {AnswerRow: rows})
    usable = sum(bool(one.answer) for one in given.values())
    lines = [
        f"{state.path(AnswerRow)}: {usable} of {counted(len(todo), 'question')} answered by {title}; "
        f"{calls_made(spending)}."
    ]
    if len(open_) > len(todo):
        lines.append(
            f"{counted(len(open_) - len(todo), 'question has', 'questions have')} no passage of grade 2 "
            "or above to answer from."
        )
    return Outcome(tuple(lines))


def _answered(row: AnswerRow, answer: LlmAnswer, title: str) -> AnswerRow:
    text = text_of(answer)
    if text is None:
        return replace(row, answer="", by="", note=f"no usable answer: {answer.reason or 'no words'}")
    if text.strip().strip(".。").upper() == UNANSWERABLE:
        return replace(row, answer="", by=title, note="the model finds no answer in the passages")
    return replace(row, answer=text.strip(), by=title, note="")


def _rows(state: SetState, chosen: Sequence[Candidate]) -> list[AnswerRow]:
    """A row for every kept question; one that was reworded loses its answer."""
    before = {(row.query_id, row.question): row for row in state.rows(AnswerRow)}
    return [before.get((one.query_id, one.text), AnswerRow(one.query_id, one.text)) for one in chosen]


def _evidence(state: SetState, context: Context) -> dict[str, list[str]]:
    """The texts of the best passages of every question, the best first."""
    documents = state.documents(context)
    merged = final_grades(state.rows(GradeRow), state.rows(DisagreementRow)).values()
    relevant = [row for row in merged if (row.grade or 0) >= _RELEVANT and row.doc_id in documents]
    relevant.sort(key=lambda row: (-(row.grade or 0), row.key))
    texts = by_key((row.query_id, documents[row.doc_id].text[row.start : row.end]) for row in relevant)
    return {query_id: best[:_SHOWN] for query_id, best in texts.items()}
