"""Documents read by the workers of an engine, each on the machine of a worker."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from harness.data import (
    DocumentFile,
    ParsedDocument,
    ParserConfig,
    ParsingConfig,
    SkippedDocument,
    bad_document,
    parse_documents,
)
from harness.running.config.models import BenchConfig
from harness.running.engine import Engine
from harness.values import CorpusError, Task, file_sha256


@dataclass(frozen=True, slots=True)
class ParseJob:
    """Reads one file on the machine of a worker; ``hashes`` are those of the files here, by path."""

    parser: ParserConfig
    parsing: ParsingConfig
    hashes: Mapping[str, str]

    def __call__(self, file: DocumentFile) -> ParsedDocument | SkippedDocument:
        """What was read, or why nothing was."""
        if not file.path.is_file() or file_sha256(file.path) != self.hashes[str(file.path)]:
            raise CorpusError(
                f"{file.path}: a worker on {platform.node()} does not see this file, or sees another one. "
                "Put the documents where all machines of the cluster see them under one path."
            )
        parsed, skipped = parse_documents([file], self.parser, "skip", self.parsing)
        return parsed[0] if parsed else skipped[0]


def parse_apart(
    files: Sequence[DocumentFile],
    parser: ParserConfig,
    config: BenchConfig,
    engine: Engine,
    hashes: Mapping[str, str],
    keep: Callable[[DocumentFile, ParsedDocument | None], None],
    task: Task,
) -> tuple[list[ParsedDocument], list[SkippedDocument]]:
    """As `parse_documents`, by the workers of an engine."""
    largest = sorted(files, key=lambda file: (-file.path.stat().st_size, file.doc_id))
    paths = [file.path.resolve() for file in largest]
    parts = [replace(file, path=path) for file, path in zip(largest, paths, strict=True)]
    own = {str(path): hashes[str(file.path)] for file, path in zip(largest, paths, strict=True)}
    job = ParseJob(parser, config.parsing, own)
    parsed: dict[str, ParsedDocument] = {}
    skipped: dict[str, SkippedDocument] = {}
    for done in engine.map(job, parts, job, task):
        file, found = largest[done.index], done.value
        if isinstance(found, ParsedDocument):
            parsed[file.doc_id] = found
            keep(file, found)
            continue
        reason = found.reason.replace(str(paths[done.index]), str(file.path))
        if config.on_bad_document == "fail":
            raise bad_document(reason)
        skipped[file.doc_id] = replace(found, path=file.path, reason=reason)
        keep(file, None)
    ids = [file.doc_id for file in files]
    return [parsed[one] for one in ids if one in parsed], [skipped[one] for one in ids if one in skipped]
