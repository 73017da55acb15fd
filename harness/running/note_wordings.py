"""What a run notes: worth knowing, and bearing on no number of its result. Each sentence by its code."""

from __future__ import annotations

from collections.abc import Mapping

_LEFT = (
    "What would come next is not retrieved and counts as lost: by that they are not shown to be worse, and "
    "no bound covers them."
)
_EARLY = f"Rankings of {{early}} of {{settings}} end before {{read}}. {_LEFT}"
_WILL_END = f"Rankings of {{early}} of {{settings}} will end before {{read}}. {_LEFT}"
_STAGE = "Stage {at} of {stages} ({text}, {queries}): {kept} of {settings} go on. First: {leaders}."

CORPUS: Mapping[str, str] = {
    "documents.first": "The documents are read by {parser}, the first of {parsers} parsers.",
    "documents.parser": "Reading the documents with {parser}.",
    "documents.copied": "Copying {documents} from {url}.",
    "documents.passages": "The documents are the passages of {collection}: {passages}.",
    "labels.repeated.one": (
        "1 label occurs word for word elsewhere too: {places} places count as the same evidence "
        "(anchor.duplicates: false counts the labelled places only)."
    ),
    "labels.repeated": (
        "{count} labels occur word for word elsewhere too: {places} places count as the same evidence "
        "(anchor.duplicates: false counts the labelled places only)."
    ),
    "labels.repeated once": (
        "1 label occurs word for word elsewhere too: 1 place counts as the same evidence (anchor.duplicates: "
        "false counts the labelled places only)."
    ),
    "labels.joined.one": (
        "1 label has no evidence name and the text of another label of the query: such labels count as the "
        "same evidence."
    ),
    "labels.joined": (
        "{count} labels have no evidence name and the text of another label of the query: such labels count "
        "as the same evidence."
    ),
    "labels.answers": (
        "Assumed: {file} marks all that answers each query, as {why}. If passages were graded instead, set "
        "relevance: {{labels: pool}}."
    ),
    "labels.pool": (
        "Assumed: {file} grades a pool of passages, as {why}; others may be relevant too. If it marks all "
        "that answers each query, set relevance: {{labels: answers}}."
    ),
    "clusters.questions.one": (
        "1 query is tested as 1 cluster: those that ask the same thing of the same evidence, or have one "
        "name in the column cluster, count as one."
    ),
    "clusters.questions": (
        "{count} queries are tested as {clusters}: those that ask the same thing of the same evidence, or "
        "have one name in the column cluster, count as one."
    ),
    "parsers.blind": (
        "{measures}: use these only to compare settings of the same parser; they depend on the length of the "
        "extracted text, or on how it was cut."
    ),
}
"""Of documents and labels."""

STORED: Mapping[str, str] = {
    "stored.reading": "Reading {collection} of {store}.",
    "stored.reading again": "Reading {collection} of {store} again, to see whether it has changed since.",
    "stored.outside": (
        "{setting}: {outside} of {passages} are of documents outside the part, and are not found."
    ),
    "stored.held": (
        "{setting}: {passages} in the collection, {middle} characters at the median ({low} to {high} for "
        "most); {placed} placed in {documents}. Index: {index}."
    ),
    "stored.held.unsaid": (
        "{setting}: {passages} in the collection, {middle} characters at the median ({low} to {high} for "
        "most); {placed} placed in {documents}. Index: the store does not say."
    ),
    "stored.passing": "{setting}: {passing} of {rows} ({share}) have {words}; no other is searched.",
    "hits.ignored": (
        "{setting}: scores do not decrease with rank in all queries. Ranks decide; scores are ignored, so "
        "answerability by score is not reported."
    ),
    "hits.placed": "{setting}: {placed} of {hits} placed: {ways}.",
    "hits.unplaced": "{setting}: {placed} of {hits} placed.",
}
"""Of collections that exist, and of hits that another program found."""

