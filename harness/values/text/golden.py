"""Golden answers as a cell of a table holds them: one text, or several of which any is right."""

from __future__ import annotations

import json

from harness.values.errors import CorpusError


def golden_answers(cell: str) -> tuple[str, ...]:
    """The golden answers in a cell, the first one first; none if it is blank.

    A cell that is a JSON list of texts, such as ``["14.50 crowns", "14 crowns 50"]``, holds several, of which
    each is right by itself; any other text is one golden answer as it is, ``[1, 2]`` too. Raises
    ValueError for a list that is empty or has a blank entry.
    """
    text = cell.strip()
    found = _listed(text)
    if found is None:
        return (text,) if text else ()
    if not found or not all(one.strip() for one in found):
        raise ValueError(f"golden answers {text[:60]} have a blank entry, or none at all")
    return tuple(dict.fromkeys(one.strip() for one in found))


def golden_of_query(query_id: str, cell: str) -> tuple[str, ...]:
    """``golden_answers`` of a query, from its column answer; raises CorpusError for a bad list."""
    try:
        return golden_answers(cell)
    except ValueError as error:
        raise CorpusError(f"Query {query_id}, column answer: {error}.") from error


def _listed(text: str) -> list[str] | None:
    if not text.startswith("["):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, list) and all(isinstance(one, str) for one in found) else None


def golden_cell(answers: tuple[str, ...]) -> str:
    """The cell that holds these golden answers; '' for none.

    One that looks like a list of texts is written as a list of one, so that ``golden_answers`` gives it back.
    """
    if len(answers) == 1 and _listed(answers[0].strip()) is None:
        return answers[0]
    return json.dumps(answers, ensure_ascii=False) if answers else ""
