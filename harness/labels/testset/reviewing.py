"""The step ``review``: a second person grades a part again, without seeing the first grades."""

from __future__ import annotations

import random
from pathlib import Path
from shlex import quote

from harness.labels.testset.grades import agreements, disagreements, final_grades
from harness.labels.testset.grading import pool_of_chosen, read_grades, save_grades, write_rows
from harness.labels.testset.rows import DisagreementRow, GradeRow, PoolRow, key_of
from harness.labels.testset.state import SetState
from harness.labels.testset.steps import Outcome, chosen_of, documents_of
from harness.running import Context
from harness.values import ConfigError, counted


def export_review(state: SetState, context: Context, path: Path, share: float, grader: str) -> Outcome:
    """Write a sheet with a part of the graded passages, drawn by chance, without their grades.

    What the second person has graded already is left out.
    """
    if not 0 < share <= 1:
        raise ConfigError(
            f"--share is the part to grade again, above 0 and at most 1; it cannot be {share:g}."
        )
    grades = state.rows(GradeRow)
    own = {key_of(row) for row in grades if row.grader == grader and row.grade is not None}
    graded = {key for key, one in final_grades(grades).items() if key not in own}
    pool = [row for row in pool_of_chosen(state, chosen_of(state)) if key_of(row) in graded]
    if not pool:
        raise ConfigError(
            f"{state.path(GradeRow)} holds no grade to review. Grade first: harness testset "
            f"{state.folder} grade"
        )
    count = max(1, round(share * len(pool)))
    drawn = set(random.Random(state.config.seed).sample(range(len(pool)), count))
    rows = [row for number, row in enumerate(pool) if number in drawn]
    write_rows(path, rows, documents_of(state, context))
    return Outcome(
        (
            f"{path}: {counted(len(rows), 'passage')} of {len(pool)} to grade a second time, by another "
            "person.",
        ),
        next=(f"harness testset {quote(str(state.folder))} review --from {quote(str(path))} --by NAME",),
    )


def import_review(state: SetState, context: Context, path: Path, grader: str) -> Outcome:
    """Take a second person's grades, say how far they agree with the first, and list the differences.

    Raises ConfigError if that person gave the first grades of all of it.
    """
    before = state.rows(GradeRow)
    first = [row for row in before if row.grader != grader]
    read = read_grades(state, context, path, grader)
    fresh = read.rows
    firsts = final_grades(first)
    shared = [row for row in fresh if key_of(row) in firsts]
    if not shared:
        raise ConfigError(
            f"{path}: nobody but {grader} has graded any of these passages. A review is by a second "
            "person: --by."
        )
    documents = documents_of(state, context)
    questions = {row.query_id: row.question for row in state.rows(PoolRow)}
    rows = disagreements(first, shared, documents, questions, state.rows(DisagreementRow), read.decided)
    save_grades(state, before, fresh, f"reviewed by {grader}", step="review")
    # after the grades: a kill in between is mended by importing the sheet again
    state.write(
        "review",
        f"disagreements with {grader}",
        {DisagreementRow: rows},
        {"reviewed": len(shared), "disagreements": len(rows)},
    )
    lines = [f"{counted(len(shared), 'passage')} graded by two{read.left_out}."]
    lines += [str(one) for one in agreements([*first, *fresh]) if grader in (one.first, one.second)]
    if rows:
        lines.append(
            f"{state.path(DisagreementRow)}: {counted(len(rows), 'disagreement')}. Write the grade that "
            "holds into the column resolved; an unresolved one between people leaves its passage unjudged."
        )
    return Outcome(tuple(lines))
