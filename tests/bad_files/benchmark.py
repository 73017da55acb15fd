"""The files of a benchmark: queries, labels, documents."""

from harness.data.corpus.anchoring import LabelRow
from harness.values.types import Query
from tests.bad_files.kind import Kind, lines, with_line

ENGINES = "Engines turn heat into work.\n\nA pump feeds water into the boiler of the engine.\n"
PASSAGE = ENGINES[30:79]
QUERIES = "query_id,text,split\nq1,What feeds water?,train\nq2,What turns heat into work?,validation\n"
QUERIES_JSONL = lines(
    {"query_id": "q1", "text": "What feeds water?", "split": "train"},
    {"query_id": "q2", "text": "What turns heat into work?", "split": "validation"},
)
LABEL = "q1,engines,,,A pump feeds water into the boiler,4\n"
LABELS = f"query_id,document,start,end,quote,grade\n{LABEL}q2,engines,0,28,,3\n"
LABELS_JSONL = lines({"query_id": "q1", "document": "engines", "quote": "feeds water", "grade": 4})
BENCH = """\
name: small
documents: docs/*
queries: queries.csv
labels: labels.csv
chunk: {kind: recursive, chunk_size: 40}
retrieve: {kind: bm25, top_k: 10}
"""
SMALL = {"docs/engines.txt": ENGINES, "queries.csv": QUERIES, "labels.csv": LABELS, "bench.yaml": BENCH}
VALIDATE = "validate bench.yaml"


def bench(more="", **files):
    """The files of the benchmark with other ones, and more lines in its YAML."""
    return SMALL | {"bench.yaml": BENCH + more} | files


def renamed(old, new):
    """The benchmark with another name of a file in its YAML."""
    return {"bench.yaml": BENCH.replace(old, new)}


def labels(row):
    """The labels with another second row."""
    return LABELS.replace("q2,engines,0,28,,3", row)


KINDS = {
    "queries.csv": Kind("queries.csv", VALIDATE, SMALL, row=Query),
    "queries.jsonl": Kind(
        "queries.jsonl",
        VALIDATE,
        bench() | renamed("queries.csv", "queries.jsonl") | {"queries.jsonl": QUERIES_JSONL},
        row=Query,
    ),
    "labels.csv": Kind("labels.csv", VALIDATE, SMALL, row=LabelRow),
    "labels.jsonl": Kind(
        "labels.jsonl",
        VALIDATE,
        bench() | renamed("labels.csv", "labels.jsonl") | {"labels.jsonl": LABELS_JSONL},
        row=LabelRow,
    ),
    "document": Kind("docs/engines.txt", VALIDATE, SMALL),
}

ROWS = {
    "queries.csv": [
        ("id with a space", ("q1,", "q 1,"), 2),
        ("column twice", (",split", ",text"), 1),
        ("open quote", ("What feeds", '"What feeds'), 2),
    ],
    "queries.jsonl": [
        ("a list in place of a text", ('"What feeds water?"', '["What feeds water?"]'), 1),
        ("null in place of an object", with_line(QUERIES_JSONL, "null"), 3),
        ("half a character", ("What feeds", "\\ud800"), 1),
        ("nested without end", with_line(QUERIES_JSONL, "[" * 100_000), 3),
    ],
    "labels.csv": [
        ("quote not found", ("A pump feeds", "Nobody ever said"), 2),
        ("offsets beyond the text", labels("q2,engines,0,280,,3"), 3),
        ("half of a range", labels("q2,engines,0,,,3"), 3),
        ("range that ends before it begins", labels("q2,engines,28,2,,3"), 3),
        ("nothing graded", labels("q2,engines,,,,3"), 3),
        ("page of a text", "query_id,document,page,grade\nq1,engines,2,4\n", 2),
        ("page in words", "query_id,document,page,grade\nq1,engines,two,4\n", 2),
        ("page 0", "query_id,document,page,grade\nq1,engines,0,4\n", 2),
        ("unknown query", labels("q3,engines,0,28,,3"), 3),
        ("unknown document", labels("q2,engine,0,28,,3"), 3),
        ("two grades of one text", with_line(LABELS, "q2,engines,,,Engines turn heat into work.,1"), 4),
    ],
    "labels.jsonl": [
        ("grade that is true", ('"grade": 4', '"grade": true'), 1),
        ("grade in a list", ('"grade": 4', '"grade": [4]'), 1),
        ("no number", ('"quote": "feeds water"', '"start": NaN, "end": 9'), 1),
        ("endless number", ('"quote": "feeds water"', '"start": 1, "end": ' + "9" * 5000), 1),
    ],
}
