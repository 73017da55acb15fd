"""A measure and its name, such as ``ndcg_exp@10`` or ``recall(rel=2)@10``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from harness.measures.ragged import Floats
from harness.values import suggestion

_NAME = re.compile(r"(?P<family>[A-Za-z_]\w*)(?:\((?P<params>[^()]*)\))?(?:@(?P<cutoff>\d+))?")
_FRACTION = re.compile(r"0?\.[0-9]{1,6}")

_ELSEWHERE = {
    "ndcg": "ndcg_lin@k (linear gain, as in trec_eval) or ndcg_exp@k",
    "ndcg_cut": "ndcg_lin@k",
    "map_cut": "ap@k",
    "recip_rank": "rr",
    "p": "precision@k",
    "r": "recall@k",
    "recall": "recall@k",
    "rr": "rr@k",
    "ap": "ap@k",
    "judged": "judged@k",
    "success": "success@k",
    "hit_rate": "success@k",
}
"""Names of trec_eval and ir_measures, without their cutoff, in lower case."""


@dataclass(frozen=True, slots=True)
class Family:
    """All measures that share a formula.

    ``compute(data, cutoff, **params)`` returns one value per query; ``reads`` says whether its data are
    graded ranks (``Graded``), text read (``Trail``) in characters or in tokens, or the lengths of the ranked
    chunks (``RankedTokens``). ``params`` maps each parameter to its default: a whole number of at least 1, or
    a fraction, which stays above 0 and below 1. ``needs_relevant``: no value where nothing is relevant.
    ``unjudged_counts``: what is unjudged may be relevant, so that the value may be above 0 if nothing is
    judged relevant. ``whole_ranking``: what is below the cutoff counts too.
    ``averages_ties``: gains of tied items can be averaged. ``less_is_better``: a price, which no setting is
    chosen for. ``cut_in_text``: the cutoff is a length of text in the unit read, not a number of ranks.
    ``across_chunkings``: settings that cut documents differently can be compared by it.
    ``below_one``: even a perfect ranking may have far less than 1, so no value is good or poor by itself.
    ``quality``: settings can be chosen by it; not so by a bound, nor by what was judged or is unknown.
    ``trusted_for``: what its order of settings says, as a phrase that follows its name. ``words`` are
    what sentences call it ('': its name), ``about`` says in a line what it counts, ``formula`` how, and
    ``source`` where it comes from; docs/measures.md and report.html show them.
    """

    compute: Callable[..., Floats]
    cutoff: Literal["required", "optional", "none"] = "optional"
    params: Mapping[str, int | float] = field(default_factory=dict)
    reads: Literal["ranks", "characters", "tokens", "lengths"] = "ranks"
    needs_relevant: bool = True
    unjudged_counts: bool = False
    whole_ranking: bool = False
    averages_ties: bool = False
    less_is_better: bool = False
    across_chunkings: bool = False
    below_one: bool = False
    quality: bool = True
    trusted_for: str = ""
    words: str = ""
    about: str = ""
    formula: str = ""
    source: str = ""
    cut_in_text: bool = False


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure: its family, its cutoff (None for the whole ranking), its parameters where not default."""

    family: str
    cutoff: int | None = None
    params: tuple[tuple[str, int | float], ...] = ()

    @property
    def name(self) -> str:
        """The canonical name; ``parse_measure`` reads it back."""
        params = ",".join(f"{key}={value}" for key, value in self.params)
        named = f"{self.family}({params})" if params else self.family
        return named if self.cutoff is None else f"{named}@{self.cutoff}"

    def __repr__(self) -> str:
        return self.name


def parse(name: str, families: Mapping[str, Family]) -> Measure:
    """Read a measure's name; raises ValueError that names the fault and the known measures."""
    match = _NAME.fullmatch(name.strip())
    if match is None:
        raise ValueError(
            f"{name!r} is not the name of a measure; names look like ndcg_exp@10, map or "
            f"recall(rel=2)@10.{_elsewhere(name)}"
        )
    key = match["family"]
    if key not in families:
        raise ValueError(_unknown(name, key, families))
    family = families[key]
    cutoff = None if match["cutoff"] is None else int(match["cutoff"])
    _check_cutoff(name, key, family, cutoff)
    return Measure(key, cutoff, _params(name, match["params"] or "", family))


def family_in(name: str) -> str:
    """The word before cutoff and parameters; '' where the name is not like that of a measure.

    Names of other tools are many, and an error takes long to find the nearest of ours.
    """
    match = _NAME.fullmatch(name.strip())
    return match["family"] if match else ""


def _unknown(name: str, key: str, families: Mapping[str, Family]) -> str:
    elsewhere = _elsewhere(name)
    near = "" if elsewhere else suggestion(key, families)
    return f"there is no measure {name!r}{near}.{elsewhere} Known measures: {', '.join(families)}."


def _elsewhere(name: str) -> str:
    """A sentence on a name of another tool, with any cutoff; empty for others."""
    family = re.split(r"[.@]|_\d", name.strip())[0].lower()
    return f" Here it is called {_ELSEWHERE[family]}." if family in _ELSEWHERE else ""


def _check_cutoff(name: str, key: str, family: Family, cutoff: int | None) -> None:
    if family.cutoff == "required" and cutoff is None:
        raise ValueError(f"measure {name!r} needs a cutoff, as in {key}@10")
    if family.cutoff == "none" and cutoff is not None:
        raise ValueError(f"measure {name!r} takes no cutoff; write {key}")
    if cutoff is not None and not 1 <= cutoff < 2**31:
        raise ValueError(f"measure {name!r}: the cutoff must be at least 1 and below 2^31")


def _params(name: str, text: str, family: Family) -> tuple[tuple[str, int | float], ...]:
    params: dict[str, int | float] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if key not in family.params or not equals:
            defaults = ", ".join(f"{key}={value}" for key, value in family.params.items()) or "none"
            raise ValueError(
                f"measure {name!r}: no parameter {key!r}; its parameters and defaults: {defaults}"
            )
        params[key] = _number(name, key, value, isinstance(family.params[key], float))
    return tuple(
        (key, params[key])
        for key in family.params
        if params.get(key, family.params[key]) != family.params[key]
    )


def _number(name: str, key: str, value: str, fraction: bool) -> int | float:
    if fraction:
        if not _FRACTION.fullmatch(value) or not 0 < float(value) < 1:
            raise ValueError(f"measure {name!r}: {key} must be above 0 and below 1, not {value!r}")
        return float(value)
    if not value.isdecimal() or int(value) < 1:
        raise ValueError(f"measure {name!r}: {key} must be a whole number of at least 1, not {value!r}")
    return int(value)


def arguments(measure: Measure, family: Family) -> dict[str, Any]:
    """All parameters of a measure with their values."""
    return {**family.params, **dict(measure.params)}
