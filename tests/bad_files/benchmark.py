"""The files of a benchmark: queries, labels, documents, its YAML, and what that names."""

from harness.data import LabelRow
from harness.values import Query
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


JUDGE = (
    "relevance: {judge: llm, prompt: own.yaml, endpoint: {model: m, base_url: 'http://127.0.0.1:9/v1', "
    "api_key_env: null}}\n"
)
CONTEXT = "context: {kind: fields, file: facts.csv, template: 'By {maker}.'}\n"
FILTER = "filter: {kind: rules, file: facts.csv, fields: [maker], years: [year], aliases: aliases.csv}\n"
FACTS = "document,maker,year\nengines,Watt,2018\n"
ALIASES = "field,value,alias\nmaker,Watt,James\n"
PROMPT = "language: en\nanswer: grade\nsystem: Grade.\nuser: '{{ query }} {{ passages }}'\n"


def priced(keys):
    """The YAML with further keys of a judge."""
    return BENCH + JUDGE.replace("prompt: own.yaml", keys)


KINDS = {
    "configuration": Kind("bench.yaml", VALIDATE, SMALL),
    "table of contexts": Kind("facts.csv", VALIDATE, bench(CONTEXT) | {"facts.csv": FACTS}),
    "table of a filter": Kind(
        "facts.csv", VALIDATE, bench(FILTER) | {"facts.csv": FACTS, "aliases.csv": ALIASES}
    ),
    "aliases": Kind("aliases.csv", VALIDATE, bench(FILTER) | {"facts.csv": FACTS, "aliases.csv": ALIASES}),
    "synonyms": Kind(
        "synonyms.txt",
        VALIDATE,
        bench()
        | renamed("kind: bm25", "kind: bm25, synonyms: synonyms.txt")
        | {"synonyms.txt": "pump, feeder\n"},
        fine=("empty", "only a header", "NUL bytes"),
    ),
    "prompt": Kind("own.yaml", VALIDATE, bench(JUDGE) | {"own.yaml": PROMPT}),
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
    "configuration": [
        ("damaged YAML", BENCH + "measures: [ndcg_exp@10\n", 8),
        ("a list in place of a mapping", "- name: small\n", 1),
        ("unknown chunker", ("kind: recursive", "kind: recursiv"), 5),
        ("judge without an endpoint", BENCH + "relevance: {judge: llm}\n", 7),
        ("price below 0", priced("prices: {m: {input: -1, output: 1}}"), 7),
        ("limit without a price", priced("max_cost: 1"), 7),
        ("context without its table", BENCH + "context: {kind: fields, template: 'By {maker}.'}\n", 7),
    ],
    "table of contexts": [
        ("document without a row", ("engines,", "turbines,"), "a row or value is missing"),
        ("document twice", with_line(FACTS, "engines.txt,Otto,2019"), 3),
        ("missing column", ("maker", "builder"), "'maker'"),
    ],
    "table of a filter": [
        ("year in words", ("2018", "long ago"), "a row or value is missing"),
        ("document twice", with_line(FACTS, "engines,Otto,2019"), 3),
    ],
    "aliases": [("no field of the filter", ("maker", "marker"), "has aliases of marker")],
    "prompt": [
        ("missing slot", (" {{ passages }}", ""), 7),
        (
            "slot in the wrong part",
            PROMPT.replace(" {{ passages }}", "").replace("Grade.", "'{{ passages }}'"),
            7,
        ),
        ("unknown slot", ("{{ query }}", "{{ query }} {{ colour }}"), 7),
        ("unknown form of an answer", ("answer: grade", "answer: grades"), 7),
        ("no user part", ("user:", "users:"), 7),
        ("damaged YAML", with_line(PROMPT, "id: [own"), 7),
    ],
    "queries.csv": [
        ("id with a space", ("q1,", "q 1,"), 2),
        ("column twice", (",split", ",text"), 1),
        ("a column misspelt", (",split", ",spilt"), "(did you mean 'split'?)"),
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
        ("nothing graded", labels("q2,engines,,,,3"), 3),
        ("a column misspelt", LABELS.replace("quote", "qoute"), "(did you mean 'quote'?)"),
        ("page of a text", "query_id,document,page,grade\nq1,engines,2,4\n", 2),
        ("unknown query", labels("q3,engines,0,28,,3"), 3),
        ("unknown document", labels("q2,engine,0,28,,3"), 3),
        ("two grades of one text", with_line(LABELS, "q2,engines,,,Engines turn heat into work.,1"), 4),
    ],
    "labels.jsonl": [
        ("grade that is true", ('"grade": 4', '"grade": true'), 1),
        ("no number", ('"quote": "feeds water"', '"start": NaN, "end": 9'), 1),
        ("endless number", ('"quote": "feeds water"', '"start": 1, "end": ' + "9" * 5000), 1),
    ],
}
