"""Known collections and traces of production, as `harness import` reads them."""

import copy
import json

from tests.bad_files.benchmark import ENGINES, PASSAGE
from tests.bad_files.kind import Kind, lines, with_line
from tests.bad_files.scored import ANSWERS
from tests.external import samples

BEIR = {
    "in/corpus.jsonl": lines({"_id": "d1", "title": "Pumps", "text": "A pump feeds water."}),
    "in/queries.jsonl": lines({"_id": "q1", "text": "What feeds water?"}),
    "in/qrels.tsv": "query-id\tcorpus-id\tscore\nq1\td1\t1\n",
}
SPANS = f'query_id,document,question,start,end,text\nq1,engines,What feeds water?,30,79,"{PASSAGE}"\n'
CHUNKING = {"in/corpora/engines.md": ENGINES, "in/spans.csv": SPANS}
FINANCE = {
    "in/documents.csv": "document,company\nACME_2022,Acme\n",
    "in/questions.csv": "query_id,document,question,answer\nf1,ACME_2022,What was revenue?,12 million\n",
    "in/evidence.csv": "query_id,document,page,evidence_text\nf1,ACME_2022,1,Revenue was 12 million.\n",
    "in/pdfs/ACME_2022.pdf": "%PDF-1.4\n",
}
PLACE = {"query_id": "q1", "document": "engines", "start": 30, "end": 79}
RECORD = {
    "id": "a7",
    "fields": {"question": "What feeds water?", "passage": PASSAGE},
    "metadata": PLACE,
    "responses": {
        "grade": [{"value": "4", "user_id": "ann"}],
        "evidence": [{"value": [{"start": 2, "end": 6}], "user_id": "ann"}],
    },
}
TOPICS = "q1\tWhat feeds water?\nq2\tWhat turns heat?\n"
QRELS = "q1 0 engines:30-79 4\nq2 0 engines 1\n"
TREC = {"in/topics.tsv": TOPICS, "in/qrels.txt": QRELS}
TEXTS = "id,text\np1,The ferry takes 35 minutes.\n"
HEADER = "{file}, line 1: the header is (… not query-id, corpus-id, score. Add it, with tabs."
NOT_THERE = "in: {name} not found; … Point to the folder that holds them."
ENTRY = "{file}: entry … is 5. Write a list of objects, or one per line."
NOTHING = "{file}: there is nothing in it. Export it again, or name another file."
OF_JSON = {"empty": NOTHING, "wrong type in a row": ENTRY}


def collection(name, file, files, says=()):
    """A file of a known collection."""
    return Kind(file, f"import {name} in --to out", files, {"missing": NOT_THERE, **dict(says)})


def traces(*records):
    """An export of traces."""
    return Kind("t.jsonl", "import traces t.jsonl --to out", {"t.jsonl": lines(*records)}, OF_JSON)


def record(**changed):
    """A record of Argilla that differs."""
    place = PLACE | {name: changed.pop(name) for name in list(changed) if name in PLACE}
    return json.dumps([RECORD | {"metadata": place} | changed])


def again(one, old, new):
    """Two entries that differ in a word."""
    return json.dumps([one, json.loads(json.dumps(copy.deepcopy(one)).replace(old, new))])


KINDS = {
    "beir corpus": collection("beir", "in/corpus.jsonl", BEIR),
    "beir queries": collection("beir", "in/queries.jsonl", BEIR),
    "beir qrels": collection(
        "beir",
        "in/qrels.tsv",
        BEIR,
        {
            "missing": "in: there is no qrels.tsv and no qrels/*.tsv. Add the judgments.",
            "empty": HEADER,
            "only a header": "{file}: none of its 0 judgments is of a query … Point to the judgments",
        },
    ),
    "chunking_eval": collection("chunking_eval", "in/spans.csv", CHUNKING),
    "financebench documents": collection("financebench", "in/documents.csv", FINANCE),
    "financebench questions": collection("financebench", "in/questions.csv", FINANCE),
    "financebench evidence": collection("financebench", "in/evidence.csv", FINANCE),
    "ragas answers": Kind("a.jsonl", "import ragas a.jsonl --to out", {"a.jsonl": ANSWERS}),
    "opentelemetry": traces(samples.GEN_AI),
    "langfuse": traces(samples.LANGFUSE),
    "langsmith": traces(*samples.LANGSMITH),
    "texts of traces": Kind(
        "texts.csv",
        "import traces t.jsonl --texts texts.csv --to out",
        {"texts.csv": TEXTS, "t.jsonl": lines(samples.GEN_AI)},
    ),
}

