"""The files of a benchmark: queries, labels, documents, graded spans."""

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
SPAN = {"query_id": "q1", "doc_id": "engines", "start": 30, "end": 79, "grade": 4}
SPANS = lines(SPAN, {**SPAN, "query_id": "q2", "start": 0, "end": 28})
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
    "queries.csv": Kind("queries.csv", VALIDATE, SMALL),
    "queries.jsonl": Kind(
        "queries.jsonl",
        VALIDATE,
        bench() | renamed("queries.csv", "queries.jsonl") | {"queries.jsonl": QUERIES_JSONL},
    ),
    "labels.csv": Kind("labels.csv", VALIDATE, SMALL),
    "labels.jsonl": Kind(
        "labels.jsonl",
        VALIDATE,
        bench() | renamed("labels.csv", "labels.jsonl") | {"labels.jsonl": LABELS_JSONL},
    ),
    "document": Kind(
        "docs/engines.txt",
        VALIDATE,
        SMALL,
        {
            "missing": "documents: the pattern matches no file: 'docs/*', looked for in … Correct it.",
            "a folder": "documents: the pattern matches no file: 'docs/*', looked for in … Correct it.",
            "empty": "{file}: the file holds no text. Fill it, or leave it out.",
            "only a header": "1 of 2 labels is not found in the documents … Correct … labels.csv, line 2,",
        },
    ),
    "graded spans": Kind(
        "spans.jsonl",
        VALIDATE,
        bench() | renamed("labels: labels.csv", "relevance: {file: spans.jsonl}") | {"spans.jsonl": SPANS},
        {
            "missing": "relevance.file: {file}: cannot be read (No such file or directory). Check",
            "a folder": "relevance.file: {file}: is a folder, not a file. Write",
            "empty": "relevance.file: {file}: there is no label in it. Add some, or name another file.",
            "not UTF-8": "relevance.file: {file}: byte 0xe9 at offset … (line 2); … Save it as UTF-8.",
            "NUL bytes": "relevance.file: {file}: 1 of its … bytes are NUL, … (line 2);",
            "wrong type in a row": "{file}, line {last}: not a label (Input should be",
        },
    ),
}

