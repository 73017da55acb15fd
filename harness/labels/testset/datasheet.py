"""The datasheet: how a test set came about, for those who rely on its figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
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
    key_of,
)
from harness.labels.testset.state import SetState
from harness.values import counted


def datasheet(state: SetState, testset: FinishedTestset) -> str:
    """The datasheet as Markdown; counts only what the tables hold."""
    parts = [
        "# How this test set came about\n",
        f"Written by `harness testset export`, version {__version__}, on "
        f"{datetime.now(UTC).date().isoformat()}.\n",
        _counts(testset),
        _questions(state, testset),
        _passages(state),
        _grades(state),
        _disputed(state, testset),
        _answers(testset),
        _to_know(state, testset),
        _steps(state),
        _documents(state),
    ]
    return "\n".join(parts)


def _counts(testset: FinishedTestset) -> str:
    answerable = sum(one.answerable for one in testset.questions)
    grades = Counter(one.grade for one in testset.labels)
    rows = [
        ("questions", len(testset.questions)),
        ("of them unanswerable", len(testset.questions) - answerable),
        ("with a golden answer", sum(bool(one.answer) for one in testset.questions)),
        ("graded passages", len(testset.labels)),
        *((f"of grade {grade}", grades[grade]) for grade in sorted(grades, reverse=True)),
    ]
    return _table(("what", "how many"), rows)


def _questions(state: SetState, testset: FinishedTestset) -> str:
    proposed, candidates = state.rows(Question), state.rows(Candidate)
    by_id = {one.query_id: one for one in proposed}
    kept = [one for one in candidates if one.keep == "yes"]
    edited = sum(one.query_id in by_id and by_id[one.query_id].text != one.text for one in kept)
    kinds = Counter(one.kind for one in testset.questions)
    by = Counter(one.by or "a person" for one in kept)
    rows = [(kind, KINDS.get(kind, (0, "as given"))[1], kinds[kind]) for kind in kinds]
    lines = [
        "## Questions\n",
        _table(("kind", "what it asks", "kept"), rows),
        f"{len(proposed)} were proposed and {len(kept)} kept; {len(candidates) - len(kept)} were dropped. "
        f"{edited} of those kept were reworded after they had been proposed.\n",
        "Written by: " + "; ".join(f"{name} {times}" for name, times in by.most_common()) + ".\n",
        f"Near-duplicates among those kept: {_look(kept, 'near-duplicate')}. Leading questions, which "
        "copy the "
        f"words of their passage: {_look(kept, 'copies its passage')}, as measured when they were last "
        "chosen.\n",
    ]
    return "\n".join(lines)


def _look(kept: Iterable[Candidate], word: str) -> int:
    return sum(word in one.look for one in kept)


def _passages(state: SetState) -> str:
    found = state.rows(FoundRow)
    by = Counter(name for row in found for name in row.found_by.split("; ") if name)
    lines = ["## Passages\n"]
    if not found:
        return "\n".join([*lines, "None were gathered.\n"])
    lines.append(
        f"{counted(len(found), 'passage was', 'passages were')} gathered. A retriever that is compared on "
        "this test set and is "
        "in this list has an advantage over one that does not; a passage that none of them found is "
        "unjudged.\n"
    )
    lines.append(_table(("found by", "passages"), by.most_common()))
    vain = sum(row.passages == 0 for row in state.rows(SearchedRow))
    if vain:
        lines.append(f"No retriever found anything for {counted(vain, 'question')}.\n")
    return "\n".join(lines)


def _grades(state: SetState) -> str:
    rows = state.rows(GradeRow)
    by = Counter(
        (row.grader, "model" if row.by_model == "yes" else "person") for row in rows if row.grade is not None
    )
    without = sum(row.grade is None for row in rows)
    both = agreements(rows)
    lines = [
        "## Grades\n",
        _table(("grader", "is a", "grades"), [(*who, times) for who, times in by.most_common()]),
        f"How they were merged: {RULE}\n",
    ]
    if without:
        lines.append(
            f"{counted(without, 'passage')} could not be graded by a model: unjudged, not irrelevant.\n"
        )
    lines += [f"- {one}" for one in both]
    if not both:
        lines.append("No passage was graded by two, so nothing is known of how reliable the grades are.")
    return "\n".join(lines) + "\n"


def _disputed(state: SetState, testset: FinishedTestset) -> str:
    """What graders said differently, and how it was settled."""
    rows = state.rows(DisagreementRow)
    if not rows:
        return (
            "## Disputed\n\nNo passage has different grades by two people, or by a person and a reviewer.\n"
        )
    kept = {(one.query_id, one.doc_id, one.start, one.end): one.grade for one in testset.labels}
    settled = [(row, _settled(row, kept.get(key_of(row)))) for row in rows]
    done = sum(row.resolved is not None for row in rows)
    lines = [f"{counted(len(rows), 'disagreement')}, {done} of them resolved."]
    if testset.unresolved:
        lines.append(
            f"{counted(testset.unresolved, 'passage is', 'passages are')} unjudged because people disagree."
        )
    table = [(row.query_id, row.doc_id, f"{row.start}–{row.end}", row.grades, how) for row, how in settled]
    head = ("question", "document", "characters", "what was said", "settled as")
    return "\n".join(["## Disputed\n", *lines, "", _table(head, table)])


def _settled(row: DisagreementRow, grade: int | None) -> str:
    if row.resolved is not None:
        return f"{row.resolved}, resolved{f' by {row.resolved_by}' if row.resolved_by else ''}"
    return "unjudged" if grade is None else f"{grade}, by people before models"


def _answers(testset: FinishedTestset) -> str:
    by = Counter(one.answer_by for one in testset.questions if one.answer)
    if not by:
        return "## Answers\n\nThere are no golden answers.\n"
    return "## Answers\n\n" + _table(("written by", "answers"), by.most_common())


def _to_know(state: SetState, testset: FinishedTestset) -> str:
    lines = ["## To look at\n", *(f"- {one}." for one in testset.contradictions)]
    if not testset.contradictions:
        lines.append("Nothing contradicts itself: every answerable question has a relevant passage.")
    rows = [row for row in state.rows(GradeRow) if row.grade is not None]
    if rows and all(row.by_model == "yes" for row in rows):
        lines.append("- No person has graded anything: these labels say what a model thinks.")
    return "\n".join(lines) + "\n"


def _steps(state: SetState) -> str:
    rows = [(one.when, one.step, one.how) for one in state.done()]
    return "## Steps\n\n" + _table(("when (UTC)", "step", "how"), rows)


def _documents(state: SetState) -> str:
    rows = [
        (row.doc_id, row.pages or "–", row.characters, f"`{row.sha256}`") for row in state.rows(SetDocument)
    ]
    return "## Documents\n\nOffsets hold for these texts, as they were extracted.\n\n" + _table(
        ("document", "pages", "characters", "sha256 of the text"), rows
    )


def _table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [f"| {' | '.join(columns)} |", "|" + "---|" * len(columns)]
    lines += [f"| {' | '.join(_cell(cell) for cell in row)} |" for row in rows]
    return "\n".join(lines) + "\n"


def _cell(value: object) -> str:
    text = f"{value:,}" if isinstance(value, int) else str(value)
    return " ".join(text.split()).replace("|", "\\|")
