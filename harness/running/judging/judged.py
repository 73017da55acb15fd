"""The graded spans that every setting is scored on: labels of people, or the grades of a judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from harness.comparison import sentence_of
from harness.judge import PEOPLE, LabelsConfig
from harness.measures import SpanQrels
from harness.models import EMBEDDED
from harness.report import WHY, CostRow, JudgmentRow
from harness.running.config.models import BenchConfig
from harness.running.config.relevance import RelevanceConfig
from harness.running.corpus import Corpus
from harness.running.judging.label_kind import label_kind
from harness.running.notes import RunNotes
from harness.values import Document, Judgment, Query, document_of

if TYPE_CHECKING:
    from harness.judge import PoolJudgeConfig


@dataclass(frozen=True, slots=True)
class Judged:
    """The judgments that all settings are scored on, and how they came about.

    ``failed`` are the queries with text that the judge could not grade; ``spent`` what this run asked and
    paid; ``rows`` also hold human labels that are only shown next to a judge's. A judge's judgments and rows
    are made when they are read.
    """

    judge: str
    fingerprint: dict[str, Any]
    judgments: Sequence[Judgment]
    rows: Sequence[JudgmentRow]
    failed: frozenset[str]
    costs: list[CostRow]
    spent: dict[str, Any]


@dataclass(frozen=True, slots=True)
class GradedQueries:
    """Queries as their file has them, the judgments they are scored on, and the rules of relevance."""

    queries: Sequence[Query]
    judgments: Sequence[Judgment]
    relevance: RelevanceConfig

    def to_score(self) -> tuple[Query, ...]:
        """The queries, those that no text answers to the grade ``answerable_from`` marked as unanswerable."""
        least = self.relevance.answerable_from
        answered = {judgment.query_id for judgment in self.judgments if (judgment.grade or 0) >= least}
        return tuple(
            query if query.query_id in answered else replace(query, answerable=False)
            for query in self.queries
        )

    def within(self, texts: Collection[str] | None) -> Sequence[Judgment]:
        """The judgments of the texts that one of several parsers made; all for None, with one parser."""
        return self.judgments if texts is None else [row for row in self.judgments if row.doc_id in texts]

    def spans(self, texts: Collection[str] | None, *, elsewhere: bool = False) -> SpanQrels:
        """The judged spans ``within`` texts; with ``elsewhere`` also those of evidence that is not in them.

        The latter are where other parsers have found that evidence; with one parser there are none.
        """
        spans = self.within(texts)
        if texts is None or not elsewhere:
            return SpanQrels.from_judgments(spans)
        there = {(row.query_id, row.evidence) for row in spans}
        others = (row for row in self.judgments if row.doc_id not in texts)
        return SpanQrels.from_judgments(
            [*spans, *(row for row in others if (row.query_id, row.evidence) not in there)]
        )

    def clusters(self, several_texts: bool = False) -> dict[str, str]:
        """The cluster of every query: that of the query file, else the document of its evidence.

        Of several documents the one with the highest grade, then with most evidence, then the first by name;
        '' for a query without evidence. ``several_texts``: a document has several, each with its own id.
        """
        weights: dict[str, dict[str, tuple[int, int]]] = {}
        for judgment in self.judgments:
            if judgment.grade:
                weight_of = weights.setdefault(judgment.query_id, {})
                document = document_of(judgment.doc_id) if several_texts else judgment.doc_id
                highest, characters = weight_of.get(document, (0, 0))
                weight_of[document] = max(highest, judgment.grade), characters + judgment.end - judgment.start
        clusters = {}
        for query in self.queries:
            weight_of = weights.get(query.query_id, {})
            document = min(
                weight_of, key=lambda name: (-weight_of[name][0], -weight_of[name][1], name), default=""
            )
            clusters[query.query_id] = query.cluster or document
        return clusters

    def reasons(self) -> dict[str, str]:
        """The reason for every query, should it have no relevant text."""
        graded = {judgment.query_id for judgment in self.judgments if judgment.grade is not None}
        return {
            query.query_id: "unanswerable"
            if not query.answerable
            else "irrelevant"
            if query.query_id in graded
            else "ungraded"
            for query in self.queries
        }

    def left_out(self) -> dict[str, int]:
        """How many queries means leave out for each reason; none where they count as zero."""
        why = self.reasons()
        without = Counter(why[query.query_id] for query in self.to_score() if not query.answerable)
        return {name: without[name] if self.relevance.unanswerable == "exclude" else 0 for name in WHY}


def pool_judge_config(config: BenchConfig) -> PoolJudgeConfig | None:
    """The judge's configuration, or None if people have judged."""
    judge = config.relevance.judge
    return None if isinstance(judge, LabelsConfig) else cast("PoolJudgeConfig", judge)


