"""The graded spans that every setting is scored on: labels of people, or the grades of a judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from harness.judge import PEOPLE, LabelsConfig
from harness.measures import SpanQrels
from harness.report import WHY, CostRow, JudgmentRow
from harness.running.config.models import BenchConfig, RelevanceConfig
from harness.running.context import Context
from harness.running.corpus import Corpus
from harness.running.search import Searched
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
        own = self.within(texts)
        if texts is None or not elsewhere:
            return SpanQrels.from_judgments(own)
        there = {(row.query_id, row.evidence) for row in own}
        others = (row for row in self.judgments if row.doc_id not in texts)
        return SpanQrels.from_judgments(
            [*own, *(row for row in others if (row.query_id, row.evidence) not in there)]
        )

    def clusters(self, several_texts: bool = False) -> dict[str, str]:
        """The cluster of every query: that of the query file, else the document of its evidence.

        Of several documents the one with the highest grade, then with most evidence, then the first by name;
        '' for a query without evidence. ``several_texts``: a document has several, each with its own id.
        """
        weights: dict[str, dict[str, tuple[int, int]]] = {}
        for judgment in self.judgments:
            if judgment.grade:
                own = weights.setdefault(judgment.query_id, {})
                document = document_of(judgment.doc_id) if several_texts else judgment.doc_id
                highest, characters = own.get(document, (0, 0))
                own[document] = max(highest, judgment.grade), characters + judgment.end - judgment.start
        found = {}
        for query in self.queries:
            own = weights.get(query.query_id, {})
            document = min(own, key=lambda name: (-own[name][0], -own[name][1], name), default="")
            found[query.query_id] = query.cluster or document
        return found

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


def judge_pool(searched: Sequence[Searched], corpus: Corpus, config: BenchConfig, context: Context) -> Judged:
    """Grade the union of the passages that all settings rank high, or return the grades of people.

    Raises JudgeError if the judge cannot be asked, stops at a limit, or leaves too much without a grade;
    what it has answered is in the ledger, and the next run goes on from there.
    """
    judge_config = pool_judge_config(config)
    if judge_config is None:
        return judged_by_people(corpus, config)
    # what grades is loaded only where it is asked
    from harness.running.judging.pool import judged_by_judge

    return judged_by_judge(searched, corpus, judge_config, context)


def judged_by_people(corpus: Corpus, config: BenchConfig) -> Judged:
    """The human labels as the judgments of a run."""
    # a label that two people graded names both
    names = sorted({name or PEOPLE for label in corpus.labels for name in label.judge.split(", ")})
    return Judged(
        judge=", ".join(names) or PEOPLE,
        fingerprint={"kind": "labels", "file": str(config.labels)},
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
    )


def warn_of_same_model(config: BenchConfig, context: Context) -> None:
    """Warn if a model that judges also ranks, whatever organisation prefix or case its name has."""
    judge = pool_judge_config(config)
    encoders = (one.model_name for setting in config.settings for one in setting.retrieve.encoders())
    rankers = sorted({*encoders, *(one.model_name for setting in config.settings for one in setting.rerank)})
    for model in [one.endpoint.model for one in judge.asked] if judge else []:
        if same := [name for name in rankers if _bare(name) == _bare(model)]:
            context.warn(
                "judge",
                f"The judge {model} also ranks ({', '.join(same)}): a model that grades its own ranking "
                "agrees with itself, which measures nothing. Use another judge or human labels.",
            )


def _bare(name: str) -> str:
    return name.removeprefix("embedded:").rstrip("/").rpartition("/")[2].casefold()
