"""A verdict as plain values for JSON: its lines, and the figures behind them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from harness.comparison.paired import Comparison
from harness.comparison.verdict import LABELS, Holes, Verdict
from harness.comparison.words import lines_of


def verdict_json(verdict: Verdict) -> dict[str, Any]:
    """Everything that a verdict says."""
    people = verdict.population
    return {
        "measure": verdict.measure,
        "decision": verdict.decision,
        "leader": verdict.leader,
        "baseline": verdict.baseline,
        "tolerance": verdict.options.tolerance,
        "price_limit": verdict.options.price_limit,
        "advice": None if verdict.advice is None else asdict(verdict.advice),
        "lines": [
            {"role": line.role, "label": LABELS[line.role], "text": line.text} for line in lines_of(verdict)
        ],
        "margin": None if verdict.margin is None else _margin(verdict.margin, verdict.level),
        "population": {
            "queries": people.queries,
            "clusters": people.clusters,
            "unit": people.unit,
            "tested_by": "clusters" if people.kind == "clusters" else "queries",
            "worth": people.worth,
            "icc": people.icc,
        },
        "settings": [
            {
                "setting": one.setting,
                "mean": one.mean,
                "low": one.low,
                "high": one.high,
                "place": one.place,
                "regret": one.regret,
            }
            for one in verdict.standings
        ],
        "judged": None if verdict.holes is None else _judged(verdict.holes),
        "warnings": [asdict(one) for one in verdict.warnings],
        "conflicts": [
            {"measure": one.measure, "leader": one.found.setting, "finding": one.found.finding}
            for one in verdict.conflicts
        ],
    }


def _judged(holes: Holes) -> dict[str, Any]:
    """The share judged of every setting, and the most that judging the rest could give where it is known."""
    return {
        "measure": holes.measure or None,
        "bound": holes.bound or None,
        "settings": [
            {"setting": name, "share": holes.shares.get(name), "upper": holes.upper.get(name)}
            for name in {**holes.shares, **holes.upper}
        ],
    }


def _margin(margin: Comparison, level: float) -> dict[str, Any]:
    return {
        "over": margin.against,
        "difference": margin.difference,
        "low": margin.low,
        "high": margin.high,
        "level": level,
        "p": margin.p,
        "finding": margin.finding,
    }
