"""The operations of the page on which experts review golden answers, and what becomes of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import NonNegativeInt

from harness.labels.label_page.answer_edits import AnswerEdits
from harness.labels.label_page.document_store import Answer
from harness.labels.label_page.edit_wordings import EDITS
from harness.labels.label_page.page_state import Envelope, UnknownItemError
from harness.labels.label_page.service import bounded, rater_name
from harness.labels.testset.answer_review import AnswerToReview, no_answer, review_words, reviewed_row, where
from harness.labels.testset.answering import answer_rows, answers_to_review
from harness.labels.testset.set_state import SetState
from harness.labels.testset.testset_rows import AnswerRow, Place
from harness.running import Session
from harness.values import LabelError, Reporter, counted, listed, sentence_spans, worded

FILE = "answers.reviewed.sqlite"
_LONGEST_ANSWER = 20_000


class AnswerService:
    """The golden answers of a test set with their contexts; ``rater`` is the only expert, '' for any.

    Experts see each other's edits: an answer is one, and the last edit of it counts.
    """

    page = "answers.html"

    def __init__(
        self, state: SetState, edits: AnswerEdits, answers: Sequence[AnswerToReview], rater: str = ""
    ) -> None:
        self._edits, self._answers = edits, answers
        self._chinese = state.config.language == "zh"
        self._name = state.folder.absolute().name
        self._rater = rater_name(rater) if rater else ""
        self._text = {one.row.query_id: one.row.answer for one in answers}
        self._expert = {one.row.query_id: one.row.reviewed_by for one in answers}
        self._place = {one.row.query_id: place for place, one in enumerate(answers)}

    @property
    def reads(self) -> Mapping[str, Callable[..., Any]]:
        """What the page may ask for."""
        return {"about": self.about, "answer": self.answer}

    @property
    def writes(self) -> Mapping[str, Callable[..., Any]]:
        """What the page may change."""
        return {"enter": self.enter, "review": self.review}

    @property
    def counts(self) -> tuple[int, int]:
        """How many answers there are, and how many of them people have reviewed."""
        return len(self._answers), sum(map(bool, self._expert.values()))

    def about(self) -> Answer:
        """The data of the start page."""
        return {
            "raters": [self._rater] if self._rater else self._edits.experts(),
            "fixed": bool(self._rater),
            "name": self._name,
            "language": "zh" if self._chinese else "en",
            "words": review_words(self._chinese),
        }

    def enter(self, rater: str, item: str = "") -> Answer:
        """Begin with the question of that id, or with the first whose answer nobody has reviewed."""
        open_ = (place for name, place in self._place.items() if not self._expert[name])
        place = self._place[self._known(item)] if item else next(open_, 0)
        return {"rater": self.name(rater), **self.answer(place)}

    def name(self, rater: str) -> str:
        """An expert's name as it is kept; raises LabelError for one that cannot be used."""
        return rater_name(rater, self._rater)

    def answer(self, place: NonNegativeInt) -> Answer:
        """A question by its place, with its contexts sentence by sentence and the answer as it is now."""
        if place >= len(self._answers):
            raise UnknownItemError("There is no such question. Load the page again.")
        shown = self._answers[place]
        name = shown.row.query_id
        return {
            "place": place,
            "total": self.counts[0],
            "reviewed": self.counts[1],
            "query_id": name,
            "question": shown.row.question,
            "answer": self._text[name],
            "draft": shown.row.draft or shown.row.before or shown.row.answer,
            "reviewed_by": self._expert[name],
            "contexts": [
                {"where": where(context, self._chinese), "sentences": _sentences(context)}
                for context in shown.contexts
            ],
        }

    def review(self, by: Envelope, item: str, answer: str) -> Answer:
        """Save the answer to a question, as it was or edited."""
        name, text = self._known(item), answer.strip()
        if not text or len(text) > _LONGEST_ANSWER:
            raise LabelError(f"An answer has 1 to {_LONGEST_ANSWER:,} characters.")
        question = self._answers[self._place[name]].row.question
        edit = self._edits.save(bounded(by), name, question, self._text[name], text)
        self._text[name], self._expert[name] = edit.answer, edit.expert
        return self.answer(self._place[name])

    def _known(self, query_id: str) -> str:
        if query_id not in self._place:
            raise UnknownItemError(f"There is no question {query_id!r}. Load the page again.")
        return query_id


def _sentences(context: Place) -> list[str]:
    """The whole text of a context, cut after each of its sentences."""
    text = context.text
    ends = [end for _, end in sentence_spans(text)][:-1]
    return [text[start:end] for start, end in zip([0, *ends], [*ends, len(text)], strict=True)]


def take_reviewed(state: SetState, edits: AnswerEdits) -> tuple[str, ...]:
    """Write the answers that were reviewed since into answers.csv, as one step; says so in sentences.

    One whose question was reworded or left out since is not taken, and named.
    """
    reviewed = edits.open()
    if not reviewed:
        return ()
    rows = answer_rows(state)
    wordings = {(row.query_id, row.question) for row in rows}
    left = [edit.query_id for edit in reviewed if (edit.query_id, edit.question) not in wordings]
    by_question = {(edit.query_id, edit.question): edit for edit in reviewed}
    after = []
    for row in rows:
        edit = by_question.get((row.query_id, row.question))
        after.append(row if edit is None else reviewed_row(row, edit.answer, edit.expert))
    changed = sum(new.answer != old.answer for new, old in zip(after, rows, strict=True))
    experts = ", ".join(dict.fromkeys(edit.expert for edit in reviewed))
    lines = []
    if len(left) < len(reviewed):
        state.write("answer", f"reviewed by {experts}", {AnswerRow: after})
        answers = counted(len(reviewed) - len(left), "answer")
        file = state.path(AnswerRow)
        lines = [
            worded(
                EDITS,
                "answers.reviewed",
                file=file,
                answers=answers,
                experts=experts,
                changed=str(changed),
            )
        ]
    edits.take(max(edit.number for edit in reviewed))
    if left:
        lines.append(worded(EDITS, "answers.left", questions=listed(left, 5)))
    return tuple(lines)


@contextmanager
def open_answers(
    folder: Path, reporter: Reporter, rater: str = "", kept: Path | None = None
) -> Iterator[tuple[SetState, AnswerEdits, AnswerService]]:
    """The golden answers of the test set in a folder, which no other command writes meanwhile.

    ``kept`` is the file of edits, by default one in the folder. What an earlier page has saved and the test
    set lacks, as that page was killed, is taken first. Raises ConfigError where there is no answer yet.
    """
    state = SetState(folder)
    cache = state.config.cache
    with state.alone(), AnswerEdits(kept or folder / FILE) as edits:
        if state.killed():
            undone = state.undo()
            reporter.note(worded(EDITS, "step.undone", step=undone.step, when=undone.when))
        for line in take_reviewed(state, edits):
            reporter.note(line)
        with Session.at(cache, reporter, may_ask=False) as session:
            answers = answers_to_review(state, session.document_reader)
        if not answers:
            raise no_answer(state)
        yield state, edits, AnswerService(state, edits, answers, rater)
