"""How like the golden answer an answer is: word for word, by shared words, by the vectors of an encoder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from harness.measures.answer.measure import (
    AnswerMeasure,
    AnswerMeasureConfig,
    AnswerTools,
    Case,
    MeasureFacts,
    PlainMeasure,
    cosines,
)
from harness.measures.answer.words import words_of
from harness.values import QueryScore


class ExactMatchConfig(AnswerMeasureConfig):
    """Whether an answer is the golden one, except for case, punctuation and articles."""

    kind: Literal["exact_match"] = "exact_match"


class ExactMatch(PlainMeasure[ExactMatchConfig]):
    """1 if the words of answer and golden answer are the same, in the same order."""

    best_reference = True
    facts = MeasureFacts(
        about="whether the answer equals the golden answer, ignoring case, punctuation "
        "and the articles a, an, the",
        formula="1 if words(answer) = words(reference), else 0",
        undefined="without an answer or a golden answer",
        source="Rajpurkar et al., SQuAD, EMNLP 2016 (evaluate-v2.0.py)",
        needs=frozenset({"answer", "reference"}),
        compare="of several golden answers the best counts, as in SQuAD. Punctuation includes Chinese "
        "punctuation, as in the script of CMRC 2018.",
    )

    def one(self, case: Case) -> QueryScore:
        """1 or 0."""
        return self.score(case, float(words_of(case.answer or "") == words_of(case.reference)))


class TokenF1Config(AnswerMeasureConfig):
    """The words that an answer shares with the golden one; characters in Chinese and Japanese."""

    kind: Literal["token_f1"] = "token_f1"


class TokenF1(PlainMeasure[TokenF1Config]):
    """The harmonic mean of the shares of common words in the answer and in the golden answer."""

    best_reference = True
    facts = MeasureFacts(
        about="the words shared by the answer and the golden answer; characters in Chinese and Japanese",
        formula="2PR / (P + R); P = |common| / |answer|, R = |common| / |reference|, words counted with "
        "repetitions",
        undefined="without an answer or a golden answer",
        source="Rajpurkar et al., SQuAD, EMNLP 2016 (evaluate-v2.0.py); Cui et al., CMRC 2018, EMNLP 2019",
        needs=frozenset({"answer", "reference"}),
        compare="as for `exact_match`",
    )

    def one(self, case: Case) -> QueryScore:
        """F1 with its two parts."""
        answer, golden = words_of(case.answer or ""), words_of(case.reference)
        common = sum((Counter(answer) & Counter(golden)).values())
        precision, recall = (common / len(words) if words else 0.0 for words in (answer, golden))
        return self.score(case, f1(answer, golden, common), {"precision": precision, "recall": recall})


def f1(answer: Sequence[str], golden: Sequence[str], common: int) -> float:
    """F1 of two lists with ``common`` words in common; two empty ones agree, as in SQuAD 2.0."""
    if not answer or not golden:
        return float(tuple(answer) == tuple(golden))
    return 2 * common / (len(answer) + len(golden))


class AnswerSimilarityConfig(AnswerMeasureConfig):
    """How near an answer is to the golden one, by the vectors of an encoder."""

    kind: Literal["answer_similarity"] = "answer_similarity"


class AnswerSimilarity(AnswerMeasure[AnswerSimilarityConfig]):
    """The cosine of two vectors. It knows subjects better than facts: a wrong figure costs little."""

    best_reference = True
    facts = MeasureFacts(
        about="how similar the answer is to the golden answer, by embedding",
        formula="cos(v(answer), v(reference))",
        range="-1 to 1",
        undefined="without an answer or a golden answer, or if a vector is zero",
        source="Risch et al., Semantic answer similarity, MRQA 2021; ragas `semantic_similarity`",
        needs=frozenset({"answer", "reference", "vectors"}),
    )

    def scores(self, cases: Sequence[Case], tools: AnswerTools) -> list[QueryScore]:
        """One cosine per case; each text is embedded once."""
        found = [self.lacking(case) for case in cases]
        ready = [case for case, lack in zip(cases, found, strict=True) if not lack]
        near = iter(cosines([(case.answer or "", case.reference) for case in ready], tools))
        return [lack or self._of(case, next(near)) for case, lack in zip(cases, found, strict=True)]

    def _of(self, case: Case, value: float | None) -> QueryScore:
        return self.unscored(case, "a vector is zero") if value is None else self.score(case, value)
