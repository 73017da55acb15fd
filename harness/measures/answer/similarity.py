"""How like the golden answer an answer is: by words, by vectors of an encoder, or by a cross-encoder."""

from __future__ import annotations

import re
import string
from collections import Counter
from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from harness.measures.answer import answer_measure
from harness.models import RerankEndpoint
from harness.values import WIDE, QueryScore

_ARTICLES = re.compile(r"\b(a|an|the)\b")
# ASCII as in SQuAD; the others as in the script of CMRC 2018, which does for Chinese what SQuAD's does.
_PUNCTUATION = str.maketrans("", "", string.punctuation + "，。：？！“”；‘’《》…·、「」（）－～『』【】")
_TOKEN = re.compile(rf"[{WIDE}]|[^\s{WIDE}]+")


def words_of(text: str) -> tuple[str, ...]:
    """Lower case, without punctuation and the articles a, an, the; split at blanks, wide text everywhere.

    Rajpurkar et al., EMNLP 2016, evaluate-v2.0.py; Cui et al., A span-extraction dataset for Chinese machine
    reading comprehension, EMNLP 2019, for characters.
    """
    plain = text.lower().translate(_PUNCTUATION)
    return tuple(_TOKEN.findall(_ARTICLES.sub(" ", plain)))


class ExactMatch(answer_measure.AnswerMeasure):
    """Whether an answer is the golden one, except for case, punctuation and articles."""

    kind: Literal["exact_match"] = "exact_match"
    best_reference: ClassVar = True
    facts: ClassVar = answer_measure.MeasureFacts(
        about="whether the answer equals the golden answer, ignoring case, punctuation "
        "and the articles a, an, the",
        formula="1 if words(answer) = words(reference), else 0",
        undefined="without an answer or a golden answer",
        source="Rajpurkar et al., SQuAD, EMNLP 2016 (evaluate-v2.0.py)",
        needs=frozenset({"answer", "reference"}),
        compare="of several golden answers the best counts, as in SQuAD. Punctuation includes Chinese "
        "punctuation, as in the script of CMRC 2018.",
    )

    def score_case(self, case: answer_measure.Case) -> QueryScore:
        """1 or 0."""
        return self.score(case, float(words_of(case.answer or "") == words_of(case.reference)))


class TokenF1(answer_measure.AnswerMeasure):
    """The words that an answer shares with the golden one; characters in Chinese and Japanese."""

    kind: Literal["token_f1"] = "token_f1"
    best_reference: ClassVar = True
    facts: ClassVar = answer_measure.MeasureFacts(
        about="the words shared by the answer and the golden answer; characters in Chinese and Japanese",
        formula="2PR / (P + R); P = |common| / |answer|, R = |common| / |reference|, words counted with "
        "repetitions",
        undefined="without an answer or a golden answer",
        source="Rajpurkar et al., SQuAD, EMNLP 2016 (evaluate-v2.0.py); Cui et al., CMRC 2018, EMNLP 2019",
        needs=frozenset({"answer", "reference"}),
        compare="as for `exact_match`",
    )

    def score_case(self, case: answer_measure.Case) -> QueryScore:
        """F1 with its two parts; two answers without words agree, as in SQuAD 2.0."""
        answer, golden = words_of(case.answer or ""), words_of(case.reference)
        common = sum((Counter(answer) & Counter(golden)).values())
        precision, recall = (common / len(words) if words else 0.0 for words in (answer, golden))
        words = len(answer) + len(golden)
        f1 = 2 * common / words if words else 1.0
        return self.score(case, f1, {"precision": precision, "recall": recall})


class AnswerSimilarity(answer_measure.AnswerMeasure):
    """How near an answer is to the golden one, by a model that reads both.

    It knows subjects better than facts: a wrong figure costs little.
    """

    kind: Literal["answer_similarity"] = "answer_similarity"
    by: Literal["cosine", "cross_encoder"] = Field(
        "cosine",
        description="The cosine of two vectors of `answer_embedding`, or the score of a cross-encoder that "
        "reads the answer and then the golden answer.",
    )
    model: str | None = Field(
        None,
        description="With `by: cross_encoder`: a hub id or a local folder, such as "
        "`cross-encoder/stsb-roberta-base`, or in Chinese one trained on Chinese similarity.",
    )
    endpoint: RerankEndpoint | None = Field(
        None,
        description="With `by: cross_encoder`, instead of `model`: an endpoint, with the keys of `rerank: "
        "{kind: endpoint}`.",
    )
    best_reference: ClassVar = True
    facts: ClassVar = answer_measure.MeasureFacts(
        about="how similar the answer is to the golden answer, by embedding or by a cross-encoder",
        formula="cos(v(answer), v(reference)); with `by: cross_encoder` s(answer, reference), which is what "
        "the model gives after its own activation, as `CrossEncoder.predict` of sentence-transformers: for "
        "one output the sigmoid of the logit, unless the model's configuration names another",
        range="-1 to 1; with a cross-encoder 0 to 1 after a sigmoid, or any number for one that gives "
        "logits, such as `cross-encoder/ms-marco-MiniLM-L-6-v2`",
        undefined="without an answer or a golden answer, or if a vector is zero",
        source="Risch et al., Semantic answer similarity, MRQA 2021; ragas `semantic_similarity`",
        needs=frozenset({"answer", "reference", "vectors"}),
        compare="ragas 0.4.3 recognises a cross-encoder and then raises NotImplementedError, so its values "
        "are those of the cosine alone. `SASEvaluator` of Haystack 3.4 gives the scores of `by: "
        "cross_encoder`, but puts all of them through a sigmoid where any is above 1; here logits stay "
        "logits",
    )

    @model_validator(mode="after")
    def _names_one_model(self) -> Self:
        named = [name for name in ("model", "endpoint") if getattr(self, name)]
        if self.by == "cosine" and named:
            raise ValueError(
                f"{named[0]} is for by: cross_encoder; the encoder of by: cosine is answer_embedding"
            )
        if self.by == "cross_encoder" and len(named) != 1:
            raise ValueError(
                "by: cross_encoder needs a model (such as cross-encoder/stsb-roberta-base) or an endpoint, "
                f"and {'not both' if named else 'neither is named'}"
            )
        return self

    @property
    def needs(self) -> frozenset[answer_measure.Need]:
        """No vectors where a cross-encoder reads both texts."""
        return self.facts.needs if self.by == "cosine" else self.facts.needs - {"vectors"}

    @property
    def pair_model(self) -> answer_measure.PairModel | None:
        """The cross-encoder."""
        return (self.endpoint or self.model) if self.by == "cross_encoder" else None

    def score_case(self, case: answer_measure.Case) -> answer_measure.Scoring:
        """One cosine or score."""
        (score,) = yield answer_measure.TextPairs(((case.answer or "", case.reference),))
        return self.unscored(case, "a vector is zero") if score is None else self.score(case, score)
