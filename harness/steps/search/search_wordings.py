"""What steps of the search warn of, and say where a model fails them: each sentence by its code."""

from __future__ import annotations

from collections.abc import Mapping

_LEDGER = "to ask the model again, or name another prompt or model. Every other answer is in the ledger."

FAILURES: Mapping[str, str] = {
    "context.failed": (
        "{failed} of {total} chunks have no usable context by {model} and are indexed without: {items}."
    ),
    "context.fatal": (
        "{failed} of {total} chunks have no usable context by {model}: {items}. Set `context.on_failure: "
        f"leave_out`, with which they are indexed without, `context.ask_again: true` {_LEDGER}"
    ),
    "field.failed": (
        "{failed} of {total} texts have no usable list of names by {model} and count as naming nothing: "
        "{items}."
    ),
    "field.fatal": (
        "{failed} of {total} texts have no usable list of names by {model}: {items}. Set `field.on_failure: "
        f"nameless`, with which they count as naming nothing, `field.ask_again: true` {_LEDGER}"
    ),
    "filter.failed": (
        "{failed} of {total} queries have no usable filter by {model} and are searched in all documents: "
        "{items}."
    ),
    "filter.fatal": (
        "{failed} of {total} queries have no usable filter by {model}: {items}. Set `filter.on_failure: "
        f"unfiltered`, with which they are searched in all documents, `filter.ask_again: true` {_LEDGER}"
    ),
    "rerank.failed": (
        "{failed} of {total} queries have no usable reranking by {model} and keep the order that they had: "
        "{items}."
    ),
    "rerank.fatal": (
        "{failed} of {total} queries have no usable reranking by {model}: {items}. Set `rerank.on_failure: "
        f"as_ranked`, with which they keep the order that they had, `rerank.ask_again: true` {_LEDGER}"
    ),
    "rewrite.failed": (
        "{failed} of {total} queries have no usable rewriting by {model} and are searched as they are: "
        "{items}."
    ),
    "rewrite.fatal": (
        "{failed} of {total} queries have no usable rewriting by {model}: {items}. Set `rewrite.on_failure: "
        f"as_asked`, with which they are searched as they are, `rewrite.ask_again: true` {_LEDGER}"
    ),
}
"""Of answers that cannot be used: ``failed`` where the run goes on, ``fatal`` where it ends."""

SEARCH: Mapping[str, str] = {
    "rerank.repaired": (
        "{repaired} of {answered} answers of {model} by {prompt} did not name what they should once: the "
        "first mention counts, passages left out follow in the order that they had, and other numbers are "
        "dropped."
    ),
    "rewrite.unmatched": "{left} of {queries} queries fit no rule of `statement` and are searched unchanged.",
    "stored.early": (
        "{store}, {collection}: for {queries} the index stopped before it had found enough rows of those "
        "that the filter or the part leaves, so rankings end early. Raise its search effort (such as "
        "ef_search), or scan (exact: true)."
    ),
    "stored.altered": (
        "{store}, {collection}: the median cosine of {vectors} stored vectors with those of {model} is "
        "{cosine}: they were made with a prefix, of more text than is stored, or in lower precision."
    ),
    "stored.other_words": (
        "{store}, {collection}: of the words in {vectors} stored sparse vectors, {share} at the median are "
        "words of their texts as sparse_model makes them: they were made of more text than is stored, with "
        "another list of stop words, or in another language."
    ),
}
"""Of what bears on the result, and of what is worth knowing."""
