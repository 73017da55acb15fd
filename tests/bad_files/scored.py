"""What is scored: hits of other pipelines, runs and judgments of TREC, answers, and trials of abilities."""

from pathlib import Path

from harness.data.corpus.hits import read_hits
from harness.running.bench.agreement import read_pairs
from tests.bad_files.benchmark import PASSAGE, SMALL
from tests.bad_files.kind import Kind, lines, with_line

HIT = {"query_id": "q1", "rank": 1, "document": "engines", "start": 30, "end": 79}
HITS = lines(
    HIT, {"query_id": "q2", "rank": 1, "document": "engines", "text": "Engines turn heat into work."}
)
HITS_CSV = "query_id,rank,document,start,end\nq1,1,engines,30,79\nq2,1,engines,0,28\n"
RUN = "q1 Q0 d1 1 2.5 mine\nq1 Q0 d2 2 1.5 mine\nq2 Q0 d1 1 0.5 mine\n"
QRELS = "q1 0 d1 2\nq1 0 d2 0\nq2 0 d1 1\n"
RUN_CSV = "query_id,doc_id,score\nq1,d1,2.5\nq1,d2,1.5\nq2,d1,0.5\n"
QRELS_CSV = "query_id,doc_id,grade\nq1,d1,2\nq1,d2,0\nq2,d1,1\n"
ANSWER = {
    "query_id": "q1",
    "user_input": "What feeds water?",
    "retrieved_contexts": [PASSAGE],
    "response": "A pump.",
    "reference": "a pump",
}
ANSWERS = lines(ANSWER)
HUMAN = "query_id,measure,value\nq1,exact_match,1\n"
PAIRS = "query_id,human_grade,llm_grade,model\nq1,4,3,m\nq2,0,0,m\nq3,2,,m\n"
TRIAL = {
    "trial_id": "t1",
    "ability": "noise",
    "rate": 0.0,
    "question": "What feeds water?",
    "passages": [PASSAGE],
    "golden": [["a pump"]],
    "changed": "",
}
TRIALS = lines(TRIAL)
RGB = lines({"id": 1, "query": "Who?", "answer": ["Watt"], "positive": ["Watt did."], "negative": ["Noise."]})
TRY = {"trials.jsonl": TRIALS, "own.yaml": "answer: {kind: extractive}\n"}
TRY_IT = "abilities try trials.jsonl --config own.yaml --dry-run"
SCORING = {"answers.jsonl": ANSWERS, "own.yaml": "answer_measures: [exact_match, token_f1]\n"}
NO_FILE = "{file}: there is no such file; correct the name"
NO_TEXT = "{file}, line 2: not UTF-8 text (invalid continuation byte); convert the file"
NUL = "{file}, line 2: a NUL byte, which no text has; write the file again"
A_FOLDER = "{file}: this is a folder; name the file in it"
# an empty run or empty judgments are scored too: nothing was found, or nothing is known
TREC = {"missing": NO_FILE, "a folder": A_FOLDER, "not UTF-8": NO_TEXT, "NUL bytes": NUL}
TREC |= {"empty": "", "only a header": ""}
CSV_OF_TREC = {
    "missing": NO_FILE,
    "a folder": A_FOLDER,
    "empty": "{file}: Empty CSV file; correct it",
    "only a header": "",
    "not UTF-8": "{file}: In CSV column #… line …: CSV conversion error to string: invalid UTF8",
    "NUL bytes": "{file}: this is UTF-16 or no text; save it as UTF-8",
    "missing column": "{file}: no column named query_id or qid … add or rename one",
    "a row too short": "{file}: CSV parse error: line …: Expected 3 columns, got 1",
}
NO_QRELS = {"a folder": "{file}: no qrels/test.tsv; name the file itself"}
YAML = {"only a header": ""}


def read(reader, name, *more):
    """A function that reads a file."""
    return lambda: reader(Path(name), *more)


def score(run="run.txt", qrels="qrels.txt"):
    """The command that scores a run."""
    return f"score --run {run} --qrels {qrels} --measures ndcg_lin@10"


