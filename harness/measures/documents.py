"""Judged documents, the classic case where every item is its own evidence, by the rules of other tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from harness.measures.ragged import AnyArray, Bools, Ints, Lists, offsets_of, owners, sorted_descending
from harness.measures.ranked import Graded


@dataclass(frozen=True, slots=True)
class Convention:
    """One set of rules for scoring ranked documents against judged ones.

    ``order``: by the rank column (equal ranks, and runs without any, by score; ties in the order given);
    by score, ties in the order given; by score, ties by document id descending; by score, ties averaged.
    ``single_precision``: scores are rounded to 32 bits first, except for the measures ``in_double``.
    ``missing``: a judged query without a ranking scores 0 or drops out. ``unanswerable``: a query with
    nothing relevant has no value or 0. ``ideal``: drawn from all judged documents, or from those retrieved
    only. ``skip_same_id``: a document with the id of the query is taken out of its ranking.
    ``negative_is_judged``: condensed rankings keep documents of negative grades.
    """

    name: str
    order: Literal["given", "score", "score_then_id_descending", "score_ties_averaged"] = (
        "score_then_id_descending"
    )
    missing: Literal["zero", "drop"] = "zero"
    unanswerable: Literal["nan", "zero"] = "zero"
    ideal: Literal["judged", "retrieved"] = "judged"
    skip_same_id: bool = False
    single_precision: bool = False
    in_double: frozenset[str] = frozenset()
    negative_is_judged: bool = True

    def by_precision(self, families: Sequence[str]) -> list[tuple[Convention, list[int]]]:
        """The measures, given by their families, that are scored in one precision, and the rules for them."""
        double = [place for place, family in enumerate(families) if family in self.in_double]
        if not double or not self.single_precision:
            return [(self, list(range(len(families))))]
        single = [place for place, family in enumerate(families) if family not in self.in_double]
        parts = [(self, single), (replace(self, single_precision=False), double)]
        return [(rules, places) for rules, places in parts if places]


_TREC_EVAL = Convention("trec_eval", single_precision=True, negative_is_judged=False)

CONVENTIONS: Mapping[str, Convention] = {
    convention.name: convention
    for convention in (
        Convention("harness", order="given", unanswerable="nan"),
        replace(_TREC_EVAL, missing="drop"),
        replace(_TREC_EVAL, name="trec_eval_c"),
        replace(_TREC_EVAL, name="ir_measures", in_double=frozenset({"ndcg_exp", "ndcg_exp_upper"})),
        Convention("gdeval", "score_then_id_descending", missing="drop", unanswerable="nan"),
        replace(_TREC_EVAL, name="beir", missing="drop", skip_same_id=True),
        Convention("ranx", order="score"),
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


_LARGEST = 2**31
"""Query and grade go into one number of 64 bits, half of it each."""


def grade_documents(
    earned: Ints,
    judged: Bools,
    offsets: Ints,
    judgments: tuple[AnyArray, Ints],
    rules: Convention,
    ties: Ints | None = None,
) -> Graded:
    """Graded rankings from the grade of every ranked document [N], 0 if it is not ``judged``.

    ``judgments`` are the query (a number from 0 on) and the grade of every judged document, [J] each.
    ``ties`` are the groups within which gains are averaged, None for none.
    """
    n_queries = len(offsets) - 1
    evidence = ideal = _by_query(*judgments, n_queries)
    if rules.ideal == "retrieved":
        ideal = sorted_descending(earned, owners(offsets), n_queries)
    from_0 = None if rules.negative_is_judged else 0
    return Graded(offsets, judged, ~judged, earned, ideal, ideal, evidence, ties=ties, condensed_from=from_0)


def _by_query(query: AnyArray, grade: Ints, n_queries: int) -> Lists:
    """The grades above 0 of every query, highest first; raises ValueError for one of 2^31 or more."""
    span = int(grade.max(initial=0)) + 1
    if span > _LARGEST:
        raise ValueError(f"the grade {span - 1} is too large; grades go up to {_LARGEST - 1}")
    if n_queries * span <= 4 * len(grade):
        # as few as they usually are, counting them is several times faster than sorting
        below_highest = span - 1 - np.maximum(grade, 0)
        counts = np.bincount(query.astype(np.int64) * span + below_highest, minlength=n_queries * span)
        counts = counts.reshape(n_queries, span)[:, :-1]
        falling = np.tile(np.arange(span - 1, 0, -1), n_queries)
        return np.repeat(falling, counts.ravel()), offsets_of(counts.sum(axis=1))
    kept = grade > 0
    # query and falling grade in one number: the order of these numbers is what is asked for
    packed = np.sort(query[kept].astype(np.int64) * span + (span - 1 - grade[kept]))
    return span - 1 - packed % span, offsets_of(np.bincount(query[kept], minlength=n_queries))
