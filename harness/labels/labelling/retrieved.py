"""What settings retrieved: unjudged passages, those to grade next, and how firm the verdict is so far."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.data import AnchorConfig
from harness.labels.labelling.grading import known_labels, read_skips
from harness.labels.labelling.passages import (
    Grades,
    PassageToGrade,
    Retrieved,
    covers,
    passages_to_grade,
    unjudged_passages,
)
from harness.labels.labelling.rows import holds_rows
from harness.labels.labelling.sheet import sheet_rows
from harness.labels.ordering.draws import ByVerdict
from harness.labels.ordering.firmness import firmness
from harness.labels.ordering.grades import mean_scores
from harness.labels.ordering.pool import PoolItem
from harness.report import ByLabels, RankedRow, cells_of, read_any, read_chunk_offsets, read_result
from harness.running import (
    BenchConfig,
    Context,
    Setting,
    cut_for_all,
    load_corpus,
    load_documents,
    search_settings,
)
from harness.steps import PendingCallsError
from harness.values import ConfigError, Document, HarnessError, Judgment, LabelError, Reporter, Span

_OF_DOCUMENTS = ("documents", "parsing", "on_bad_document", "queries", "labels", "cache", "name", "anchor")


@dataclass(frozen=True, slots=True)
class OpenedResults:
    """A folder of results with its documents, read again and found to be those it was made of."""

    folder: Path
    record: dict[str, Any]
    documents: dict[str, Document]
    # the text of every query by its id
    questions: dict[str, str]
    answerable: set[str]

    @property
    def judge(self) -> str:
        """The kind of the judge."""
        relevance = self.record["config"].get("relevance", {})
        return str(relevance.get("judge", {}).get("kind", "labels"))

    def retrieved(self, top: int, only_unjudged: bool = False) -> Iterator[Retrieved]:
        """The chunks among the first ``top`` of every setting's last step, or the unjudged ones."""
        read = read_chunk_offsets(self.folder)
        chunks = {setting: {one.chunk_id: one for one in own} for setting, own in read.items()}
        rows = read_any(self.folder, RankedRow)
        # rows are in the order of the steps
        last = {row.setting: row.stage for row in rows}
        return (
            Retrieved(row.setting, row.query_id, row.rank, chunks[row.setting][row.chunk_id])
            for row in rows
            if row.stage == last[row.setting]
            and row.rank <= top
            and not (only_unjudged and row.grade is not None)
            and row.query_id in self.answerable
            and row.chunk_id in chunks[row.setting]
        )

    def grades(self) -> Grades:
        """The grades that the settings were scored on."""
        return Grades(
            Judgment(
                *(row["query_id"], row["document"], int(row["start"]), int(row["end"]), int(row["grade"]))
            )
            for row in cells_of(self.folder, "judgments")
            if row["grade"] and row["scored_on"] == "yes"
        )


def open_results(folder: Path, reporter: Reporter) -> OpenedResults:
    """Read a folder of results and its documents, from the cache where they are known.

    Raises HarnessError if their text is not what the results were made of.
    """
    result = read_result(folder)
    documents = documents_of(config_of(result.record), reporter)
    now = {name: document.sha256 for name, document in documents.items()}
    other = [name for name, sha in result.texts.items() if now.get(name) != sha]
    if other:
        raise HarnessError(
            f"{folder} was made of other texts: {', '.join(other[:5])} changed since, or are not found from "
            "this folder. Run the benchmark again."
        )
    queries = cells_of(folder, "queries")
    answerable = {row["query_id"] for row in queries if row["answerable"] == "yes"}
    questions = {row["query_id"]: row["text"] for row in queries}
    return OpenedResults(folder, result.record, documents, questions, answerable)


def documents_of(config: BenchConfig, reporter: Reporter) -> dict[str, Document]:
    """The documents of a configuration by id; none that is known is read again."""
    with Context.at(config.cache, reporter, may_ask=False) as context:
        return {one.doc_id: one for one in load_documents(config, context)}


def labels_of(folder: Path, record: Mapping[str, Any], labels: Path | None) -> Path:
    """``labels``, or the file of labels of the configuration; raises ConfigError if there is none."""
    path = labels or record["config"].get("labels")
    if path is None:
        raise ConfigError(
            f"{folder} was scored without labels. Name the file that people's grades go into: --labels."
        )
    return Path(path)