def judged_by_people(corpus: Corpus, config: BenchConfig) -> Judged:
    """The human labels as the judgments of a run."""
    # a label that two people graded names both
    kind = label_kind(corpus, config)
    names = sorted({name or PEOPLE for label in corpus.labels for name in label.judge.split(", ")})
    return Judged(
        judge=", ".join(names) or PEOPLE,
        fingerprint={
            "kind": "labels",
            "file": str(config.labels),
            "labels": kind.kind,
            "labels_assumed": bool(kind.why),
        },
        judgments=corpus.labels,
        rows=label_rows(corpus, scored_on=True),
        failed=frozenset(),
        costs=[],
        spent={},
    )


def label_rows(corpus: Corpus, *, scored_on: bool) -> list[JudgmentRow]:
    """The rows of the labels of people."""
    documents = {document.doc_id: document for document in corpus.documents}
    return [judgment_row(label, documents[label.doc_id], scored_on=scored_on) for label in corpus.labels]


def judgment_row(
    judgment: Judgment,
    document: Document,
    *,
    scored_on: bool,
    reason: str = "not graded",
    samples: str = "",
    spread: int = 0,
    cost: float | None = None,
    explanation: str = "",
) -> JudgmentRow:
    """One row of the table of judgments; ``reason`` is where there is no grade."""
    return JudgmentRow(
        query_id=judgment.query_id,
        document=judgment.doc_id,
        start=judgment.start,
        end=judgment.end,
        page=document.page_of(judgment.start),
        evidence=judgment.evidence,
        answer="-".join(map(str, judgment.answer or ())),
        grade=judgment.grade,
        reason="" if judgment.grade is not None else reason,
        judge=judgment.judge,
        scored_on=scored_on,
        samples=samples,
        spread=spread,
        cost=cost,
        text=document.text[judgment.start : judgment.end],
        explanation=explanation,
    )


def rankers_that_judge(config: BenchConfig) -> dict[str, list[str]]:
    """Each model that judges and also ranks, with the names under which settings rank by it.

    Organisation prefix and case of a name do not matter.
    """
    judge = pool_judge_config(config)
    rankers = sorted({name for setting in config.settings for name in setting.model_names})
    judging = judge.model_names if judge else ()
    same = {model: [name for name in rankers if _same_weights(name, model)] for model in judging}
    return {model: names for model, names in same.items() if names}


def warn_of_same_model(config: BenchConfig, notes: RunNotes) -> None:
    """Warn if a model that judges also ranks."""
    for model, names in rankers_that_judge(config).items():
        notes.warn(sentence_of("judge.same", model=model, rankers=", ".join(names)))


def _same_weights(name: str, other: str) -> bool:
    """Whether two names are those of one model, or of two uses of the same embedded weights."""
    if name in EMBEDDED and other in EMBEDDED:
        return EMBEDDED[name][:2] == EMBEDDED[other][:2]
    return _bare(name) == _bare(other)


def _bare(name: str) -> str:
    return name.removeprefix("embedded:").rstrip("/").rpartition("/")[2].casefold()
