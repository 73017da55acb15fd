"""From a configuration or a pool file to a service that is ready: documents and passages read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.data import Note, read_rows, read_utf8
from harness.labels.label_page.document_store import DocumentStore
from harness.labels.label_page.page_state import PageState
from harness.labels.label_page.service import LabelService
from harness.labels.labelling.grading_sheet import UngradedRow
from harness.labels.labelling.passages import PassageToGrade
from harness.labels.labelling.retrieved import pool_unjudged
from harness.running import BenchConfig, Running, Session, document_files, load_config, load_documents
from harness.values import ConfigError, Document, LabelError, Reporter

SUFFIX = ".labelling.sqlite"
GUIDELINES = Path(__file__).parent / "assets" / "guidelines.md"


@dataclass(frozen=True, slots=True)
class PassageSource:
    """Where passages come from: a configuration, a pool file with its documents, or both.

    ``top`` is how deep the rankings of a configuration are pooled.
    """

    config: Path | None = None
    pool: Path | None = None
    documents: tuple[str, ...] = ()
    state: Path | None = None
    top: int = 10

    @property
    def state_path(self) -> Path:
        """The file of labels: next to the pool, or to the label file of the configuration."""
        if self.state is not None:
            return self.state
        near = self.pool or self.bench().labels or self.config
        assert near is not None  # else bench has raised
        return near.with_name(near.stem + SUFFIX)

    def bench(self) -> BenchConfig:
        """The configuration, or one that only says what the documents of the pool are.

        Raises ConfigError where neither is named, or a pool without its documents.
        """
        if self.config is not None and not self.config.exists() and not self.config.suffix:
            raise ConfigError(
                f"There is nothing at {self.config}. Name the YAML file of a benchmark, to label its "
                "passages, or the folder of a test set, to review its answers; harness init makes a first "
                "benchmark."
            )
        if self.config is not None:
            return load_config(self.config)
        if self.pool is None or not self.documents:
            raise ConfigError(
                "Name what to label: harness label my.yaml, or a pool file and the documents it was made of: "
                "harness label --pool pool.csv --documents 'docs/*.pdf'."
            )
        # a pool made of fewer documents says so itself, row by row
        return BenchConfig.of_documents(self.documents, self.pool, self.pool, on_bad_document="skip")


@contextmanager
def open_service(
    source: PassageSource,
    reporter: Reporter,
    guidelines: Path | None = None,
    rater: str = "",
    as_listed: bool = False,
) -> Iterator[LabelService]:
    """Read the documents, pool the passages, open the labels; raises HarnessError for unusable input.

    Without ``guidelines`` ours are shown; ``rater`` and ``as_listed`` are those of `LabelService`.
    """
    words = read_utf8(guidelines or GUIDELINES)
    config = source.bench()
    with Session.at(config.cache, reporter, may_ask=False) as session:
        if source.pool is None:
            documents, questions, items = pool_unjudged(config, source.top, session)
            place = {query_id: number for number, query_id in enumerate(questions)}
            items.sort(key=lambda item: place[item.query_id])
        else:
            documents = load_documents(config, session.document_reader)
            questions, items = read_pool(source.pool, documents, reporter.note)
        files = {
            file.doc_id: file.path for file in document_files(config) if file.path.suffix.lower() == ".pdf"
        }
        with PageState(source.state_path) as state:
            state.sync(questions, items, {name: document.sha256 for name, document in documents.items()})
            if not items:
                raise LabelError("There is nothing to label: everything in the pool has a grade already.")
            store = DocumentStore(documents, Running(session), files)
            yield LabelService(state, store, words, rater, as_listed)


def read_pool(
    path: Path, documents: Mapping[str, Document], note: Note = lambda _: None
) -> tuple[dict[str, str], list[PassageToGrade]]:
    """The questions by id and the passages of a CSV, XLSX or JSONL file, in their order.

    The columns are those of `UngradedRow`. A sheet of `harness labels` is a pool file too. Raises LabelError
    that names all rows at fault.
    """
    questions: dict[str, str] = {}
    items: dict[object, PassageToGrade] = {}

    def fault(row: UngradedRow) -> str:
        for column in ("query_id", "question"):
            if not getattr(row, column):
                return f"{column} is empty. Fill it."
        item = row.placed(documents)
        if questions.setdefault(row.query_id, row.question) != row.question:
            return f"question {row.query_id!r} has another text above. Give it one text, or two ids."
        if items.setdefault(item.key, item) is not item:
            return "the question has the same passage further up. Keep one row."
        return ""

    read_rows(path, UngradedRow, note, fault)
    return questions, list(items.values())
