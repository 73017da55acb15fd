"""The datasheet: how a test set came about, for those who rely on its figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

from harness import __version__
from harness.labels.testset.finished import FinishedTestset
from harness.labels.testset.grades import RULE, agreements
from harness.labels.testset.kinds import KINDS
from harness.labels.testset.rows import (
    Candidate,
    DisagreementRow,
    FoundRow,
    GradeRow,
    Question,
    SearchedRow,
    SetDocument,
)
from harness.labels.testset.state import SetState
from harness.values import counted


def datasheet(state: SetState, testset: FinishedTestset) -> str:
    """The datasheet as Markdown; counts only what the tables hold."""
    return "\n".join(
        [
            "# How this test set came about\n",
            f"Written by `harness testset export`, version {__version__}, on "
            f"{datetime.now(UTC).date().isoformat()}.\n",
            *_counts(testset),
            *_questions(state, testset),
            *_passages(state),
            *_grades(state),
            *_disputed(state, testset),
            *_answers(testset),
            *_to_know(state, testset),
            "## Steps\n",
            _table(("when (UTC)", "step", "how"), [(one.when, one.step, one.how) for one in state.done()]),
            "## Documents\n",
            "Offsets hold for these texts, as they were extracted.\n",
            _table(
                ("document", "pages", "characters", "sha256 of the text"),
                (
                    (row.doc_id, row.pages or "–", row.characters, f"`{row.sha256}`")
                    for row in state.rows(SetDocument)
                ),
            ),
        ]
    )


def _counts(testset: FinishedTestset) -> Iterator[str]:
    grades = Counter(one.grade or 0 for one in testset.labels)
    rows = [
        ("questions", len(testset.questions)),
        ("of them unanswerable", sum(not one.answerable for one in testset.questions)),
        ("with a golden answer", sum(bool(one.answer) for one in testset.questions)),
        ("graded passages", len(testset.labels)),
        *((f"of grade {grade}", grades[grade]) for grade in sorted(grades, reverse=True)),
    ]
    yield _table(("what", "how many"), rows)


def _questions(state: SetState, testset: FinishedTestset) -> Iterator[str]:
    proposed = {one.query_id: one.text for one in state.rows(Question) if one.text}
    candidates = state.rows(Candidate)
    kept = [one for one in candidates if one.keep == "yes"]
    edited = sum(proposed.get(one.query_id, one.text) != one.text for one in kept)
    kinds = Counter(one.kind for one in testset.questions)
    by = Counter(one.by or "a person" for one in kept)
    twins, leading = (
        sum(word in one.look for one in kept) for word in ("near-duplicate", "copies its passage")
    )
    yield "## Questions\n"
    rows = [(kind, KINDS.get(kind, (0, "as given"))[1], kinds[kind]) for kind in kinds]
    yield _table(("kind", "what it asks", "kept"), rows)
    yield (
        f"{len(proposed)} were proposed and {len(kept)} kept; {len(candidates) - len(kept)} were dropped. "
        f"{edited} of those kept were reworded after they had been proposed.\n"
    )
    yield "Written by: " + "; ".join(f"{name} {times}" for name, times in by.most_common()) + ".\n"
    yield (
        f"Near-duplicates among those kept: {twins}. Leading questions, which copy the words of their "
        f"passage: {leading}, as measured when they were last chosen.\n"
    )


def _passages(state: SetState) -> Iterator[str]:
    found = state.rows(FoundRow)
    by = Counter(name for row in found for name in row.found_by.split("; ") if name)
    yield "## Passages\n"
    if not found:
        yield "None were gathered.\n"
        return
    yield (
        f"{counted(len(found), 'passage was', 'passages were')} gathered. A retriever that is compared on "
        "this test set and is in this list has an advantage over one that does not; a passage that none of "
        "them found is unjudged.\n"
    )
    yield _table(("found by", "passages"), by.most_common())
    if vain := sum(row.passages == 0 for row in state.rows(SearchedRow)):
        yield f"No retriever found anything for {counted(vain, 'question')}.\n"


def _grades(state: SetState) -> Iterator[str]:
    rows = state.rows(GradeRow)
    by = Counter((row.grader, "model" if row.by_model else "person") for row in rows if row.grade is not None)
    yield "## Grades\n"
    yield _table(("grader", "is a", "grades"), [(*who, times) for who, times in by.most_common()])
    yield f"How they were merged: {RULE}\n"
    if without := sum(row.grade is None for row in rows):
        yield f"{counted(without, 'passage')} could not be graded by a model: unjudged, not irrelevant.\n"
    both = agreements(rows)
    yield from (f"- {one}" for one in both)
    if not both:
        yield "No passage was graded by two, so nothing is known of how reliable the grades are."
    yield ""


def _disputed(state: SetState, testset: FinishedTestset) -> Iterator[str]:
    """What graders said differently, and how it was settled."""
    rows = state.rows(DisagreementRow)
    yield "## Disputed\n"
    if not rows:
        yield "No passage has different grades by two people, or by a person and a reviewer.\n"
        return
    done = sum(row.resolved is not None for row in rows)
    yield f"{counted(len(rows), 'disagreement')}, {done} of them resolved."
    if testset.unresolved:
        unjudged = counted(testset.unresolved, "passage is", "passages are")
        yield f"{unjudged} unjudged because people disagree."
    yield ""
    final = {one.key: one.grade for one in testset.labels}
    table = [
        (
            *(row.query_id, row.doc_id, f"{row.start}–{row.end}", row.grades),
            _settled(row, final.get(row.key)),
        )
        for row in rows
    ]
    yield _table(("question", "document", "characters", "what was said", "settled as"), table)


def _settled(row: DisagreementRow, grade: int | None) -> str:
    if row.resolved is not None:
        return f"{row.resolved}, resolved{f' by {row.resolved_by}' if row.resolved_by else ''}"
    return "unjudged" if grade is None else f"{grade}, by people before models"


def _answers(testset: FinishedTestset) -> Iterator[str]:
    by = Counter(one.answer_by for one in testset.questions if one.answer)
    yield "## Answers\n"
    yield _table(("written by", "answers"), by.most_common()) if by else "There are no golden answers.\n"


def _to_know(state: SetState, testset: FinishedTestset) -> Iterator[str]:
    yield "## To look at\n"
    yield from (f"- {one}." for one in testset.contradictions)
    if not testset.contradictions:
        yield "Nothing contradicts itself: every answerable question has a relevant passage."
    if all(row.by_model for row in state.rows(GradeRow) if row.grade is not None):
        yield "- No person has graded anything: these labels say what a model thinks."
    yield ""


def _table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [f"| {' | '.join(columns)} |", "|" + "---|" * len(columns)]
    lines += [f"| {' | '.join(_cell(cell) for cell in row)} |" for row in rows]
    return "\n".join(lines) + "\n"


def _cell(value: object) -> str:
    text = f"{value:,}" if isinstance(value, int) else str(value)
    return " ".join(text.split()).replace("|", "\\|")
