"""Sentences of `wordings.SENTENCES`: warnings of a run that bear on numbers of its result."""

from __future__ import annotations

from collections.abc import Mapping

WARNINGS: Mapping[str, str] = {
    # labels that are doubtful, of one label or query and of several
    "labels.figures.one": (
        "1 label was found by similarity, but figures in quote and text differ; compare them in the "
        "anchoring.csv of a run (label file, line {places})."
    ),
    "labels.figures": (
        "{count} labels were found by similarity, but figures in quote and text differ; compare them in the "
        "anchoring.csv of a run (label file, lines {places})."
    ),
    "labels.copies.one": (
        "1 quote was found more than once in the searched text, and the first place was used; quote more of "
        "the text, or label every copy with one evidence name (label file, line {places})."
    ),
    "labels.copies": (
        "{count} quotes were found more than once in the searched text, and the first place was used; quote "
        "more of the text, or label every copy with one evidence name (label file, lines {places})."
    ),
    "labels.answered.one": (
        "1 query is marked unanswerable, has a label of the highest grade, and is left out of NDCG "
        "({places})."
    ),
    "labels.answered": (
        "{count} queries are marked unanswerable, have a label of the highest grade, and are left out of "
        "NDCG ({places})."
    ),
    "labels.answered.zero.one": (
        "1 query is marked unanswerable, has a label of the highest grade, and is counted as 0 in NDCG "
        "({places})."
    ),
    "labels.answered.zero": (
        "{count} queries are marked unanswerable, have a label of the highest grade, and are counted as 0 in "
        "NDCG ({places})."
    ),
    "labels.unlabelled.one": (
        "1 query has no label and is left out of NDCG and recall; label the passages that answer, or mark "
        "answerable: no ({places})."
    ),
    "labels.unlabelled": (
        "{count} queries have no label and are left out of NDCG and recall; label the passages that answer, "
        "or mark answerable: no ({places})."
    ),
    "labels.unlabelled.zero.one": (
        "1 query has no label and is counted as 0 in NDCG and recall; label the passages that answer, or "
        "mark answerable: no ({places})."
    ),
    "labels.unlabelled.zero": (
        "{count} queries have no label and are counted as 0 in NDCG and recall; label the passages that "
        "answer, or mark answerable: no ({places})."
    ),
    "labels.skipped.one": (
        "1 query has labels only in documents that were skipped, and is left out of NDCG and recall; replace "
        "these documents by whole ones ({places})."
    ),
    "labels.skipped": (
        "{count} queries have labels only in documents that were skipped, and are left out of NDCG and "
        "recall; replace these documents by whole ones ({places})."
    ),
    "labels.skipped.zero.one": (
        "1 query has labels only in documents that were skipped, and is counted as 0 in NDCG and recall; "
        "replace these documents by whole ones ({places})."
    ),
    "labels.skipped.zero": (
        "{count} queries have labels only in documents that were skipped, and are counted as 0 in NDCG and "
        "recall; replace these documents by whole ones ({places})."
    ),
    "labels.long": (
        "The median label has {length} characters, and {measure} counts any {enough} of them as found "
        "evidence, whether they contain the answer or not. Shorten the labels, or name the words that answer "
        "in their column answer."
    ),
    # queries that ask the same, and documents that hold them
    "questions.alike": (
        "{queries} ask only {different} different things: {alike} have the same evidence and much the same "
        "words as another ({groups}). Where queries are tested one by one, each counts as evidence of its "
        "own. To test those that ask the same as one, set bootstrap: {{clusters: near_duplicates}}, or give "
        "them one name in the column cluster of the query file."
    ),
    "questions.listed": (
        "{document} holds {held} of the {queries} queries word for word: is it a list of queries? It will be "
        "retrieved for all of them. Remove it from documents if real users would not have it."
    ),
    # rankings that end before what measures read
    "depth.ranks": (
        "Rankings end at rank {ranks} in {shallow} of {total} settings; a measure at cutoff {cutoff} sees "
        "nothing below that. Raise retrieve.top_k."
    ),
    "depth.reranked": (
        "The reranker scores the first {scored} chunks, and a measure looks at {cutoff}: chunks below that "
        "cannot move up into it. Omit rerank.top_n, or set it above {cutoff}."
    ),
    "depth.reranked.first": (
        "The reranker scores the first chunk, and a measure looks at {cutoff}: chunks below that cannot "
        "move up into it. Omit rerank.top_n, or set it above {cutoff}."
    ),
    "depth.budget": (
        "Rankings end before the {budget} {unit} that {measure} reads: {endings}. What would come next was "
        "not retrieved, and counts as lost. Raise retrieve.top_k, or set retrieve.top_chars to {budget} or "
        "more instead."
    ),
    "depth.budget.hits": (
        "Rankings end before the {budget} {unit} that {measure} reads: {endings}. What would come next was "
        "not retrieved, and counts as lost. Write more ranks of each query."
    ),
    "parsers.uncompared": ("No measure compares parsers ({parsers}). Add ndcg_evidence@5000 to measures."),
    # the judge
    "judge.pool": (
        "The judge sees the first {pooled} chunks (relevance.pool.depth) and a measure looks at {cutoff}; "
        "chunks in between may be unjudged and then gain nothing."
    ),
    "judge.chunkings": (
        "Several chunkings are judged chunk by chunk: their spans overlap, so a small chunk can earn the "
        "grade of a large one around it. To compare chunkings use relevance.pool: {{unit: passage}}."
    ),
}
