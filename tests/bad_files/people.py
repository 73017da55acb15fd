"""What people fill in: sheets, pools of the labelling page, test sets; and an export of the ledger."""

import json
from pathlib import Path

from harness.data import INPUTS
from harness.labels import (
    AnswerRow,
    Candidate,
    DisagreementRow,
    FoundRow,
    GradeRow,
    PassageSource,
    PoolRow,
    Question,
    ReviewedAnswer,
    SearchedRow,
    SheetRow,
    UngradedRow,
    open_service,
)
from harness.values import Silent, key_of
from tests.bad_files.benchmark import ENGINES, LABEL, PASSAGE, SMALL
from tests.bad_files.kind import BARE, NEW, Kind, lines, with_line

DOCS = {"docs/engines.txt": ENGINES}
ROW = f'q1,What feeds water?,engines,30,79,"{PASSAGE}"'
SHEET = f"query_id,question,document,start,end,passage,grade\n{ROW},4\n"
POOL = f"query_id,question,doc_id,start,end,text\n{ROW}\n"
GRADES = "query_id,doc_id,start,end,grade,grader\nq1,engines,30,79,4,Ann\n"
CHOSEN = "keep,query_id,text,kind\nyes,q1,What feeds water?,fact\n"
DIFFER = (
    "query_id,question,doc_id,start,end,grades,apart,resolved,text\n"
    'q1,What feeds water?,engines,30,79,"Ann 4; Ben 2",2,4,A pump\n'
)
MODEL = "llm: {endpoint: {model: m, base_url: 'http://127.0.0.1:9/v1', api_key_env: null}}\n"
SET = {
    **DOCS,
    "set/testset.yaml": "documents: docs/*\nquestions: 2\n" + MODEL,
    "set/proposed.csv": "query_id,text,kind\nq1,What feeds water?,fact\n",
    "set/chosen.csv": CHOSEN.replace("kind\n", "kind,answerable\n").replace("fact\n", "fact,yes\n"),
    "set/pool.csv": POOL.replace("text\n", "text,page\n").replace('"\n', '",\n'),
    "set/found.csv": "query_id,doc_id,start,end,found_by\nq1,engines,30,79,bm25\n",
    "set/searched.csv": "query_id,question,passages\nq1,What feeds water?,1\n",
    "set/grades.csv": GRADES,
    "set/answers.csv": "query_id,question,answer,by\nq1,What feeds water?,A pump,Ann\n",
    "set/disagreements.csv": DIFFER,
}


def label_page():
    """Read what the labelling page is opened with, and close it."""
    with open_service(
        PassageSource(pool=Path("pool.csv"), documents=("docs/*",)), Silent(), Path("guide.md")
    ):
        pass


def export(row, fine=()):
    """A table of a test set."""
    file = INPUTS[row].name
    return file, Kind(f"set/{file}", "testset set export", SET, fine, row)


PAGE = DOCS | {"pool.csv": POOL, "guide.md": "# How to grade\n"}
ADD = "labels add sheet.csv --in bench.yaml"
CALL = {
    "query": "What feeds water?",
    "passages": ["A pump."],
    "prompt_sha": "a" * 64,
    "model": "m",
    "parameters": {"temperature": 0},
    "sample": 0,
}
ANSWER = CALL | {
    "key": key_of(*CALL.values()),
    "settled": True,
    "grades": [4],
    "reason": "",
    "raw": '{"grade": 4}',
    "prompt_tokens": 9,
    "completion_tokens": 3,
    "price": 0.1,
    "seconds": 1.5,
    "request_id": "r1",
    "served_model": "m",
    "answered_at": "2026-01-01T00:00:00+00:00",
}
LEDGER = lines(ANSWER)
STEP = {"step": "propose", "when": "2026-01-01", "how": "by hand", "files": ["proposed.csv"], "facts": {}}


