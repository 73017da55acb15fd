"""What a measure must give the canaries, as its definition says: a range of values for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.answer.measure import AnswerMeasure
from harness.answer.measures.answer_correctness import AnswerCorrectness
from harness.answer.measures.context_precision import ContextPrecision

Range = tuple[float, float]
# Room for a statement that a model parts in two, or leaves out.
_ALL, _HALF, _NONE = (0.9, 1.0), (0.25, 0.85), (-1.0, 0.1)

_GOLDEN, _FIGURE, _OTHER = "golden answer", "figure changed", "answer to another question"
_NONCOMMITTAL, _INVENTED, _ELSEWHERE = (
    "noncommittal",
    "invented sentence added",
    "passages on another subject",
)

_BY_KIND: Mapping[str, Mapping[str, Range]] = {
    # of two statements one follows
    "faithfulness": {_GOLDEN: _ALL, _FIGURE: _NONE, _OTHER: _NONE, _INVENTED: _HALF, _ELSEWHERE: _NONE},
    # questions that are generated come near the one asked, and 0 is the definition of noncommittal
    "answer_relevancy": {_GOLDEN: (0.5, 1.0), _OTHER: (-1.0, 0.5), _NONCOMMITTAL: _NONE},
    "context_recall": {_GOLDEN: _ALL, _ELSEWHERE: _NONE},
    "context_relevance": {_GOLDEN: _ALL, _ELSEWHERE: _NONE},
    "context_entity_recall": {_GOLDEN: (0.5, 1.0), _ELSEWHERE: (0.0, 0.5)},
    # nothing in the golden answer is wrong
    "noise_sensitivity": {_GOLDEN: _NONE},
    # every question has an answer: 1 where it is not refused
    "refusal": {_GOLDEN: _ALL, _FIGURE: _ALL, _NONCOMMITTAL: _NONE},
}


def expected_of(measure: AnswerMeasure[Any]) -> dict[str, Range]:
    """The range that the mean over the topics must lie in, by variant; variants without one are not known.

    A criterion of the user's own has no known values: it may only not be talked over (see ``ATTACKS``).
    """
    if isinstance(measure, AnswerCorrectness):
        return _correctness(measure)
    if isinstance(measure, ContextPrecision) and measure.config.against == "reference":
        return {_GOLDEN: _ALL, _ELSEWHERE: _NONE}
    if measure.config.kind == "refusal" and measure.config.of != "all":
        return {}
    return dict(_BY_KIND.get(measure.config.kind, {}))


def _correctness(measure: AnswerCorrectness) -> dict[str, Range]:
    """F1 of the statements is 1, 0 or 2/3 by construction; similarity, at most 1, is not known but there."""
    c = measure.config
    total = c.statements_weight + c.similarity_weight
    share, rest = c.statements_weight / total, c.similarity_weight / total
    nothing = (-rest, 0.1 * share + rest)
    # one right statement of two, none missing: 1 / (1 + 1/2); one that is parted in two moves it
    half = (share * 0.4 - rest, share * 0.85 + rest)
    return {
        _GOLDEN: (0.9, 1.0),
        _FIGURE: nothing,
        _OTHER: nothing,
        _NONCOMMITTAL: nothing,
        _INVENTED: half,
    }
