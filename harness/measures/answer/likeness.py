"""How like the golden answer an answer is, by its words: all of them, or those that both share."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence
from typing import ClassVar, Literal

from harness.measures.answer.measure import AnswerMeasure, Case, MeasureFacts
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


class ExactMatch(AnswerMeasure):
    """Whether an answer is the golden one, except for case, punctuation and articles."""

    kind: Literal["exact_match"] = "exact_match"
    best_reference: ClassVar = True
    facts: ClassVar = MeasureFacts(
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


class TokenF1(AnswerMeasure):
    """The words that an answer shares with the golden one; characters in Chinese and Japanese."""

    kind: Literal["token_f1"] = "token_f1"
    best_reference: ClassVar = True
    facts: ClassVar = MeasureFacts(
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
