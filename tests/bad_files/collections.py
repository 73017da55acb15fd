"""Known collections, as `harness import` reads them."""

from harness.data.corpus.importers.beir import BeirDocument, BeirJudgment, BeirQuery
from harness.data.corpus.importers.chunking_eval import SpanRow
from harness.data.corpus.importers.financebench import EvidenceRow, FilingRow, QuestionRow
from tests.bad_files.benchmark import ENGINES, PASSAGE
from tests.bad_files.kind import Kind, lines, with_line
from tests.bad_files.scored import ANSWERS

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
TEXTS = "id,text\np1,The ferry takes 35 minutes.\n"


def collection(name, file, files, row):
    """A file of a known collection."""
    return Kind(file, f"import {name} in --to out", files, row=row)


KINDS = {
    "beir corpus": collection("beir", "in/corpus.jsonl", BEIR, BeirDocument),
    "beir queries": collection("beir", "in/queries.jsonl", BEIR, BeirQuery),
    "beir qrels": collection("beir", "in/qrels.tsv", BEIR, BeirJudgment),
    "chunking_eval": collection("chunking_eval", "in/spans.csv", CHUNKING, SpanRow),
    "financebench documents": collection("financebench", "in/documents.csv", FINANCE, FilingRow),
    "financebench questions": collection("financebench", "in/questions.csv", FINANCE, QuestionRow),
    "financebench evidence": collection("financebench", "in/evidence.csv", FINANCE, EvidenceRow),
    "ragas answers": Kind("a.jsonl", "import ragas a.jsonl --to out", {"a.jsonl": ANSWERS}),
}

ROWS = {
    "beir corpus": [
        ("a list in place of a text", ('"A pump feeds water."', '["A pump"]'), 1),
    ],
    "beir queries": [
        ("other ids", ('"q1"', '"q9"'), "in/qrels.tsv: none of its"),
    ],
    "beir qrels": [
        ("grade above the scale", ("\t1\n", "\t9\n"), 2),
        ("a field too few", ("\t1\n", "\n"), 2),
        ("another header", ("query-id", "qid"), "'query-id'"),
    ],
    "chunking_eval": [
        ("unknown document", ("q1,engines", "q1,turbines"), "in/corpora/turbines.md"),
        ("a path in place of a document", ("q1,engines", "q1,../engines"), 2),
        ("another text at the offsets", ("30,79", "31,79"), 2),
        ("one id for two questions", with_line(SPANS, "q1,engines,Who?,0,7,Engines"), 3),
        ("id with a space", ("q1,", "q 1,"), 2),
    ],
    "financebench documents": [
        (
            "document without a file",
            with_line(FINANCE["in/documents.csv"], "OTHER,Other"),
            "in/pdfs/OTHER.pdf is",
        ),
        ("a path in place of a document", ("ACME_2022", "../ACME"), 2),
    ],
    "financebench questions": [
        ("unknown document", ("ACME_2022", "OTHER"), 2),
        ("id with a space", ("f1,", "f 1,"), 2),
    ],
    "financebench evidence": [
        ("unknown document", ("ACME_2022", "OTHER"), 2),
        ("unknown question", ("f1,", "f9,"), 2),
    ],
    "ragas answers": [("contexts that are no list", ("[", '"'), 1)],
}
