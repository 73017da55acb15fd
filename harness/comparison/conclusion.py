"""What a verdict comes to, as data: the codes of its sentences and their values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.comparison.paired import FEWEST_TO_CHOOSE
from harness.comparison.phrases import amount, extent_of, in_words, queries, rounded_up, these
from harness.comparison.stats import ROUNDING
from harness.comparison.verdict import Verdict
from harness.values import confidence


@dataclass(frozen=True, slots=True)
class Conclusion:
    """One to three sentences of `wordings.SENTENCES`, by their ``codes``.

    ``values`` fill their slots, as they are shown; ``settings`` are those that they name, by slot.
    """

    codes: tuple[str, ...]
    values: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)


def conclusion_of(verdict: Verdict) -> Conclusion:
    """What to do about the settings, how sure that is, and what it may lose."""
    if verdict.doubt:
        return _doubted(verdict)
    best = verdict.standings[0]
    measure = in_words(verdict.measure)
    if verdict.leader is None:
        code = "nothing.elsewhere" if verdict.displaced else "nothing"
        code = "nothing.unlabelled" if verdict.unlabelled and not verdict.displaced else code
        return Conclusion((code,), {"measure": measure, "share": f"{verdict.displaced:.0%}"})
    if verdict.unlabelled:
        return _unlabelled(verdict)
    if verdict.decision == "single":
        values = {
            "mean": f"{verdict.mean(verdict.leader):.2f}",
            "measure": measure,
            "queries": _asked(verdict),
        }
        return Conclusion(("single.poor" if verdict.poor else "single",), values)
    if verdict.decision == "few":
        return _few(verdict, verdict.leader)
    if verdict.poor:
        return Conclusion(("poor",), {"mean": f"{best.mean:.2f}"}, {"setting": best.setting})
    if verdict.baseline is not None:
        return _against_baseline(verdict, verdict.baseline)
    if verdict.altered:
        code = "tested.best" if verdict.decision == "best" else "tested.open"
        values = {"measure": verdict.measure, "ahead": _ahead(verdict), "level": confidence(verdict.level)}
        return Conclusion((code,), values, {"setting": verdict.leader})
    return _use(verdict, verdict.leader)


def missing_queries(verdict: Verdict) -> int:
    """How many queries are lacking for a choice."""
    return FEWEST_TO_CHOOSE - verdict.population.queries


def _asked(verdict: Verdict) -> str:
    return queries(verdict.population.queries)


def _ahead(verdict: Verdict) -> str:
    """How far the leader is ahead of the next that may be best."""
    return f"{0.0 if verdict.margin is None else abs(verdict.margin.difference):.2f}"


def level_ones(verdict: Verdict) -> str:
    """Which settings share the highest mean, such as 'both settings'; none of them is named."""
    tied, every = len(verdict.tied), len(verdict.standings)
    if tied < every:
        return f"{tied} of {every} settings"
    return "both settings" if every == 2 else f"all {every} settings"


def _doubted(verdict: Verdict) -> Conclusion:
    """That the judge is in doubt, and only then what its grades say."""
    decision = "poor" if verdict.poor and verdict.leader is not None else verdict.decision
    setting = verdict.standings[0].setting
    if decision == "better":
        setting = verdict.beyond_baseline(better=True)[0]
    elif verdict.leader is not None and decision != "poor":
        setting = verdict.leader
    values = {"mean": f"{verdict.mean(setting):.2f}", "ahead": _ahead(verdict), "tied": level_ones(verdict)}
    tied = ".tied" if verdict.tied and decision in ("few", "open") else ""
    return Conclusion(
        (verdict.doubt.code, f"doubted.{decision}{tied}"),
        values | verdict.doubt.values,
        {**({} if tied else {"setting": setting}), "baseline": verdict.baseline or ""},
    )


def _unlabelled(verdict: Verdict) -> Conclusion:
    """That labels may be missing, or hits are in no document, and the best so far."""
    holes, few = verdict.holes, verdict.decision == "few"
    if holes is None:
        raise ValueError("a verdict without holes is labelled")
    values = {"judged": f"{holes.least:.0%}", "extent": extent_of(holes), "queries": _asked(verdict)}
    values["mean"] = f"{verdict.mean(verdict.shown):.2f}"
    single = verdict.population.queries == 1
    code = "elsewhere" if verdict.displaced else "unlabelled"
    code += (".one" if single else ".few") if few else ""
    values["share"] = f"{verdict.displaced:.0%}"
    return Conclusion((code,), values, {"setting": verdict.shown})


def _few(verdict: Verdict, leader: str) -> Conclusion:
    """That queries are too few, how many are missing, and who leads so far, if any does."""
    code = "few" if verdict.baseline is None else "few.baseline"
    tied = verdict.tied and verdict.baseline is None
    code += ".tied" if tied else ""
    code += ".one" if verdict.population.queries == 1 else ""
    values = {"queries": _asked(verdict), "missing": str(missing_queries(verdict))}
    values["tied"] = level_ones(verdict)
    return Conclusion((code,), values, {} if tied else {"setting": leader})


def _against_baseline(verdict: Verdict, baseline: str) -> Conclusion:
    """How many settings are better than the baseline, and which most."""
    better, early = verdict.beyond_baseline(better=True), verdict.unread
    settings = {"baseline": baseline}
    documents = {"documents": these(verdict.population)}
    ending = ".here" if verdict.here else ""
    if not better and early:
        if len(early) > 1:
            return Conclusion(("baseline.unread.several",), {"count": str(len(early))}, settings)
        return Conclusion(("baseline.unread",), {}, {**settings, "early": early[0]})
    if not better:
        return Conclusion((f"baseline.none{ending}",), documents, settings)
    others = len(better) - 1
    more = ("baseline.another" if others == 1 else "baseline.others",) if others else ()
    values = {**documents, "count": f"{others:,}"}
    return Conclusion((f"baseline.better{ending}", *more), values, {**settings, "setting": better[0]})


def _use(verdict: Verdict, leader: str) -> Conclusion:
    """The setting to use, where any can be advised."""
    advice = verdict.advice
    if advice is None:
        return _no_advice(verdict, leader)
    limited = len(advice.among) < len(verdict.standings)
    best_of_all = verdict.decision == "best" and advice.setting == leader
    values = {"level": confidence(verdict.level), "ahead": _ahead(verdict)}
    values |= {"bound": rounded_up(advice.regret), "documents": these(verdict.population)}
    none = [] if advice.regret > ROUNDING else ["none"]
    # differences that longer or shorter labels turn round are none of those that were found
    turned = ["labels"] if any(pair.finding == "turns" for pair in verdict.comparisons) else []
    if best_of_all and not verdict.here:
        code = ["best", *(["as read"] if verdict.read.get(verdict.measure) else [])]
    elif len(advice.among) == 1:
        code = ["affordable"]
    elif verdict.here:
        code = ["here", "best"] if best_of_all else ["here", *none, *(["limit"] if limited else []), *turned]
    elif limited:
        code = ["limit", *none, *turned]
    elif verdict.decision == "equivalent":
        code = ["equivalent", *none]
    else:
        code = ["open", *(none or turned)]
    return Conclusion((".".join(code),), values, {"setting": advice.setting})


def _no_advice(verdict: Verdict, leader: str) -> Conclusion:
    """Why no setting can be advised."""
    limit, prices, early = verdict.options.price_limit, verdict.costs.by_setting, verdict.unread
    settings = {"setting": leader}
    if limit is not None and prices is not None and all(price > limit for price in prices.values()):
        return Conclusion(("unaffordable",), {"limit": amount(limit), "unit": verdict.costs.unit})
    if early and verdict.across:
        if len(early) > 1:
            return Conclusion(("unread.several",), {"count": str(len(early))}, settings)
        return Conclusion(("unread",), {}, {**settings, "early": early[0]})
    return Conclusion(("incomparable",), {"measure": in_words(verdict.measure)}, settings)