KINDS = {
    "hits.jsonl": Kind(
        "hits.jsonl",
        "score --hits hits.jsonl --queries queries.csv --labels labels.csv --documents docs/*.txt --quiet",
        SMALL | {"hits.jsonl": HITS},
    ),
    "hits.csv": Kind("hits.csv", read(read_hits, "hits.csv"), {"hits.csv": HITS_CSV}),
    "run": Kind("run.txt", score(), {"run.txt": RUN, "qrels.txt": QRELS}, TREC),
    "qrels": Kind("qrels.txt", score(), {"run.txt": RUN, "qrels.txt": QRELS}, TREC | NO_QRELS),
    "run.csv": Kind("run.csv", score("run.csv"), {"run.csv": RUN_CSV, "qrels.txt": QRELS}, CSV_OF_TREC),
    "qrels.csv": Kind(
        "qrels.csv",
        score(qrels="qrels.csv"),
        {"run.txt": RUN, "qrels.csv": QRELS_CSV},
        CSV_OF_TREC | NO_QRELS,
    ),
    "answers": Kind("answers.jsonl", "score-answers answers.jsonl --quiet", SCORING),
    "values of people": Kind(
        "human.csv", "score-answers answers.jsonl --human human.csv --quiet", SCORING | {"human.csv": HUMAN}
    ),
    "measures of answers": Kind(
        "own.yaml", "score-answers answers.jsonl --config own.yaml --quiet", SCORING, YAML
    ),
    "graded pairs": Kind("pairs.csv", read(read_pairs, "pairs.csv", 4), {"pairs.csv": PAIRS}),
    "trials": Kind(
        "trials.jsonl",
        TRY_IT,
        TRY,
        {
            "empty": "{file}: has no trials. Make some with `harness abilities`.",
            "damaged JSON": "{file}, line {last}: is not a trial (Invalid JSON: … Correct it",
            "wrong type in a row": "{file}, line {last}: is not a trial (Input should be an object)",
        },
    ),
    "answerer of trials": Kind("own.yaml", TRY_IT, TRY, YAML),
    "rgb": Kind(
        "en.jsonl",
        "abilities rgb en.jsonl --output out.jsonl",
        {"en.jsonl": RGB},
        {
            "empty": "{file} has no instances. Name a file of RGB such as en_fact.jsonl.",
            "damaged JSON": "{file}, line {last}: not an RGB instance (Expecting",
            "wrong type in a row": "{file}, line {last}: not an RGB instance (it is not an object)",
        },
    ),
}

