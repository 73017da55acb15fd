"""How ties, missing queries and the ideal are treated: the rules of other tools, by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Convention:
    """One set of rules for scoring ranked documents against judged ones.

    ``order``: by the rank column (by score where there is none, ties in the order given); by score in any
    case, ties in the order given; by score, ties by document id descending, scores in single precision as
    trec_eval stores them; by score, ties averaged.
    ``missing``: a judged query without a ranking scores 0 or drops out. ``unanswerable``: a query with
    nothing relevant has no value or 0. ``ideal``: drawn from all judged documents, or from those retrieved
    only. ``skip_same_id``: a document with the id of the query is taken out of its ranking.
    """

    name: str
    order: Literal["given", "score_ties_given", "score_then_id_descending", "score_ties_averaged"] = (
        "score_then_id_descending"
    )
    missing: Literal["zero", "drop"] = "zero"
    unanswerable: Literal["nan", "zero"] = "zero"
    ideal: Literal["judged", "retrieved"] = "judged"
    skip_same_id: bool = False


CONVENTIONS: Mapping[str, Convention] = {
    convention.name: convention
    for convention in (
        Convention("harness", order="given", unanswerable="nan"),
        Convention("trec_eval", missing="drop"),
        Convention("trec_eval_c"),
        Convention("ir_measures"),
        Convention("beir", missing="drop", skip_same_id=True),
        Convention("ranx", order="score_ties_given"),
        Convention("sklearn", order="score_ties_averaged", missing="drop", ideal="retrieved"),
    )
}


def find_convention(name: str | Convention) -> Convention:
    """Look a convention up by its name; raises ValueError that lists the known ones."""
    if isinstance(name, Convention):
        return name
    if name not in CONVENTIONS:
        raise ValueError(f"there is no convention {name!r}. Known conventions: {', '.join(CONVENTIONS)}.")
    return CONVENTIONS[name]
