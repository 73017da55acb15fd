"""docs/measures.md, written from the table of measures."""

from __future__ import annotations

from harness.measures.measure import Family
from harness.measures.table import FAMILIES

_INTRO = """\
# Measures

Compare settings that cut documents differently by `ndcg_evidence@B`, which reads the ranking as one text
([why](study-measure.md)); settings over the same chunks by `ndcg_exp@k`; and see by `recall@k` what was found
at all. `judged@k` and `judged_text@B` say how much of it anybody has graded.

A name takes a cutoff and parameters: `ndcg_exp@10`, `recall(rel=2)@10`, `ndcg_evidence(enough=100)@5000`.
Grades g are 0 to 4; evidence is what a label marks, and is earned once, however many chunks contain it.
Values are per query; means are over the queries that have one. Unjudged text earns nothing, unless a measure
says otherwise. [Conventions](conventions.md) has the rules for ties and missing rankings, and the names that
other tools use. `make docs` writes this page from harness/measures/table.py.
"""


def measures_reference() -> str:
    """The page: a table of all measures, then each with formula, range, cutoff and what it is for."""
    names: dict[int, list[str]] = {}
    for name, family in FAMILIES.items():
        names.setdefault(id(family), []).append(name)
    parts = [_INTRO, "| measure | counts | between chunkings |", "|---|---|---|"]
    parts += [
        f"| {' or '.join(f'[`{n}`](#{n})' if n == own[0] else f'`{n}`' for n in own)} | {family.about} | "
        f"{'yes' if family.across_chunkings else 'no'} |"
        for own, family in _each(names)
    ]
    for own, family in _each(names):
        parts += ["", f"## {own[0]}", "", *_entry(own, family)]
    return "\n".join(parts) + "\n"


def _each(names: dict[int, list[str]]) -> list[tuple[list[str], Family]]:
    return [(own, FAMILIES[own[0]]) for own in names.values()]


def _entry(names: list[str], family: Family) -> list[str]:
    facts = {
        "Also called": ", ".join(f"`{name}`" for name in names[1:]),
        "Formula": family.formula,
        "Range": "0 and up; less is better" if family.less_is_better else "0 to 1",
        "Cutoff": _cutoff(family),
        "Parameters": ", ".join(f"`{key}` ({value})" for key, value in family.params.items()),
        "No value": undefined(family),
        "Use it": f"{family.trusted_for}."
        if family.trusted_for
        else "together with a measure of quality, never alone.",
        "Source": family.source,
    }
    lines = [f"{family.about[0].upper()}{family.about[1:]}.", ""]
    return lines + [f"- **{name}**: {text}" for name, text in facts.items() if text]


def _cutoff(family: Family) -> str:
    unit = {"tokens": "tokens read", "characters": "characters read"}
    counts = unit[family.reads] if family.cut_in_text else "ranks"
    return {"required": f"{counts}, needed", "optional": f"{counts}, or none", "none": "none"}[family.cutoff]


def undefined(family: Family) -> str:
    """The condition under which a query has no value."""
    if family.needs_relevant:
        return "if nothing is relevant; the query is left out of the mean"
    return "never" if family.less_is_better else "if nothing was returned"
