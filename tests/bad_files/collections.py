"""Known collections and test sets, as `harness import` reads them."""

from harness.data.corpus.importers.beir import BeirDocument, BeirJudgment, BeirQuery
from tests.bad_files.benchmark import ENGINES, PASSAGE
from tests.bad_files.kind import Kind, lines
from tests.bad_files.scored import ANSWERS

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
        ("another header", ("query-id", "qid"), "'query-id'"),
    ],
    "ragas answers": [("contexts that are no list", ("[", '"'), 1)],
    "ragas test set": [
        ("contexts in one text", lines(SAMPLE | {"reference_contexts": PASSAGE}), 1),
        ("a number in place of a context", lines(SAMPLE | {"reference_contexts": [5]}), 1),
        ("an empty context", lines(SAMPLE | {"reference_contexts": [PASSAGE, ""]}), ""),
        ("no context", lines(SAMPLE | {"reference_contexts": []}), "no sample has reference_contexts"),
        ("messages in place of a question", lines(SAMPLE | {"user_input": [{"content": "Who?"}]}), 1),
    ],
}
