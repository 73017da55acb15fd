"""The one table of measures. A new measure is a function in a file of its own and a row here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from harness.measures.ap import average_precision
from harness.measures.bound import ndcg_upper
from harness.measures.condensed import condensed
from harness.measures.evidence_ndcg import ndcg_evidence
from harness.measures.expected import ndcg_expected
from harness.measures.gain import gain_exp, gain_lin
from harness.measures.judged import judged
from harness.measures.measure import Family, Measure, parse
from harness.measures.ndcg import ndcg
from harness.measures.precision import precision
from harness.measures.ragged import Floats
from harness.measures.recall import recall
from harness.measures.rr import reciprocal_rank
from harness.measures.text_ndcg import ndcg_text
from harness.measures.text_overlap import precision_omega, text_iou, text_precision, text_recall
from harness.measures.tokens_read import tokens_read

_REL = {"rel": 1}

_RANKED: dict[str, Family] = {
    "ndcg_exp": Family(
        partial(ndcg, gain=gain_exp),
        averages_ties=True,
        trusted_for="for the order of the chunks, the highest grades above all",
    ),
    "ndcg_lin": Family(
        partial(ndcg, gain=gain_lin),
        averages_ties=True,
        trusted_for="for the order of the chunks, grades as they are",
    ),
    "recall": Family(recall, params=_REL, trusted_for="for whether the evidence is found at all"),
    "precision": Family(
        precision, cutoff="required", params=_REL, trusted_for="for how many of the chunks are relevant"
    ),
    "ap": Family(
        average_precision, params=_REL, trusted_for="for the order of all relevant chunks, grades aside"
    ),
    "rr": Family(reciprocal_rank, params=_REL, trusted_for="for how early the first relevant chunk comes"),
}


def _of_judged_alone(family: Family) -> Family:
    # the cutoff counts judged items, and how far down these reach is not known before
    compute = partial(condensed, of=family.compute)
    return replace(
        family,
        compute=compute,
        whole_ranking=True,
        trusted_for=f"{family.trusted_for}, unjudged ones left out",
    )


def _read_as_text(
    name: str,
    compute: Callable[..., Floats],
    characters: Mapping[str, int],
    tokens: Mapping[str, int],
    trusted_for: str,
) -> dict[str, Family]:
    """A measure of the first so many characters read, and the same for tokens; parameters in each unit."""
    family = Family(
        compute,
        cutoff="required",
        params=characters,
        reads="characters",
        cut_in_text=True,
        across_chunkings=True,
        trusted_for=trusted_for,
    )
    return {name: family, f"{name}_tokens": replace(family, params=tokens, reads="tokens")}


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
    **_read_as_text(
        "ndcg_evidence",
        ndcg_evidence,
        {"enough": 200, "L": 1000},
        {"enough": 50, "L": 250},
        "for how soon the evidence is read, under any chunking",
    ),
    **_read_as_text(
        "ndcg_text",
        ndcg_text,
        {"L": 1000},
        {"L": 250},
        "for what the text read yields, under any chunking",
    ),
    "text_recall": Family(
        text_recall, reads="characters", trusted_for="for how much of the evidence is read"
    ),
    "text_precision": Family(
        text_precision, reads="characters", trusted_for="for how much of what is read is evidence"
    ),
    "text_iou": Family(
        text_iou, reads="characters", trusted_for="for how closely what is read fits the evidence"
    ),
    "tokens": Family(
        tokens_read, cutoff="required", reads="lengths", needs_relevant=False, less_is_better=True
    ),
    "precision_omega": Family(
        precision_omega,
        cutoff="none",
        reads="characters",
        trusted_for="for how closely the chunks could fit the evidence",
    ),
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


def rank_cutoff(name: str) -> int | None:
    """The number of ranks that a measure looks at; None for all of them, and where text is what it cuts."""
    measure = parse_measure(name)
    return None if FAMILIES[measure.family].cut_in_text else measure.cutoff