KINDS = {
    "export of the ledger": Kind("j.jsonl", "judge import j.jsonl", {"j.jsonl": LEDGER}, fine=("empty",)),
    "step of a test set": Kind(
        "set/history/0001-propose/step.json",
        "testset set undo",
        SET | {"set/history/0001-propose/step.json": json.dumps(STEP, indent=1) + "\n"},
    ),
    "sheet": Kind("sheet.csv", ADD, SMALL | {"sheet.csv": SHEET}, row=SheetRow),
    "labels that are added to": Kind("labels.csv", ADD, SMALL | {"sheet.csv": SHEET}, fine=(*NEW, "empty")),
    "pool of the page": Kind("pool.csv", label_page, PAGE, row=UngradedRow),
    "guidelines of the page": Kind("guide.md", label_page, PAGE, fine=BARE),
    "testset.yaml": Kind("set/testset.yaml", "testset set status", SET, fine=("only a header",)),
    "list of questions": Kind(
        "mine.csv",
        "testset set propose --from mine.csv --again",
        SET | {"mine.csv": "text,answerable\nWhat feeds water?,yes\n"},
    ),
    "log of questions": Kind(
        "log.jsonl",
        "testset set propose --from log.jsonl --again",
        SET | {"log.jsonl": lines({"question": "What feeds water?"})},
        fine=("wrong type in a row",),
    ),
    "labels of a test set": Kind(
        "l.csv",
        "testset set grade --from l.csv --by Ben",
        SET | {"l.csv": f"query_id,document,start,end,quote,grade\n{LABEL}"},
    ),
    "reviewed answers": Kind(
        "r.csv",
        "testset set answer --from r.csv --by Ben",
        SET | {"r.csv": "query_id,question,answer,reviewed\nq1,What feeds water?,A steam pump,yes\n"},
        row=ReviewedAnswer,
    ),
    "pool.csv": Kind("set/pool.csv", "testset set gather", SET, fine=NEW, row=PoolRow),
} | dict(
    [
        export(Candidate),
        export(GradeRow),
        *(export(row, NEW) for row in (Question, DisagreementRow, FoundRow, SearchedRow, AnswerRow)),
    ]
)

ROWS = {
    "export of the ledger": [
        ("a line that was edited", ("What feeds", "Who feeds"), 1),
        ("grade above the scale", ("[4]", "[9]"), 1),
        ("missing key", ('"model": "m", ', ""), 1),
        ("tokens in words", ('"prompt_tokens": 9', '"prompt_tokens": "many"'), 1),
    ],
    "step of a test set": [
        ("a list in place of an object", "[1]\n", "cannot be read"),
        ("missing key", ('"how": "by hand"', '"hwo": "by hand"'), "cannot be read"),
    ],
    "sheet": [
        ("unknown query", ("q1,", "q9,"), 2),
        ("unknown document", (",engines,", ",engine,"), 2),
        ("offsets beyond the text", ("30,79", "30,799"), 2),
        ("passage that was changed", ("A pump", "No pump"), 2),
        ("grade above the scale", (",4\n", ",5\n"), 2),
        ("two grades", with_line(SHEET, f"{ROW},1"), 3),
    ],
    "pool of the page": [
        ("no question", ("What feeds water?", ""), 2),
        ("unknown document", (",engines,", ",engine,"), 2),
        ("passage that was changed", ("A pump", "No pump"), 2),
        ("a passage twice", with_line(POOL, ROW), 3),
        ("one id for two questions", with_line(POOL, "q1,Who?,engines,0,7,Engines"), 3),
    ],
    "testset.yaml": [
        (
            "no value",
            ("questions: 2", "questions:"),
            "docs/testset.md describes this key",
        ),
        ("unknown key", ("questions", "question"), 2),
        ("below the least", ("questions: 2", "questions: 0"), 2),
        ("judge of no passages", ("questions: 2", "judge: {kind: labels}"), 2),
        ("unknown key of a judge", ("questions: 2", "judge: {kind: llm, endpont: {model: m}}"), 2),
        ("missing key", ("documents: docs/*\n", ""), 1),
    ],
    "list of questions": [("no question", ("What feeds water?", ""), "there is no field that is")],
    "reviewed answers": [
        ("unknown question", ("q1,", "q9,"), 2),
        ("reworded question", ("feeds", "drinks"), 2),
        ("an emptied answer", ("A steam pump", ""), 2),
    ],
    "labels of a test set": [
        ("quote not found", ("A pump feeds", "Nobody ever said"), 2),
        ("unknown query", ("q1,", "q9,"), 2),
    ],
    "chosen.csv": [
        ("no text", ("What feeds water?", ""), "the text of q1 is empty"),
        ("duplicated id", with_line(SET["set/chosen.csv"], "yes,q1,Again?,fact,yes"), "'q1'"),
        ("id with a space", ("q1", "q 1"), "'q 1'"),
    ],
    "pool.csv": [
        ("offsets beyond the text", ("30,79", "30,799"), "q1, engines 30 to 799: it"),
        ("range that ends before it begins", ("30,79", "79,30"), 2),
    ],
    "grades.csv": [
        (
            "answer that is nowhere",
            GRADES.replace("grader\n", "grader,answer\n").replace("Ann\n", "Ann,Mars\n"),
            "the answer of q1",
        ),
        ("offsets beyond the text", ("30,79", "30,799"), "q1, engines 30 to 799: it"),
    ],
    "disagreements.csv": [
        ("unknown document", (",engines,", ",engine,"), "q1, engine 30 to 79"),
    ],
}
