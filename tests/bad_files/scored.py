"""What is scored or imported: hits, runs and judgments of TREC, answers, known collections."""

from pathlib import Path

from harness.data import AnsweredRow, BeirDocument, BeirJudgment, BeirQuery, ClusterRow, GivenHit, read_hits
from harness.running import PeopleRow, read_pairs
from tests.bad_files.benchmark import ENGINES, PASSAGE, SMALL
from tests.bad_files.kind import BARE, Kind, lines, with_line

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
RUN_OF_LANGSMITH = {
    "id": "r1",
    "run_type": "chain",
    "inputs": {"question": "What feeds water?"},
    "outputs": {"answer": "A pump."},
}
HUMAN = "query_id,measure,value\nq1,exact_match,1\n"
CLUSTERS = "query_id,cluster\nq1,pumps\nq2,pumps\n"
PAIRS = "query_id,human_grade,llm_grade,model\nq1,4,3,m\nq2,0,0,m\nq3,2,,m\n"
SCORING = {"answers.jsonl": ANSWERS, "own.yaml": "answer_measures: [exact_match, token_f1]\n"}


def read(reader, name, *more):
    """A function that reads a file."""
    return lambda: reader(Path(name), *more)


def score(run="run.txt", qrels="qrels.txt"):
    """The command that scores a run."""
    return f"score --run {run} --qrels {qrels} --measures ndcg_lin@10"


BEIR = {
    "in/corpus.jsonl": lines({"_id": "d1", "title": "Pumps", "text": "A pump feeds water."}),
    "in/queries.jsonl": lines({"_id": "q1", "text": "What feeds water?"}),
    "in/qrels.tsv": "query-id\tcorpus-id\tscore\nq1\td1\t1\n",
}
SAMPLE = {"user_input": "What feeds water?", "reference": "a pump", "reference_contexts": [PASSAGE]}


def collection(name, file, files, row):
    """A file of a known collection."""
    return Kind(file, f"import {name} in --to out", files, row=row)


KINDS = {
    "beir corpus": collection("beir", "in/corpus.jsonl", BEIR, BeirDocument),
    "beir queries": collection("beir", "in/queries.jsonl", BEIR, BeirQuery),
    "beir qrels": collection("beir", "in/qrels.tsv", BEIR, BeirJudgment),
    "ragas test set": Kind(
        "t.jsonl",
        "import ragas t.jsonl --documents docs/* --to out",
        {"docs/engines.txt": ENGINES, "t.jsonl": lines(SAMPLE)},
    ),
    "ragas answers": Kind("a.jsonl", "import ragas a.jsonl --to out", {"a.jsonl": ANSWERS}),
    "traces": Kind("t.jsonl", "import traces t.jsonl --to out", {"t.jsonl": lines(RUN_OF_LANGSMITH)}),
    "hits.jsonl": Kind(
        "hits.jsonl",
        "score --hits hits.jsonl --queries queries.csv --labels labels.csv --documents docs/*.txt --quiet",
        SMALL | {"hits.jsonl": HITS},
        row=GivenHit,
    ),
    "hits.csv": Kind("hits.csv", read(read_hits, "hits.csv"), {"hits.csv": HITS_CSV}, row=GivenHit),
    "run": Kind("run.txt", score(), {"run.txt": RUN, "qrels.txt": QRELS}, fine=BARE),
    "qrels": Kind("qrels.txt", score(), {"run.txt": RUN, "qrels.txt": QRELS}, fine=BARE),
    "run.csv": Kind(
        "run.csv", score("run.csv"), {"run.csv": RUN_CSV, "qrels.txt": QRELS}, fine=("only a header",)
    ),
    "qrels.csv": Kind(
        "qrels.csv",
        score(qrels="qrels.csv"),
        {"run.txt": RUN, "qrels.csv": QRELS_CSV},
        fine=("only a header",),
    ),
    "clusters": Kind(
        "clusters.csv",
        f"{score('run.txt other.txt')} --clusters clusters.csv",
        {"run.txt": RUN, "other.txt": RUN, "qrels.txt": QRELS, "clusters.csv": CLUSTERS},
        row=ClusterRow,
    ),
    "answers": Kind("answers.jsonl", "score-answers answers.jsonl --quiet", SCORING, row=AnsweredRow),
    "values of people": Kind(
        "human.csv",
        "score-answers answers.jsonl --human human.csv --quiet",
        SCORING | {"human.csv": HUMAN},
        row=PeopleRow,
    ),
    "measures of answers": Kind(
        "own.yaml", "score-answers answers.jsonl --config own.yaml --quiet", SCORING, fine=("only a header",)
    ),
    "graded pairs": Kind("pairs.csv", read(read_pairs, "pairs.csv", 4), {"pairs.csv": PAIRS}),
}

