"""Documents, queries and labels of a benchmark, parsed once per content, here or by workers."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from harness import data, values
from harness.running.config.models import BenchConfig, parsers_of
from harness.running.copies import local_patterns
from harness.running.engine import Engine
from harness.running.part import files_in_part
from harness.running.passage_files import with_passages
from harness.running.session import Session
from harness.running.suspect_text import report_text
from harness.store import CacheLayout, key_of


@dataclass(frozen=True, slots=True)
class Corpus:
    """Everything a benchmark is run on.

    ``labels`` are the graded spans by people, whoever judges; ``hashes`` the sha256 of the files read.
    ``label_rows`` are the rows of the label file, anchored or not. ``strange`` holds text that was returned
    by another pipeline and is in no document, None if there is none. ``outside`` are the files of documents
    that the part of the benchmark leaves out.

    Where several parsers have read the documents (``running.corpora``), each text is a document of its own,
    and ``texts_of`` has by setting the ids of the texts that it searches; with one parser it is empty.
    """

    parsed: tuple[data.ParsedDocument, ...]
    skipped: tuple[data.SkippedDocument, ...]
    queries: data.QuerySet
    anchored: data.AnchorResult
    labels: tuple[values.Judgment, ...]
    hashes: dict[str, str]
    label_rows: tuple[data.LabelRow, ...] = ()
    strange: values.Document | None = None
    texts_of: Mapping[str, frozenset[str]] = field(default_factory=dict)
    outside: tuple[data.DocumentFile, ...] = ()

    @property
    def documents(self) -> list[values.Document]:
        """The documents, in the order of their files."""
        return [parsed.document for parsed in self.parsed]

    @property
    def by_id(self) -> dict[str, values.Document]:
        """The documents by their ids."""
        return {document.doc_id: document for document in self.documents}

    @property
    def texts(self) -> list[values.Document]:
        """All that a ranked chunk may be a range of: the documents, and text that is in none of them."""
        return self.documents if self.strange is None else [*self.documents, self.strange]

    @property
    def key(self) -> list[list[str]]:
        """The identity of the text: ids and hashes."""
        return [[document.doc_id, document.sha256] for document in self.documents]

    @property
    def doc_ids(self) -> list[str]:
        """The ids of the documents, each once, however many parsers have read it."""
        ids = (document.doc_id for document in self.documents)
        return list(dict.fromkeys(map(values.document_of, ids))) if self.texts_of else list(ids)


def input_files(config: BenchConfig) -> list[Path]:
    """Every file that a run reads as documents, queries, labels or tables, each once.

    Raises CorpusError or LabelError as reading them does where one is not there.
    """
    others = other_files(config)
    inputs = [
        _files(config, parser, lambda _: None, others) for parser in parsers_of(config.settings).values()
    ]
    return list(dict.fromkeys([*(file.path for files in inputs for file in files), *others]))


def other_files(config: BenchConfig, *, must_exist: bool = True) -> tuple[Path, ...]:
    """The files that a run reads besides the documents, each once; what steps read is checked by them."""
    tables = [file for setting in config.settings for file in setting.files]
    if must_exist:
        for file in tables:
            values.refuse_special(file)
    read = (config.queries, config.labels, *tables)
    return tuple(dict.fromkeys(path for path in read if path is not None))


@dataclass(frozen=True, slots=True)
class DocumentsRead:
    """The documents as a parser reads them, those it cannot, and the sha256 of all files read.

    ``outside`` are the files that the part of the benchmark leaves out.
    """

    parsed: list[data.ParsedDocument]
    skipped: list[data.SkippedDocument]
    hashes: dict[str, str]
    outside: tuple[data.DocumentFile, ...]


def read_documents(
    config: BenchConfig,
    parser: data.ParserConfig,
    others: Sequence[Path],
    session: Session,
    labels: Sequence[data.LabelRow] = (),
) -> DocumentsRead:
    """The documents, read by a parser; ``hashes`` has those of ``others`` too.

    Of a part of them, ``labels`` name those that are in any.
    """
    with session.notes.timed("parse"):
        every = _files(config, parser, session.notes.reporter.note, others)
        files = files_in_part(config, every, labels)
        parsed, skipped, hashes = _parse(config, parser, session, files)
    read = {file.doc_id for file in files}
    outside = tuple(file for file in every if file.doc_id not in read)
    return DocumentsRead(parsed, skipped, hashes | file_hashes(others), outside)


def texts_outside(config: BenchConfig, corpus: Corpus, session: Session) -> dict[str, values.Document]:
    """The documents that the part of a benchmark leaves out, by their ids; a warning counts unread ones.

    They are read only to tell of which document a passage is: nothing that they hold is searched or scored.
    """
    lenient = config.model_copy(update={"on_bad_document": "skip"})
    try:
        parsed, _, _ = _parse(lenient, config.settings[0].parse, session.again(), corpus.outside)
    except values.CorpusError:
        # none of them can be read
        parsed = []
    texts = {item.document.doc_id: item.document for item in parsed}
    if unread := sorted({file.doc_id for file in corpus.outside} - texts.keys()):
        session.notes.warn(
            "text",
            f"{values.counted(len(unread), 'document')} outside the part cannot be read "
            f"({values.listed(unread, 3)}), so passages of theirs that name no document are taken for text "
            "in none and keep their rank. Mend or remove these files.",
        )
    return texts


def load_documents(config: BenchConfig, session: Session, only: str = "") -> dict[str, values.Document]:
    """The documents alone by id, or the one called ``only``, from the cache where they have been read before.

    Neither queries nor labels need to be there. Of several parsers the first one reads them, and a note says
    so. Raises CorpusError for what cannot be used.
    """
    return {item.document.doc_id: item.document for item in read_texts(config, session, only)[0]}


def read_texts(
    config: BenchConfig, session: Session, only: str = ""
) -> tuple[list[data.ParsedDocument], list[data.SkippedDocument]]:
    """As `load_documents`, with what the parser met, and the documents that were left out."""
    (name, parser), *more = parsers_of(config.settings).items()
    if more:
        session.notes.reporter.note(
            f"The documents are read by {name}, the first of {len(more) + 1} parsers."
        )
    files = document_files(config, session.notes.reporter.note)
    if only:
        named = next(
            (name for name in data.possible_ids(only) if name in {file.doc_id for file in files}), None
        )
        if named is None:
            ids = [file.doc_id for file in files]
            close = values.suggestion(only, ids)
            raise values.CorpusError(
                f"Unknown document: {only!r}{close}. Correct the name. Known: {values.listed(ids)}."
            )
        files = [file for file in files if file.doc_id == named]
    return _parse(config, parser, session, files)[:2]


def document_files(
    config: BenchConfig, note: Callable[[str], None] = lambda _: None
) -> list[data.DocumentFile]:
    """The files of the documents with their ids; ``note`` gets what is left out.

    Of several parsers the first says which files can be read.
    """
    return _files(config, config.settings[0].parse, note, other_files(config, must_exist=False))


def _files(
    config: BenchConfig, parser: data.ParserConfig, note: Callable[[str], None], others: Sequence[Path]
) -> list[data.DocumentFile]:
    """The files of the documents; ``others`` are read for something else."""
    more = data.suffixes_of(parser)
    skip = config.on_bad_document != "fail"
    copies = CacheLayout(config.cache).copies
    patterns = local_patterns(with_passages(config, copies, note), copies, note)
    return data.find_documents(patterns, Path(), more, others, note, skip)


def file_hashes(files: Iterable[Path]) -> dict[str, str]:
    """The sha256 of files by their path; raises CorpusError or OSError for one that cannot be read."""
    # in this thread: a signal ends it, where a pool of threads would be waited for
    return {str(path): values.file_sha256(path) for path in files}


def _parse(
    config: BenchConfig, parser: data.ParserConfig, session: Session, files: Sequence[data.DocumentFile]
) -> tuple[list[data.ParsedDocument], list[data.SkippedDocument], dict[str, str]]:
    fingerprint, hashes = data.parser_fingerprint(parser), file_hashes(file.path for file in files)
    keys = {
        file: key_of(
            file.doc_id, file.path.suffix, hashes[str(file.path)], fingerprint, *data.libraries_of(file.path)
        )
        for file in files
    }
    stored = {file: session.artifacts.get("document", key) for file, key in keys.items()}
    parsed_before = {
        file: data.ParsedDocument.from_json(value) for file, value in stored.items() if value is not None
    }
    new = [file for file in files if file not in parsed_before]
    new, skipped = _without_lacking(new, config, parser, session, len(files))
    fresh: list[data.ParsedDocument] = []
    if new:
        with session.notes.reporter.task("parse documents", len(new)) as task:

            def keep(file: data.DocumentFile, item: data.ParsedDocument | None) -> None:
                # immediately, so that a run that is killed does not read it again
                if item is not None:
                    session.artifacts.put("document", keys[file], item.to_json())
                task.advance()

            job, engine = ParseJob(parser, config.parsing), session.engine
            apart = partial(_read_apart, job=job, hashes=hashes, engine=engine, task=task)
            fresh, bad = data.parse_documents(
                new, parser, config.on_bad_document, config.parsing, keep, apart if engine.apart else None
            )
            skipped += bad
    session.notes.counts["documents_parsed"] += len(fresh)
    session.notes.counts["documents_reused"] += len(parsed_before)
    by_id = {item.document.doc_id: item for item in [*fresh, *parsed_before.values()]}
    warned = {item.path for item in skipped} - {file.path for file in new}
    skipped += _refused(config, files, by_id)
    parsed = [by_id[file.doc_id] for file in files if file.doc_id in by_id]
    if skipped and not parsed:
        none = f"Of {values.counted(len(skipped), 'document')} none can be used"
        raise values.CorpusError(f"{none}. The first: {skipped[0].reason}")
    for item in (item for item in skipped if item.path not in warned):
        # the reason begins with the path, and often with the page
        session.notes.warn("text", f"skipped {item.reason}")
    report_text(parsed, parser, session.notes)
    return parsed, skipped, hashes


def _without_lacking(
    files: list[data.DocumentFile],
    config: BenchConfig,
    parser: data.ParserConfig,
    session: Session,
    all_files: int,
) -> tuple[list[data.DocumentFile], list[data.SkippedDocument]]:
    """The files that installed packages can read, and the others, of which one warning says what to install.

    Raises CorpusError where there are others and bad documents end the run, or where there is nothing else.
    """
    suffixes = data.suffixes_of(parser)
    lacking = data.LackingExtras.among(
        file.path for file in files if file.path.suffix.lower() not in suffixes
    )
    if not lacking or session.engine.apart:
        # workers on other machines say themselves what they lack
        return files, []
    left_out = [file for file in files if file.path in lacking]
    if len(left_out) == all_files:
        raise values.CorpusError(f"No document can be read yet. {lacking}")
    if config.on_bad_document == "fail":
        raise data.bad_document(f"{lacking}.")
    session.notes.warn("text", f"left out: {lacking}")
    reason = "needs {}: pip install 'ndcg-harness[{}]'"
    skipped = []
    for form, paths in lacking.files.items():
        why = reason.format(" and ".join(form.packages), form.extra)
        skipped += [
            data.SkippedDocument(file.doc_id, file.path, f"{file.path}: {why}.")
            for file in left_out
            if file.path in set(paths)
        ]
    return [file for file in files if file.path not in lacking], skipped


def _refused(
    config: BenchConfig, files: Sequence[data.DocumentFile], by_id: dict[str, data.ParsedDocument]
) -> list[data.SkippedDocument]:
    """Take the documents that lost too much text out of ``by_id``; where bad ones end the run, raise."""
    refused = []
    for file in files:
        reason = data.refusal(by_id[file.doc_id], config.parsing) if file.doc_id in by_id else None
        if reason is not None:
            if config.on_bad_document == "fail":
                raise data.bad_document(f"{file.path}: {reason}")
            refused.append(data.SkippedDocument(file.doc_id, file.path, f"{file.path}: {reason}"))
            del by_id[file.doc_id]
    return refused


@dataclass(frozen=True, slots=True)
class ParseJob:
    """Reads one file on the machine of a worker, where it must have the same sha256 as here."""

    parser: data.ParserConfig
    parsing: data.ParsingConfig

    def __call__(self, part: tuple[data.DocumentFile, str]) -> data.ParsedDocument | str:
        """What was read, or why nothing was."""
        file, sha256 = part
        if not file.path.is_file() or values.file_sha256(file.path) != sha256:
            raise values.CorpusError(
                f"{file.path}: a worker on {platform.node()} does not see this file, or sees another one. "
                "Put the documents where all machines of the cluster see them under one path."
            )
        parsed, skipped = data.parse_documents([file], self.parser, "skip", self.parsing)
        return parsed[0] if parsed else skipped[0].reason


def _read_apart(
    files: Sequence[data.DocumentFile],
    record: Callable[[data.DocumentFile, data.ParsedDocument | str], None],
    job: ParseJob,
    hashes: Mapping[str, str],
    engine: Engine,
    task: values.Task,
) -> None:
    """Let workers read the files, the largest first."""
    largest = sorted(files, key=lambda file: (-file.path.stat().st_size, file.doc_id))
    parts = [(replace(file, path=values.real_path(file.path)), hashes[str(file.path)]) for file in largest]
    for part in engine.map(job, parts, job, task):
        file, text = largest[part.index], part.value
        if isinstance(text, str):
            text = text.replace(str(parts[part.index][0].path), str(file.path))
        record(file, text)