def config_of(record: dict[str, Any]) -> BenchConfig:
    """The part of the configuration of a run that concerns its documents."""
    fields = {name: record["config"][name] for name in _OF_DOCUMENTS if name in record["config"]}
    # a configuration takes labels, also where a language model has judged; they are not read here
    fields["labels"] = fields.get("labels") or fields["queries"]
    parsers = [one["parse"] for one in record["config"]["settings"]]
    if any(one != parsers[0] for one in parsers):
        raise HarnessError(
            "These results compare several parsers, and what is unjudged in one text is not in another. Run "
            "the benchmark with one parser and label that: quotes are then found in every text."
        )
    config = BenchConfig.of_documents(**fields)
    setting = Setting.model_validate({**dict(config.settings[0]), "parse": parsers[0]})
    return config.model_copy(update={"settings": (setting,)})


@dataclass(frozen=True, slots=True)
class Sheet:
    """Passages to grade, as rows; ``unanswerable`` queries were left out, ``judge`` graded the results."""

    rows: list[dict[str, Any]]
    unanswerable: int
    judge: str


def sheet_of(folder: Path, top: int, reporter: Reporter) -> Sheet:
    """The unjudged among the first ``top`` of all settings of a folder of results."""
    opened = open_results(folder, reporter)
    wanted = unjudged_passages(opened.retrieved(top, only_unjudged=True), opened.documents, opened.grades())
    unanswerable = len(opened.questions) - len(opened.answerable)
    return Sheet(sheet_rows(wanted, opened.questions), unanswerable, opened.judge)


def pool_unjudged(
    config: BenchConfig, top: int, context: Context
) -> tuple[Sequence[Document], dict[str, str], list[PassageToGrade]]:
    """The documents and answerable queries of a configuration, and what of the first ``top`` is unjudged.

    All settings are searched, up to their last step, and none is scored. The label file need not be there
    yet. Language models and endpoints are not called: raises LabelError if a setting needs an answer that is
    not cached.
    """
    there = config.labels is not None and holds_rows(config.labels)
    corpus = load_corpus(config if there else config.model_copy(update={"labels": None}), context)
    try:
        points = cut_for_all(config.settings, corpus, context)
        searched = search_settings(points, corpus.queries.queries, context)
    except PendingCallsError as error:
        raise LabelError(
            f"Labelling asks no language model and no endpoint. {error} Run harness bench first, or leave "
            "such settings out of the configuration."
        ) from error
    questions = {query.query_id: query.text for query in corpus.queries.queries if query.answerable}
    graded = Grades(corpus.labels)

    def unjudged() -> Iterator[Retrieved]:
        for one in searched:
            chunks = {chunk.chunk_id: chunk for chunk in one.chunking.chunks}
            for ranking in one.rankings[one.steps[-1]]:
                for rank, name in enumerate(ranking.chunk_ids[:top], 1):
                    chunk, query_id = chunks[name], ranking.query_id
                    known = graded.at(query_id, chunk.doc_id, (chunk.start, chunk.end))
                    if query_id in questions and known is None:
                        yield Retrieved(one.setting.name, query_id, rank, chunk)

    documents = {document.doc_id: document for document in corpus.documents}
    return corpus.documents, questions, unjudged_passages(unjudged(), documents, graded)


@dataclass(frozen=True, slots=True)
class LabelPool:
    """The passages of all settings, ``wanted`` for each of ``items``, and the ``order`` to label them in."""

    opened: OpenedResults
    wanted: tuple[PassageToGrade, ...]
    items: tuple[PoolItem, ...]
    order: ByVerdict
    # the grades of the labels file
    people: tuple[Judgment, ...]
    # the names of the passages that people have set aside
    skipped: frozenset[str]
    # the language model whose grades are corrected, '' for none
    judge: str

    def graded(self, more: Iterable[Judgment] = ()) -> dict[str, int]:
        """The grade of every item that the labels file, or ``more``, covers by half of either."""
        grades = Grades((*self.people, *more))
        return {one.name: grade for one in self.wanted if (grade := grades.of(one)) is not None}

    def next_names(self, more: Iterable[Judgment] = (), skipped: frozenset[str] = frozenset()) -> list[str]:
        """The names of the passages to label next, by what is graded and skipped."""
        return self.order.order(self.items, self.graded(more), self.skipped | skipped)


