"""The step ``answer``: golden answers by the strongest model available, or by a person in answers.csv."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from harness.labels.testset.answer_review import AnswerToReview, read_review, write_review
from harness.labels.testset.config import load_prompt
from harness.labels.testset.finished import final_grades
from harness.labels.testset.set_state import Outcome, SetState, calls_made, within_tokens
from harness.labels.testset.testset_rows import AnswerRow, Candidate, DisagreementRow, GradeRow, Place
from harness.models import Model, TextForm, answers, jobs_of, text_of
from harness.running import DocumentReader
from harness.store import Ledger
from harness.values import LlmAnswer, Reporter, by_key, counted, listed

FOLDER = Path(__file__).parent / "answer_prompts"
UNANSWERABLE = "UNANSWERABLE"
_RELEVANT = 2


def answer(
    state: SetState,
    reader: DocumentReader,
    ledger: Path,
    reporter: Reporter,
    *,
    by_hand: bool,
    sheet: Path | None,
    reviewed_file: Path | None,
    by: str,
    prompt: str,
    again: bool,
    dry_run: bool,
) -> Outcome:
    """Write answers.csv with a row for every kept question; answers by people always stay.

    Answers that are missing, or all ``again``, are asked of a model, unless people write them ``by_hand``. A
    ``sheet`` or page shows them to an expert with their contexts; ``reviewed_file`` is that sheet filled
    in, and ``by`` the expert.
    The model sees all passages of grade 2 and above, the best first, as far as ``material_tokens`` go; what
    is left out is counted. A question without such a passage is left out and named. Raises LlmError if the
    model cannot be asked; its answers are in the ledger.
    """
    chosen = state.chosen()
    rows = answer_rows(state)
    if reviewed_file:
        return read_review(state, reviewed_file, by, rows)
    if sheet:
        return write_review(state, sheet, answers_to_review(state, reader))
    if by_hand:
        state.write("answer", "to be written by people", {AnswerRow: rows})
        empty = sum(
            not row.answer and candidate.answerable for row, candidate in zip(rows, chosen, strict=True)
        )
        questions, missing = counted(len(rows), "question"), counted(empty, "answer")
        return Outcome((f"{state.path(AnswerRow)}: {questions}; {missing} to write into the column answer.",))
    if state.config.answering is None:
        raise state.no_model("answer or llm", "answer --by-hand")
    name = prompt or ("answer_zh" if state.config.language == "zh" else "answer")
    words = load_prompt(name, FOLDER, ("query", "passages"))
    title = f"{state.config.answering.endpoint.model} ({words.name})"
    evidence = {name: [place.text for place in places] for name, places in _evidence(state, reader).items()}
    open_ = [
        row
        for row, candidate in zip(rows, chosen, strict=True)
        if candidate.answerable
        and (not row.answer or (again and not row.reviewed_by and row.by.endswith(f"({words.name})")))
    ]
    todo = [row for row in open_ if evidence.get(row.query_id)]
    shown = {row.query_id: within_tokens(evidence[row.query_id], state.config.answer_tokens) for row in todo}
    cut = _cut(
        [row.query_id for row in todo if len(shown[row.query_id]) < len(evidence[row.query_id])], state
    )
    with Ledger(ledger) as answers_kept:
        model = Model(state.config.answering, TextForm(words.system, words.user), answers_kept)
        calls = [model.call(row.question, shown[row.query_id]) for row in todo]
        if dry_run:
            estimate = model.estimate(jobs_of(calls), noun="answers")
            return Outcome(
                (f"{title} would answer {counted(len(calls), 'question')}.", *cut),
                ((title, estimate),),
                dry=True,
            )
        answered, spending = answers(model, calls, reporter=reporter, name="answering")
    fresh = {row.query_id: _answered(row, reply, title) for row, reply in zip(todo, answered, strict=True)}
    rows = [fresh.get(row.query_id, row) for row in rows]
    state.write("answer", f"answered by {title}", {AnswerRow: rows})
    usable = sum(bool(row.answer) for row in fresh.values())
    lines = [
        f"{state.path(AnswerRow)}: {usable} of {counted(len(todo), 'question')} answered by {title}; "
        f"{calls_made(spending)}.",
        *cut,
    ]
    if len(open_) > len(todo):
        lines.append(
            f"{counted(len(open_) - len(todo), 'question has', 'questions have')} no passage of grade 2 "
            "or above to answer from."
        )
    return Outcome(tuple(lines))


def answers_to_review(state: SetState, reader: DocumentReader) -> list[AnswerToReview]:
    """The golden answers that there are, each with the passages it may be written from, the best first."""
    contexts = _evidence(state, reader)
    rows = answer_rows(state)
    return [AnswerToReview(row, contexts.get(row.query_id, ())) for row in rows if row.answer]


def _cut(queries: Sequence[str], state: SetState) -> list[str]:
    """A sentence about the questions with more passages than the model is shown; empty without them."""
    if not queries:
        return []
    have = counted(len(queries), "question has", "questions have")
    return [
        f"{have} more passages than material_tokens ({state.config.answer_tokens:,}) let the model read: "
        f"{listed(queries, 5)}. Raise it in testset.yaml if the model can read more."
    ]


def _answered(row: AnswerRow, answer: LlmAnswer, title: str) -> AnswerRow:
    text = text_of(answer)
    if text is None:
        return replace(row, answer="", by="", note=f"no usable answer: {answer.reason or 'no words'}")
    if text.strip().strip(".。").upper() == UNANSWERABLE:
        return replace(row, answer="", by=title, note="the model finds no answer in the passages")
    return replace(row, answer=text.strip(), by=title, note="", draft=text.strip())


def answer_rows(state: SetState) -> list[AnswerRow]:
    """A row for every kept question, at first with the answer that it came with.

    A question that was reworded since then loses its answer.
    """
    before = {(row.query_id, row.question): row for row in state.rows(AnswerRow)}
    return [
        before.get((candidate.query_id, candidate.text)) or given_answer(candidate)
        for candidate in state.chosen()
    ]


def given_answer(candidate: Candidate) -> AnswerRow:
    """The answer that a question came with, by who wrote it; an empty one where it came without."""
    return AnswerRow(
        candidate.query_id, candidate.text, candidate.answer, candidate.by if candidate.answer else ""
    )


def _evidence(state: SetState, reader: DocumentReader) -> dict[str, list[Place]]:
    """The relevant passages of every question, the best first."""
    documents = state.documents(reader)
    merged = final_grades(state.rows(GradeRow), state.rows(DisagreementRow)).values()
    relevant = [row for row in merged if (row.grade or 0) >= _RELEVANT and row.doc_id in documents]
    relevant.sort(key=lambda row: (-(row.grade or 0), row.key))
    return by_key((row.query_id, Place(documents[row.doc_id], row.start, row.end)) for row in relevant)
