"""Progress: the outcome of every step, and the next command."""

from __future__ import annotations

from dataclasses import dataclass
from shlex import quote

from harness.errors import ConfigError
from harness.report import counted
from harness.testset.grades import final_grades
from harness.testset.rows import AnswerRow, Candidate, DisagreementRow, GradeRow, PoolRow, Question, key_of
from harness.testset.state import State
from harness.testset.steps import chosen_of, gathered

STEPS = ("propose", "choose", "gather", "grade", "answer", "review", "export")


@dataclass(frozen=True, slots=True)
class Status:
    """A sentence per step, and what to do next."""

    steps: tuple[tuple[str, str], ...]
    next: tuple[str, ...]


def status_of(state: State) -> Status:
    """Read all tables; raises CorpusError for a damaged one."""
    chosen = _chosen(state)
    texts = {one.query_id: one.text for one in chosen}
    pool, searched = gathered(state, chosen)
    grades = final_grades(state.rows(GradeRow), state.rows(DisagreementRow))
    graded = [one for key, one in grades.items() if key[0] in texts and one.grade is not None]
    # what two people grade differently is not open: it is to be resolved, and no sheet would hold it
    open_ = sum(key_of(row) not in grades for row in pool)
    answers = {
        row.query_id
        for row in state.rows(AnswerRow)
        if row.answer and texts.get(row.query_id) == row.question
    }
    to_answer = [one for one in chosen if one.answerable == "yes"]
    disagreements = state.rows(DisagreementRow)
    unresolved = sum(row.resolved is None for row in disagreements)
    people = sum(not one.by_model for one in graded)
    exported = (state.folder / "export" / "labels.csv").exists()
    found = {
        "propose": counted(len(state.rows(Question)), "question") if state.has(Question) else "not done",
        "choose": f"{len(chosen)} kept of {len(state.rows(Candidate))}"
        if state.has(Candidate)
        else "not done",
        "gather": f"{counted(len(pool), 'passage')} for {len(searched)} of {len(chosen)} questions"
        if searched
        else "not done",
        "grade": f"{len(graded):,} graded ({people:,} by people), {open_:,} open" if graded else "not done",
        "answer": f"{len(answers)} of {len(to_answer)} answerable questions"
        if state.has(AnswerRow)
        else "not done",
        "review": f"{counted(len(disagreements), 'disagreement')}, {unresolved} unresolved"
        if state.has(DisagreementRow)
        else "not done",
        "export": "written" if exported else "not done",
    }
    steps = tuple((step, found[step]) for step in STEPS)
    return Status(steps, _next(state, chosen, len(searched), len(graded), open_))


def _chosen(state: State) -> list[Candidate]:
    try:
        return chosen_of(state)
    except ConfigError:
        return []


def _next(state: State, chosen: list[Candidate], searched: int, graded: int, open_: int) -> tuple[str, ...]:
    """The commands that may come next, the first one first."""
    asked = {one.query_id for one in chosen if one.answerable == "yes"}
    do = f"harness testset {quote(str(state.folder))}"
    model = state.config.llm is not None
    if not state.has(Question):
        own = [f"{do} propose --offline", f"{do} propose --from questions.csv"]
        return (f"{do} propose --dry-run", f"{do} propose", *own) if model else tuple(own)
    if not chosen:
        return (f"{do} choose --auto", f"{do} choose")
    if searched < len(chosen):
        return (f"{do} gather",)
    reviewed = state.rows(DisagreementRow) if state.has(DisagreementRow) else ()
    differ, where = sum(row.resolved is None for row in reviewed), state.path(DisagreementRow)
    settle = (f"# write {counted(differ, 'grade')} into the column resolved of {where}",) if differ else ()
    if open_:
        sheet = (f"{do} grade --sheet sheet.xlsx", f"{do} grade --from sheet.xlsx --by NAME")
        more = (f"{do} grade --dry-run", f"{do} grade") if state.config.grading is not None else ()
        globs = " ".join(f"'{glob}'" for glob in state.config.documents)
        page = f"harness label --pool {quote(str(state.path(PoolRow)))} --documents {globs}"
        return (*more, *sheet, page, *settle, *((f"{do} export",) if graded else ()))
    if not state.has(AnswerRow):
        by_model = (f"{do} answer --dry-run", f"{do} answer") if state.config.answering else ()
        return (*by_model, f"{do} answer --by-hand", *settle, f"{do} export")
    answers = state.path(AnswerRow)
    empty = sum(not row.answer and row.query_id in asked for row in state.rows(AnswerRow))
    fill = (f"# write {counted(empty, 'answer')} into the column answer of {answers}",) if empty else ()
    if not state.has(DisagreementRow):
        return (
            *fill,
            f"{do} review --sheet second.xlsx",
            f"{do} review --from second.xlsx --by NAME",
            f"{do} export",
        )
    return (*fill, *settle, f"{do} export")
