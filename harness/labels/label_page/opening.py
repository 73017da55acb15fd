"""From a configuration or a pool file to a service that is ready: documents read, passages pooled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.data import read_utf8
from harness.labels.label_page.document_store import DocumentStore
from harness.labels.label_page.items import Item, PageQuestion
from harness.labels.label_page.pool_file import read_pool
from harness.labels.label_page.queue import Order, usual_order
from harness.labels.label_page.service import LabelService, make_service
from harness.labels.label_page.state import PageState
from harness.labels.label_page.verdict import LiveVerdict, open_passages
from harness.labels.labelling.label_pool import LabelPool, read_label_pool
from harness.labels.labelling.pooling import pool_unjudged
from harness.labels.labelling.stored import config_of, labels_of
from harness.labels.labelling.unjudged import PassageToGrade
from harness.labels.ordering.design import BATCH
from harness.report import read_result
from harness.running import BenchConfig, Context, document_files, load_config, load_documents
from harness.values import ConfigError, Document, LabelError, Reporter

SUFFIX = ".labelling.sqlite"
GUIDELINES = Path(__file__).parent / "assets" / "guidelines.md"


@dataclass(frozen=True, slots=True)
class PassageSource:
    """Where passages come from: a configuration, a pool file with its documents, or both; or results.

    ``top`` is how deep the rankings of a configuration or of ``results`` are pooled. ``labels`` takes the
    place of the label file that results name.
    """

    config: Path | None = None
    pool: Path | None = None
    documents: tuple[str, ...] = ()
    state: Path | None = None
    top: int = 10
    results: Path | None = None
    labels: Path | None = None

    @property
    def state_path(self) -> Path:
        """The file of labels: next to the pool, or to the label file of the configuration."""
        if self.state is not None:
            return self.state
        if self.pool is not None:
            return self.pool.with_name(self.pool.stem + SUFFIX)
        labels = self.bench().label_file
        neighbour = Path(labels) if labels is not None else self.config
        if neighbour is None:
            raise _nothing_named()
        return neighbour.with_name(neighbour.stem + SUFFIX)

    def bench(self) -> BenchConfig:
        """The configuration, or one that only says what the documents of the pool or of the results are."""
        if self.results is not None:
            return _of_results(self.results, self.labels)
        if self.config is not None:
            return load_config(self.config)
        if self.pool is None:
            raise _nothing_named()
        if not self.documents:
            raise ConfigError(
                "A pool file needs the documents it was made from: harness label --pool pool.csv --documents "
                "'docs/*.pdf', or harness label my.yaml --pool pool.csv."
            )
        return BenchConfig.of_documents(self.documents, self.pool, self.pool)


def _of_results(folder: Path, labels: Path | None) -> BenchConfig:
    record = read_result(folder).record
    return config_of(record).model_copy(update={"labels": labels_of(folder, record, labels)})


def _nothing_named() -> ConfigError:
    return ConfigError(
        "Name what to label: harness label my.yaml, --results results/mine, or --pool pool.csv --documents "
        "'docs/*.pdf'."
    )


@contextmanager
def open_service(
    source: PassageSource,
    reporter: Reporter,
    guidelines: Path | None = None,
    rater: str = "",
    order: Order | None = None,
    show_verdict: bool = True,
) -> Iterator[LabelService]:
    """Read the documents, pool the passages, open the labels; raises HarnessError for unusable input.

    ``order`` None: for results the one that settles the verdict soonest, else `usual_order`.
    ``show_verdict``: the page may show how firm the verdict is.
    """
    words = read_utf8(guidelines or GUIDELINES)
    config = source.bench()
    label_pool = None
    if source.results is not None:
        label_pool = read_label_pool(source.results, source.top, BATCH, source.labels, reporter)
    with Context.at(config.cache, reporter, may_ask=False) as context:
        documents, questions, items = _gathered(source, config, context, label_pool)
        files = {one.doc_id: one.path for one in document_files(config) if one.path.suffix.lower() == ".pdf"}
        with PageState(source.state_path) as state:
            state.sync(questions, items, {one.doc_id: one.sha256 for one in documents})
            if not items:
                raise LabelError("There is nothing to label: everything in the pool has a grade already.")
            verdict = LiveVerdict(label_pool, state) if label_pool is not None else None
            yield make_service(
                state,
                DocumentStore(documents, context, files),
                words,
                rater,
                order or (usual_order if verdict is None else verdict.next_ids),
                verdict if show_verdict else None,
            )


def _gathered(
    source: PassageSource, config: BenchConfig, context: Context, label_pool: LabelPool | None
) -> tuple[Sequence[Document], list[PageQuestion], list[Item]]:
    if label_pool is not None:
        opened = label_pool.opened
        left = open_passages(label_pool)
        asked = {one.query_id for one in left}
        questions = [PageQuestion(name, text) for name, text in opened.questions.items() if name in asked]
        items = [_item(one, opened.documents[one.doc_id]) for one in left]
        return list(opened.documents.values()), questions, items
    if source.pool is not None:
        documents = load_documents(config, context)
        by_id = {one.doc_id: one for one in documents}
        return documents, *read_pool(source.pool, by_id, context.reporter.note)
    pooled = pool_unjudged(config, source.top, context)
    by_id = {one.doc_id: one for one in pooled.documents}
    items = [_item(one, by_id[one.doc_id]) for one in pooled.wanted]
    place = {query.query_id: number for number, query in enumerate(pooled.queries)}
    items.sort(key=lambda item: place[item.query_id])
    return pooled.documents, [PageQuestion(one.query_id, one.text) for one in pooled.queries], items


def _item(one: PassageToGrade, document: Document) -> Item:
    above = "\n".join(document.text[start:end].strip() for start, end in one.above)
    return Item.of(document, one.query_id, one.start, one.end, above=above)
