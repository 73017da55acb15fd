"""The folder that importers write, and a BEIR folder (Thakur et al. 2021), judged by whole documents."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Annotated
from urllib.parse import quote

from harness.data.corpus.inputs import input_table, read_rows
from harness.values import MAX_GRADE, Column, CorpusError, counted, delimited_text, listed, whole


@dataclass(frozen=True, slots=True)
class ImportSummary:
    """The result of an import, and in ``notes`` what was left out or changed, one sentence each."""

    target: Path
    documents: int
    queries: int
    labels: int
    notes: tuple[str, ...] = ()


@contextmanager
def new_corpus_folder(target: Path) -> Iterator[Path]:
    """A folder to fill; it gets its name when the block ends well, and is removed when it does not.

    Raises CorpusError when ``target`` exists and is not an empty folder.
    """
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise CorpusError(f"{target} exists already. Remove it, or import into another folder.")
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    partial.chmod(0o755)
    try:
        yield partial
        if target.exists():
            target.rmdir()
        partial.rename(target)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def write_text(path: Path, text: str) -> None:
    """Write a new file in UTF-8 without translating line ends, so that offsets into ``text`` hold for it.

    Raises CorpusError if there is such a file.
    """
    try:
        with path.open("xb") as file:
            file.write(text.encode("utf-8"))
    except FileExistsError:
        raise CorpusError(
            f"{path.name} is the name of two documents (some file systems take a and A for one). Rename one."
        ) from None


_README = Path(__file__).parent / "assets" / "beir.md"


def _text(cell: str) -> str:
    if "\0" in cell:
        raise ValueError("holds a NUL character, which no text may. Remove it.")
    return cell


def _query_id(cell: str) -> str:
    return "_".join(cell.split())


def _file_stem(cell: str) -> str:
    """A file stem that is a document id as it is, reversible by percent-decoding."""
    stem = quote(cell, safe="!#$&'()+,;=@[]{}^~`")
    if len(stem.encode()) > 200:
        raise ValueError(f"{cell[:80]!r} is too long for a file name. Shorten it.")
    return f"%2E{stem[1:]}" if stem.startswith(".") else stem


@input_table("queries.jsonl", "the queries of BEIR", CorpusError, key=("query_id",))
@dataclass(frozen=True, slots=True)
class BeirQuery:
    """A query; ids that differ in white space alone are one."""

    query_id: Annotated[str, Column("its id", header="_id", read=_query_id)]
    text: Annotated[str, Column("the query", read=_text)]


@input_table("corpus.jsonl", "the documents of BEIR", CorpusError, key=("stem",))
@dataclass(frozen=True, slots=True)
class BeirDocument:
    """A document; its id becomes the name of a file."""

    stem: Annotated[str, Column("its id", header="_id", read=_file_stem)]
    text: Annotated[str, Column("its text", read=_text)]
    title: Annotated[str, Column("its title", read=_text)] = ""


@input_table("qrels", "the judgments of BEIR", CorpusError, key=("query_id", "stem"))
@dataclass(frozen=True, slots=True)
class BeirJudgment:
    """The grade of a document for a query."""

    query_id: Annotated[str, Column("the query", header="query-id", read=_query_id)]
    stem: Annotated[str, Column("the document", header="corpus-id", read=_file_stem)]
    score: Annotated[int, Column("the grade", read=whole)]


def import_beir(source: Path, target: Path, *, qrels: Path | None = None) -> ImportSummary:
    """Turn ``corpus.jsonl``, ``queries.jsonl`` and a qrels TSV with header into a corpus folder.

    ``qrels`` (relative to ``source``, else as it is) is needed where the folder holds several and none is
    called ``qrels.tsv``. Negative grades become 0. Documents and queries without text are left out together
    with their judgments, likewise queries without judgments; the notes count them. Raises CorpusError for
    grades above 4 and for ids that are twice, with the line, and where no judgment is left.
    """
    corpus, queries_path = source / "corpus.jsonl", source / "queries.jsonl"
    if missing := [path.name for path in (corpus, queries_path) if not path.exists()]:
        raise CorpusError(f"{source}: {', '.join(missing)} not found. Name the folder that holds both files.")
    qrels_path = _find_qrels(source, qrels)

    def fault(row: BeirJudgment) -> str:
        above = f"grade {row.score} is above {MAX_GRADE}. Translate the grades in the file."
        return above if row.score > MAX_GRADE else ""

    judgments = read_rows(qrels_path, BeirJudgment, fault=fault)
    questions = {row.query_id: row.text for row in read_rows(queries_path, BeirQuery)}
    lengths: dict[str, int] = {}
    with new_corpus_folder(target) as folder:
        (folder / "documents").mkdir()
        for row in read_rows(corpus, BeirDocument):
            text = "\n\n".join(part for part in (row.title, row.text) if part).lstrip("\ufeff")
            lengths[row.stem] = len(text) if text.strip() else 0
            if lengths[row.stem]:
                write_text(folder / "documents" / f"{row.stem}.txt", text)
        kept = [
            (judged.query_id, judged.stem, 0, lengths[judged.stem], max(judged.score, 0))
            for judged in judgments
            if lengths.get(judged.stem) and questions.get(judged.query_id)
        ]
        if not kept:
            raise CorpusError(
                f"{qrels_path}: no judgment is of a query of {queries_path.name} and a document of "
                f"{corpus.name} that have text. Point to the judgments of this collection."
            )
        judged_queries = {query_id for query_id, *_ in kept}
        queries = [(name, text) for name, text in questions.items() if name in judged_queries]
        write_text(folder / "queries.csv", delimited_text([("query_id", "text"), *queries]))
        columns = ("query_id", "document", "start", "end", "grade")
        write_text(folder / "labels.csv", delimited_text([columns, *kept]))
        readme = _README.read_text(encoding="utf-8").format(name=target.name, qrels=qrels_path.name)
        write_text(folder / "README.md", readme)
    empty = [name for name, length in lengths.items() if not length]
    blank = [name for name, text in questions.items() if not text]
    graded, queried = ("judgment", "judgments"), ("query", "queries")
    left_out = (
        (len(empty), ("document", "documents"), f"without text ({listed(empty)})"),
        (sum(lengths.get(j.stem) == 0 for j in judgments), graded, "of documents without text"),
        (sum(j.stem not in lengths for j in judgments), graded, "of documents not in corpus.jsonl"),
        (sum(j.query_id not in questions for j in judgments), graded, "of queries not in queries.jsonl"),
        (len(blank), queried, f"without text ({listed(blank)})"),
        (len(questions) - len(blank) - len(queries), queried, "without judgments"),
    )
    notes = [f"Left out: {counted(n, *noun)} {what}." for n, noun, what in left_out if n]
    if below := sum(judgment.score < 0 for judgment in judgments):
        notes.append(f"{counted(below, 'negative grade')} became 0.")
    written = len(lengths) - len(empty)
    return ImportSummary(target, written, len(queries), len(kept), (f"Judgments: {qrels_path}.", *notes))


def _find_qrels(source: Path, qrels: Path | None) -> Path:
    if qrels is not None:
        candidates = [path for path in (source / qrels, Path(qrels)) if path.is_file()]
        if not candidates:
            raise CorpusError(f"{source / qrels}: there is no such qrels file. Correct the name.")
        return candidates[0]
    if (source / "qrels.tsv").is_file():
        return source / "qrels.tsv"
    candidates = sorted((source / "qrels").glob("*.tsv")) or sorted(source.glob("*.tsv"))
    if len(candidates) == 1:
        return candidates[0]
    if not candidates:
        raise CorpusError(f"{source}: there is no qrels.tsv and no qrels/*.tsv. Add the judgments.")
    names = listed([str(path.relative_to(source)) for path in candidates])
    raise CorpusError(f"{source}: there are several qrels: {names}. Choose one with --qrels.")
