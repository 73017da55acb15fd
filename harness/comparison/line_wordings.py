"""Sentences of `wordings.SENTENCES`: the lines of a verdict below the first, and what a finding holds for."""

from __future__ import annotations

from collections.abc import Mapping

_SIGNS = "Two-sided sign-flip test over {units}, for"
_RULE = "A setting is better or worse if the interval excludes 0 (equivalently, p is at most {p})"
_EQUAL = "two are equal if it lies within ±{tolerance}."
_NAMED = (
    "{setting} is named, not {first}: its mean is {behind} lower, within the tolerance of {tolerance}, and"
)
_CHEAPER = "If the price counts use {setting}: {price} instead of {dearer} {unit}."
_WORTH = (
    "What holds for new {unit}s can be tested with {fewest} or more that have about as many queries each. "
    "These are worth {worth}, so the {queries} are tested one by one."
)
_TURNS = (
    "on the length of the labels: {pairs}. With the labels as given chance does not explain it, but with "
    "longer or shorter ones the other setting leads: do not rely on it."
)
_AGAIN = "Indexing again as {setting}, in place of the existing collection, embeds"
_BUILDS = "builds an index{megabytes} in {build} s"
_UNJUDGED = "The rest counts as irrelevant, although it may be relevant."

LINES: Mapping[str, str] = {
    "margin": "{leader} differs by {difference} from {other} ({p}): {finding}.",
    "margin.bounded": (
        "{leader} differs by {difference} from {other} ({level} interval {low} to {high}, {p}): {finding}."
    ),
    "margin.queries": "Better on {wins}, equal on {ties}, worse on {losses} of {queries}.",
    # how it was tested
    "test.pair": f"{_SIGNS} one pair.",
    "test.pairs": f"{_SIGNS} all {{count}} pairs of settings at once.",
    "test.baseline.one": f"{_SIGNS} one setting against the baseline.",
    "test.baseline.both": f"{_SIGNS} both settings against the baseline.",
    "test.baseline": f"{_SIGNS} all {{count}} settings against the baseline.",
    "test.rule": f"{_RULE}; {_EQUAL}",
    "test.rule.labels": f"{_RULE} and its sign is the same with longer and shorter labels; {_EQUAL}",
    "test.rule.chunks": f"{_RULE}, and only between settings over the same chunks; {_EQUAL}",
    "test.rule.labels.chunks": (
        f"{_RULE} and its sign is the same with longer and shorter labels, and only between settings over "
        f"the same chunks; {_EQUAL}"
    ),
    "test.here": "Here: on {documents}.",
    # what it holds for
    "population.clusters": "New queries on new {unit}s like these: {queries} on {number} {unit}s.",
    "population.clusters.alike": (
        "New queries on new {unit}s like these: {queries} on {number} {unit}s (ICC of the difference {icc})."
    ),
    "population.few": "More queries on {documents}, but not on new {unit}s.",
    "population.few.alike": (
        "More queries on {documents}, but not on new {unit}s (ICC of the difference {icc})."
    ),
    "population.worth": _WORTH.replace("{worth}", "only {worth} such {unit}s"),
    "population.worth.one": _WORTH.replace("{worth}", "no more than one such {unit}"),
    "population.queries": "Queries like the {count} asked, no two of them on one {unit}.",
    "population.unknown": (
        "Queries like the {count} asked. It is not known here which of them share a document."
    ),
    "holds.queries": "{queries}.",
    "holds.used": "Its {measure} is {mean}, for {queries}.",
    "holds.used.few": "Its {measure} is {mean}.",
    "holds.best": "The best {measure} is {mean}, for {queries}.",
    "holds.best.few": "The best {measure} is {mean}.",
    "holds.unjudged": "What is unjudged counts as irrelevant.",
    "holds.also": "The comparison also holds for {others}.",
    "holds.only": "The comparison holds for {others} only.",
    # that it holds would read as praise beside a poor score
    "holds.also.poor": "Expect no better on {others}.",
    "holds.also.doubt": "By the same judge this also holds for {others}.",
    # why another setting is named than the one with the highest mean
    "rule.effects": (
        f"{_NAMED} each of its choices is the best, or a lighter one as good, averaged over the others."
    ),
    "rule.labels": (
        f"{_NAMED} with longer or shorter labels it falls at most {{short}} behind the best, the other "
        "{other}."
    ),
    "rule.price": f"{_NAMED} it costs {{price}} instead of {{other}} {{unit}}.",
    "rule.regret": f"{_NAMED} it may lose less: {{regret}} instead of {{other}} at most.",
    "cheaper": (
        f"{_CHEAPER} It is at most {{regret}} worse than any other, within the tolerance of {{tolerance}}."
    ),
    "cheaper.none": f"{_CHEAPER} It is no worse than any other, within the tolerance of {{tolerance}}.",
    # what it takes where an existing collection would be replaced
    "again": f"{_AGAIN} {{tokens}} tokens.",
    "again.built": f"{_AGAIN} {{tokens}} tokens and {_BUILDS}.",
    "again.cost": f"{_AGAIN} {{tokens}} tokens, at a price of {{money}}.",
    "again.cost.built": f"{_AGAIN} {{tokens}} tokens, at a price of {{money}}, and {_BUILDS}.",
    "again.time": f"{_AGAIN} {{tokens}} tokens, in about {{seconds}} s on the machine of the run.",
    "again.time.built": (
        f"{_AGAIN} {{tokens}} tokens, in about {{seconds}} s on the machine of the run, and {_BUILDS}."
    ),
    "again.words": f"{_AGAIN} nothing.",
    "again.words.built": f"{_AGAIN} nothing and {_BUILDS}.",
    # what speaks against it
    "unfit": "{measure} cannot be compared between settings that cut documents differently.",
    "unfit.instead": "Use {instead} instead.",
    "unfit.evidence": "Add ndcg_evidence@5000 to the measures.",
    "disagree": "Measures disagree: {leader} leads by {measure}, {others}. Trust {uses}.",
    "disagree.tied": "Measures disagree: {measure} is level for {tied}, {others}. Trust {uses}.",
    "disagree.unfit": (
        "The leader is the same by all measures that can compare these settings. Another one leads by "
        "{measures}, which cannot: only settings over the same chunks can be compared by that."
    ),
    # beside the first screen of the page, whose other measures are not named in the verdict
    "measures": "All {count} have the same leader.",
    "measures.both": "Both have the same leader.",
    "measures.one": "The other measure has the same leader.",
    "measures.unfit.all": "None of the other {count} can compare these settings.",
    "measures.unfit.one": "The other measure cannot compare these settings.",
    "measures.unfit": "All that can compare these settings have the same leader.",
    "measures.open": "By {shown} of {count} another setting leads, but it is not shown to be better.",
    "measures.open.one": "By the other measure another setting leads, but it is not shown to be better.",
    "measures.better": (
        "By {shown} of {count} another setting leads; by {clear} of these it is shown to be better."
    ),
    "measures.better.one": "By the other measure another setting leads, and it is shown to be better.",
    "measures.apart.one": "1 of these cannot compare these settings.",
    "measures.apart": "{apart} of these cannot compare these settings.",
    "turns.one": f"1 difference depends {_TURNS}",
    "turns": f"{{count}} differences depend {_TURNS}",
    "depths": "Who reads less or more is served otherwise.",
    "depths.on": "From {first} characters on, {leader} leads.",
    "depths.up": "Up to {last} characters, {leader} leads.",
    "depths.at": "At {first} characters, {leader} leads.",
    "depths.between": "From {first} to {last} characters, {leader} leads.",
    "depths.ends": "Rankings end before {depth} characters.",
    "depths.read": "Read {first} to {last} characters: {low} {drawn} {high}.",
    "depths.read.other": "Read {first} to {last} characters, in {measure}: {low} {drawn} {high}.",
    "limit.no prices": "The price limit of {limit} is not applied, as there are no prices.",
    "limit.baseline": "The price limit of {limit} is not applied, with a baseline.",
    "rare": (
        "{queries} may hold no example of a rare kind of query, one that is less than {share} of what is "
        "asked; the verdict does not cover such kinds."
    ),
    "rare.one": (
        "1 query may hold no example of a rare kind of query, one that is less than {share} of what is "
        "asked; the verdict does not cover such kinds."
    ),
    "judged.assumed": (
        "It is assumed that the labels mark all that answers each query, so text without one counts as "
        "irrelevant. If passages were graded instead, set relevance: {{labels: pool}}."
    ),
    "judged": f"Only {{share}} of {{extent}} are judged under some setting ({{measure}}). {_UNJUDGED}",
    "judged.single": f"Only {{share}} of {{extent}} are judged ({{measure}}). {_UNJUDGED}",
    "judged.answers": ("If the labels mark all that answers each query, set relevance: {{labels: answers}}."),
    "overlap": (
        "The bounds overlap: judging the rest could lift {settings} above the {mean} of {leader}, up to "
        "{most} ({bound})."
    ),
    # what the numbers leave out, and what cannot be told apart by them
    "left out": "{words} The verdict is on the other queries alone.",
    "filters": "Filters leave out labelled documents: {settings}; filters.csv lists them.",
    "same rankings": (
        "Settings that differ only in what is read to answer, or in `answer`, have the same rankings, so "
        "they tie here: {settings}. Choose between them by their answers."
    ),
    "more warnings": "{count} more on {kind}: the list warnings of record.json has all.",
}
