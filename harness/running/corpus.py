"""Documents, queries and labels of a benchmark, parsed once per content, here or by workers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness import data, values
from harness.comparison import sentence_of
from harness.running.config.models import BenchConfig, parsers_of
from harness.running.copies import local_patterns
from harness.running.document_reader import DocumentReader, file_hashes
from harness.running.note_wordings import CORPUS
from harness.running.part import files_in_part
from harness.running.passage_files import with_passages
from harness.store import CacheLayout
from harness.values import worded


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
    reader: DocumentReader,
    labels: Sequence[data.LabelRow] = (),
) -> DocumentsRead:
    """The documents, read by a parser; ``hashes`` has those of ``others`` too.

    Of a part of them, ``labels`` name those that are in any.
    """
    with reader.notes.timed("parse"):
        every = _files(config, parser, reader.notes.reporter.note, others)
        files = files_in_part(config, every, labels)
        parsed, skipped, hashes = reader.read(config, parser, files)
    read = {file.doc_id for file in files}
    outside = tuple(file for file in every if file.doc_id not in read)
    return DocumentsRead(parsed, skipped, hashes | file_hashes(others), outside)


def texts_outside(config: BenchConfig, corpus: Corpus, reader: DocumentReader) -> dict[str, values.Document]:
    """The documents that the part of a benchmark leaves out, by their ids; a warning counts unread ones.

    They are read only to tell of which document a passage is: nothing that they hold is searched or scored.
    """
    lenient = config.model_copy(update={"on_bad_document": "skip"})
    try:
        parsed, _, _ = reader.quietly().read(lenient, config.settings[0].parse, corpus.outside)
    except values.CorpusError:
        # none of them can be read
        parsed = []
    texts = {item.document.doc_id: item.document for item in parsed}
    if unread := sorted({file.doc_id for file in corpus.outside} - texts.keys()):
        reader.notes.warn(sentence_of("text.outside", count=len(unread), documents=values.listed(unread, 3)))
    return texts


def load_documents(config: BenchConfig, reader: DocumentReader, only: str = "") -> dict[str, values.Document]:
    """The documents alone by id, or the one called ``only``, from the cache where they have been read before.

    Neither queries nor labels need to be there. Of several parsers the first one reads them, and a note says
    so. Raises CorpusError for what cannot be used.
    """
    return {item.document.doc_id: item.document for item in read_texts(config, reader, only)[0]}


def read_texts(
    config: BenchConfig, reader: DocumentReader, only: str = ""
) -> tuple[list[data.ParsedDocument], list[data.SkippedDocument]]:
    """As `load_documents`, with what the parser met, and the documents that were left out."""
    (name, parser), *more = parsers_of(config.settings).items()
    if more:
        reader.notes.reporter.note(worded(CORPUS, "documents.first", parser=name, parsers=len(more) + 1))
    files = document_files(config, reader.notes.reporter.note)
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
    return reader.read(config, parser, files)[:2]


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
