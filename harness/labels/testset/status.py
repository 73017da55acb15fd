"""Progress: the outcome of every step, and the next command."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from shlex import quote

from harness.labels.testset.grades import agreements, final_grades
from harness.labels.testset.page_work import PageWork, page_work
from harness.labels.testset.rows import (
    AnswerRow,
    Candidate,
    DisagreementRow,
    GradeRow,
    PoolRow,
    Question,
    key_of,
)
from harness.labels.testset.state import EXPORT, SetState
from harness.labels.testset.steps import chosen_of, gathered
from harness.values import ConfigError, counted

STEPS = ("propose", "choose", "gather", "grade", "answer", "review", "export")


@dataclass(frozen=True, slots=True)
class Status:
    """A sentence per step, and what to do next."""

    steps: tuple[tuple[str, str], ...]
    next: tuple[str, ...]


def status_of(state: SetState) -> Status:
    """Read testset.yaml and all tables; raises ConfigError or CorpusError for a damaged one."""
    language_model = state.config.llm is not None
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
    found = {
        "propose": counted(len(state.rows(Question)), "question") if state.has(Question) else "not done",
        "choose": f"{len(chosen)} kept of {len(state.rows(Candidate))}"
        if state.has(Candidate)
        else "not done",
        "gather": f"{counted(len(pool), 'passage')} for {len(searched)} of {len(chosen)} questions"
        if searched
        else "not done",
        "grade": _graded(len(graded), people, open_, page_work(state, pool)),
        "answer": f"{len(answers)} of {len(to_answer)} answerable questions"
        if state.has(AnswerRow)
        else "not done",
        "review": f"{counted(len(disagreements), 'disagreement')}, {unresolved} unresolved"
        if state.has(DisagreementRow)
        else "not done",
        "export": _exported(state),
    }
    steps = tuple((step, found[step]) for step in STEPS)
    return Status(steps, _next(state, chosen, pool, len(searched), len(graded), open_, language_model))


def _graded(graded: int, people: int, open_: int, work: Sequence[PageWork]) -> str:
    parts = [f"{graded:,} graded ({people:,} by people), {open_:,} open"] if graded or work else []
    if work:
        shown = ", ".join(f"{one.rater} {one.graded:,} of {one.passages:,}" for one in work)
        parts.append(f"on the labelling page: {shown}")
    unread = sum(one.unread for one in work)
    parts += [f"{counted(unread, 'grade')} of the page not read yet"] if unread else []
    return "; ".join(parts) or "not done"


def _chosen(state: SetState) -> list[Candidate]:
    try:
        return chosen_of(state)
    except ConfigError:
        return []


def _next(
    state: SetState,
    chosen: Sequence[Candidate],
    pool: Sequence[PoolRow],
    searched: int,
    graded: int,
    open_: int,
    language_model: bool,
) -> tuple[str, ...]:
    """The commands that may come next, the first one first; what is done is not among them."""
    do = f"harness testset {quote(str(state.folder))}"
    if not state.has(Question):
        own = [f"{do} propose --offline", f"{do} propose --from questions.csv"]
        return (f"{do} propose --dry-run", f"{do} propose", *own) if language_model else tuple(own)
    if not chosen:
        return (f"{do} choose --auto", f"{do} choose")
    if searched < len(chosen):
        return (f"{do} gather",)
    reviewed = state.rows(DisagreementRow)
    differ, where = sum(row.resolved is None for row in reviewed), state.path(DisagreementRow)
    settle = (f"# write {counted(differ, 'grade')} into the column resolved of {where}",) if differ else ()
    work = page_work(state, pool)
    if open_ or any(one.unread for one in work):
        ways = _grading(state, do, work, open_)
        return (*ways, *settle, *((f"{do} export",) if graded else ()))
    if _is_exported(state):
        return (*settle, f"harness bench {quote(str(state.folder / EXPORT / 'bench.yaml'))}")
    if not state.has(AnswerRow):
        by_model = (f"{do} answer --dry-run", f"{do} answer") if state.config.answering else ()
        return (*settle, f"{do} export", "# or first golden answers", *by_model, f"{do} answer --by-hand")
    asked = {one.query_id for one in chosen if one.answerable == "yes"}
    empty = sum(not row.answer and row.query_id in asked for row in state.rows(AnswerRow))
    answers = state.path(AnswerRow)
    fill = (f"# write {counted(empty, 'answer')} into the column answer of {answers}",) if empty else ()
    return (*fill, *settle, *_review(state, do), f"{do} export")


def _grading(state: SetState, do: str, work: Sequence[PageWork], open_: int) -> list[str]:
    """The ways to grade what is open: read what was graded on the page, go on there, or one of the others."""
    unread = [one for one in work if one.unread]
    globs = " ".join(f"'{glob}'" for glob in state.config.documents)
    page = f"harness label --pool {quote(str(state.path(PoolRow)))} --documents {globs}"
    found = []
    if unread:
        file = quote(str(_free(state.folder)))
        found += ["# read what was graded on the labelling page", f"{page} --export {file}"]
        found += [f"{do} grade --from {file} --by {quote(one.rater)}" for one in unread]
    if not open_:
        return found
    if work:
        return [*found, "# go on grading there", page] if any(one.left for one in work) else found
    if state.config.grading is not None:
        found += ["# by a language model", f"{do} grade --dry-run", f"{do} grade"]
    sheet = [f"{do} grade --sheet sheet.xlsx", f"{do} grade --from sheet.xlsx --by NAME"]
    return [*found, "# by people in the browser", page, "# by people in a spreadsheet", *sheet]


def _review(state: SetState, do: str) -> tuple[str, ...]:
    """A second person grades a part, unless two have graded something already."""
    if state.has(DisagreementRow) or agreements(state.rows(GradeRow)):
        return ()
    return (f"{do} review --sheet second.xlsx", f"{do} review --from second.xlsx --by NAME")


def _exported(state: SetState) -> str:
    if not (state.folder / EXPORT / "labels.csv").exists():
        return "not done"
    return "written" if _is_exported(state) else "written, and changed since: export again"


def _is_exported(state: SetState) -> bool:
    """Whether the export is newer than every table that it is made of."""
    labels = state.folder / EXPORT / "labels.csv"
    made_of = (Candidate, GradeRow, DisagreementRow, AnswerRow)
    tables = [state.path(kind) for kind in made_of if state.has(kind)]
    return labels.exists() and all(path.stat().st_mtime_ns <= labels.stat().st_mtime_ns for path in tables)


def _free(folder: Path) -> Path:
    """A file for an export that is not there yet."""
    names = chain(("people.csv",), (f"people-{number}.csv" for number in count(2)))
    return next(path for name in names if not (path := folder / name).exists())