ROWS = {
    "hits.jsonl": [
        (
            "unknown query",
            ('"q1"', '"q3"'),
            "{file}, line 1: unknown query 'q3'. Correct the id, or add the query to --queries.",
        ),
        (
            "unknown document",
            ("engines", "engine"),
            "{file}, line 1: there is no document 'engine' (did you mean 'engines'?). Correct the",
        ),
        (
            "offsets beyond the text",
            ("79", "799"),
            "{file}, line 1: end 799 lies beyond the text of engines (80 characters). Offsets count",
        ),
        (
            "rank in words",
            ('"rank": 1', '"rank": "first"'),
            "{file}, line 1: rank is 'first', not an integer of at least 0. Correct it.",
        ),
        (
            "a rank left out",
            ('"rank": 1', '"rank": 3'),
            "{file}, line 1: query q1 has no rank 1 before rank 3. Write every hit down to the last",
        ),
        (
            "a rank twice",
            HITS + lines({**HIT, "end": 60}),
            "{file}, line 3: rank 1 of query q1 is already on line 1. Give every hit of a query a",
        ),
        (
            "neither rank nor score",
            lines({"query_id": "q1", "document": "engines", "text": "x"}),
            "{file}: there is no column 'rank' and none 'score', so no row comes first. The columns",
        ),
        (
            "nothing returned",
            ('"start": 30, "end": 79', '"page": null'),
            "{file}, line 1: nothing says what was returned. Fill text, or document with start and",
        ),
        (
            "half of a range",
            (', "end": 79', ""),
            "{file}, line 1: start and end belong together. Fill both, or neither.",
        ),
        (
            "page of a text",
            ('"start": 30, "end": 79', '"page": 2'),
            "{file}, line 1: engines is a text without pages. Give the text instead.",
        ),
        (
            "score that is no number",
            ('"rank": 1', '"score": NaN'),
            "{file}, line 1: score is 'NaN', not a finite number. Correct it.",
        ),
    ],
    "run": [
        (
            "a field too few",
            (" mine", ""),
            "{file}, line 1: a run line has 6 fields (query q0 doc rank score tag), this one 5;",
        ),
        ("score in words", ("2.5", "high"), "{file}, line 1: the score must be a number, not 'high'"),
        (
            "score that is no number",
            ("2.5", "nan"),
            "{file}, line 1: the score is NaN, so the document has no rank; remove it",
        ),
        (
            "document twice",
            with_line(RUN, "q1 Q0 d1 3 0.5 mine"),
            "{file}, line 4: document d1 is ranked twice for query q1; keep one",
        ),
    ],
    "qrels": [
        (
            "grade in words",
            (" 2\n", " high\n"),
            "{file}, line 1: the grade must be a whole number, not 'high'",
        ),
        ("float grade", (" 2\n", " 2.5\n"), "{file}, line 1: the grade must be a whole number, not '2.5'"),
        (
            "two grades",
            with_line(QRELS, "q1 0 d1 1"),
            "{file}, line 4: document d1 is judged twice for query q1; keep one",
        ),
        (
            "other queries",
            QRELS.replace("q", "t"),
            "run.txt and qrels.txt have no query in common: the run has q1, q2, the judgments have",
        ),
    ],
    "run.csv": [
        ("score in words", ("2.5", "high"), "{file}, row 1: the score 'high' is not a number; correct it"),
        ("no score", ("2.5", ""), "{file}, row 1: there is no score; fill it"),
        ("no id", ("q1,d1", ",d1"), "{file}, row 1: there is no id; every row needs one"),
        (
            "document twice",
            with_line(RUN_CSV, "q1,d1,0.1"),
            "{file}, row 4: document d1 is ranked twice for query q1; keep one",
        ),
        ("column twice", ("score", "doc_id"), "{file}: there are several columns named doc_id; keep one"),
        (
            "no column of scores",
            ("score", "points"),
            "{file}: no column named score or sim; it has query_id, doc_id, points; add or rename one",
        ),
    ],
    "qrels.csv": [
        (
            "grade in words",
            (",2\n", ",high\n"),
            "{file}, row 1: the grade 'high' is not a number; correct it",
        ),
        ("float grade", (",2\n", ",2.5\n"), "{file}, row 1: the grade 2.5 is not a whole number; correct it"),
    ],
    "answers": [
        (
            "no question",
            ("What feeds water?", ""),
            "{file}, line 1: user_input is empty. Write the question.",
        ),
        (
            "duplicated id",
            ANSWERS * 2,
            "{file}, line 2: query_id 'q1' is already on line 1. Give each question its own id.",
        ),
        (
            "contexts that are no list",
            lines({**ANSWER, "retrieved_contexts": "A pump."}),
            '{file}, line 1: retrieved_contexts is not a list: \'A pump.\'. Write it as ["…", "…"].',
        ),
        (
            "cites what was not read",
            lines({**ANSWER, "cited": [2]}),
            "{file}, line 1: cited is [2]; it lists numbers of contexts, from 1 to 1.",
        ),
        (
            "no column of questions",
            ("user_input", "asked"),
            "{file}: there is no column user_input (or question). The columns are: query_id, asked,",
        ),
    ],
    "values of people": [
        ("unknown question", ("q1", "q9"), "{file}, line 2: there is no question 'q9'. Correct the id."),
        (
            "unknown measure",
            ("exact_match", "exact_mach"),
            "{file}, line 2: 'exact_mach' is not among the measures (did you mean 'exact_match'?).",
        ),
        (
            "value in words",
            (",1\n", ",good\n"),
            "{file}, line 2: value is 'good', not a finite number. "
            "Write a number on the scale of the measure.",
        ),
        (
            "value twice",
            with_line(HUMAN, "q1,exact_match,0"),
            "{file}, line 3: q1 has a value of exact_match already. Keep one.",
        ),
    ],
    "measures of answers": [
        (
            "unknown measure",
            ("exact_match", "exact_mach"),
            "{file}:1: answer_measures: there is no kind 'exact_mach'. Known kinds:",
        ),
        (
            "unknown key",
            ("answer_measures", "answer_measure"),
            "{file}:1: answer_measure: there is no such key; did you mean answer_measures?",
        ),
        (
            "no measure",
            "answer_measures: []\n",
            "{file}:1: answer_measures: it should have at least 1 item after validation, not 0.",
        ),
        (
            "a measure twice",
            ("token_f1", "exact_match"),
            "{file}:1: answer_measures has exact_match twice: give one of them a `name`",
        ),
        (
            "unknown key of a model",
            "answer_judge: {endpont: {model: m}}\n",
            "{file}:1: answer_judge.endpont: there is no such key; did you mean endpoint?",
        ),
    ],
    "graded pairs": [
        (
            "grade in words",
            ("q1,4", "q1,good"),
            "{file}, line 2: human_grade is 'good', not a whole number. Correct it.",
        ),
        (
            "grade above the scale",
            ("q1,4", "q1,5"),
            "{file}, line 2: human_grade is '5'. Write one of 0 to 4.",
        ),
        ("no grade by a person", ("q1,4", "q1,"), "{file}, line 2: human_grade is ''. Write one of 0 to 4."),
        (
            "judge's grade in words",
            ("3,m", "good,m"),
            "{file}, line 2: llm_grade is 'good', not a whole number. Correct it.",
        ),
    ],
    "trials": [
        (
            "unknown ability",
            ("noise", "noize"),
            "{file}, line 1: is not a trial (ability: Input should be 'noise', 'rejection',",
        ),
        (
            "rate above 1",
            ("0.0", "1.5"),
            "{file}, line 1: is not a trial (t1: rate is 1.5; it is from 0 to 1). Correct it, or",
        ),
        (
            "golden answer that is no list",
            lines({**TRIAL, "golden": "a pump"}),
            "{file}, line 1: is not a trial (golden: Input should be a valid array). Correct it, or",
        ),
        (
            "no golden answer",
            lines({**TRIAL, "golden": []}),
            "{file}, line 1: is not a trial (t1: a part of the golden answer is missing or blank).",
        ),
        (
            "missing key",
            ('"ability": "noise", ', ""),
            "{file}, line 1: is not a trial (ability: Field required). Correct it, or make the trials again.",
        ),
        ("duplicated id", TRIALS * 2, "{file}, line 2: trial_id 't1' appears twice. Keep one of them."),
    ],
    "answerer of trials": [
        (
            "no answerer",
            "cache: here\n",
            "{file}:1: answer: must be one section here, such as `answer: {kind: extractive}`.",
        ),
        (
            "unknown answerer",
            ("extractive", "extractiv"),
            "{file}:1: answer: there is no kind 'extractiv'. Known kinds: extractive, llm.",
        ),
        (
            "unknown key",
            ("extractive", "extractive, sentence: 2"),
            "{file}:1: answer.sentence: there is no such key; did you mean sentences?",
        ),
        (
            "unknown key of a model",
            "answer: {kind: llm, endpoint: {modle: m}}\n",
            "{file}:1: answer.endpoint.modle: there is no such key; did you mean model?",
        ),
    ],
    "rgb": [
        ("no id", ('"id": 1, ', ""), "{file}, line 1: not an RGB instance (no 'id')"),
        ("duplicated id", RGB * 2, "{file}, line 2: id 1 is already on line 1. Keep one of them."),
        (
            "a text in place of passages",
            ('["Watt did."]', '"Watt did."'),
            "{file}, line 1: not an RGB instance (positive is 'Watt did.', not a list)",
        ),
        (
            "a number in place of passages",
            ('["Watt did."]', "5"),
            "{file}, line 1: not an RGB instance (positive is 5, not a list)",
        ),
        (
            "an object in place of passages",
            ('["Watt did."]', '{"a": 1}'),
            "{file}, line 1: not an RGB instance (positive is {'a': 1}, not a list)",
        ),
        (
            "a number in place of noise",
            ('["Noise."]', "5"),
            "{file}, line 1: not an RGB instance (negative is 5, not a list)",
        ),
        (
            "a number in place of a passage",
            ('["Noise."]', "[5]"),
            "{file}, line 1: not an RGB instance (5 is not text)",
        ),
        ("no passage", ('["Watt did."]', "[]"), "{file}, line 1: not an RGB instance (positive is empty)"),
        ("no answer", ('["Watt"]', "[]"), "{file}, line 1: not an RGB instance (answer is empty)"),
    ],
}
