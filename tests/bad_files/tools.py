"""Test sets of other tools, as `harness import` reads them."""

import copy
import json

from tests.bad_files.benchmark import ENGINES, LABEL, PASSAGE
from tests.bad_files.kind import Kind, lines, with_line

DOCS = {"docs/engines.txt": ENGINES}
PLACE = {"query_id": "q1", "document": "engines", "start": 30, "end": 79}
GRADE = {"type": "choices", "value": {"choices": ["4"]}}
TASK = {
    "id": 7,
    "data": {"question": "What feeds water?", "text": PASSAGE, **PLACE},
    "annotations": [{"result": [GRADE, {"type": "labels", "value": {"start": 2, "end": 6, "text": "pump"}}]}],
}
RECORD = {
    "id": "a7",
    "fields": {"question": "What feeds water?", "passage": PASSAGE},
    "metadata": PLACE,
    "responses": {
        "grade": [{"value": "4", "user_id": "ann"}],
        "evidence": [{"value": [{"start": 2, "end": 6}], "user_id": "ann"}],
    },
}
SAMPLE = {"user_input": "What feeds water?", "reference": "a pump", "reference_contexts": [PASSAGE]}
QUEPID = "query,docid,rating\nWhat feeds water?,engines:30-79,4\n"
TOPICS = "q1\tWhat feeds water?\nq2\tWhat turns heat?\n"
QRELS = "q1 0 engines:30-79 4\nq2 0 engines 1\n"
TREC = {"in/topics.tsv": TOPICS, "in/qrels.txt": QRELS}
TABLES = {
    "in/queries.csv": "query_id,text\nq1,What feeds water?\n",
    "in/labels.csv": f"query_id,document,start,end,quote,grade\n{LABEL}",
}
ENTRY = "{file}: entry … is 5. Write a list of objects, or one per line."
NOTHING = "{file}: there is nothing in it. Export it again, or name another file."
OF_TOOLS = {"missing": "{file} is not there. Name the", "empty": NOTHING}
OF_LIST = {"only a header": "{file}, line 2: not valid JSON"}
OF_JSON = {"empty": NOTHING, "wrong type in a row": ENTRY}
NO_TABLE = dict.fromkeys(("missing", "a folder"), "in: {stem} (.csv, .tsv, .jsonl, .xlsx) is not there")


def tool_set(name, file, content, says=(), source=""):
    """A file of a test set of another tool."""
    files = content if isinstance(content, dict) else {file: content}
    return Kind(file, f"import {name} {source or file} --documents docs/* --to out", DOCS | files, dict(says))


def traces(*records):
    """An export of traces."""
    return Kind("t.jsonl", "import traces t.jsonl --to out", {"t.jsonl": lines(*records)}, OF_JSON)


def task(**changed):
    """A task of Label Studio that differs."""
    data = TASK["data"] | {name: changed.pop(name) for name in list(changed) if name in TASK["data"]}
    return json.dumps([TASK | {"data": data} | changed])


def marked(**value):
    """A task with a part of its passage marked."""
    return task(annotations=[{"result": [GRADE, {"type": "labels", "value": value}]}])


def record(**changed):
    """A record of Argilla that differs."""
    place = PLACE | {name: changed.pop(name) for name in list(changed) if name in PLACE}
    return json.dumps([RECORD | {"metadata": place} | changed])


def graded(**response):
    """A record with other responses."""
    return record(responses=RECORD["responses"] | response)


def again(one, old, new):
    """Two entries that differ in a word."""
    return json.dumps([one, json.loads(json.dumps(copy.deepcopy(one)).replace(old, new))])


KINDS = {
    "label_studio": tool_set("label_studio", "t.json", json.dumps([TASK], indent=1), OF_TOOLS | OF_LIST),
    "argilla": tool_set("argilla", "r.json", json.dumps([RECORD], indent=1), OF_TOOLS | OF_LIST),
    "ragas test set": tool_set("ragas", "t.jsonl", lines(SAMPLE), OF_JSON | OF_TOOLS),
    "quepid": tool_set("quepid", "j.csv", QUEPID, {"missing": "{file} is not there. Name the CSV file."}),
    "trec topics": tool_set(
        "trec",
        "in/topics.tsv",
        TREC,
        {
            "empty": "in/qrels.txt, line 1: topics.tsv has no query 'q1'. Add it.",
            "only a header": "in/qrels.txt, line 2: topics.tsv has no query 'q2'. Add it.",
        },
        "in",
    ),
    "trec judgments": tool_set(
        "trec",
        "in/qrels.txt",
        TREC,
        {"empty": "{file}: there is no judgment in it. Add some.", "only a header": ""},
        "in",
    ),
    "test set queries": tool_set("csv", "in/queries.csv", TABLES, NO_TABLE, "in"),
    "test set labels": tool_set("csv", "in/labels.csv", TABLES, NO_TABLE, "in"),
}

