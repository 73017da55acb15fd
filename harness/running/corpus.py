"""Documents, queries and labels of a benchmark, parsed at most once per content."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.config import BenchConfig
from harness.corpus import (
    AnchorResult,
    DocumentFile,
    LabelRow,
    ParsedDocument,
    QuerySet,
    SkippedDocument,
    anchor,
    bad_document,
    credit_duplicates,
    find_documents,
    ids_meant,
    parse_documents,
    parser_fingerprint,
    read_judgments,
    read_labels,
    read_queries,
    refusal,
    refuse_special,
    suffixes_of,
)
from harness.corpus.formats import libraries_of
from harness.corpus.table import nearest
from harness.errors import CorpusError, LabelError
from harness.judge import LabelsConfig
from harness.report import counted
from harness.running.context import Context
from harness.running.text_warnings import tell_of_text, warn_of_answer_key
from harness.search import RetrieverConfig
from harness.store import key_of
from harness.types import Document, Judgment


@dataclass(frozen=True, slots=True)
class Corpus:
    """Everything a benchmark is run on.

    ``labels`` are the graded spans by people, whoever judges; ``hashes`` the sha256 of the files read.
    ``label_rows`` are the rows of the label file, anchored or not. ``strange`` holds text that was returned
    by another pipeline and stands in no document, None where there is none.
    """

    parsed: tuple[ParsedDocument, ...]
    skipped: tuple[SkippedDocument, ...]
    queries: QuerySet
    anchored: AnchorResult
    labels: tuple[Judgment, ...]
    hashes: dict[str, str]
    label_rows: tuple[LabelRow, ...] = ()
    strange: Document | None = None

    @property
    def documents(self) -> list[Document]:
        """The documents, in the order of their files."""
        return [parsed.document for parsed in self.parsed]

    @property
    def texts(self) -> list[Document]:
        """All that a ranked chunk may be a range of: the documents, and text that stands in none of them."""
        return self.documents if self.strange is None else [*self.documents, self.strange]

    @property
    def key(self) -> list[list[str]]:
        """What identifies the text: ids and hashes."""
        return [[document.doc_id, document.sha256] for document in self.documents]


def load_corpus(config: BenchConfig, context: Context) -> Corpus:
    """Read documents, queries and labels; raises CorpusError or LabelError for what cannot be used."""
    with context.timed("labels"):
        # before the documents, which may take long
        note = context.reporter.note
        queries = read_queries(config.queries, config.split, note)
        label_rows = tuple(read_labels(config.labels, note)) if config.labels else ()
        file = _span_file(config)
        read = [path for path in (config.queries, config.labels, file) if path is not None]
        read += _files_of_steps(config)
    with context.timed("parse"):
        files = _files(config, context, read)
        hashes = {str(item.path): _sha256(item.path) for item in files}
        parsed, skipped = _parse(config, context, files, hashes)
        documents = {item.document.doc_id: item.document for item in parsed}
        warn_of_answer_key(list(documents.values()), queries.queries, context.reporter)
    with context.timed("labels"):
        anchored = anchor(
            label_rows,
            documents,
            config.anchor,
            query_ids=[query.query_id for query in queries.queries],
            skipped_documents=[item.doc_id for item in skipped],
        )
        labels = (
            _with_duplicates(anchored.judgments, documents, config, context)
            if file is None
            else read_judgments(file, documents, [query.query_id for query in queries.queries])
        )
    hashes |= {str(path): _sha256(path) for path in read}
    return Corpus(tuple(parsed), tuple(skipped), queries, anchored, labels, hashes, label_rows)


def load_documents(config: BenchConfig, context: Context, only: str = "") -> list[Document]:
    """The documents alone, or the one called ``only``, from the cache where they have been read before.

    Neither queries nor labels need to be there. Raises CorpusError for what cannot be used.
    """
    others = [path for path in (config.queries, config.labels) if path is not None]
    judge = config.relevance.judge
    others += [Path(judge.file)] if isinstance(judge, LabelsConfig) and judge.file else []
    others += _named_by_steps(config)
    files = _files(config, context, others)
    if only:
        named = next((name for name in ids_meant(only) if name in {file.doc_id for file in files}), None)
        if named is None:
            ids = [file.doc_id for file in files]
            raise CorpusError(f"There is no document {only!r}{nearest(only, ids)}. Correct the name.")
        files = [file for file in files if file.doc_id == named]
    parsed, _ = _parse(config, context, files, {str(item.path): _sha256(item.path) for item in files})
    return [item.document for item in parsed]


def _files(config: BenchConfig, context: Context, others: Sequence[Path]) -> list[DocumentFile]:
    """The files of the documents; ``others`` are read for something else."""
    more, note = suffixes_of(config.parser), context.reporter.note
    skip = config.on_bad_document != "fail"
    return find_documents(config.documents, Path(), more, others, note, skip)


def _files_of_steps(config: BenchConfig) -> list[Path]:
    """The files that contexts and filters read, each once; what is in them is checked where they are used."""
    files = _named_by_steps(config)
    for file in files:
        refuse_special(file)
    return files


def _named_by_steps(config: BenchConfig) -> list[Path]:
    files = dict.fromkeys(file for s in config.settings for one in s.context for file in one.files)
    files |= dict.fromkeys(file for s in config.settings for file in _files_of_filters(s.finder))
    return list(files)


def _files_of_filters(retriever: RetrieverConfig) -> Iterator[Path]:
    if retriever.filter is not None:
        yield from retriever.filter.files
    for part in retriever.parts:
        yield from _files_of_filters(part)


def _with_duplicates(
    labels: tuple[Judgment, ...], documents: Mapping[str, Document], config: BenchConfig, context: Context
) -> tuple[Judgment, ...]:
    """The labels and, unless switched off, the other places that hold their text; says how many."""
    if not config.anchor.duplicates:
        return labels
    found = credit_duplicates(labels, documents, config.anchor.duplicate_length)
    context.count("duplicates_credited", found.added)
    context.count("duplicates_joined", found.joined)
    if found.added:
        context.reporter.note(
            f"{counted(found.repeated, 'label stands', 'labels stand')} word for word elsewhere too: "
            f"{counted(found.added, 'place counts', 'places count')} as the same evidence "
            "(anchor.duplicates: false counts the labelled places only)."
        )
    if found.joined:
        context.reporter.note(
            f"{counted(found.joined, 'label has', 'labels have')} no evidence name and the text of another "
            "label of the query: such labels count as one evidence."
        )
    return found.judgments


def _span_file(config: BenchConfig) -> Path | None:
    """The file of graded spans that ``relevance.file`` names."""
    judge = config.relevance.judge
    if not (isinstance(judge, LabelsConfig) and judge.file):
        return None
    try:
        refuse_special(Path(judge.file))
    except CorpusError as error:
        raise LabelError(f"relevance.file: {error}") from error
    return Path(judge.file)


def _parse(
    config: BenchConfig, context: Context, files: Sequence[DocumentFile], hashes: dict[str, str]
) -> tuple[list[ParsedDocument], list[SkippedDocument]]:
    fingerprint = parser_fingerprint(config.parser)
    keys = {
        file: key_of(
            file.doc_id, file.path.suffix, hashes[str(file.path)], fingerprint, *libraries_of(file.path)
        )
        for file in files
    }
    stored = {file: context.artifacts.get("document", key) for file, key in keys.items()}
    known = {file: ParsedDocument.from_json(value) for file, value in stored.items() if value is not None}
    new = [file for file in files if file not in known]
    skipped: list[SkippedDocument] = []
    fresh: list[ParsedDocument] = []
    if new:
        with context.reporter.task("parse documents", len(new)) as task:

            def keep(file: DocumentFile, item: ParsedDocument | None) -> None:
                # at once, so that a run that is killed does not read it again
                if item is not None:
                    context.artifacts.put("document", keys[file], item.to_json())
                task.advance()

            fresh, skipped = parse_documents(new, config.parser, config.on_bad_document, config.parsing, keep)
    context.count("documents_parsed", len(fresh))
    context.count("documents_reused", len(known))
    by_id = {item.document.doc_id: item for item in [*fresh, *known.values()]}
    skipped = [*skipped, *_refused(config, files, by_id)]
    parsed = [by_id[file.doc_id] for file in files if file.doc_id in by_id]
    if skipped and not parsed:
        none = f"Of {counted(len(skipped), 'document')} none can be used"
        raise CorpusError(f"{none}. The first: {skipped[0].reason}")
    for item in skipped:
        # the reason begins with the path, and often with the page
        context.reporter.warn(f"skipped {item.reason}")
    tell_of_text(parsed, config, context)
    return parsed, skipped


def _refused(
    config: BenchConfig, files: Sequence[DocumentFile], by_id: dict[str, ParsedDocument]
) -> list[SkippedDocument]:
    """Take the documents that lost too much text out of ``by_id``; where bad ones end the run, raise."""
    refused = []
    for file in files:
        reason = refusal(by_id[file.doc_id], config.parsing) if file.doc_id in by_id else None
        if reason is not None:
            if config.on_bad_document == "fail":
                raise bad_document(f"{file.path}: {reason}")
            refused.append(SkippedDocument(file.doc_id, file.path, f"{file.path}: {reason}"))
            del by_id[file.doc_id]
    return refused


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