ROWS = {
    "beir corpus": [
        ("a list in place of a text", ('"A pump feeds water."', '["A pump"]'), 1),
    ],
    "beir queries": [
        ("other ids", ('"q1"', '"q9"'), "in/qrels.tsv: no judgment is of"),
    ],
    "beir qrels": [
        ("grade above the scale", ("\t1\n", "\t9\n"), 2),
        ("a field too few", ("\t1\n", "\n"), 2),
    ],
    "ragas answers": [("contexts that are no list", ("[", '"'), 1)],
    "traces": [
        ("no object", "[1]\n", "is no object"),
        ("a record of no tool", ('"run_type"', '"kind"'), "a record of no known tool"),
        ("no question", ('"What feeds water?"', "null"), "1 without a question"),
    ],
    "ragas test set": [
        ("contexts in one text", lines(SAMPLE | {"reference_contexts": PASSAGE}), 1),
        ("an empty context", lines(SAMPLE | {"reference_contexts": [PASSAGE, ""]}), ""),
        ("no context", lines(SAMPLE | {"reference_contexts": []}), "no sample has reference_contexts"),
        ("messages in place of a question", lines(SAMPLE | {"user_input": [{"content": "Who?"}]}), 1),
    ],
    "hits.jsonl": [
        ("unknown query", ('"q1"', '"q3"'), 1),
        ("half a character", ('"q1"', '"q1\\ud800"'), "line 1: holds half a character"),
        ("unknown document", ("engines", "engine"), 1),
        ("offsets beyond the text", ("79", "799"), 1),
        ("a rank left out", ('"rank": 1', '"rank": 3'), 1),
        ("a rank twice", HITS + lines({**HIT, "end": 60}), 3),
        (
            "neither rank nor score",
            lines({"query_id": "q1", "document": "engines", "text": "x"}),
            "rank or score",
        ),
        ("nothing returned", ('"start": 30, "end": 79', '"page": null'), 1),
        ("empty range", ('"end": 79', '"end": 30'), 1),
        ("page 0", ('"start": 30, "end": 79', '"page": 0'), 1),
        ("score that is no number", ('"rank": 1', '"score": NaN'), 1),
        ("a column misspelt", ('"document"', '"docment"'), 1),
        ("another name of a column", HITS.replace("document", "doc"), "rename 'doc' to 'document'"),
        (
            "a column misspelt that only some rows have",
            HITS + lines({"query_id": "q1", "rank": 2, "text": "a pump", "scoer": 0.5}),
            "(did you mean 'score'?)",
        ),
        (
            "columns of another kind",
            HITS + lines({"query_id": "q1", "rank": 2, "text": "a pump", "passage": 7, "source": "bm25"}),
            "",
        ),
    ],
    "hits.csv": [
        ("a column misspelt", ("end", "ende"), "(did you mean 'end'?)"),
        ("another name of a column", ("document", "File Name"), "rename 'File Name' to 'document'"),
    ],
    "run": [
        ("a field too few", (" mine", ""), 1),
        ("score that is no number", ("2.5", "nan"), 1),
        ("score of Python alone", ("2.5", "1_0"), 1),
        ("document twice below a comment", with_line("# c\n" + RUN, "q1 Q0 d1 3 0.5 mine"), "row 4"),
    ],
    "qrels": [
        ("float grade", (" 2\n", " 2.5\n"), 1),
        ("a field too few", (" 2\n", "\n"), 1),
        ("two grades", with_line(QRELS, "q1 0 d1 1"), "row 4"),
        ("other queries", QRELS.replace("q", "t"), "run.txt and qrels.txt"),
    ],
    "run.csv": [
        ("score in words", ("2.5", "high"), "row 1"),
        ("no id", ("q1,d1", ",d1"), "row 1"),
        ("column twice", ("score", "doc_id"), "there are several columns"),
        ("no score", ("2.5", ""), "row 1"),
        ("document twice", with_line(RUN_CSV, "q1,d1,0.1"), "row 4"),
        ("no column of scores", ("score", "points"), "no column named score or"),
    ],
    "qrels.csv": [
        ("float grade", (",2\n", ",2.5\n"), "row 1"),
    ],
    "clusters": [
        ("other queries", CLUSTERS.replace("q", "t").replace("tuery", "query"), "names a cluster for none"),
        ("no cluster at all", CLUSTERS.replace("pumps", ""), "names a cluster for none"),
    ],
    "answers": [
        ("duplicated id", ANSWERS * 2, 2),
        ("a number in place of a context", lines({**ANSWER, "retrieved_contexts": [1]}), 1),
        ("no column of questions", ("user_input", "asked"), "there is no column"),
        ("contexts that are no list", lines({**ANSWER, "retrieved_contexts": "A pump."}), 1),
        ("documents of other contexts", lines({**ANSWER, "documents": ["a", "b"]}), 1),
        ("id with a space", lines({**ANSWER, "query_id": "a b"}), 1),
        ("cites by a truth value", lines({**ANSWER, "cited": [True]}), 1),
        ("cites what was not read", lines({**ANSWER, "cited": [2]}), 1),
    ],
    "values of people": [
        ("unknown question", ("q1", "q9"), 2),
        ("unknown measure", ("exact_match", "exact_mach"), 2),
        ("value that is no number", (",1\n", ",nan\n"), 2),
    ],
    "measures of answers": [
        ("unknown measure", ("exact_match", "exact_mach"), 1),
        ("unknown key", ("answer_measures", "answer_measure"), 1),
        ("no measure", "answer_measures: []\n", 1),
        ("a measure twice", ("token_f1", "exact_match"), 1),
    ],
    "graded pairs": [
        ("grade in words", ("q1,4", "q1,good"), 2),
        ("grade above the scale", ("q1,4", "q1,5"), 2),
        ("no grade by a person", ("q1,4", "q1,"), 2),
    ],
}
