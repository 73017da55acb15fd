"""The steps ``grade`` and ``review``: by a judge, or by people in sheets, the second one over a part."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from itertools import repeat
from pathlib import Path
from shlex import quote

from harness import data
from harness.judge import PEOPLE, Pair, PairGrade
from harness.labels.labelling.grading_sheet import graded_rows, sheet_name, sheet_rows, write_sheet
from harness.labels.labelling.passages import PassageToGrade
from harness.labels.testset.finished import agreements, disagreements, final_grades
from harness.labels.testset.gathering import corpus_of
from harness.labels.testset.set_state import Outcome, SetState, Tables, calls_made, time_to_grade
from harness.labels.testset.testset_rows import Candidate, DisagreementRow, GradeRow, Key, PoolRow
from harness.running import DocumentReader, Running, RunNotes, grade_all, make_judge
from harness.store import Ledger
from harness.values import Chunk, ConfigError, Document, LabelError, counted, refuse_existing

# the columns in which files say who graded a row: labels, our other tables, those of other tools
_RATER = ("judge", "grader", "rater", "by")
SHEET_COLUMNS = ("query_id", "question", "document", "page", "start", "end", "passage", "grade", "evidence")


def grade(
    state: SetState,
    reader: DocumentReader,
    ledger: Path,
    visitor: Running,
    notes: RunNotes,
    *,
    sheet: Path | None,
    graded_file: Path | None,
    by: str,
    again: bool,
    dry_run: bool,
) -> Outcome:
    """Write grades.csv, by people in a ``sheet`` that ``by`` fills in (``graded_file``), or by a judge.

    The judge of testset.yaml grades all passages that it has not graded, or all ``again``; answers in the
    ledger are free, and a dry run says what it takes. Raises JudgeError and LlmError as judging does; every
    answer is then in the ledger, and the next run goes on from there.
    """
    if sheet:
        return _sheet_to_grade(state, reader, sheet)
    if graded_file:
        return _import(state, reader, graded_file, by)
    if state.config.grading is None:
        raise state.no_model("llm or judge", f"grade --sheet {sheet_name('sheet')}")
    chosen = state.chosen()
    pool = _pool_of(state, chosen)
    documents = state.documents(reader)
    corpus = corpus_of(state, reader, chosen)
    queries = {query.query_id: query for query in corpus.queries.queries}
    with Ledger(ledger) as answers_kept:
        judge = make_judge(state.config.grading, answers_kept, corpus, visitor)
        before = state.rows(GradeRow)
        graded_keys = {row.key for row in before if row.grader == judge.name and row.grade is not None}
        todo = pool if again else [row for row in pool if row.key not in graded_keys]
        pairs = [
            Pair(queries[row.query_id], Chunk.of(documents[row.doc_id], row.start, row.end), number)
            for number, row in enumerate(todo)
        ]
        if dry_run:
            would = f"{judge.name} would grade {counted(len(pairs), 'passage')}."
            return Outcome((would,), tuple(judge.estimates(pairs)), dry=True)
        graded: list[PairGrade] = []
        summary = grade_all(judge, pairs, len(pairs), graded.append, notes)
    graded.sort(key=lambda pair_grade: pair_grade.pair.number)
    fresh = [_judged(todo[pair_grade.pair.number], pair_grade, judge.name) for pair_grade in graded]
    _save(state, fresh, f"graded by {judge.name}")
    return Outcome(
        (
            f"{state.path(GradeRow)}: {counted(len(fresh), 'passage')} graded by {judge.name}.",
            f"{calls_made(summary)}; {summary.unscored_count} without a grade.",
        )
    )


def _judged(row: PoolRow, graded: PairGrade, name: str) -> GradeRow:
    reason = "" if graded.judgment.grade is not None else graded.reason or "no grade"
    return GradeRow(*row.key, graded.judgment.grade, name, by_model=True, reason=reason)


def _sheet_to_grade(state: SetState, reader: DocumentReader, path: Path) -> Outcome:
    """Write a sheet of the passages that no person has graded.

    It says neither who found a passage nor what a judge says of it.
    """
    pool = _pool_of(state, state.chosen())
    graded_keys = {row.key for row in state.rows(GradeRow) if not row.by_model and row.grade is not None}
    rows = [row for row in pool if row.key not in graded_keys]
    if not rows:
        return Outcome(("People have graded every passage. Nothing was written.",))
    summary = f"to grade, {time_to_grade(len(rows))}. Write 0 to 4 into the column grade."
    return _sheet(state, reader, path, rows, summary, "grade")


def review(
    state: SetState,
    reader: DocumentReader,
    *,
    sheet: Path | None,
    graded_file: Path | None,
    by: str,
    share: float,
) -> Outcome:
    """Write a ``sheet`` with a part of the graded passages for a second person, or read ``graded_file``.

    The passages are drawn by chance, and come without their grades. What ``by`` has graded already is left
    out.
    """
    if sheet is None:
        return _import(state, reader, graded_file or Path(), by, review=True)
    if not 0 < share <= 1:
        raise ConfigError(
            f"--share is the part to grade again, above 0 and at most 1; it cannot be {share:g}."
        )
    grades = state.rows(GradeRow)
    graded_keys = {row.key for row in grades if row.grader == by and row.grade is not None}
    graded = final_grades(grades).keys() - graded_keys
    pool = [row for row in _pool_of(state, state.chosen()) if row.key in graded]
    if not pool:
        raise ConfigError(
            f"{state.path(GradeRow)} holds no grade to review. Grade first: {state.command} grade"
        )
    count = max(1, round(share * len(pool)))
    drawn = set(random.Random(state.config.seed).sample(range(len(pool)), count))
    rows = [row for number, row in enumerate(pool) if number in drawn]
    summary = f"of {len(pool)} to grade a second time, by another person."
    return _sheet(state, reader, sheet, rows, summary, "review")


def _pool_of(state: SetState, chosen: Sequence[Candidate]) -> list[PoolRow]:
    """The gathered passages of the questions that are kept; raises ConfigError if some have none."""
    pool, searched = state.gathered(chosen)
    missing = len({candidate.query_id for candidate in chosen} - searched)
    if missing:
        raise ConfigError(
            f"{counted(missing, 'kept question has', 'kept questions have')} not been searched yet, or "
            f"{'was' if missing == 1 else 'were'} reworded since. Run: {state.command} gather"
        )
    return pool


def _sheet(
    state: SetState, reader: DocumentReader, path: Path, rows: Sequence[PoolRow], summary: str, step: str
) -> Outcome:
    """Write a sheet of passages; raises ConfigError where the file is there, perhaps with grades in it."""
    refuse_existing(path)
    documents = state.documents(reader)
    wanted = [PassageToGrade.of(documents[row.doc_id], row.query_id, row.start, row.end) for row in rows]
    questions = {row.query_id: row.question for row in rows}
    write_sheet(path, sheet_rows(wanted, questions), SHEET_COLUMNS)
    return Outcome(
        (f"{path}: {counted(len(rows), 'passage')} {summary}",),
        next=(f"{state.command} {step} --from {quote(str(path))} --by NAME",),
    )


def _import(
    state: SetState, reader: DocumentReader, path: Path, grader: str, review: bool = False
) -> Outcome:
    """Take the grades of a sheet, or of a labels file such as the labelling page writes.

    A grade that the same person has given before is replaced; where two people differ, disagreements.csv
    lists it. In a ``review`` that person is also compared with models, and the outcome says how far the two
    agree. Raises LabelError that names all lines at fault, and nothing is taken then; ConfigError for a
    review of what nobody else has graded.
    """
    documents = state.documents(reader)
    rows, decided, left_out = _read(state, reader.notes, path, grader, documents)
    others = [row for row in state.rows(GradeRow) if row.grader != grader and (review or not row.by_model)]
    earlier = {row.key for row in state.rows(GradeRow) if row.grader == grader}
    if replaced := len(earlier.intersection(row.key for row in rows)):
        left_out += f"; {counted(replaced, 'earlier grade')} by {grader} replaced"
    fresh = rows
    if review:
        first = final_grades(others)
        fresh = [row for row in fresh if row.key in first]
        if not fresh:
            raise ConfigError(
                f"{path}: nobody but {grader} has graded any of these passages. A review is by a second "
                "person: --by."
            )
    listed = state.rows(DisagreementRow)
    questions = {row.query_id: row.question for row in state.rows(PoolRow)}
    differ = disagreements(others, fresh, documents, questions, listed, decided)
    further: Tables = {DisagreementRow: differ} if review or differ != listed else {}
    step, did = ("review", "reviewed") if review else ("grade", "graded")
    _save(state, rows, f"{did} by {grader}", step, further)
    if not review:
        graded = counted(len(rows), "grade")
        return Outcome((f"{state.path(GradeRow)}: {graded} by {grader}{left_out}.",))
    lines = [f"{counted(len(fresh), 'passage')} graded by two{left_out}."]
    lines += [
        str(agreement)
        for agreement in agreements([*others, *rows])
        if grader in (agreement.first, agreement.second)
    ]
    if differ:
        lines.append(
            f"{state.path(DisagreementRow)}: {counted(len(differ), 'disagreement')}. Write the grade that "
            "holds into the column resolved; an unresolved one between people leaves its passage unjudged."
        )
    return Outcome(tuple(lines))


def _save(
    state: SetState, fresh: Sequence[GradeRow], how: str, step: str = "grade", further: Tables | None = None
) -> None:
    """Write grades.csv: one row per passage and grader, the new ones in place of the old."""
    rows = {(row.key, row.grader): row for row in [*state.rows(GradeRow), *fresh]}
    ordered = sorted(rows.values(), key=lambda row: (row.grader, row.key))
    state.write(step, how, {GradeRow: ordered, **(further or {})})


Decided = Mapping[Key, tuple[int, str]]
"""What raters who differed have settled on by passage, and who recorded it."""


def _read(
    state: SetState, notes: RunNotes, path: Path, grader: str, documents: Mapping[str, Document]
) -> tuple[list[GradeRow], Decided, str]:
    """The grades of a file by one person: all of it where it names no rater, else that person's rows.

    Also what was decided, and in words the rows that brought no grade. Raises ConfigError where it names
    raters and has no row by this one.
    """
    if not grader.strip() or set(",;") & set(grader):
        raise ConfigError("Say who graded, in a name without comma and semicolon: --by NAME.")
    models = {row.grader for row in state.rows(GradeRow) if row.by_model}
    if grader in models | ({state.config.grading.title} if state.config.grading else set()):
        raise ConfigError(f"{grader} is a language model. Name the person who graded: --by NAME.")
    ids = [candidate.query_id for candidate in state.chosen()]
    table = data.read_table(path, ("query_id", "grade"), LabelError)
    named = _raters(table)
    if named and grader not in named:
        raters = "; ".join(dict.fromkeys(filter(None, named)))
        raise ConfigError(
            f"{path} holds the work of {raters}; none of it is by {grader!r}. Name the rater whose "
            "own grades are to be read (--by), or a file with the grades of this person."
        )
    if "passage" in table.columns:
        if len(set(named)) > 1:
            raise ConfigError(
                f"{path} is a sheet filled in by several. Give each person a sheet of their own."
            )
        graded, empty = graded_rows(path, documents, ids, notes.reporter.note)
        rows = [
            GradeRow(
                *(row["query_id"], row["document"], row["start"], row["end"], row["grade"], grader),
                evidence=row["evidence"],
                note=row["note"],
            )
            for row in graded
        ]
        return rows, {}, f"; {counted(empty, 'row has', 'rows have')} no grade yet" if empty else ""
    read = data.read_labels(path, notes.reporter.note)
    labels = [row for row, rater in zip(read, named or repeat(grader), strict=False) if rater == grader]
    rows = [
        GradeRow(
            *(*judgment.key, judgment.grade, grader),
            evidence=judgment.evidence,
            answer=""
            if judgment.answer is None
            else documents[judgment.doc_id].text[slice(*judgment.answer)],
        )
        for judgment in data.anchor(labels, documents, data.AnchorConfig(), query_ids=ids).judgments
    ]
    others = len(read) - len(labels)
    left_out = f"; {counted(others, 'row')} of other raters left out" if others else ""
    return rows, _decided(path, read, table), left_out


def _raters(table: data.InputTable) -> list[str]:
    """Who graded each row, as far as a file says so; empty if no row does."""
    column = next((name for name in _RATER if name in table.columns), None)
    names = [data.plain_cell(row.get(column)) if column else "" for row in table.rows]
    by_model = [row.get("by_model") == "yes" for row in table.rows]
    names = [
        f"{name} (a model)" if model else "" if name == PEOPLE else name
        for name, model in zip(names, by_model, strict=True)
    ]
    return names if any(names) else []


def _decided(path: Path, labels: Sequence[data.LabelRow], table: data.InputTable) -> Decided:
    """What raters who differed have settled on, by passage."""
    return {
        (label.query_id, label.document, label.start, label.end): (
            data.grade_of(f"{path}, line {row.line}", row.get("decided")),
            data.plain_cell(row.get("decided_by")),
        )
        for label, row in zip(labels, table.rows, strict=True)
        if row.get("decided") and label.start is not None and label.end is not None
    }
