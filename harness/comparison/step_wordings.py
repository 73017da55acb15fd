"""Sentences of `wordings.SENTENCES`: next steps, checks of a gate, and where the fault of answers lies.

A step whose sentence ends with a colon is followed by the command or the line to copy.
"""

from __future__ import annotations

from collections.abc import Mapping

_CHANGE = "{before} to {mean} over {queries}:"
_DROP = "{before} to {mean} over {queries}: a drop of {drop}, with {tolerated} tolerated"
_SEARCH = "because search is the largest loss: only a run shows whether it finds"
_RANKS = "because ranking is the largest loss: only a run shows whether it ranks evidence higher. Set in the"
_CUTS = "because chunking is the largest loss: only a run shows whether"
_HERE = "configuration and run again:"
_SIZE = "Of the sizes tried, {best} loses least: try a"

STEPS: Mapping[str, str] = {
    "quick.left out": "{count} of {total} need models and were left out ({takes}). To run these as well:",
    "quick.left out.one": "1 of {total} needs a model and was left out ({takes}). To run it as well:",
    "quick.unknown": "{count} of {total} need models and were left out. To run these as well:",
    "quick.unknown.one": "1 of {total} needs a model and was left out. To run it as well:",
    "quick.stored": (
        "{count} of {total} need models and were left out; what these compute is stored, so they take no "
        "time. To see these as well:"
    ),
    "quick.stored.one": (
        "1 of {total} needs a model and was left out; what this computes is stored, so it takes no time. To "
        "see it as well:"
    ),
    "step.elsewhere": (
        "Name all documents that the other pipeline has searched, or correct the text of its hits: hits.csv "
        "says which are in no document."
    ),
    "step.ranked": "See what was ranked, and where the labels are:",
    "step.lost": "See what is lost, query by query:",
    "step.add.one": "Add at least 1 more query.",
    "step.add": "Add at least {count} more queries.",
    "step.testset": "How to make them:",
    "step.sweep": "Sweep a field, or compare with a second folder of results.",
    "step.larger": "Try a larger change. What is lost, query by query:",
    "step.people": "Judge by the labels of people instead. Set in the configuration and run again:",
    "step.judge": "Let a judge grade that no setting ranks by, or people, and run again.",
    "step.label": (
        "Label what is unjudged, beginning with what most settings found. For a sheet to fill in:"
    ),
    "step.label.pool": "Label what is unjudged: raise the depth of the pool in `relevance` and run again.",
    "step.label.rest": (
        "Label the rest of {extent}, beginning with what most settings found. For a sheet to fill in:"
    ),
    "step.label.rest.pool": (
        "Label the rest of {extent}: raise the depth of the pool in `relevance` and run again."
    ),
    "step.deeper": ("Set {key} and run again: the rankings of {settings} end before what {measure} reads."),
    "step.deeper.routes": (
        "Set {key}, also in its routes, and run again: the rankings of {settings} end before what {measure} "
        "reads."
    ),
    "step.deeper.hits": (
        "Give more ranks of each query: the rankings of {settings} end before what {measure} reads."
    ),
    "step.documents": (
        "Add queries on other {unit}s, {fewest} or more with about as many queries each. For {documents} "
        "alone, give every query its own name in the column cluster of the query file."
    ),
    "step.confirm": "Confirm it on queries that were not used for tuning.",
    # how many queries would show a difference that matters
    "needed": "About {queries} queries would show a true difference of {difference} with a chance of "
    "{power}.",
    "needed.documents": (
        "About {queries} queries on {documents} would show a true difference of {difference} with a chance "
        "of {power}."
    ),
    "needed.apart": (
        "About {queries} queries, no two on one {unit}, would show a true difference of {difference} with a "
        "chance of {power}."
    ),
    "needed.one": (
        "On this one {unit} alone a true difference of {difference} shows, with a chance of {power}, only "
        "from about {queries} queries on."
    ),
    "needed.there": "There are {queries}.",
    "needed.there.documents": "There are {queries} on {documents}.",
    "needed.range": "Estimates range from {low} to {high} queries.",
    "needed.range.open": "Estimates range from {low} to far more queries.",
    "needed.same": "On {documents} alone it takes about {queries}.",
    "needed.same.never": "More queries on {documents} alone may not show it, however many.",
    # what may win back a loss: another way of a step that was not tried
    "try.parser": (
        "Try another parser, because parsing is the largest loss: only a run shows whether it loses less. "
        f"Set in the {_HERE}"
    ),
    "try.parser.any": "Try another parser, because parsing is the largest loss.",
    "try.filter": "Let the filter leave out less: filters.csv has what it left out.",
    "try.without": "Leave out {step}: it ranks evidence lower.",
    "try.level": (
        "Try {key} {level}, because {part} is the largest loss: only a run shows whether it loses less. Set "
        "in {step} and run again:"
    ),
    "try.level.further": (
        "Of the levels of {key} tried, {best} loses least: try {level}. Set in {step} and run again:"
    ),
    "try.chunks": "Try chunks of another size, or another chunker, because chunking is the largest loss.",
    "try.chunks.smaller": f"{_SIZE} smaller one. Set in chunk and run again:",
    "try.chunks.larger": f"{_SIZE} larger one. Set in chunk and run again:",
    "try.chunks.double": f"Try larger chunks, {_CUTS} they lose less. Set in chunk and run again:",
    "try.chunks.overlap": f"Try overlap, {_CUTS} it loses less. Set in chunk and run again:",
    "try.hits": (
        "Return more hits for each query, or search in another way, because search is the largest loss."
    ),
    "try.more": "Retrieve more, or search in another way, because search is the largest loss.",
    "try.deeper": "What is not found may come after the first {depth}. In retrieve:",
    "try.vectors": (f"Try vector search as well, {_SEARCH} what keyword search does not. Set in the {_HERE}"),
    "try.words": f"Try keyword search as well, {_SEARCH} what vector search does not. Set in the {_HERE}",
    "try.encoder": (f"Try another encoder, {_SEARCH} more. Set in place of model {{model}} and run again:"),
    "try.encoder.hub": (
        f"Try another encoder from the model hub, {_SEARCH} more. Set in place of model {{model}} and run "
        "again:"
    ),
    "try.install": "Models do not run here yet: pip install 'ndcg-harness[local,chroma]'.",
    "try.reranker.any": "Try a reranker, because ranking is the largest loss.",
    "try.reranker.bundled": f"Try the bundled reranker, {_RANKS} {_HERE}",
    "try.reranker": f"Try a reranker, {_RANKS} {_HERE}",
    "try.reranker.another": f"Try another reranker, {_RANKS} {_HERE}",
    "try.reranker.hub": f"Try another reranker from the model hub, {_RANKS} {_HERE}",
    "try.reranker.another.any": "Try another reranker, because ranking is the largest loss.",
}