RUN: Mapping[str, str] = {
    "shared.copying": "Copying what is new in {cache}.",
    "chunks.take": "To cut chunks: {takes}.",
    "endpoint.turn": (
        "Another run is asking {model} with this cache. This run waits for its turn and reuses what the "
        "other has paid for."
    ),
    "workers.no room": "The cluster has no room for {cpus} and {gpus} GPUs a worker yet; waiting for it.",
    "workers.lost.one": "A worker was lost ({why}); 1 batch it had is done again.",
    "workers.lost": "A worker was lost ({why}); {count} batches it had are done again.",
    "fast.way": "precision: fast: {model} computes in {way}.",
    "fast.faster": ("precision: fast: {model} computes in {way}, {gain} times as fast as float32 by torch."),
    "fast.int8 fails": ("precision: fast: {model} does not run in int8 ({fault}), so it computes in {way}."),
    "fast.int8 slow": (
        "precision: fast: {model} is not a tenth faster in int8 than in {way}, so it computes in {way}."
    ),
    "fast.int8 tried": (
        "precision: fast: in int8, {model} takes {time} of the time of {way} and changes {changed} of the "
        "first ten places of a sample; int8_changes allows {allowed}, so it computes in {chosen}."
    ),
    "quick.first": "First results, mean {measure} of what needs no model: {means}.",
    "quick.to go.one": "1 setting to go: {takes}.",
    "quick.to go": "{count} settings to go: {takes}.",
}
"""Of what models, workers and other runs do."""

_ON_RAY = "on {workers}: about {time} ({speed} characters a second each, by earlier runs on Ray)."
_IN_ONE = (
    "on {workers}: about {time} ({speed} characters a second each, by earlier runs in one process on {cpus} "
    "of this machine)."
)
_UNMEASURED = "on {workers}: time unknown (nothing was measured with such workers)."
_EMBED = "embed by {model}: {texts} in {batches} "
_SCORE = "score by {model}: at most {pairs} "
_HERE = "On this machine, but for search by exact and bm25: search, scores, tables, page: "

SPREAD: Mapping[str, str] = {
    "spread.engine": "Engine: ray at {address}, {workers} of {cpus}.",
    "spread.engine.gpus": "Engine: ray at {address}, {workers} of {cpus} and {gpus} GPUs.",
    "spread.embed.ray": _EMBED + _ON_RAY,
    "spread.embed.process": _EMBED + _IN_ONE,
    "spread.embed.unmeasured": _EMBED + _UNMEASURED,
    "spread.score.ray": _SCORE + _ON_RAY,
    "spread.score.process": _SCORE + _IN_ONE,
    "spread.score.unmeasured": _SCORE + _UNMEASURED,
    "spread.nothing": "Nothing is left to compute on workers.",
    "spread.together": "On the workers, together: {time}.",
    "spread.together.more": "On the workers, together: {time} and what is unknown.",
    "spread.together.unknown": "On the workers, together: what is unknown.",
    "spread.here": f"{_HERE}{{time}} in the run of {{date}}.",
    "spread.here.unknown": f"{_HERE}time unknown (no earlier run in {{folder}} can be read).",
}
"""Of what is spread over the workers of a cluster."""

TUNE: Mapping[str, str] = {
    "tune.changed": "{file}: the configuration or a file has changed since; tune begins again.",
    "tune.other rows": "{file}: {collection} has changed since; tune begins again.",
    "tune.tried": "{tried} of {proposals} tried.",
    "tune.tried.best": "{tried} of {proposals} tried. Best: {setting} {score}.",
    "tune.tried.last": (
        "{tried} of {proposals} tried. Best: {setting} {score}. The ranges hold hardly any others."
    ),
    "tune.stage": (
        f"{_STAGE} The last to go on is {{last}} behind the first, the best of those dropped {{dropped}}."
    ),
    "tune.stage.all": f"{_STAGE} None is dropped.",
    "tune.next": "Next, stage {at} of {stages}: {settings} on {text} and {queries}.",
    "tune.early": _EARLY,
    "tune.early.key": f"{_EARLY} To compare them, set {{key}} and run again.",
    "tune.will end": _WILL_END,
    "tune.will end.key": f"{_WILL_END} To compare them, set {{key}} and run again.",
    "tune.certify.one": ("To certify, 1 dropped setting that may be better sees everything too: {settings}."),
    "tune.certify": (
        "To certify, {count} dropped settings that may be better see everything too: {settings}."
    ),
}
"""Of the stages of `harness tune`."""
