"""The one table of measures. A new measure is a function in a file of its own and a row here."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from harness.measures.ap import average_precision
from harness.measures.bound import ndcg_upper
from harness.measures.condensed import condensed
from harness.measures.expected import ndcg_expected
from harness.measures.gain import gain_exp, gain_lin
from harness.measures.judged import judged
from harness.measures.measure import Family, Measure, parse
from harness.measures.ndcg import ndcg
from harness.measures.precision import precision
from harness.measures.recall import recall
from harness.measures.rr import reciprocal_rank
from harness.measures.text_ndcg import ndcg_text
from harness.measures.text_overlap import precision_omega, text_iou, text_precision, text_recall
from harness.measures.tokens_read import tokens_read

_REL = {"rel": 1}

_RANKED: dict[str, Family] = {
    "ndcg_exp": Family(partial(ndcg, gain=gain_exp), averages_ties=True),
    "ndcg_lin": Family(partial(ndcg, gain=gain_lin), averages_ties=True),
    "recall": Family(recall, params=_REL),
    "precision": Family(precision, cutoff="required", params=_REL),
    "ap": Family(average_precision, params=_REL),
    "rr": Family(reciprocal_rank, params=_REL),
}


def _of_judged_alone(family: Family) -> Family:
    # the cutoff counts judged items, and how far down these reach is not known before
    return replace(family, compute=partial(condensed, of=family.compute), whole_ranking=True)


FAMILIES: dict[str, Family] = {
    **_RANKED,
    "p": _RANKED["precision"],
    "map": _RANKED["ap"],
    "mrr": _RANKED["rr"],
    **{f"{name}_condensed": _of_judged_alone(family) for name, family in _RANKED.items()},
    "ndcg_exp_upper": Family(partial(ndcg_upper, gain=gain_exp), cutoff="required", unjudged_counts=True),
    "ndcg_lin_upper": Family(partial(ndcg_upper, gain=gain_lin), cutoff="required", unjudged_counts=True),
    "ndcg_exp_expected": Family(
        partial(ndcg_expected, gain=gain_exp), cutoff="required", unjudged_counts=True
    ),
    "ndcg_lin_expected": Family(
        partial(ndcg_expected, gain=gain_lin), cutoff="required", unjudged_counts=True
    ),
    "judged": Family(judged, needs_relevant=False),
    "ndcg_text": Family(
        ndcg_text, cutoff="required", params={"L": 1000}, reads="characters", cut_in_text=True
    ),
    "ndcg_text_tokens": Family(
        ndcg_text, cutoff="required", params={"L": 250}, reads="tokens", cut_in_text=True
    ),
    "text_recall": Family(text_recall, reads="characters"),
    "text_precision": Family(text_precision, reads="characters"),
    "text_iou": Family(text_iou, reads="characters"),
    "tokens": Family(
        tokens_read, cutoff="required", reads="lengths", needs_relevant=False, less_is_better=True
    ),
    "precision_omega": Family(precision_omega, cutoff="none", reads="characters"),
}
KNOWN: tuple[str, ...] = tuple(FAMILIES)


def parse_measure(name: str) -> Measure:
    """Read a name such as ``ndcg_exp@10``; raises ValueError naming the known ones and the nearest."""
    return parse(name, FAMILIES)


def less_is_better(name: str) -> bool:
    """Whether a column is a price, such as ``tokens@10``; unknown names are not."""
    try:
        return FAMILIES[parse_measure(name).family].less_is_better
    except ValueError:
        return False
