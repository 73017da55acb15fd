"""How firm a verdict is, in words. The terminal, the page and sheets take them from here."""

from __future__ import annotations

from harness.labels.ordering.firmness import Firmness
from harness.values import counted


def sentences(firm: Firmness) -> tuple[str, ...]:
    """The verdict by the labels so far, how certain it is, and what to do next."""
    of = counted(firm.queries, "query", "queries")
    part = f"{firm.graded:,} of {counted(firm.items, 'passage')} of {of} are labelled"
    if not known(firm):
        return (
            f"{part}, none of them in the order of harness labels next; nothing can be "
            "concluded about the rest yet.",
            "Label the passages in the order given, from the first.",
        )
    found = firm.means[0][1].value != 0
    leads = f"{firm.leader} leads with {firm.means[0][1]}" if found else "Nothing relevant was found so far"
    lines = [f"{part}. {leads}."]
    if firm.rivals and found:
        lines.append(_margin(firm))
    lines.append(_next(firm))
    return tuple(lines)


def known(firm: Firmness) -> bool:
    """Whether the means rest on draws or on all labels, and not on a model alone."""
    return firm.drawn > 0 or firm.graded == firm.items


def _margin(firm: Firmness) -> str:
    first = firm.rivals[0]
    text = f"It is {first.labels} ahead of {first.setting}, as far as missing labels go"
    if first.queries.low is None:
        return f"{text}; the queries are too few to say more."
    return f"{text}; for new queries like these {first.queries}."


def _next(firm: Firmness) -> str:
    if firm.state == "complete":
        return "Stop: everything is labelled."
    if firm.state == "single":
        return "There is one setting, so there is nothing to decide; labels make its interval shorter."
    if firm.state == "settled":
        return f"Stop: the verdict no longer depends on what is unlabelled; {firm.leader} stays ahead."
    if firm.state == "alike":
        return "Stop: the remaining settings are alike; more labels will not separate them by 0.01."
    if firm.state == "queries":
        return "Stop: the remaining uncertainty comes from the queries, not from missing labels. Add queries."
    if firm.needed is None:
        return "Go on labelling in the order given."
    if firm.needed >= firm.items - firm.graded:
        return "Go on: probably all of the rest must be labelled to decide by these queries."
    return (
        f"Go on: about {counted(firm.needed, 'more label')} will probably settle who leads on these queries."
    )
