"""What people fill in: sheets, pools of the labelling page, and the tables of a test set."""

from pathlib import Path

from harness.labels.label_page.opening import Source, open_service
from harness.values.progress import Silent
from tests.bad_files.benchmark import ENGINES, LABEL, PASSAGE, SMALL
from tests.bad_files.kind import Kind, lines, with_line

DOCS = {"docs/engines.txt": ENGINES}
ROW = f'q1,What feeds water?,engines,30,79,"{PASSAGE}"'
SHEET = f"query_id,question,document,start,end,passage,grade\n{ROW},4\n"
POOL = f"query_id,question,doc_id,start,end,text\n{ROW}\n"
SKIPS = "query_id,document,start,end\nq2,engines,0,28\n"
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
NO_ROWS = dict.fromkeys(("missing", "only a header"), "")
MISSING_OR_BARE = {"missing": "", "only a header": "", "a folder": "{file}: is a folder, not a file. Write"}
NO_GRADES = dict.fromkeys(
    ("missing", "only a header"), "{file} holds no grade of a kept question. Grade first:"
)
NO_SET = "{file} is not there. Make it from a folder of documents: harness init"
YAML = {"missing": NO_SET, "a folder": NO_SET, "only a header": ""}


def label_page():
    """Read what the labelling page is opened with, and close it."""
    with open_service(Source(pool=Path("pool.csv"), documents=("docs/*",)), Silent(), Path("guide.md")):
        pass


def export(file, says=()):
    """A table of a test set."""
    return Kind(f"set/{file}", "testset set export", SET, dict(says))


PAGE = DOCS | {"pool.csv": POOL, "guide.md": "# How to grade\n"}
ADD = "labels add sheet.csv --in bench.yaml"
KINDS = {
    "sheet": Kind("sheet.csv", f"{ADD} --to more.csv", SMALL | {"sheet.csv": SHEET}),
    "skipped passages": Kind(
        "labels.skipped.csv",
        ADD,
        SMALL | {"sheet.csv": SHEET.replace(",4\n", ",skip\n"), "labels.skipped.csv": SKIPS},
        NO_ROWS | {"empty": ""},
    ),
    "labels that are added to": Kind(
        "labels.csv", ADD, SMALL | {"sheet.csv": SHEET}, NO_ROWS | {"empty": ""}
    ),
    "pool of the page": Kind(
        "pool.csv",
        label_page,
        PAGE,
        {"missing column": "{file}: there is no column 'query_id'. … Add or rename one."},
    ),
    "guidelines of the page": Kind("guide.md", label_page, PAGE, {"empty": "", "only a header": ""}),
    "testset.yaml": Kind("set/testset.yaml", "testset set status", SET, YAML),
    "list of questions": Kind(
        "mine.csv",
        "testset set propose --from mine.csv --again",
        SET | {"mine.csv": "text,answerable\nWhat feeds water?,yes\n"},
        {"missing column": "{file}: there is no field that is known to hold … Name the field"},
    ),
    "log of questions": Kind(
        "log.jsonl",
        "testset set propose --from log.jsonl --again",
        SET | {"log.jsonl": lines({"question": "What feeds water?"})},
        {"empty": "{file}: there is no field that is known to hold questions", "wrong type in a row": ""},
    ),
    "sheet of a test set": Kind("s.csv", "testset set grade --from s.csv --by Ben", SET | {"s.csv": SHEET}),
    "labels of a test set": Kind(
        "l.csv",
        "testset set grade --from l.csv --by Ben",
        SET | {"l.csv": f"query_id,document,start,end,quote,grade\n{LABEL}"},
    ),
    "proposed.csv": export("proposed.csv", MISSING_OR_BARE),
    "chosen.csv": export(
        "chosen.csv",
        {
            "missing": "{file} is not there yet. Choose the questions first: harness testset set choose",
            "only a header": "{file}: no question is kept. Write yes into the column keep",
            "missing column": "{file}: there is no column 'keep'",
        },
    ),
    "pool.csv": Kind("set/pool.csv", "testset set grade --sheet s.csv --all", SET, MISSING_OR_BARE),
    "grades.csv": export("grades.csv", NO_GRADES),
    "disagreements.csv": export("disagreements.csv", MISSING_OR_BARE),
    "found.csv": export("found.csv", MISSING_OR_BARE),
    "searched.csv": export("searched.csv", MISSING_OR_BARE),
    "answers.csv": export("answers.csv", MISSING_OR_BARE),
}

