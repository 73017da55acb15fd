"""Sentences of `wordings.SENTENCES`: warnings of a run that bear on numbers of its result."""

from __future__ import annotations

from collections.abc import Mapping

_COVERED = (
    "Bounds cover only the settings that were compared: other numbers of the ranges may be better, and no "
    "bound allows for how the sampler picked these."
)
_STATED = "The judge is {judge}, its scores cut into grades at stated scores."
_FITTED = (
    "The judge is {judge}, its scores cut into grades by a monotone fit to {grades} of people for train "
    "queries."
)
_UNKNOWN = "How far it agrees with people is not known: there are no labels."
_KAPPA = "Its quadratic kappa with people is {kappa} (plain {plain}) over {passages} of {queries}. {compared}"
_NO_KAPPA = "Its agreement with people cannot be measured over {passages} of {queries}. {compared}"
_PARTIAL = "Such a judge is partial to retrievers and rerankers built on the same model or a similar one."
_MOVED = (
    "A row that was deleted counts as not found, whatever the index is worth, so the scores are of no single "
    "state of it. Run again when nothing writes to it."
)

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
    "judge.same": (
        "The judge {model} also ranks ({rankers}): a model that grades its own ranking agrees with itself, "
        "which measures nothing. Use another judge or human labels."
    ),
    "judge.addressed.one": (
        "A passage addresses the judge ({passages}). See its answers: `harness judge answers CONFIG "
        "--flagged`."
    ),
    "judge.addressed": (
        "{count} passages address the judge ({passages}). See its answers: `harness judge answers CONFIG "
        "--flagged`."
    ),
    "judge.ungraded": "{ungraded} of {passages} have no usable grade by {judge} and count as unjudged.",
    # a judge by scores, whose grades are stated or fitted to those of people
    "judge.stated": f"{_STATED} {_UNKNOWN} {_PARTIAL}",
    "judge.stated.kappa": f"{_STATED} {_KAPPA} {_PARTIAL}",
    "judge.stated.one grade": f"{_STATED} {_NO_KAPPA} {_PARTIAL}",
    "judge.fitted": f"{_FITTED} {_UNKNOWN} {_PARTIAL}",
    "judge.fitted.kappa": f"{_FITTED} {_KAPPA} {_PARTIAL}",
    "judge.fitted.one grade": f"{_FITTED} {_NO_KAPPA} {_PARTIAL}",
    # the text of documents
    "text.suspect": "Text of {documents}: {characters} characters are suspect.",
    "text.suspect.pages": "Text of {documents}: {pages} pages and {characters} characters are suspect.",
    "text.silent.one": (
        "1 document has pages without text although something is drawn on them, most likely scans: {pages}. "
        "Run OCR over them (for example: ocrmypdf --skip-text in.pdf out.pdf)."
    ),
    "text.silent": (
        "{count} documents have pages without text although something is drawn on them, most likely scans: "
        "{pages}. Run OCR over them (for example: ocrmypdf --skip-text in.pdf out.pdf)."
    ),
    "text.damaged.one": (
        "1 document has pages with damaged content, part of which may be missing: {pages}. Download or "
        "export it again."
    ),
    "text.damaged": (
        "{count} documents have pages with damaged content, part of which may be missing: {pages}. Download "
        "or export them again."
    ),
    "text.short": (
        "{parser} may have lost text of {documents}; the second reading ({readers}) finds {missing} "
        "characters more: {pages}. Check these pages, or choose another kind of parser."
    ),
    "text.repaired": (
        "{documents} could be read, but only after repairing errors ({repairs}); documents.csv of a run "
        "lists all of them."
    ),
    # the reason is a sentence of its own, which may end with a command
    "text.skipped": "Skipped {reason}",
    "text.lacking": "Left out: {files}.",
    "text.outside.one": (
        "1 document outside the part cannot be read ({documents}), so passages of it that name no document "
        "are taken for text in none and keep their rank. Mend or remove this file."
    ),
    "text.outside": (
        "{count} documents outside the part cannot be read ({documents}), so passages of theirs that name no "
        "document are taken for text in none and keep their rank. Mend or remove these files."
    ),
    # chunks, and what models read of them
    "chunks.cut": (
        "{settings}: {cut} of {chunks} chunks are not completely inside the text that is read for them. Cut "
        "the larger chunks at boundaries of the small ones, or read windows."
    ),
    "chunks.long": (
        "{settings}: {overlong} of {chunks} chunks are longer than the {window} tokens that {model} reads; "
        "the rest of each chunk is not searched."
    ),
    "chunks.long.context": (
        "{settings}: {overlong} of {chunks} chunks are longer with their context than the {window} tokens "
        "that {model} reads; the rest of each chunk is not searched. Use smaller chunks, a shorter context "
        "or a model with a longer window."
    ),
    "chunks.queries": (
        "{settings}: {longer} of {queries} queries are longer than the {window} tokens that {model} reads; "
        "the rest of each query is not searched for. Shorten them, or use a model with a longer window."
    ),
    "chunks.capped": (
        "{settings}: {share} of its chunks end at the window of {window} tokens, not at chunk_size {size}: "
        "the median chunk has {median} characters. Describe the setting by that length, or use a smaller "
        "chunk_size or a model with a longer window."
    ),
    "chunks.context": (
        "{settings}: context {context} finds nothing to add to any chunk, so it changes nothing. Use another "
        "kind, or omit it."
    ),
    "language.english.one": (
        "{models} is for English only, judging by the name, but {documents} of the letters of the documents "
        "and {queries} of those of the queries are not Latin (most are {script}). Use a multilingual model, "
        "such as intfloat/multilingual-e5-small or BAAI/bge-m3 ({guide})."
    ),
    "language.english": (
        "{models} are for English only, judging by the name, but {documents} of the letters of the documents "
        "and {queries} of those of the queries are not Latin (most are {script}). Use a multilingual model, "
        "such as intfloat/multilingual-e5-small or BAAI/bge-m3 ({guide})."
    ),
    "prefixes.unset": (
        "{model} was trained with {prefixes}, and the retriever has no prefix. Set it, or compare both."
    ),
    # how numbers were computed
    "cache.batches": (
        "A model computed what the cache cannot keep. When needed again, it is computed in other batches, so "
        "scores may differ in their last digits from those of a run with a cache. Make the cache writable to "
        "get the same numbers."
    ),
    "precision.changed": (
        "With precision: fast, {model} computed in {way}. Of the first ten places of {queries}, {changed} "
        "hold another chunk than in float32."
    ),
    "precision.beyond": (
        "With precision: fast, {model} computed in {way}. Of the first ten places of {queries}, {changed} "
        "hold another chunk than in float32. That is more than int8_changes allows ({most}): lower it, or "
        "leave it out."
    ),
    # hits of other pipelines
    "hits.silent": (
        "{setting}: {silent} of {queries} have no hits ({names}): queries that have an answer score 0 and "
        "count."
    ),
    "hits.column": (
        "{setting}: the column {column} is not read, and every text is sought in all documents. If it names "
        "the document, rename it to 'document'."
    ),
    "hits.rising": (
        "{setting}: scores rise from row to row in every query, as distances do, but the highest score is "
        "taken as the best. If less is better, write a column rank instead."
    ),
    "hits.not found": (
        "{setting}: {odd} of {hits} not found in the documents; each keeps its rank as unjudged text "
        "({lines})."
    ),
    "hits.repeated": (
        "{setting}: {odd} of {hits} returned twice for one query; the second earns nothing ({lines})."
    ),
    "hits.other page": (
        "{setting}: {odd} of {hits} found, but not on the page of the row; the text decides (do pages count "
        "from 1?) ({lines})."
    ),
    "hits.figures": (
        "{setting}: {odd} of {hits} found by similarity, but the figures in hit and document differ; compare "
        "them in hits.csv ({lines})."
    ),
    "hits.copied": (
        "{setting}: {odd} of {hits} in several places of the searched text; the first was used, or the next "
        "one for the next such hit. Give start and end, page or document to distinguish them ({lines})."
    ),
    # passages of existing collections
    "hits.missed.one": (
        "{setting}: 1 piece of relevant evidence is in no passage of the collection, so no search of it can "
        "find it."
    ),
    "hits.missed": (
        "{setting}: {count} pieces of relevant evidence are in no passage of the collection, so no search of "
        "it can find them."
    ),
    "hits.store": "{setting}: {fact}.",
    "hits.unplaced": (
        "{setting}: {odd} of {passages} are in no document, and count as unjudged text at their ranks "
        "({texts})."
    ),
    "hits.by page": (
        "{setting}: {odd} of {passages} are placed by page only, as their text is not in the document: each "
        "counts as its whole page, with all labels and all text there."
    ),
    "hits.page differs": (
        "{setting}: {odd} of {passages} were found by their text on another page than their row says, and "
        "retrieve.first_page is {first_page}: check that the store gives this number to the first page of a "
        "document."
    ),
    "hits.page zero.one": (
        "{setting}: 1 row is of page 0 ({example}), and retrieve.first_page is 1, so this page is ignored, "
        "and all others may be taken for the one before them. If the store numbers the first page 0, set "
        "first_page: 0."
    ),
    "hits.page zero": (
        "{setting}: {count} rows are of page 0 ({example}), and retrieve.first_page is 1, so these pages are "
        "ignored, and all others may be taken for the one before them. If the store numbers the first page "
        "0, set first_page: 0."
    ),
    "hits.page unread.one": (
        "{setting}: 1 row gives something as page that is no page number, which is ignored ({example})."
    ),
    "hits.page unread": (
        "{setting}: {count} rows give something as page that is no page number, which is ignored ({example})."
    ),
    "hits.page beyond.one": (
        "{setting}: 1 row gives a page that its document does not have, which is ignored ({example})."
    ),
    "hits.page beyond": (
        "{setting}: {count} rows give a page that their document does not have, which is ignored ({example})."
    ),
    "hits.page beyond zero.one": (
        "{setting}: 1 row gives a page that its document does not have, which is ignored ({example}). If the "
        "store numbers the first page 1, remove first_page: 0."
    ),
    "hits.page beyond zero": (
        "{setting}: {count} rows give a page that their document does not have, which is ignored "
        "({example}). If the store numbers the first page 1, remove first_page: 0."
    ),
    "hits.blank.one": (
        "{setting}: 1 row has neither text nor page ({rows}): where the store returns it, it counts as "
        "unjudged text at its rank."
    ),
    "hits.blank": (
        "{setting}: {count} rows have neither text nor page ({rows}): where the store returns one, it counts "
        "as unjudged text at its rank."
    ),
    "hits.copies": (
        "{setting}: {odd} of {passages} repeat the text of another: each takes a rank, but only the first "
        "gains."
    ),
    "hits.unnamed": (
        "{setting}: no document that the collection names ({names}) is among the files, so passages were "
        "sought in all documents. Set retrieve.document to the key that holds the name of the file."
    ),
    "hits.gone": "{setting}: documents in the collection that are not among the files: {documents}.",
    "hits.absent": "{setting}: files without a passage in the collection: {documents}.",
    "hits.rows changed": (
        "{collection} of {store} changed while the run read and searched it (rows deleted: {deleted}, "
        f"added: {{added}}, changed: {{changed}}). {_MOVED}"
    ),
    "hits.rows differ": (
        "{collection} of {store} changed while the run read and searched it (rows deleted: {deleted}, "
        f"added: {{added}}; a changed row is one of each). {_MOVED}"
    ),
    "hits.rows unknown": (
        "{collection} of {store} could not be read again after the search, so that it is not known whether "
        "its rows changed meanwhile ({fault}). A row that was deleted would count as not found. Run again "
        "to be sure."
    ),
    # what `harness tune` left
    "tuning.dropped": (
        "These {left} of {total} settings were left by harness tune, which dropped the others on a part of "
        "the queries or text (tuned.csv). Comparisons among those left do not pay for that choice; tune.json "
        "has the bounds that do."
    ),
    "tuning.covered": _COVERED,
    "tuning.proposed": f"A sampler proposed the settings by the scores of earlier ones. {_COVERED}",
    "tuning.screened": (
        "Dropped settings were seen through a screen: their vectors were computed in int8. Their bounds hold "
        "for what was seen so; what exact vectors would give them was not seen."
    ),
}
"""Those of a result: the code begins with the kind of warning."""

HINTS: Mapping[str, str] = {
    "pages.missing": "{file} does not exist. Run the command in the folder where the benchmark ran.",
    "pages.changed": "{file} has changed since the run, so its pages are not shown.",
    "runs.uncompared": (
        "The runs are not compared: no query has a value of a measure of quality under all of them "
        "({measures})."
    ),
    "runs.unjudged": "No ranked document is judged for its query: do run and qrels belong together?",
    "runs.unjudged.file": (
        "{file}: no ranked document is judged for its query: do run and qrels belong together?"
    ),
}
"""What commands warn of besides, which bears on no number."""
