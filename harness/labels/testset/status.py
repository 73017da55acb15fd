"""Progress: the outcome of every step, and the next command."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from itertools import chain, count
from shlex import quote

from harness.labels.label_page.opening import SUFFIX
from harness.labels.label_page.page_state import PageState
from harness.labels.labelling.grading_sheet import sheet_name
from harness.labels.testset.finished import agreements, final_grades
from harness.labels.testset.set_state import EXPORT, SetState
from harness.labels.testset.testset_rows import (
    AnswerRow,
    Candidate,
    DisagreementRow,
    GradeRow,
    Key,
    PoolRow,
    Question,
)
from harness.values import counted

_NOT_YET = "not done"


def status_of(state: SetState) -> tuple[list[tuple[str, str]], list[str]]:
    """A sentence per step, and what to do next; raises ConfigError or CorpusError for a damaged table."""
    # also where nothing below needs it
    config = state.config
    proposed, candidates = state.rows(Question), state.rows(Candidate)
    chosen = state.chosen() if any(candidate.keep == "yes" for candidate in candidates) else []
    empty_rows = sum(not question.text for question in proposed)
    texts = {candidate.query_id: candidate.text for candidate in chosen}
    pool, searched = state.gathered(chosen)
    grades = final_grades(state.rows(GradeRow), state.rows(DisagreementRow))
    graded = [row for row in grades.values() if row.query_id in texts and row.grade is not None]
    # what two people grade differently is not open: it is to be resolved, and no sheet would hold it
    open_ = sum(row.key not in grades for row in pool)
    answered = [
        row for row in state.rows(AnswerRow) if row.answer and texts.get(row.query_id) == row.question
    ]
    to_answer = {candidate.query_id for candidate in chosen if candidate.answerable}
    disagreements = state.rows(DisagreementRow)
    unresolved = sum(row.resolved is None for row in disagreements)
    on_page = _page_grades(state)
    unread = _unread(state, on_page)
    people = sum(not row.by_model for row in graded)
    parts = [f"{len(graded):,} graded ({people:,} by people), {open_:,} open"] if graded or on_page else []
    parts += [f"{counted(unread.total(), 'grade')} of the labelling page not read yet"] if unread else []
    exported = (state.folder / EXPORT / "labels.csv").exists()
    current = exported and _is_current(state)
    steps = {
        "propose": state.has(Question)
        and counted(len(proposed) - empty_rows, "question")
        + (f", {empty_rows} to be written" if empty_rows else ""),
        "choose": state.has(Candidate) and f"{len(chosen)} kept of {len(candidates)}",
        "gather": searched
        and f"{counted(len(pool), 'passage')} for {len(searched)} of {counted(len(chosen), 'question')}",
        "grade": "; ".join(parts),
        "answer": state.has(AnswerRow)
        and f"{len({row.query_id for row in answered})} of {counted(len(to_answer), 'answerable question')}",
        "review": state.has(DisagreementRow)
        and f"{counted(len(disagreements), 'disagreement')}, {unresolved} unresolved",
        "export": exported and ("written" if current else "written, and changed since: export again"),
    }
    do = state.command
    if not state.has(Question):
        ways = [f"{do} propose --dry-run", f"{do} propose"] if config.llm else []
        following = [*ways, f"{do} propose --by-hand", f"{do} propose --from questions.csv"]
    elif len(proposed) == empty_rows:
        following = [
            f"# write questions into the column text of {state.path(Question)}",
            f"{do} choose",
        ]
    elif not chosen:
        following = [f"{do} choose --auto", f"{do} choose"]
    elif len(searched) < len(chosen):
        following = [f"{do} gather"]
    else:
        where = state.path(DisagreementRow)
        to_settle = f"# write {counted(unresolved, 'grade')} into the column resolved of {where}"
        settle = [to_settle] if unresolved else []
        if open_ or unread:
            export = [f"{do} export"] if graded else []
            undone = (row.key not in page_grades for page_grades in on_page.values() for row in pool)
            left = any(undone) if on_page else None
            following = [*_grading(state, unread, left, open_), *settle, *export]
        elif current:
            following = [*settle, f"harness bench {quote(str(state.folder / EXPORT / 'bench.yaml'))}"]
        elif not state.has(AnswerRow) and all(
            candidate.answer for candidate in chosen if candidate.answerable
        ):
            following = [*settle, f"{do} export"]
        elif not state.has(AnswerRow):
            ways = [f"{do} answer --dry-run", f"{do} answer"] if config.answering else []
            following = [*settle, f"{do} export", "# or first golden answers", *ways]
            following.append(f"{do} answer --by-hand")
        else:
            empty = sum(not row.answer and row.query_id in to_answer for row in state.rows(AnswerRow))
            fill = f"# write {counted(empty, 'answer')} into the column answer of {state.path(AnswerRow)}"
            following = [*([fill] if empty else []), *settle]
            answers = [row for row in state.rows(AnswerRow) if row.draft]
            if answers and not any(row.reviewed_by for row in answers):
                following += ["# an expert reviews the golden answers", f"{do} answer --sheet answers.html"]
            # a second person grades a part, unless two have graded something already
            if not state.has(DisagreementRow) and not agreements(state.rows(GradeRow)):
                second = sheet_name("second")
                following += [f"{do} review --sheet {second}", f"{do} review --from {second} --by NAME"]
            following.append(f"{do} export")
    if killed := state.killed():
        following = [f"# {killed.step} was killed while it wrote: run it again; its files are put back first"]
    return [(step, sentence or _NOT_YET) for step, sentence in steps.items()], following


def _grading(state: SetState, unread: Collection[str], left: bool | None, open_: int) -> list[str]:
    """The ways to grade what is open: read what raters have graded on the page, or go on.

    On the page where a rater has some ``left`` there; None: in one of all ways, as it was never opened.
    """
    do = state.command
    globs = " ".join(f"'{glob}'" for glob in state.config.documents)
    page = f"harness label --pool {quote(str(state.path(PoolRow)))} --documents {globs}"
    ways = []
    if unread:
        # a file that is not there yet
        names = chain(("people.csv",), (f"people-{number}.csv" for number in count(2)))
        file = quote(str(next(path for name in names if not (path := state.folder / name).exists())))
        ways += ["# read what was graded on the labelling page", f"{page} --export {file}"]
        ways += [f"{do} grade --from {file} --by {quote(rater)}" for rater in unread]
    if not open_:
        return ways
    if left is not None:
        return [*ways, *(["# go on grading there", page] if left else [])]
    if state.config.grading is not None:
        ways += ["# by a language model", f"{do} grade --dry-run", f"{do} grade"]
    name = sheet_name("sheet")
    sheet = [f"{do} grade --sheet {name}", f"{do} grade --from {name} --by NAME"]
    return [*ways, "# by people in the browser", page, "# by people in a spreadsheet", *sheet]


def _page_grades(state: SetState) -> dict[str, dict[Key, int | None]]:
    """What every rater has graded or skipped on the page over pool.csv; nothing where it was never opened."""
    file = state.path(PoolRow)
    path = file.with_name(file.stem + SUFFIX)
    by_rater: dict[str, dict[Key, int | None]] = {}
    if path.exists():
        with PageState(path) as page:
            items = page.items(wanted=False)
            for label in sorted(page.labels(), key=lambda label: label.rater):
                if label.rating.done:
                    by_rater.setdefault(label.rater, {})[items[label.item_id].key] = label.rating.grade
    return by_rater


def _unread(state: SetState, on_page: Mapping[str, Mapping[Key, int | None]]) -> Counter[str]:
    """How many grades of the page, by rater, are not in grades.csv."""
    recorded = {(row.grader, row.key, row.grade) for row in state.rows(GradeRow)}
    return Counter(
        rater
        for rater, page_grades in on_page.items()
        for key, grade in page_grades.items()
        if grade is not None and (rater, key, grade) not in recorded
    )


def _is_current(state: SetState) -> bool:
    """Whether the export is newer than every table that it is made of."""
    written = (state.folder / EXPORT / "labels.csv").stat().st_mtime_ns
    made_of = (
        Candidate,
        GradeRow,
        DisagreementRow,
        AnswerRow,
    )
    tables = (state.path(kind) for kind in made_of if state.has(kind))
    return all(path.stat().st_mtime_ns <= written for path in tables)