CHECKS: Mapping[str, str] = {
    "check.low": "{mean} is below the {least} required.",
    "check.one query": f"{_CHANGE} a single query cannot show whether a drop is real.",
    "check.few queries": f"{_CHANGE} {{units}} are too few to show whether a drop is real.",
    "check.dropped": f"{_DROP}; at least {{sure}} of it is more than chance explains.",
    "check.chance": f"{_DROP}, but chance may explain all of it.",
    "check.chance.part": f"{_DROP}, but chance may explain all but {{sure}} of it.",
    "check.equivalent": f"{_CHANGE} equivalent within {{tolerance}}; a drop is at most {{most}}.",
    "check.excluded": f"{_CHANGE} a drop is excluded.",
    "check.tolerated": f"{_CHANGE} a drop of more than {{most}} is excluded, with {{tolerated}} tolerated.",
    "check.open": (
        f"{_CHANGE} no drop beyond the {{tolerated}} tolerated is shown, though one of up to {{most}} is not "
        "excluded."
    ),
    "check.undecided": "Undecided, which fails here: more queries would decide.",
    "check.unread": "Rankings of one of the two end earlier: the change may be of their depth alone.",
    "check.here": "That holds for the {clusters} of these queries, and may not hold for new ones.",
    "check.new": "The baseline has no setting of this name, so no drop is tested.",
}

FAULTS: Mapping[str, str] = {
    "fault.stage": (
        "{setting} loses most in {stage}, {lost} of 1 in {measure}, the largest loss in {count} of {queries}."
    ),
    "fault.none": "{setting} loses nothing in {measure}.",
    "fault.measure": "{setting} has {measure} {mean}.",
    "fault.parsing": "The evidence is not in the extracted text; another parser may keep it.",
    "fault.chunking": "No chunk holds the evidence; other lengths and overlaps may.",
    "fault.retrieval": (
        "A chunk holds the evidence, but was not found; more candidates or another retriever may help."
    ),
    "fault.ranking": (
        "The evidence was found, but ranked too low to be read; a reranker or a larger top_n may help."
    ),
    "fault.answering": "The evidence was read; another prompt or model may make more of it.",
    "fault.also": "Also lost: {losses}.",
    "fault.without": "Earned without the evidence: {mean}.",
    "fault.explained": "{measure} is explained by {means}.",
    "fault.short.faithfulness": (
        "What falls short is {measure}: answers say what the passages do not, which another prompt or model "
        "may change."
    ),
    "fault.short.context_precision": (
        "What falls short is {measure}: much of what is read does not help, which a reranker or a smaller "
        "top_n may change."
    ),
    "fault.short.context_recall": (
        "What falls short is {measure}: what is read lacks parts of the golden answer, which retrieval or "
        "chunking may change."
    ),
    "fault.short.none": (
        "None of these is low, so the fault is in how answers word or choose what they read."
    ),
}