def next_labels(
    folder: Path, top: int, count: int, labels: Path | None, reporter: Reporter
) -> tuple[list[dict[str, Any]], ByLabels]:
    """The next ``count`` passages among the first ``top`` of all settings, and how firm the verdict is.

    The passages are the rows of a sheet, in the order of labelling. ``labels`` is the file of labels, by
    default that of the configuration. A passage is graded where a label covers half of either. Raises
    ConfigError if there is no file of labels to go by.
    """
    label_pool = read_label_pool(folder, top, count, labels, reporter)
    by_name = {one.name: one for one in label_pool.wanted}
    wanted = [by_name[name] for name in label_pool.next_names()]
    return sheet_rows(wanted, label_pool.opened.questions), by_labels(label_pool)[0]


def read_label_pool(folder: Path, top: int, count: int, labels: Path | None, reporter: Reporter) -> LabelPool:
    """Read results and labels: passages among the first ``top`` of all settings, to draw ``count`` at a time.

    ``labels`` is the file of labels, by default that of the configuration. Raises ConfigError if there
    is no file of labels to go by.
    """
    opened = open_results(folder, reporter)
    config = opened.record["config"]
    path = labels_of(folder, opened.record, labels)
    anchor = AnchorConfig.model_validate(config.get("anchor", {}))
    people = known_labels(path, opened.documents, anchor, reporter.note)
    by_model = opened.judge != "labels"
    judge_grades = opened.grades() if by_model else Grades(())
    wanted = passages_to_grade(opened.retrieved(top), opened.documents, _matching_passages)
    items = [PoolItem(one.name, one.query_id, one.ranks, judge_grades.of(one)) for one in wanted]
    settings = {name for item in items for name in item.ranks}
    names = tuple(one["name"] for one in config["settings"] if one["name"] in settings)
    order = ByVerdict(names, path.with_suffix(".order.json"), k=top, batch=count)
    skipped = frozenset(PassageToGrade(*key).name for key in read_skips(path))
    record = opened.record.get("judge", {})
    judge = str(record.get("model") or record.get("name") or "the judge") if by_model else ""
    return LabelPool(opened, tuple(wanted), tuple(items), order, tuple(people.values()), skipped, judge)


def _matching_passages(row: Retrieved, inside: Span, near: Sequence[Span]) -> Sequence[Span]:
    """The passages that share half of either with the chunk; the chunk itself where there is none."""
    return [span for span in near if covers(inside, span)] or [inside]


def by_labels(
    label_pool: LabelPool, more: Iterable[Judgment] = (), skipped: frozenset[str] = frozenset()
) -> tuple[ByLabels, bool]:
    """The verdict by the labels file and by ``more`` grades that are not in it yet; whether to stop.

    It is as the terminal and the pages show it.
    """
    graded, skipped = label_pool.graded(more), label_pool.skipped | skipped
    order = label_pool.order
    firm = firmness(order.estimate(label_pool.items, graded, skipped))
    alone: Mapping[str, float] = {}
    if label_pool.judge and all(item.judge is not None for item in label_pool.items):
        pool = order.pool(label_pool.items)
        alone = dict(zip(pool.settings, mean_scores(pool, pool.judge.astype(int)).tolist(), strict=True))
    none = "–"
    means = tuple(
        (
            name,
            f"{span.value:.3f}" if firm.known else none,
            none if span.low is None or span.high is None else f"[{span.low:.3f}, {span.high:.3f}]",
            f"{alone[name]:.3f}" if name in alone else none,
        )
        for name, span in firm.means
    )
    further = tuple(
        (
            f"+{one.labels}",
            f"±{one.half_by_labels:.3f}",
            none if one.half_by_queries is None else f"±{one.half_by_queries:.3f}",
        )
        for one in firm.further
    )
    *lines, last = firm.sentences()
    if label_pool.judge and firm.known:
        lines.append(
            f"The grades of {label_pool.judge} are corrected by {firm.graded:,} of people, so that its "
            "mistakes are not in these means."
        )
    if further:
        listed = ", ".join(f"{labels} to {now}" for labels, now, _ in further)
        lines.append(f"More labels bring the half-width on these queries {listed}.")
    shown = ByLabels(f"passage NDCG@{order.k}", label_pool.judge, (*lines, last), means, further)
    return shown, firm.stop