PASSAGES = [
    ("unknown query", ("q1,", "q9,"), "{file}, line 2: there is no query 'q9'. Correct the id."),
    (
        "unknown document",
        (",engines,", ",engine,"),
        "{file}, line 2: there is no document 'engine' (did you mean 'engines'?). Correct the",
    ),
    (
        "offsets beyond the text",
        ("30,79", "30,799"),
        "{file}, line 2: start and end are not a range of the text of engines, which has 80",
    ),
    (
        "float offsets",
        ("30,79", "30.5,79"),
        "{file}, line 2: start is '30.5', not an integer of at least 0. Correct it.",
    ),
    (
        "no offsets",
        ("30,79", ",79"),
        "{file}, line 2: start and end are not a range of the text of engines, which has 80",
    ),
    (
        "passage that was changed",
        ("A pump", "No pump"),
        "{file}, line 2: the passage is not at 30-79 of engines. Leave it as it was",
    ),
    ("grade in words", (",4\n", ",good\n"), "{file}, line 2: grade is 'good'. Write an integer from 0 to 4."),
    (
        "grade above the scale",
        (",4\n", ",5\n"),
        "{file}, line 2: grade is '5'. Write an integer from 0 to 4.",
    ),
    (
        "two grades",
        with_line(SHEET, f"{ROW},1"),
        "{file}, line 3: the passage has grade 4 on line 2 of the sheet, and 1 here. Keep one.",
    ),
]
ROWS = {
    "sheet": PASSAGES,
    "skipped passages": [
        (
            "offset in words",
            ("0,28", "a,28"),
            "{file}, line 2: start is 'a', not an integer of at least 0. Correct it.",
        ),
        (
            "no offset",
            ("0,28", ",28"),
            "{file}, line 2: start and end are empty. Correct the row, or remove it.",
        ),
    ],
    "pool of the page": [
        ("no id", ("q1,", ","), "{file}, line 2: query_id is empty. Fill it."),
        ("no question", ("What feeds water?", ""), "{file}, line 2: question is empty. Fill it."),
        (
            "unknown document",
            (",engines,", ",engine,"),
            "{file}, line 2: there is no document 'engine' (did you mean 'engines'?). Correct the",
        ),
        (
            "offsets beyond the text",
            ("30,79", "30,799"),
            "{file}, line 2: start and end are not a range of the text of engines, which has 80",
        ),
        (
            "passage that was changed",
            ("A pump", "No pump"),
            "{file}, line 2: the passage is not at 30-79 of engines. Leave it as it was",
        ),
        (
            "a passage twice",
            with_line(POOL, ROW),
            "{file}, line 3: the question has the same passage further up. Keep one row.",
        ),
        (
            "one id for two questions",
            with_line(POOL, "q1,Who?,engines,0,7,Engines"),
            "{file}, line 3: question 'q1' has another text above. Give it one text, or two ids.",
        ),
        (
            "priority in words",
            POOL.replace("text\n", "text,priority\n").replace('"\n', '",high\n'),
            "{file}, line 2: priority is 'high', not a number. Correct it, or leave it empty.",
        ),
    ],
    "testset.yaml": [
        (
            "unknown key",
            ("questions", "question"),
            "{file}:2: question: there is no such key; did you mean questions?",
        ),
        (
            "number in words",
            ("questions: 2", "questions: many"),
            "{file}:2: questions: Input should be a valid integer, unable to parse string as an",
        ),
        (
            "below the least",
            ("questions: 2", "questions: 0"),
            "{file}:2: questions: Input should be greater than or equal to 1 (it is 0).",
        ),
        (
            "unknown judge",
            ("questions: 2", "judge: {kind: lm}"),
            "{file}:2: judge.kind: there is no kind 'lm'. Known kinds: cosine, graph, labels,",
        ),
        (
            "judge of no passages",
            ("questions: 2", "judge: {kind: labels}"),
            "{file}:2: judge: labels does not judge passages. Take llm, panel or another.",
        ),
        (
            "unknown key of a judge",
            ("questions: 2", "judge: {kind: llm, endpont: {model: m}}"),
            "{file}:2: judge.endpont: there is no such key; did you mean endpoint?",
        ),
        (
            "unknown key of a model",
            ("endpoint:", "endpont:"),
            "{file}:3: llm.endpont: there is no such key; did you mean endpoint?",
        ),
        (
            "missing key",
            ("documents: docs/*\n", ""),
            "{file}:1: documents: this key is missing; docs/configuration.md describes it.",
        ),
        (
            "price below 0",
            ("llm: {", "llm: {prices: {m: {input: -1, output: 1}}, "),
            "{file}:3: llm.prices.m.input: Input should be greater than or equal to 0 (it is -1).",
        ),
    ],
    "list of questions": [
        (
            "no question",
            ("What feeds water?", ""),
            "{file}: there is no field that is known to hold questions. It has: answerable, text.",
        )
    ],
    "sheet of a test set": PASSAGES,
    "labels of a test set": [
        (
            "quote not found",
            ("A pump feeds", "Nobody ever said"),
            "1 of 1 labels is not found in the documents with a score of at least 90. Correct the",
        ),
        (
            "unknown query",
            ("q1,", "q9,"),
            "{file}, line 2: there is no query 'q9'. Correct the id, or add the query.",
        ),
        (
            "grade in words",
            (",4\n", ",good\n"),
            "{file}, line 2: grade is 'good'. Write an integer from 0 to 4.",
        ),
    ],
    "chosen.csv": [
        (
            "odd keep",
            ("yes,q1", "maybe,q1"),
            "{file}: keep of q1 is 'maybe'. Write yes, no, or leave it empty.",
        ),
        ("no text", ("What feeds water?", ""), "{file}: the text of q1 is empty. Write it, or keep: no."),
        (
            "duplicated id",
            with_line(SET["set/chosen.csv"], "yes,q1,Again?,fact,yes"),
            "{file}: the query_id 'q1' is empty, contains a blank or appears twice",
        ),
        (
            "id with a space",
            ("q1", "q 1"),
            "{file}: the query_id 'q 1' is empty, contains a blank or appears twice. Give",
        ),
        (
            "odd answerable",
            ("fact,yes", "fact,maybe"),
            "{file}: answerable of q1 is 'maybe'. Write yes or no.",
        ),
        (
            "page in words",
            CHOSEN.replace("kind\n", "kind,page\n").replace("fact\n", "fact,one\n"),
            "{file}, line 2: page is 'one', not a whole number of at least 0. Correct it.",
        ),
    ],
    "pool.csv": [
        (
            "unknown document",
            (",engines,", ",engine,"),
            "{file}: q1, engine 30 to 79: there is no such document. Correct the row, or remove it.",
        ),
        (
            "offsets beyond the text",
            ("30,79", "30,799"),
            "{file}: q1, engines 30 to 799: it has 80 characters. Correct the row, or remove it.",
        ),
        (
            "range that ends before it begins",
            ("30,79", "79,30"),
            "{file}, line 2: start 79 is not before end 30 (half-open). Correct them.",
        ),
        (
            "offset below 0",
            ("30,79", "-3,79"),
            "{file}, line 2: start is '-3', not a whole number of at least 0. Correct it.",
        ),
        (
            "endless offset",
            ("30,79", "30,inf"),
            "{file}, line 2: end is 'inf', not a whole number of at least 0. Correct it.",
        ),
        (
            "a passage twice",
            with_line(POOL.replace("text\n", "text,page\n").replace('"\n', '",\n'), f"{ROW},"),
            "{file}, line 3: the same as line 2. Keep one of them.",
        ),
    ],
    "grades.csv": [
        (
            "grade above the scale",
            (",4,", ",9,"),
            "{file}, line 2: grade is '9', not a whole number from 0 to 4. Correct it.",
        ),
        (
            "grade below 0",
            (",4,", ",-1,"),
            "{file}, line 2: grade is '-1', not a whole number from 0 to 4. Correct it.",
        ),
        (
            "grade in words",
            (",4,", ",good,"),
            "{file}, line 2: grade is 'good', not a whole number from 0 to 4. Correct it.",
        ),
        (
            "float grade",
            (",4,", ",3.5,"),
            "{file}, line 2: grade is '3.5', not a whole number from 0 to 4. Correct it.",
        ),
        (
            "two grades by one person",
            with_line(GRADES, "q1,engines,30,79,2,Ann"),
            "{file}, line 3: the same as line 2. Keep one of them.",
        ),
        ("no grader", ("Ann", ""), "{file}, line 2: grader is empty. Fill it."),
        (
            "odd grader",
            GRADES.replace("grader\n", "grader,by_model\n").replace("Ann\n", "Ann,maybe\n"),
            "{file}, line 2: by_model is 'maybe'. Write yes or no.",
        ),
        (
            "unknown document",
            ("engines", "engine"),
            "{file}: q1, engine 30 to 79: there is no such document. Correct the row, or remove it.",
        ),
        (
            "offsets beyond the text",
            ("30,79", "30,799"),
            "{file}: q1, engines 30 to 799: it has 80 characters. Correct the row, or remove it.",
        ),
    ],
    "disagreements.csv": [
        (
            "resolved above the scale",
            ("2,4,", "2,9,"),
            "{file}, line 2: resolved is '9', not a whole number from 0 to 4. Correct it.",
        ),
        (
            "unknown document",
            (",engines,", ",engine,"),
            "{file}: q1, engine 30 to 79: there is no such document. Correct the row, or remove it.",
        ),
    ],
    "found.csv": [
        (
            "a passage twice",
            with_line(SET["set/found.csv"], "q1,engines,30,79,dense"),
            "{file}, line 3: the same as line 2. Keep one of them.",
        )
    ],
    "answers.csv": [
        (
            "duplicated id",
            with_line(SET["set/answers.csv"], "q1,Again?,A pump,Ben"),
            "{file}, line 3: the same as line 2. Keep one of them.",
        )
    ],
}
