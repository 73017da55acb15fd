"""Reads documents by a parser: what was read before comes from the cache, the rest here or by workers."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from harness import data, values
from harness.comparison import sentence_of
from harness.running.config.models import BenchConfig
from harness.running.engine import Engine
from harness.running.notes import RunNotes
from harness.running.suspect_text import report_text
from harness.store import Artifacts, key_of


def file_hashes(files: Iterable[Path]) -> dict[str, str]:
    """The sha256 of files by their path; raises CorpusError or OSError for one that cannot be read."""
    # in this thread: a signal ends it, where a pool of threads would be waited for
    return {str(path): values.file_sha256(path) for path in files}


@dataclass(frozen=True, slots=True)
class DocumentReader:
    """Reads documents: those that ``artifacts`` has from there, and the others by ``engine``."""

    artifacts: Artifacts
    engine: Engine
    notes: RunNotes

    def quietly(self) -> DocumentReader:
        """The same reader, which says nothing and counts apart."""
        return replace(self, notes=RunNotes(values.Silent()))

    def read(
        self, config: BenchConfig, parser: data.ParserConfig, files: Sequence[data.DocumentFile]
    ) -> tuple[list[data.ParsedDocument], list[data.SkippedDocument], dict[str, str]]:
        """What a parser reads of files, the files that it cannot read, and the sha256 of all by their paths.

        Raises CorpusError where bad documents end the run, or where none can be used.
        """
        fingerprint, hashes = data.parser_fingerprint(parser), file_hashes(file.path for file in files)
        keys = {
            file: key_of(
                *(file.doc_id, file.path.suffix, hashes[str(file.path)], fingerprint),
                *data.libraries_of(file.path),
            )
            for file in files
        }
        stored = {file: self.artifacts.get("document", key) for file, key in keys.items()}
        parsed_before = {
            file: data.ParsedDocument.from_json(value) for file, value in stored.items() if value is not None
        }
        new = [file for file in files if file not in parsed_before]
        new, skipped = self._without_lacking(new, config, parser, len(files))
        fresh: list[data.ParsedDocument] = []
        if new:
            with self.notes.reporter.task("parse documents", len(new)) as task:

                def keep(file: data.DocumentFile, item: data.ParsedDocument | None) -> None:
                    # immediately, so that a run that is killed does not read it again
                    if item is not None:
                        self.artifacts.put("document", keys[file], item.to_json())
                    task.advance()

                job, engine = ParseJob(parser, config.parsing), self.engine
                apart = partial(_read_apart, job=job, hashes=hashes, engine=engine, task=task)
                fresh, bad = data.parse_documents(
                    new, parser, config.on_bad_document, config.parsing, keep, apart if engine.apart else None
                )
                skipped += bad
        self.notes.counts["documents_parsed"] += len(fresh)
        self.notes.counts["documents_reused"] += len(parsed_before)
        by_id = {item.document.doc_id: item for item in [*fresh, *parsed_before.values()]}
        warned = {item.path for item in skipped} - {file.path for file in new}
        skipped += _refused(config, files, by_id)
        parsed = [by_id[file.doc_id] for file in files if file.doc_id in by_id]
        if skipped and not parsed:
            none = f"Of {values.counted(len(skipped), 'document')} none can be used"
            raise values.CorpusError(f"{none}. The first: {skipped[0].reason}")
        for item in (item for item in skipped if item.path not in warned):
            # the reason begins with the path, and often with the page
            self.notes.warn(sentence_of("text.skipped", reason=item.reason))
        report_text(parsed, parser, self.notes)
        return parsed, skipped, hashes

    def _without_lacking(
        self,
        files: list[data.DocumentFile],
        config: BenchConfig,
        parser: data.ParserConfig,
        all_files: int,
    ) -> tuple[list[data.DocumentFile], list[data.SkippedDocument]]:
        """The files that installed packages can read, and the others: one warning says what to install.

        Raises CorpusError where there are others and bad documents end the run, or where there is nothing
        else.
        """
        suffixes = data.suffixes_of(parser)
        lacking = data.LackingExtras.among(
            file.path for file in files if file.path.suffix.lower() not in suffixes
        )
        if not lacking or self.engine.apart:
            # workers on other machines say themselves what they lack
            return files, []
        left_out = [file for file in files if file.path in lacking]
        if len(left_out) == all_files:
            raise values.CorpusError(f"No document can be read yet. {lacking}")
        if config.on_bad_document == "fail":
            raise data.bad_document(f"{lacking}.")
        self.notes.warn(sentence_of("text.lacking", files=lacking))
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