ROWS = {
    "beir corpus": [
        ("duplicated id", BEIR["in/corpus.jsonl"] * 2, "{file}, line 2: _id 'd1' occurs twice. Remove one."),
        ("no id", ('"d1"', '""'), "{file}, line 1: _id '' is empty or too long for a file name. Shorten it."),
        (
            "a list in place of a text",
            ('"A pump feeds water."', '["A pump"]'),
            "{file}, line 1: text is a list or an object. Write one value.",
        ),
    ],
    "beir queries": [
        (
            "duplicated id",
            BEIR["in/queries.jsonl"] * 2,
            "{file}, line 2: _id 'q1' is already on line 1, or differs from the one there in white",
        ),
        (
            "other ids",
            ('"q1"', '"q9"'),
            "in/qrels.tsv: none of its 1 judgments is of a query of queries.jsonl",
        ),
    ],
    "beir qrels": [
        (
            "grade in words",
            ("\t1\n", "\thigh\n"),
            "{file}, line 2: the grade 'high' is not an integer. Correct it.",
        ),
        (
            "grade above the scale",
            ("\t1\n", "\t9\n"),
            "{file}, line 2: grade 9 is above 4. Translate the grades in the file, or from Python",
        ),
        (
            "two grades",
            with_line(BEIR["in/qrels.tsv"], "q1\td1\t0"),
            "{file}, line 3: judges q1, d1 again, as line 2. Keep one of them.",
        ),
        (
            "a field too few",
            ("\t1\n", "\n"),
            "{file}, line 2: 2 fields instead of 3. Separate three by tabs.",
        ),
        (
            "another header",
            ("query-id", "qid"),
            "{file}, line 1: the header is ('qid', 'corpus-id', 'score'), not query-id, corpus-id,",
        ),
    ],
    "chunking_eval": [
        ("unknown document", ("q1,engines", "q1,turbines"), "in/corpora/turbines.md: cannot be read"),
        (
            "a path in place of a document",
            ("q1,engines", "q1,../engines"),
            "{file}, line 2: '../engines' cannot be the name of a document, which becomes a file.",
        ),
        (
            "offset in words",
            ("30,79", "begin,79"),
            "{file}, line 2: start 'begin' and end '79' must be integers. Correct them.",
        ),
        (
            "another text at the offsets",
            ("30,79", "31,79"),
            "{file}, line 2: the text at 31-79 of engines is ' pump feeds water into the boiler of the",
        ),
        (
            "one id for two questions",
            with_line(SPANS, "q1,engines,Who?,0,7,Engines"),
            "{file}, line 3: query_id 'q1' has another question on line 2. Give each question its own id.",
        ),
        (
            "a span twice",
            SPANS + SPANS.split("\n")[1] + "\n",
            "{file}, line 3: the same span as line 2. Keep one.",
        ),
        ("no id", ("q1,", ","), "{file}, line 2: query_id or question is empty. Fill both."),
        (
            "id with a space",
            ("q1,", "q 1,"),
            "{file}, line 2: query_id 'q 1' holds a space, which a TREC run cannot. Use '_'.",
        ),
        (
            "no question",
            ("What feeds water?", ""),
            "{file}, line 2: query_id or question is empty. Fill both.",
        ),
    ],
    "financebench documents": [
        (
            "document twice",
            with_line(FINANCE["in/documents.csv"], "ACME_2022,Acme"),
            "{file}, line 3: ACME_2022 is listed twice. Keep one row.",
        ),
        (
            "document without a file",
            with_line(FINANCE["in/documents.csv"], "OTHER,Other"),
            "in/pdfs/OTHER.pdf is missing, though",
        ),
        (
            "a path in place of a document",
            ("ACME_2022", "../ACME"),
            "{file}, line 2: '../ACME' cannot be the name of a document, which becomes a file. Give",
        ),
    ],
    "financebench questions": [
        (
            "duplicated id",
            with_line(FINANCE["in/questions.csv"], "f1,ACME_2022,Again?,1"),
            "{file}, line 3: query_id 'f1' has another question on line 2. Give each question its own id.",
        ),
        (
            "unknown document",
            ("ACME_2022", "OTHER"),
            "{file}, line 2: documents.csv has no 'OTHER'. Correct one of the two.",
        ),
        (
            "no question",
            ("What was revenue?", ""),
            "{file}, line 2: query_id or question is empty. Fill both.",
        ),
        (
            "id with a space",
            ("f1,", "f 1,"),
            "{file}, line 2: query_id 'f 1' holds a space, which a TREC run cannot. Use '_'.",
        ),
    ],
    "financebench evidence": [
        (
            "unknown document",
            ("ACME_2022", "OTHER"),
            "{file}, line 2: documents.csv has no 'OTHER'. Correct one of the two.",
        ),
        (
            "unknown question",
            ("f1,", "f9,"),
            "{file}, line 2: questions.csv has no 'f9'. Correct one of the two.",
        ),
        (
            "page in words",
            (",1,", ",one,"),
            "{file}, line 2: page is 'one', not an integer of at least 1. Correct it.",
        ),
        ("page 0", (",1,", ",0,"), "{file}, line 2: page is 0, the least is 1. Correct it."),
        ("no page", (",1,", ",,"), "{file}, line 2: page is empty. Fill it."),
    ],
    "ragas answers": [
        (
            "contexts that are no list",
            ("[", '"'),
            "{file}, line 1: not valid JSON (Expecting ',' delimiter: line 1 column 79 (char 78)).",
        )
    ],
    "langfuse": [
        (
            "records of no known format",
            '{"a": 1}\n',
            "{file}: its records are of no known format: the first has a. Known: opentelemetry,",
        ),
        (
            "no question",
            lines({"id": "x", "observations": []}),
            "{file}: no trace has a question with what was retrieved for it or an answer (1 without",
        ),
        (
            "a number in place of a record",
            "[5]\n",
            "{file}: entry 1 is 5. Write a list of objects, or one per line.",
        ),
    ],
    "texts of traces": [
        (
            "duplicated id",
            with_line(TEXTS, "p1,Again."),
            "{file}, line 3: the id 'p1' appears twice. Keep one of them.",
        )
    ],
}