ROWS = {
    "queries.csv": [
        ("unknown split", (",train", ",dev"), "{file}, line 2: split is 'dev'. Write train or validation."),
        (
            "duplicated id",
            with_line(QUERIES, "q1,Again?,train"),
            "{file}, line 4: query_id 'q1' is already on line 2. Give each query its own id.",
        ),
        (
            "id with a space",
            ("q1,", "q 1,"),
            "{file}, line 2: query_id 'q 1' holds a space, which a TREC run cannot. Use '_'.",
        ),
        (
            "no text",
            ("What feeds water?", ""),
            "{file}, line 2: the text of query 'q1' is empty. Write the question.",
        ),
        (
            "open quote",
            ("What feeds", '"What feeds'),
            "{file}, line 2: not valid CSV (unexpected end of data). Check the quotes; a quote",
        ),
        (
            "odd answerable",
            QUERIES.replace("split\n", "split,answerable\n").replace("n\n", "n,perhaps\n"),
            "{file}, line 2: answerable is 'perhaps'. Write yes or no. queries.csv, line 3:",
        ),
    ],
    "queries.jsonl": [
        (
            "a list in place of a text",
            ('"What feeds water?"', '["What feeds water?"]'),
            "{file}, line 1: text is a list or an object. Write one value.",
        ),
        (
            "null in place of an object",
            with_line(QUERIES_JSONL, "null"),
            "{file}, line 3: 'null' is not an object. Write one per line.",
        ),
        (
            "half a character",
            ("What feeds", "\\ud800"),
            "{file}, line 1: holds half a character (a lone surrogate, \\ud800 to \\udfff). Write",
        ),
        (
            "nested without end",
            with_line(QUERIES_JSONL, "[" * 100_000),
            "{file}, line 3: not valid JSON (maximum recursion depth exceeded while decoding a JSON",
        ),
    ],
    "labels.csv": [
        (
            "quote not found",
            ("A pump feeds", "Nobody ever said"),
            "1 of 2 labels is not found in the documents with a score of at least 90. Correct the",
        ),
        (
            "offsets beyond the text",
            labels("q2,engines,0,280,,3"),
            "{file}, line 3: end 280 lies beyond the text of engines (80 characters). Count",
        ),
        (
            "float offsets",
            labels("q2,engines,0.5,28,,3"),
            "{file}, line 3: start is '0.5', not an integer of at least 0. Correct it.",
        ),
        (
            "half of a range",
            labels("q2,engines,0,,,3"),
            "{file}, line 3: start and end belong together. Fill both, or neither.",
        ),
        (
            "range that ends before it begins",
            labels("q2,engines,28,2,,3"),
            "{file}, line 3: start 28 is not before end 2 (half-open). Correct them.",
        ),
        (
            "nothing graded",
            labels("q2,engines,,,,3"),
            "{file}, line 3: does not say what is graded. Fill start and end, page",
        ),
        (
            "page of a text",
            "query_id,document,page,grade\nq1,engines,2,4\n",
            "{file}, line 2: engines is a text without pages. Leave the page out.",
        ),
        (
            "page 0",
            "query_id,document,page,grade\nq1,engines,0,4\n",
            "{file}, line 2: page is 0, the least is 1. Correct it.",
        ),
        (
            "unknown query",
            labels("q3,engines,0,28,,3"),
            "{file}, line 3: there is no query 'q3'. Correct the id, or add the query.",
        ),
        (
            "unknown document",
            labels("q2,engine,0,28,,3"),
            "{file}, line 3: there is no document 'engine' (did you mean 'engines'?). Correct the",
        ),
        (
            "grade that is no number",
            labels("q2,engines,0,28,,good"),
            "{file}, line 3: grade is 'good'. Write an integer from 0 to 4.",
        ),
        (
            "grade above the scale",
            labels("q2,engines,0,28,,5"),
            "{file}, line 3: grade is '5'. Write an integer from 0 to 4.",
        ),
        (
            "two grades of one range",
            with_line(LABELS, "q2,engines,0,28,,1"),
            "{file}, line 4: labels the same as line 3. Keep one of them.",
        ),
        (
            "two grades of one text",
            with_line(LABELS, "q2,engines,,,Engines turn heat into work.,1"),
            "{file}, line 4: lands on the same text as line 3 (engines:0-28, query q2). Keep one",
        ),
    ],
    "labels.jsonl": [
        (
            "grade that is true",
            ('"grade": 4', '"grade": true'),
            "{file}, line 1: grade is 'true'. Write an integer from 0 to 4.",
        ),
        (
            "grade in a list",
            ('"grade": 4', '"grade": [4]'),
            "{file}, line 1: grade is a list or an object. Write one value.",
        ),
        (
            "no number",
            ('"quote": "feeds water"', '"start": NaN, "end": 9'),
            "{file}, line 1: start is 'NaN', not an integer of at least 0. Correct it.",
        ),
        (
            "endless number",
            ('"quote": "feeds water"', '"start": 1, "end": ' + "9" * 5000),
            "{file}, line 1: not valid JSON (Exceeds the limit (4300 digits) for integer string",
        ),
    ],
    "graded spans": [
        (
            "grade above the scale",
            ('"grade": 4', '"grade": 5'),
            "{file}, line 1: not a label (grade: Input should be less than or equal to 4). Correct it.",
        ),
        (
            "grade in words",
            ('"grade": 4', '"grade": "4"'),
            "{file}, line 1: not a label (grade: Input should be a valid integer). Correct it.",
        ),
        (
            "float offsets",
            ('"start": 30', '"start": 30.5'),
            "{file}, line 1: not a label (start: Input should be a valid integer, got a number with",
        ),
        (
            "empty range",
            ('"end": 79', '"end": 30'),
            "{file}, line 1: start 30 is not before end 30 (half-open). Correct them.",
        ),
        (
            "offsets beyond the text",
            ('"end": 79', '"end": 799'),
            "{file}, line 1: end 799 lies beyond the text of engines (80 characters). Correct it; or",
        ),
        ("unknown query", ('"q1"', '"q3"'), "{file}, line 1: there is no query 'q3'. Correct the id."),
        (
            "unknown document",
            ('"engines"', '"engine"'),
            "{file}, line 1: there is no document 'engine' (did you mean 'engines'?). Correct the name.",
        ),
        (
            "missing key",
            ('"doc_id": "engines", ', ""),
            "{file}, line 1: not a label (doc_id: Field required). Correct it.",
        ),
        (
            "unknown key",
            ('"grade": 4', '"grade": 4, "colour": 1'),
            "{file}, line 1: not a label (colour: Extra inputs are not permitted). Correct it.",
        ),
        (
            "two grades of one range",
            SPANS + lines({**SPAN, "grade": 1}),
            "{file}, line 3: labels the same as line 1. Keep one of them.",
        ),
    ],
}
