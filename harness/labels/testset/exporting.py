"""The step ``export``: questions, labels, answers, a datasheet, and a benchmark that runs as it is.

Where people have edited the labels of the last export, their edits are kept.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote

from harness import __version__
from harness.data import read_csv
from harness.labels.scaffold.config_text import Paths, TextFacts, bench_text, name_of
from harness.labels.testset.answer_review import review_facts
from harness.labels.testset.finished import RULE, FinishedTestset, agreements, assemble
from harness.labels.testset.formats import FORMATS, LABELS, tables_of, unknown_format
from harness.labels.testset.kinds import KINDS, OWN
from harness.labels.testset.set_state import EXPORT, Outcome, SetState
from harness.labels.testset.testset_rows import (
    AnswerRow,
    Candidate,
    DisagreementRow,
    FoundRow,
    GradeRow,
    Question,
    SearchedRow,
    SetDocument,
    to_csv,
)
from harness.running import DocumentReader
from harness.store import write_text
from harness.values import ConfigError, Document, counted, delimited_text, listed


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
            *_answers(state, testset),
            *_to_know(state, testset),
            "## Steps\n",
            _table(
                ("when (UTC)", "step", "how"),
                [(record.when, record.step, record.how) for record in state.done()],
            ),
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
    grades = Counter(label.grade or 0 for label in testset.labels)
    rows = [
        ("questions", len(testset.questions)),
        ("of them unanswerable", sum(not question.answerable for question in testset.questions)),
        ("with a golden answer", sum(bool(question.answer) for question in testset.questions)),
        ("graded passages", len(testset.labels)),
        *((f"of grade {grade}", grades[grade]) for grade in sorted(grades, reverse=True)),
    ]
    yield _table(("what", "how many"), rows)


def _questions(state: SetState, testset: FinishedTestset) -> Iterator[str]:
    proposed = {question.query_id: question.text for question in state.rows(Question) if question.text}
    candidates = state.rows(Candidate)
    kept = [candidate for candidate in candidates if candidate.keep == "yes"]
    edited = sum(proposed.get(candidate.query_id, candidate.text) != candidate.text for candidate in kept)
    kinds = Counter(question.kind for question in testset.questions)
    by = Counter(candidate.by or "a person" for candidate in kept)
    twins, leading = (
        sum(word in candidate.look for candidate in kept) for word in ("near-duplicate", "copies its passage")
    )
    yield "## Questions\n"
    others = {OWN: (0, "what a prompt of your own asks for")}
    rows = [(kind, {**KINDS, **others}.get(kind, (0, "as given"))[1], kinds[kind]) for kind in kinds]
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
    gathered = state.rows(FoundRow)
    by = Counter(name for row in gathered for name in row.found_by.split("; ") if name)
    yield "## Passages\n"
    if not gathered:
        yield "None were gathered.\n"
        return
    yield (
        f"{counted(len(gathered), 'passage was', 'passages were')} gathered. A retriever that is compared on "
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
    yield from (f"- {agreement}" for agreement in both)
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
    resolved = sum(row.resolved is not None for row in rows)
    yield f"{counted(len(rows), 'disagreement')}, {resolved} of them resolved."
    if testset.unresolved:
        unjudged = counted(testset.unresolved, "passage is", "passages are")
        yield f"{unjudged} unjudged because people disagree."
    yield ""
    final = {label.key: label.grade for label in testset.labels}
    table = [
        (*(row.query_id, row.doc_id, f"{row.start}–{row.end}", row.grades), _settled(row, final.get(row.key)))
        for row in rows
    ]
    yield _table(("question", "document", "characters", "what was said", "settled as"), table)


def _settled(row: DisagreementRow, grade: int | None) -> str:
    if row.resolved is not None:
        return f"{row.resolved}, resolved{f' by {row.resolved_by}' if row.resolved_by else ''}"
    return "unjudged" if grade is None else f"{grade}, by people before models"


def _answers(state: SetState, testset: FinishedTestset) -> Iterator[str]:
    by = Counter(question.answer_by for question in testset.questions if question.answer)
    yield "## Answers\n"
    yield _table(("written by", "answers"), by.most_common()) if by else "There are no golden answers.\n"
    final = {(question.query_id, question.text): question.answer for question in testset.questions}
    rows = [row for row in state.rows(AnswerRow) if row.answer == final.get((row.query_id, row.question))]
    facts = review_facts(rows)
    if drafted := facts["drafted"]:
        yield (
            f"A model drafted {counted(drafted, 'answer')}. Reviewed by people: {facts['drafted_reviewed']}. "
            f"Changed since they were drafted: {facts['drafted_changed']}.\n"
        )
    if facts["given_reviewed"]:
        yield (
            f"People or a file gave {counted(facts['given'], 'answer')}. Reviewed: "
            f"{facts['given_reviewed']}. Changed by the review: {facts['given_changed']}.\n"
        )


def _to_know(state: SetState, testset: FinishedTestset) -> Iterator[str]:
    yield "## To look at\n"
    yield from (f"- {contradiction}." for contradiction in testset.contradictions)
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


# The labels of the last export; differences from it are edits by people.
_WRITTEN = f"{EXPORT}/.labels.csv"
# The columns that a person fills in; the others follow from the documents.
_SAID = ("grade", "evidence", "answer")
Line = Mapping[str, str]
Key = tuple[str, ...]


def export_testset(state: SetState, reader: DocumentReader, *, format: str, to: Path | None) -> Outcome:
    """Write export/: queries.csv, labels.csv (merged), grades.csv (of each grader), datasheet.md, bench.yaml.

    Edits of people to labels.csv since the last export are kept: rows added, edited or removed. Raises
    ConfigError if the test set has changed the same rows. With a ``format`` of another tool its files are
    written instead, into the new folder ``to``.
    """
    if to and not format:
        raise ConfigError("--to goes with --format.")
    if format:
        return _export_as(state, reader, format, to)
    documents = state.documents(reader)
    testset = assemble(state, documents)
    folder = state.folder / EXPORT
    bench = folder / "bench.yaml"
    tables = tables_of(testset)
    query_ids = {question.query_id for question in testset.questions}
    labels, edits = _merge(folder / "labels.csv", state.folder / _WRITTEN, tables["labels.csv"], query_ids)
    files: dict[str, str | Callable[[], str]] = {
        f"{EXPORT}/queries.csv": tables["queries.csv"],
        f"{EXPORT}/labels.csv": labels,
        _WRITTEN: tables["labels.csv"],
        f"{EXPORT}/grades.csv": to_csv(GradeRow, state.rows(GradeRow)),
    }
    if not bench.exists():
        files[f"{EXPORT}/bench.yaml"] = _bench(state, list(documents.values()))
    # made last, as it lists this step too
    files[f"{EXPORT}/datasheet.md"] = lambda: datasheet(state, testset)
    state.write("export", "queries, labels, answers, datasheet", {}, files)
    lines = [
        f"{folder}/: {counted(len(testset.questions), 'question')}, {counted(len(testset.labels), 'label')}, "
        f"{counted(sum(bool(question.answer) for question in testset.questions), 'answer')}; datasheet.md "
        "says how they came about."
    ]
    if parts := [f"{edits[how]} {how}" for how in ("added", "edited", "taken out") if edits[how]]:
        lines.append(f"labels.csv keeps what people did to it: {', '.join(parts)}.")
    if edits["left out"]:
        lines.append(
            f"{counted(edits['left out'], 'label')} of questions that are no longer in the test set left "
            "out; the former file is in history/."
        )
    if testset.unresolved:
        unjudged = counted(testset.unresolved, "passage is", "passages are")
        lines.append(f"{unjudged} left unjudged: people disagree on them.")
    if contradictions := testset.contradictions:
        lines.append(f"To look at, all in datasheet.md: {listed(contradictions, 5)}.")
    return Outcome(tuple(lines), next=(f"harness bench {quote(str(bench))}",))


def _export_as(state: SetState, reader: DocumentReader, name: str, to: Path | None) -> Outcome:
    """Write the test set in the format of another tool, into a new folder."""
    if name not in FORMATS:
        raise unknown_format(name, FORMATS)
    testset = assemble(state, state.documents(reader))
    folder = to or state.folder / EXPORT / name
    if folder.exists() and any(folder.iterdir()):
        raise ConfigError(f"{folder} exists already. Remove it, or name another folder with --to.")
    files_of, note = FORMATS[name]
    files = files_of(testset)
    for file, content in files.items():
        write_text(folder / file, content)
    return Outcome((f"{folder}/: {', '.join(files)}.", f"  {note}"), next=())


def _bench(state: SetState, documents: Sequence[Document]) -> str:
    facts = TextFacts.of([document.text for document in documents])
    config, folder = state.config, (state.folder / EXPORT).absolute()
    paths = Paths(name_of(state.folder), config.documents, folder, str(config.cache), str(config.results))
    return bench_text(facts, paths, download=config.embed is not None)


def _merge(path: Path, written: Path, exported: str, questions: Collection[str]) -> tuple[str, Counter[str]]:
    """Put what has changed in ``path`` since ``written``, the last export, into ``exported``, the next one.

    Also counted: rows that were added, edited or taken out, and those left out, which were added to questions
    that are no longer in the test set. Where ``path`` is not there the export is taken as it is. Raises
    ConfigError if the file and the test set say different things of a passage that neither the last export
    said.
    """
    edits = Counter[str]()
    if not path.exists():
        return exported, edits
    columns, present = _lines(path)
    _, before = _lines(written) if written.exists() else ((), {})
    new = {_key(row): row for row in csv.DictReader(io.StringIO(exported))}
    rows: list[Line] = []
    clashes: list[Key] = []
    for key in dict.fromkeys((*new, *present)):
        new_row, file_row = new.get(key), present.get(key)
        new_content, file_content = _content(new_row), _content(file_row)
        last_content = _content(before.get(key))
        if new_row is None:
            if file_row is not None and file_content != last_content:
                current = file_row.get("query_id", "") in questions
                edits["added" if current else "left out"] += 1
                rows += [file_row] * current
        elif file_content in (new_content, last_content):
            rows.append({**(file_row or {}), **new_row})
        elif file_row is None:
            edits["taken out"] += new_content == last_content
            rows += [new_row] * (new_content != last_content)
        elif new_content == last_content:
            edits["edited"] += 1
            rows.append({**new_row, **file_row})
        else:
            clashes.append(key)
    if clashes:
        named = listed([f"{query} in {name} {start} to {end}" for query, name, start, end in clashes], 3)
        raise ConfigError(
            f"{path} and the test set disagree on {counted(len(clashes), 'passage')} ({named}), and "
            "both have changed since the last export. Nothing was written. Make the rows agree, or move the "
            "file away to take what the test set says."
        )
    wide = [*LABELS, *(name for name in columns if name not in LABELS)]
    return delimited_text([wide, *([row.get(name) or "" for name in wide] for row in rows)]), edits


def _lines(path: Path) -> tuple[Sequence[str], dict[Key, Line]]:
    records = read_csv(path, lambda note: None)
    if not records:
        return (), {}
    columns = [name.strip() for name in records[0][1]]
    rows = [dict(zip(columns, cells, strict=True)) for _, cells in records[1:]]
    return columns, {_key(row): row for row in rows}


def _key(row: Line) -> Key:
    """The passage of a row: by its offsets, or by its words where it has none."""
    place = (row.get("start", "").strip(), row.get("end", "").strip())
    where = place if all(place) else (row.get("page", "").strip(), row.get("quote", "").strip())
    return (row.get("query_id", "").strip(), row.get("document", "").strip(), *where)


def _content(row: Line | None) -> tuple[str, ...] | None:
    """What a person says in a row; None where there is no row."""
    return None if row is None else tuple((row.get(name) or "").strip() for name in _SAID)
