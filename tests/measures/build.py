"""Short ways to write judgments, chunks and rankings down."""

from harness.measures import Scorer, parse_measure
from harness.values import Chunk, Judgment, Query, Ranking


def span(query, doc, start, end, grade, evidence=""):
    return Judgment(query, doc, start, end, grade, evidence)


def chunk(doc, start, end, *before):
    name = "+".join(f"{first}-{last}" for first, last in (*before, (start, end)))
    return Chunk(f"{doc}:{name}", doc, start, end, "", before)


def characters(chunk):
    """The offsets of a chunk's characters in the order of reading."""
    return [at for start, end in chunk.spans for at in range(start, end)]


def grid(doc, size, n):
    return [chunk(doc, i * size, (i + 1) * size) for i in range(n)]


def query(query_id):
    return Query(query_id, "?", "train")


def ranking(query_id, *chunks):
    ids = tuple(c if isinstance(c, str) else c.chunk_id for c in chunks)
    return Ranking(query_id, ids, tuple(-float(i) for i in range(len(ids))))


def score(rankings, queries, judgments, chunks, measures, **options):
    return Scorer(queries, judgments, chunks, **options).score(rankings, measures)


def value(measure, ranked, judgments, chunks, query_id="q", **options):
    """The value of one measure for one query; ``ranked`` None means that there is no ranking."""
    rankings = [] if ranked is None else [ranking(query_id, *ranked)]
    table = score(rankings, [query(query_id)], judgments, chunks, [parse_measure(measure)], **options)
    return table.values[0, 0]
