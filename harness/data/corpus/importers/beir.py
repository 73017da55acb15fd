"""A BEIR folder (Thakur et al. 2021): documents are judged whole, so a label spans the whole text."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from harness.data.corpus.importers.folder import (
    ImportSummary,
    new_corpus_folder,
    source_files,
    write_csv,
    write_text,
)
from harness.data.corpus.reading import read_utf8
from harness.data.corpus.table import Row, read_table
from harness.values import MAX_GRADE, CorpusError

_README = """# {name}

Written by `harness import beir` from a folder in BEIR layout; its licence is that of the collection.

- `documents/<id>.txt`: title, blank line, text. Characters that a file name or a chunk id cannot hold are
  percent-encoded.
- `queries.csv`: the queries that have judgments.
- `labels.csv`: a judgment covers the whole document. Judgments are from `{qrels}`.
"""


def import_beir(
    source: Path, target: Path, *, qrels: Path | None = None, grade_map: Mapping[int, int] | None = None
) -> ImportSummary:
    """Turn ``corpus.jsonl``, ``queries.jsonl`` and a qrels TSV with header into a corpus folder.

    ``qrels`` (relative to ``source``, else as it is) is needed where the folder holds several and none is
    called ``qrels.tsv``. ``grade_map`` translates grades; negative ones become 0, counted in the notes.
    Raises CorpusError for grades above 4 and for ids that are twice, with the line, and where no judgment
    is left. Documents and queries without text are left out together with their judgments, likewise queries
    without judgments; the notes count them.
    """
    corpus, queries_path = source_files(source, ("corpus.jsonl", "queries.jsonl"), "beir")
    qrels_path = _find_qrels(source, qrels)
    judgments, negative = _read_judgments(qrels_path, grade_map)
    questions, blank = _read_questions(queries_path)
    with new_corpus_folder(target) as folder:
        lengths, empty = _write_documents(corpus, folder / "documents")
        kept = [j for j in judgments if j.corpus_id in lengths and j.query_id in questions]
        if not kept:
            raise CorpusError(
                f"{qrels_path}: none of its {len(judgments)} judgments is of a query of {queries_path.name} "
                f"and a document of {corpus.name} that have text. Point to the judgments of this collection."
            )
        judged = {judgment.query_id for judgment in kept}
        queries = write_csv(
            folder / "queries.csv",
            ("query_id", "text"),
            [(_query_id(name), text) for name, text in questions.items() if name in judged],
        )
        labels = write_csv(
            folder / "labels.csv",
            ("query_id", "document", "start", "end", "grade"),
            [
                (
                    _query_id(judgment.query_id),
                    _file_stem(judgment.corpus_id),
                    0,
                    lengths[judgment.corpus_id],
                    judgment.grade,
                )
                for judgment in kept
            ],
        )
        write_text(folder / "README.md", _README.format(name=target.name, qrels=qrels_path.name))
    notes = {
        f"documents without text were left out ({_some(empty)})": len(empty),
        "judgments of documents without text were left out": sum(
            judgment.corpus_id in empty for judgment in judgments
        ),
        "judgments of documents that corpus.jsonl does not hold were left out": sum(
            judgment.corpus_id not in lengths and judgment.corpus_id not in empty for judgment in judgments
        ),
        "judgments of queries that queries.jsonl does not hold were left out": sum(
            judgment.query_id not in questions and judgment.query_id not in blank for judgment in judgments
        ),
        f"queries without text were left out ({_some(blank)})": len(blank),
        "queries without judgments were left out": len(questions) - queries,
        "negative grades became 0": negative,
    }
    counted = tuple(f"{count} {what}." for what, count in notes.items() if count)
    return ImportSummary(target, len(lengths), queries, labels, (f"Judgments: {qrels_path}.", *counted))


class _Judged(NamedTuple):
    query_id: str
    corpus_id: str
    grade: int


def _read_questions(path: Path) -> tuple[dict[str, str], tuple[str, ...]]:
    """The text of every query by its id, and the ids of those without text."""
    texts: dict[str, str] = {}
    lines: dict[str, int] = {}
    for row in read_table(path, ("_id", "text"), CorpusError).rows:
        name = row.get("_id")
        first = lines.setdefault(_query_id(name), row.line)
        if first != row.line:
            raise CorpusError(
                f"{path}, line {row.line}: _id {name!r} is already on line {first}, or differs from the "
                "one there in white space alone. Rename one."
            )
        texts[name] = row.get("text")
    blank = tuple(name for name, text in texts.items() if not text)
    return {name: text for name, text in texts.items() if text}, blank


def _find_qrels(source: Path, qrels: Path | None) -> Path:
    if qrels is not None:
        found = [path for path in (source / qrels, Path(qrels)) if path.is_file()]
        if not found:
            raise CorpusError(f"{source / qrels}: there is no such qrels file. Correct the name.")
        return found[0]
    if (source / "qrels.tsv").is_file():
        return source / "qrels.tsv"
    found = sorted((source / "qrels").glob("*.tsv")) or sorted(source.glob("*.tsv"))
    if len(found) == 1:
        return found[0]
    if not found:
        raise CorpusError(f"{source}: there is no qrels.tsv and no qrels/*.tsv. Add the judgments.")
    names = ", ".join(str(path.relative_to(source)) for path in found)
    raise CorpusError(f"{source}: there are several qrels: {names}. Choose one with --qrels.")


def _read_judgments(path: Path, grade_map: Mapping[int, int] | None) -> tuple[list[_Judged], int]:
    """The judgments in file order and how many grades were negative; the header line is required."""
    lines = read_utf8(path).removeprefix("\ufeff").split("\n")
    header = tuple(lines[0].rstrip("\r").split("\t"))
    if header != ("query-id", "corpus-id", "score"):
        raise CorpusError(
            f"{path}, line 1: the header is {header}, not query-id, corpus-id, score. Add it, with tabs."
        )
    judgments: list[_Judged] = []
    seen: dict[tuple[str, str], int] = {}
    negative = 0
    for number, line in enumerate(lines[1:], 2):
        if not line.strip():
            continue
        fields = line.split("\t")
        if len(fields) != 3:
            raise CorpusError(
                f"{path}, line {number}: {len(fields)} fields instead of 3. Separate three by tabs."
            )
        query_id, corpus_id, score = (field.strip() for field in fields)
        grade = _grade(f"{path}, line {number}", score, grade_map)
        if (query_id, corpus_id) in seen:
            raise CorpusError(
                f"{path}, line {number}: judges {query_id}, {corpus_id} again, as line "
                f"{seen[query_id, corpus_id]}. Keep one of them."
            )
        seen[query_id, corpus_id] = number
        negative += grade < 0
        judgments.append(_Judged(query_id, corpus_id, max(grade, 0)))
    return judgments, negative


def _grade(where: str, score: str, grade_map: Mapping[int, int] | None) -> int:
    try:
        grade = int(score)
    except ValueError as error:
        raise CorpusError(f"{where}: the grade {score!r} is not an integer. Correct it.") from error
    if grade_map is not None:
        if grade not in grade_map:
            raise CorpusError(f"{where}: grade_map has no entry for grade {grade}. Add it.")
        grade = grade_map[grade]
    if grade > MAX_GRADE:
        raise CorpusError(
            f"{where}: grade {grade} is above {MAX_GRADE}. Translate the grades in the file, or from Python "
            "with the argument grade_map of import_beir."
        )
    return grade


def _write_documents(corpus: Path, folder: Path) -> tuple[dict[str, int], tuple[str, ...]]:
    """The length of every document by its id, and the ids of those without text."""
    folder.mkdir()
    lengths: dict[str, int] = {}
    empty: list[str] = []
    for row in read_table(corpus, ("_id", "text"), CorpusError).rows:
        corpus_id = row.get("_id")
        stem = _stem_of(corpus, row)
        if corpus_id in lengths or corpus_id in empty:
            raise CorpusError(f"{corpus}, line {row.line}: _id {corpus_id!r} occurs twice. Remove one.")
        text = "\n\n".join(part for part in (row.get("title"), row.get("text")) if part).lstrip("\ufeff")
        if not text.strip():
            empty.append(corpus_id)
            continue
        write_text(folder / f"{stem}.txt", text)
        lengths[corpus_id] = len(text)
    return lengths, tuple(empty)


def _stem_of(corpus: Path, row: Row) -> str:
    stem = _file_stem(row.get("_id"))
    if not stem or len(stem.encode()) > 200:
        raise CorpusError(
            f"{corpus}, line {row.line}: _id {row.get('_id')[:80]!r} is empty or too long for a file name. "
            "Shorten it."
        )
    return stem


def _file_stem(corpus_id: str) -> str:
    """A file stem that is a document id as it is, reversible by percent-decoding."""
    stem = quote(corpus_id, safe="!#$&'()+,;=@[]{}^~`")
    return f"%2E{stem[1:]}" if stem.startswith(".") else stem


def _query_id(name: str) -> str:
    return "_".join(name.split())


def _some(names: tuple[str, ...]) -> str:
    return ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
