"""The one table of measures, and the one that settings are compared by.

A new measure is a function beside its kin and a row here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from harness.measures import ranked, text_ndcg
from harness.measures.evidence_ndcg import judged_text, ndcg_evidence, ndcg_evidence_upper
from harness.measures.measure import Family, Measure, arguments, family_in, parse
from harness.measures.ragged import Floats
from harness.measures.unjudged import ndcg_expected, ndcg_upper
from harness.values import OpenTable

_REL = {"rel": 1}
_BURGES = "Burges et al., ICML 2005"
_JARVELIN = "Järvelin and Kekäläinen, TOIS 2002"
_MOFFAT = "Moffat and Zobel, TOIS 2008"
_PATIENT: Mapping[str, int | float] = {"p": 0.8, "rel": 1}
_SMITH = "Smith and Troynikov, Evaluating Chunking, Chroma 2024"

_RANKED: dict[str, Family] = {
    "ndcg_exp": Family(
        partial(ranked.ndcg, gain=ranked.gain_exp),
        averages_ties=True,
        trusted_for="for the order of the chunks, the highest grades above all",
        words="NDCG",
        about="rank quality of chunks, gain 2^g − 1",
        formula="Σ (2^g − 1) / log2(rank + 1) over the first k, over that of the ideal order of all evidence",
        source=_BURGES,
    ),
    "ndcg_lin": Family(
        partial(ranked.ndcg, gain=ranked.gain_lin),
        averages_ties=True,
        trusted_for="for the order of the chunks, grades as they are",
        words="linear NDCG",
        about="rank quality of chunks, gain g",
        formula="Σ g / log2(rank + 1) over the first k, over that of the ideal order of all evidence",
        source=_JARVELIN,
    ),
    "recall": Family(
        ranked.recall,
        params=_REL,
        trusted_for="for whether the evidence is found at all",
        words="recall",
        about="share of the evidence found",
        formula="relevant evidence that the first k cover / all relevant evidence",
    ),
    "precision": Family(
        ranked.precision,
        cutoff="required",
        params=_REL,
        below_one=True,
        trusted_for="for how many of the chunks are relevant",
        words="precision",
        about="share of the first k that contain evidence",
        formula="ranks of the first k that earn grade rel or better / k, also of a shorter ranking",
    ),
    "ap": Family(
        ranked.average_precision,
        params=_REL,
        trusted_for="for the order of all relevant chunks, grades aside",
        words="average precision",
        about="average precision; its mean over queries is MAP",
        formula="Σ precision at every rank that earns grade rel or better / all relevant evidence",
        source="Buckley and Voorhees, SIGIR 2000",
    ),
    "rr": Family(
        ranked.reciprocal_rank,
        params=_REL,
        trusted_for="for how early the first relevant chunk comes",
        words="reciprocal rank",
        about="one over the rank of the first evidence; its mean over queries is MRR",
        formula="1 / rank of the first that earns grade rel or better; 0 where none of the first k does",
        source="Voorhees, TREC-8, 1999",
    ),
    "success": Family(
        ranked.success,
        params=_REL,
        trusted_for="for whether anything relevant is found",
        words="hit rate",
        about="1 if anything in the first k contains evidence; its mean is the hit rate",
        formula="1 if a rank of the first k earns grade rel or better, else 0",
        source="success_k of trec_eval",
    ),
    "rbp": Family(
        ranked.rbp,
        params=_PATIENT,
        below_one=True,
        trusted_for="for how much relevant text a reader meets who gives up at any rank",
        words="rank-biased precision",
        about="rank-biased precision: the share of what is looked at that is relevant",
        formula="(1 − p) · Σ p^(rank − 1) over the ranks of the first k that earn grade rel or better",
        source=_MOFFAT,
    ),
}


def _of_judged_alone(family: Family) -> Family:
    # the cutoff counts judged items, whose lowest rank is not known beforehand
    return replace(
        family,
        compute=partial(ranked.condensed, of=family.compute),
        whole_ranking=True,
        trusted_for=f"{family.trusted_for}, unjudged ones left out",
        words="",
        about=f"{family.about}; unjudged text is removed from the ranking first",
        source="Sakai, SIGIR 2007; trec_eval -J",
    )


def _upper(gain: Callable[..., Floats], plain: str) -> Family:
    return Family(
        partial(ndcg_upper, gain=gain),
        cutoff="required",
        quality=False,
        unjudged_counts=True,
        about=f"the highest value that any grading of unjudged text could give for {plain}",
        formula=f"maximum of {plain}@k over all ways to grade what is unjudged 0 to 4",
    )


def _expected(gain: Callable[..., Floats], plain: str) -> Family:
    return Family(
        partial(ndcg_expected, gain=gain),
        cutoff="required",
        unjudged_counts=True,
        about=f"{plain} to expect if unjudged text is like what was judged at its rank",
        formula=f"mean of {plain}@k over 50 draws; an unjudged rank earns what a judged one there does",
        source="after Yilmaz, Kanoulas and Aslam, SIGIR 2008",
    )


def _read_as_text(
    name: str, family: Family, characters: Mapping[str, int], tokens: Mapping[str, int], suffix: str = ""
) -> dict[str, Family]:
    """A measure of the first so many characters read, and the same for tokens; parameters in each unit.

    Settings that cut documents differently can be compared by it if it is a quality.
    """
    family = replace(
        family,
        cutoff="required",
        params=characters,
        reads="characters",
        cut_in_text=True,
        across_chunkings=family.quality,
    )
    return {
        name + suffix: family,
        f"{name}_tokens{suffix}": replace(family, params=tokens, reads="tokens"),
    }


_OURS: dict[str, Family] = {
    **_RANKED,
    "p": _RANKED["precision"],
    "map": _RANKED["ap"],
    "mrr": _RANKED["rr"],
    "hit": _RANKED["success"],
    **{f"{name}_condensed": _of_judged_alone(family) for name, family in _RANKED.items()},
    "ndcg_exp_upper": _upper(ranked.gain_exp, "ndcg_exp"),
    "ndcg_lin_upper": _upper(ranked.gain_lin, "ndcg_lin"),
    "ndcg_exp_expected": _expected(ranked.gain_exp, "ndcg_exp"),
    "ndcg_lin_expected": _expected(ranked.gain_lin, "ndcg_lin"),
    "rbp_residual": Family(
        ranked.rbp_residual,
        params=_PATIENT,
        quality=False,
        unjudged_counts=True,
        about="how much rbp would rise if all that is unknown were relevant; not a quality",
        formula="(1 − p) · Σ p^(rank − 1) over the unjudged of the first k, and p^d for what is below the d "
        "ranks looked at",
        source=_MOFFAT,
    ),
    "judged": Family(
        ranked.judged,
        quality=False,
        needs_relevant=False,
        about="share of the ranks that were judged; not a quality",
        formula="judged chunks among the first k returned / chunks among the first k returned",
    ),
    **_read_as_text(
        "ndcg_evidence",
        Family(
            ndcg_evidence,
            trusted_for="for how soon the evidence is read, under any chunking",
            words="NDCG",
            about="rank quality of evidence found while reading, comparable between chunkings",
            formula="Σ (2^g − 1) / log2(2 + place / L), once for each evidence, where half of it or `enough` "
            "of it has been read; over the same of the ideal, which has one evidence every `enough`",
            source="after Sakai, Kato and Song, CIKM 2011; study-measure.md",
        ),
        {"enough": 200, "L": 1000},
        {"enough": 50, "L": 250},
    ),
    **_read_as_text(
        "ndcg_evidence",
        Family(
            ndcg_evidence_upper,
            quality=False,
            unjudged_counts=True,
            about="a value of ndcg_evidence that no labels in unjudged text can exceed",
            formula="bound of the maximum of ndcg_evidence@k over all sets of labels of grade 0 to 4 in "
            "unjudged text, each at least `least` long",
        ),
        {"enough": 200, "L": 1000, "least": 100},
        {"enough": 50, "L": 250, "least": 25},
        suffix="_upper",
    ),
    **_read_as_text(
        "judged_text",
        Family(
            judged_text,
            quality=False,
            needs_relevant=False,
            about="share of the text read that was judged; not a quality",
            formula="judged text / all text read within k, each once",
        ),
        {},
        {},
    ),
    **_read_as_text(
        "ndcg_text",
        Family(
            text_ndcg.ndcg_text,
            trusted_for="for what the text read yields, under any chunking",
            words="text NDCG",
            about="rank quality of text read, comparable between chunkings",
            formula="Σ (2^g − 1) · share of the evidence read for the first time / log2(2 + place / L), over "
            "that of a reader who reads nothing but evidence, the densest first",
            source="after Sakai and Dou, SIGIR 2013",
        ),
        {"L": 1000},
        {"L": 250},
    ),
    "text_recall": Family(
        text_ndcg.text_recall,
        reads="characters",
        trusted_for="for how much of the evidence is read",
        about="share of the evidence’s characters that were read",
        formula="characters of evidence in the first k chunks / characters of evidence",
        source=_SMITH,
    ),
    "text_precision": Family(
        text_ndcg.text_precision,
        reads="characters",
        below_one=True,
        trusted_for="for how much of what is read is evidence",
        about="share of the characters read that are evidence",
        formula="characters of evidence in the first k chunks, each once / characters of these chunks",
        source=_SMITH,
    ),
    "text_iou": Family(
        text_ndcg.text_iou,
        reads="characters",
        below_one=True,
        trusted_for="for how closely what is read fits the evidence",
        about="evidence read over evidence and text read",
        formula="characters of evidence read / characters that are evidence or were read",
        source=_SMITH,
    ),
    "tokens": Family(
        text_ndcg.tokens_read,
        cutoff="required",
        reads="lengths",
        needs_relevant=False,
        less_is_better=True,
        about="tokens in the first k chunks; a price, not a quality",
        formula="Σ tokens of the first k chunks; text in two chunks counts twice",
    ),
    "precision_omega": Family(
        text_ndcg.precision_omega,
        cutoff="none",
        reads="characters",
        below_one=True,
        trusted_for="for how closely the chunks could fit the evidence",
        about="the best text precision that the chunking allows a retriever that finds everything",
        formula="characters of evidence / characters of all chunks that share a character with it",
        source=_SMITH,
    ),
}
FAMILIES: OpenTable[Family] = OpenTable("measures", Family, _OURS)
"""By name; other packages add theirs, see docs/own-steps.md."""


def parse_measure(name: str) -> Measure:
    """Read a name such as ``ndcg_exp@10``; raises ValueError naming the known ones and the nearest."""
    return parse(name, FAMILIES)


def family_of(name: str) -> Family | None:
    """The family of a measure; None for a name of another tool or a later version."""
    try:
        return FAMILIES[parse_measure(name).family] if family_in(name) in FAMILIES else None
    except ValueError:
        return None


def is_quality(name: str) -> bool:
    """Whether settings can be chosen by a measure: not by a price, a bound, or what is judged or unknown."""
    family = family_of(name)
    return family is None or (family.quality and not family.less_is_better)


def upper_of(name: str, scored: Iterable[str]) -> str:
    """Of the measures ``scored`` the highest that a measure could be were all judged; '' if there is none."""
    measure = parse_measure(name)
    wanted = f"{measure.family}_upper", measure.cutoff
    for other in scored:
        bound = parse_measure(other) if family_of(other) else None
        if bound and (bound.family, bound.cutoff) == wanted:
            params = arguments(measure, FAMILIES[measure.family])
            if params.items() <= arguments(bound, FAMILIES[bound.family]).items():
                return other
    return ""


def judged_share(name: str) -> str:
    """The measure of how much is judged of the ranks that ``name`` reads; of the first ten for all others.

    A share of the text read would be tiny wherever labels are quotes, however many passages have one.
    """
    cutoff = rank_cutoff(name) if family_of(name) else None
    return f"judged@{cutoff or 10}"


def less_is_better(name: str) -> bool:
    """Whether a column is a price, such as ``tokens@10``; unknown names are not."""
    family = family_of(name)
    return family is not None and family.less_is_better


def reading_depth(name: str) -> text_ndcg.Depth | None:
    """How far a measure reads a ranking; None for unknown names, and for what reads none."""
    family = family_of(name)
    if family is None or family.cutoff == "none":
        return None
    if family.whole_ranking:
        return text_ndcg.Depth()
    unit = family.reads if family.cut_in_text else "ranks"
    assert unit != "lengths"  # these are never what a measure is cut at
    return text_ndcg.Depth(parse_measure(name).cutoff, unit)


def rank_cutoff(name: str) -> int | None:
    """The number of ranks that a measure looks at; None for all of them, and where text is what it cuts."""
    measure = parse_measure(name)
    return None if FAMILIES[measure.family].cut_in_text else measure.cutoff


# The first of these families that was scored is the headline; of one family the first that was named.
# Where settings cut documents differently (each must be ``across_chunkings`` in the table of measures):
ACROSS_CHUNKINGS = ("ndcg_evidence", "ndcg_evidence_tokens", "ndcg_text", "ndcg_text_tokens")
# Of these the ones that compare texts of several parsers: what they count is the same in all of them, while
# ndcg_text is about the length of labels, which differs by text.
ACROSS_PARSERS = ACROSS_CHUNKINGS[:2]
# Where they share their chunks:
SAME_CHUNKS = ("ndcg_exp",)


def headline(names: Sequence[str], chunkings_differ: bool) -> str:
    """The measure to compare settings by, of those that were scored.

    Where chunkings differ it is one that can be compared between them, if there is any; else, and where
    settings share their chunks, ``ndcg_exp``; else the first that says how good a ranking is, else the first.
    """
    if chunkings_differ:
        fit = [name for name in names if across_chunkings(name)]
        if fit:
            return _preferred(fit, ACROSS_CHUNKINGS)
    qualities = [name for name in names if family_of(name) and is_quality(name)]
    return _preferred(qualities or list(names), SAME_CHUNKS)


def across_chunkings(name: str) -> bool:
    """Whether settings that cut documents differently can be compared by a measure; unknown ones cannot."""
    family = family_of(name)
    return family is not None and family.across_chunkings


def across_parsers(name: str) -> bool:
    """Whether settings whose documents different parsers have read can be compared by a measure."""
    return across_chunkings(name) and parse_measure(name).family in ACROSS_PARSERS


def trusted_for(name: str) -> str:
    """The use of a measure for ordering settings; empty for unknown names and non-quality measures."""
    family = family_of(name)
    return "" if family is None else family.trusted_for


def _preferred(names: Sequence[str], families: Sequence[str]) -> str:
    fit = (name for wanted in families for name in names if family_of(name) is FAMILIES[wanted])
    return next(fit, names[0])