ROWS = {
    "label_studio": [
        (
            "a number in place of a task",
            "[5]",
            "{file}: entry 1 is 5. Write a list of objects, or one per line.",
        ),
        (
            "task without data",
            json.dumps([{"id": 7, "data": []}]),
            "{file}, task 7: data lacks query_id, question, document, start or end. Import tasks as",
        ),
        (
            "unknown document",
            task(document="turbines"),
            "{file}, task 7: there is no document 'turbines'. Name the documents with --documents.",
        ),
        (
            "offsets beyond the text",
            task(end=799),
            "{file}, task 7: 30-799 is not a range of engines, which has 80 characters. Name the",
        ),
        (
            "offset in a list",
            task(start=[30]),
            "{file}, task 7: start or end is '[30]', not an integer of at least 0. Correct it.",
        ),
        (
            "another text at the offsets",
            task(start=31),
            "{file}, task 7: the text at 31-79 of engines differs. Name the documents",
        ),
        (
            "id with a space",
            task(query_id="q 1"),
            "{file}: query_id 'q 1' holds a space, which a TREC run cannot. Use '_'.",
        ),
        ("no id", task(query_id=""), "{file}: question '' has no id or no text. Write both."),
        (
            "one id for two questions",
            again(TASK, "What feeds", "Who feeds"),
            "{file}, task 7: question 'q1' has another text above. Give each its own id.",
        ),
        (
            "two grades of one passage",
            again(TASK, '["4"]', '["1"]'),
            "{file}: q1, engines 32 to 36 has the grades 4 and 1. Keep one.",
        ),
        (
            "annotations in words",
            task(annotations="done"),
            "{file}, task 7: it is not as Label Studio exports it. Export it again.",
        ),
        (
            "annotation in words",
            task(annotations=["done"]),
            "{file}, task 7: it is not as Label Studio exports it. Export it again.",
        ),
        (
            "result in words",
            task(annotations=[{"result": "4"}]),
            "{file}, task 7: it is not as Label Studio exports it. Export it again.",
        ),
        (
            "choice without a value",
            task(annotations=[{"result": [{"type": "choices"}]}]),
            "{file}, task 7: it is not as Label Studio exports it (it lacks 'value'). Export it again.",
        ),
        (
            "two grades chosen",
            task(annotations=[{"result": [GRADE, GRADE]}]),
            "{file}, task 7: 2 grades are chosen. Choose one.",
        ),
        (
            "grade above the scale",
            task(annotations=[{"result": [{"type": "choices", "value": {"choices": ["7"]}}]}]),
            "{file}, task 7: the grade is '7', not a whole number from 0 to 4. Correct it.",
        ),
        (
            "part without a beginning",
            marked(end=6),
            "{file}, task 7: it is not as Label Studio exports it (it lacks 'start'). Export it again.",
        ),
        (
            "part that begins in words",
            marked(start="a", end=6),
            "{file}, task 7: start or end is 'a', not an integer of at least 0. Correct it.",
        ),
        (
            "part at half a letter",
            marked(start=2.5, end=6),
            "{file}, task 7: start or end is '2.5', not an integer of at least 0. Correct it.",
        ),
        (
            "part beyond the passage",
            marked(start=2, end=50),
            "{file}, task 7: 2-50 is not a range of the passage. Correct it.",
        ),
        (
            "another text in the part",
            marked(start=2, end=6, text="boil"),
            "{file}, task 7: the text at 2-6 is 'pump', not 'boil'. The text differs from the one that",
        ),
    ],
    "argilla": [
        (
            "fields in a list",
            record(fields=["question"]),
            "{file}, record a7: it is not as Argilla exports it. Export it again.",
        ),
        (
            "metadata in a list",
            json.dumps([RECORD | {"metadata": ["q1"]}]),
            "{file}, record a7: it is not as Argilla exports it. Export it again.",
        ),
        (
            "responses in a list",
            record(responses=["4"]),
            "{file}, record a7: it is not as Argilla exports it. Export it again.",
        ),
        (
            "grade in words",
            graded(grade=[{"value": "good"}]),
            "{file}, record a7: the grade is 'good', not a whole number from 0 to 4. Correct it.",
        ),
        (
            "grade above the scale",
            graded(grade=[{"value": "9"}]),
            "{file}, record a7: the grade is '9', not a whole number from 0 to 4. Correct it.",
        ),
        (
            "grade without its user",
            graded(grade=["4"]),
            "{file}, record a7: it is not as Argilla exports it. Export it again.",
        ),
        (
            "evidence without a value",
            graded(evidence=[{"user_id": "ann"}]),
            "{file}, record a7: it is not as Argilla exports it (it lacks 'value'). Export it again.",
        ),
        (
            "part without a beginning",
            graded(evidence=[{"user_id": "ann", "value": [{"end": 6}]}]),
            "{file}, record a7: it is not as Argilla exports it (it lacks 'start'). Export it again.",
        ),
        (
            "part beyond the passage",
            graded(evidence=[{"user_id": "ann", "value": [{"start": 2, "end": 99}]}]),
            "{file}, record a7: 2-99 is not a range of the passage. Correct it.",
        ),
        (
            "suggestions in a list",
            record(responses={}, suggestions=["4"]),
            "{file}, record a7: it is not as Argilla exports it. Export it again.",
        ),
        (
            "unknown document",
            record(document="turbines"),
            "{file}, record a7: there is no document 'turbines'. Name the documents with --documents.",
        ),
        (
            "offsets beyond the text",
            record(end=799),
            "{file}, record a7: 30-799 is not a range of engines, which has 80 characters. Name the",
        ),
        (
            "one id for two questions",
            again(RECORD, "What feeds", "Who feeds"),
            "{file}, record a7: question 'q1' has another text above. Give each its own id.",
        ),
        (
            "two names of evidence",
            again(RECORD, '"end": 79', '"end": 79, "fact": "feed"'),
            "{file}: q1, engines 32 to 36 has the evidence '' and 'feed'. Keep one.",
        ),
        ("the same label twice", json.dumps([RECORD, RECORD]), ""),
    ],
    "ragas test set": [
        (
            "contexts in one text",
            lines(SAMPLE | {"reference_contexts": PASSAGE}),
            "{file}, sample 1: reference_contexts or reference_context_ids is not a list of texts. Write",
        ),
        (
            "a number in place of a context",
            lines(SAMPLE | {"reference_contexts": [5]}),
            "{file}, sample 1: reference_contexts or reference_context_ids is not a list of texts. Write",
        ),
        ("an empty context", lines(SAMPLE | {"reference_contexts": [PASSAGE, ""]}), ""),
        (
            "ids in one text",
            lines(SAMPLE | {"reference_context_ids": "engines"}),
            "{file}, sample 1: reference_contexts or reference_context_ids is not a list of texts. Write",
        ),
        (
            "several answers",
            lines(SAMPLE | {"reference": ["a pump", "the pump"]}),
            "{file}, sample 1: reference is not a text. Write one answer.",
        ),
        (
            "messages in place of a question",
            lines(SAMPLE | {"user_input": [{"content": "Who?"}]}),
            "{file}, sample 1: there is no user_input (nor question). Write it: only single turns are read.",
        ),
    ],
    "quepid": [
        (
            "grade in words",
            (",4\n", ",good\n"),
            "{file}, line 2: the grade is 'good', not a whole number from 0 to 4. Correct it.",
        ),
        (
            "unknown document",
            ("engines:", "turbines:"),
            "{file}, line 2: 'turbines:30-79' is neither a document nor a passage such as",
        ),
        (
            "offsets beyond the text",
            ("30-79", "30-799"),
            "{file}, line 2: 30-799 is not a range of engines, which has 80 characters. Name the",
        ),
        (
            "two grades",
            with_line(QUEPID, "What feeds water?,engines:30-79,2"),
            "{file}: q001, engines 30 to 79 has the grades 4 and 2. Keep one.",
        ),
        ("no question", ("What feeds water?", ""), "{file}, line 2: query is empty. Write the question."),
    ],
    "trec topics": [
        ("no tab", ("\t", " "), "{file}, line 1: no id, tab and text. Write them."),
        ("duplicated id", with_line(TOPICS, "q1\tAgain?"), "in: query_id 'q1' appears twice. Give"),
    ],
    "trec judgments": [
        ("a field too few", (" 4\n", "\n"), "{file}, line 1: 3 fields. Write query, 0, document and grade."),
        (
            "grade in words",
            (" 4\n", " high\n"),
            "{file}, line 1: the grade is 'high', not a whole number from 0 to 4. Correct it.",
        ),
        (
            "grade below any",
            (" 4\n", " --1\n"),
            "{file}, line 1: the grade is '--1', not a whole number from 0 to 4. Correct it.",
        ),
        ("unknown query", ("q1 ", "q9 "), "{file}, line 1: topics.tsv has no query 'q9'. Add it."),
        (
            "unknown document",
            ("engines:", "turbines:"),
            "{file}, line 1: 'turbines:30-79' is neither a document nor a passage such as",
        ),
        (
            "two grades",
            with_line(QRELS, "q1 0 engines:30-79 2"),
            "in: q1, engines 30 to 79 has the grades 4 and 2",
        ),
    ],
    "test set labels": [
        (
            "quote not found",
            ("A pump feeds", "Nobody ever said"),
            "1 of 1 labels is not found in the documents with a score of at least 90. Correct the",
        )
    ],
}
