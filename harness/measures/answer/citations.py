"""Citations: the passages that an answer cites, against the labelled evidence in what was read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from harness.measures.answer.answer_measure import AnswerMeasure, Case, MeasureFacts
from harness.measures.projection import Projection, Rule
from harness.values import Chunk, Judgment, QueryScore

Fact = tuple[str, str, int, int]


def fact_of(judgment: Judgment) -> Fact:
    """The fact of a span: copies that share an evidence name state one fact, others one each."""
    if judgment.evidence:
        return (judgment.evidence, "", 0, 0)
    return ("", judgment.doc_id, judgment.start, judgment.end)


def facts_of(case: Case, rel: int) -> frozenset[Fact]:
    """All facts of grade ``rel`` or higher that are labelled for the query."""
    return frozenset(map(fact_of, _relevant(case.judgments, rel)))


def holdings(case: Case, rel: int, projection: Projection) -> list[frozenset[Fact] | None]:
    """The relevant facts in each passage, in the order read; None where nothing about it is judged.

    A passage holds a span as a chunk covers it in NDCG (``projection``). Where the label names the words that
    answer, it must hold all of those instead, as in ``ndcg_evidence``. A span whose judgment failed says
    nothing about a passage.
    """
    scored = [judgment for judgment in case.judgments if judgment.grade is not None]
    covered = (
        [judgment for judgment in scored if holds(passage, judgment, projection)] for passage in case.passages
    )
    return [frozenset(map(fact_of, _relevant(held, rel))) if held else None for held in covered]


def holds(passage: Chunk, judgment: Judgment, projection: Projection) -> bool:
    """Whether a passage shows a span."""
    if passage.doc_id != judgment.doc_id:
        return False
    if judgment.answer is not None:
        start, end = judgment.answer
        return _shared(passage, start, end) == end - start
    shared = _shared(passage, judgment.start, judgment.end)
    if not shared:
        return False
    span_length, passage_length = (
        judgment.end - judgment.start,
        sum(end - start for start, end in passage.spans),
    )
    covered = projection.covers(*(np.array([length]) for length in (shared, span_length, passage_length)))
    return bool(covered[0])


def _relevant(judgments: Iterable[Judgment], rel: int) -> Iterable[Judgment]:
    return (judgment for judgment in judgments if judgment.grade is not None and judgment.grade >= rel)


def _shared(passage: Chunk, start: int, end: int) -> int:
    """The characters of a range that a passage shows; its spans lie apart from each other."""
    return sum(max(0, min(end, last) - max(start, first)) for first, last in passage.spans)


class CitationMeasure(AnswerMeasure):
    """Base of the measures of citations."""

    rel: int = Field(1, ge=1, le=4, description="The lowest grade of a span that counts as evidence.")
    rule: Rule = Field(
        "half_of_span_or_chunk",
        description="When a passage holds a labelled span: that of `measures.projection`; where the label "
        "names the words that answer, the passage must hold all of them.",
    )


class CitationPrecision(CitationMeasure):
    """How many of the passages that an answer cites hold labelled evidence; no language model is asked.

    One that is not judged earns nothing, as in NDCG; the details have the share that is judged.
    """

    gone: ClassVar = {"unjudged": "this key was removed: an unjudged passage earns nothing, as in NDCG."}
    kind: Literal["citation_precision"] = "citation_precision"
    facts: ClassVar = MeasureFacts(
        about="the share of cited passages that contain labelled evidence",
        formula="|{p cited: p holds a span of grade ≥ rel}| / |{p cited}|",
        undefined="where nothing is cited, or no evidence is labelled for the query",
        source="the definition of Gao et al., Enabling large language models to generate text with "
        "citations, EMNLP 2023, with labelled spans in place of a model of entailment",
        needs=frozenset({"answer", "passages", "labels"}),
    )

    def score_case(self, case: Case) -> QueryScore:
        """The share, and how many of the cited passages are judged."""
        if not facts_of(case, self.rel):
            return self.unscored(case, "no evidence is labelled")
        cited = sorted(set(case.cited))
        if not cited:
            return self.unscored(case, "nothing is cited")
        held = holdings(case, self.rel, Projection(self.rule))
        judged = [place for place in cited if held[place] is not None]
        good = [place for place in cited if held[place]]
        details = {"cited": cited, "with_evidence": good, "judged": len(judged) / len(cited)}
        return self.score(case, len(good) / len(cited), details)


class CitationRecall(CitationMeasure):
    """How much of the labelled evidence an answer cites; no language model is asked."""

    kind: Literal["citation_recall"] = "citation_recall"
    of: Literal["read", "all"] = Field(
        "read",
        description="Of the evidence in the passages that were read, which is what an answer can cite; or "
        "of `all` evidence of the query, which also counts what retrieval has missed.",
    )
    facts: ClassVar = MeasureFacts(
        about="the share of the labelled facts in the passages read that the answer cites",
        formula="|facts held by cited passages| / |facts held by the passages read|; with `of: all` / |facts "
        "labelled for the query|. Spans with one evidence name are one fact",
        undefined="where no evidence is labelled for the query, or none of it was read (with `of: read`)",
        source="as `citation_precision`; facts as in `recall`",
        needs=frozenset({"answer", "passages", "labels"}),
    )

    def score_case(self, case: Case) -> QueryScore:
        """The share, with the numbers behind it."""
        labelled = facts_of(case, self.rel)
        if not labelled:
            return self.unscored(case, "no evidence is labelled")
        held = holdings(case, self.rel, Projection(self.rule))
        read = frozenset().union(*filter(None, held))
        cited = frozenset().union(*(held[place] or () for place in set(case.cited)))
        details = {"facts_cited": len(cited), "facts_read": len(read), "facts_labelled": len(labelled)}
        most = read if self.of == "read" else labelled
        if not most:
            return self.unscored(case, "no labelled evidence was read", details)
        return self.score(case, len(cited) / len(most), details)
