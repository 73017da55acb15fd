"""Measures of answers as a configuration names them: by kind, or as a section with the kind's keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from harness.measures import ANSWER_MEASURES, AnswerMeasureConfig
from harness.running.config.source import first_problem
from harness.values import ConfigError, quoted


def as_measures(value: Any) -> Any:
    """A list of kinds and sections as configurations; raises ValueError that says which entry is wrong."""
    if not isinstance(value, list | tuple):
        return value
    return tuple(_measure(one, place) for place, one in enumerate(value, start=1))


def _measure(value: Any, place: int) -> Any:
    if isinstance(value, AnswerMeasureConfig):
        return value
    if isinstance(value, str):
        value = {"kind": value}
    if not isinstance(value, dict) or "kind" not in value:
        raise ValueError(
            f"entry {place} must be a kind such as exact_match, or a mapping such as {{kind: token_f1}}, "
            f"not {quoted(value)}"
        )
    try:
        return ANSWER_MEASURES.find(value["kind"]).config.model_validate(value)
    except ConfigError:
        raise ValueError(ANSWER_MEASURES.unknown(value["kind"])) from None
    except ValidationError as error:
        problem = first_problem(error)
        key = ".".join(map(str, problem["loc"]))
        message = f"{key}: {problem['msg']}" if key else problem["msg"]
        raise ValueError(f"entry {place} ({value['kind']}): {message}") from None


def check_measures(measures: Sequence[AnswerMeasureConfig], answered: bool, judged: bool) -> None:
    """Raise ValueError where the measures cannot be run.

    ``answered``: some setting has an answer; ``judged``: there is a model that measures may ask.
    """
    if not measures:
        return
    if not answered:
        raise ValueError(
            "answer_measures measures answers, but no setting has answers: add a section such as "
            "`answer: {kind: extractive}`, or omit answer_measures"
        )
    names = [one.label for one in measures]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"answer_measures has {', '.join(twice)} twice: give one of them a `name`")
    asking = [one.label for one in measures if "llm" in ANSWER_MEASURES.make(one).needs]
    if asking and not judged:
        raise ValueError(
            f"{', '.join(asking)} needs a language model: configure it in `answer_judge: {{endpoint: …}}`"
        )
