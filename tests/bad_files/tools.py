"""Test sets of other tools, as `harness import` reads them."""

from tests.bad_files.benchmark import ENGINES, LABEL, PASSAGE
from tests.bad_files.kind import Kind, lines, with_line

DOCS = {"docs/engines.txt": ENGINES}
SAMPLE = {"user_input": "What feeds water?", "reference": "a pump", "reference_contexts": [PASSAGE]}
QUEPID = "query,docid,rating\nWhat feeds water?,engines:30-79,4\n"
TOPICS = "q1\tWhat feeds water?\nq2\tWhat turns heat?\n"
QRELS = "q1 0 engines:30-79 4\nq2 0 engines 1\n"
TREC = {"in/topics.tsv": TOPICS, "in/qrels.txt": QRELS}
TABLES = {
    "in/queries.csv": "query_id,text\nq1,What feeds water?\n",
    "in/labels.csv": f"query_id,document,start,end,quote,grade\n{LABEL}",
}


def tool_set(name, file, content, source="", fine=()):
    """A file of a test set of another tool."""
    files = content if isinstance(content, dict) else {file: content}
    return Kind(file, f"import {name} {source or file} --documents docs/* --to out", DOCS | files, fine)


KINDS = {
    "ragas test set": tool_set("ragas", "t.jsonl", lines(SAMPLE)),
    "quepid": tool_set("quepid", "j.csv", QUEPID),
    "trec topics": tool_set("trec", "in/topics.tsv", TREC, source="in"),
    "trec judgments": tool_set("trec", "in/qrels.txt", TREC, fine=("only a header",), source="in"),
    "test set queries": tool_set("csv", "in/queries.csv", TABLES, source="in"),
    "test set labels": tool_set("csv", "in/labels.csv", TABLES, source="in"),
}

ROWS = {
    "ragas test set": [
        ("contexts in one text", lines(SAMPLE | {"reference_contexts": PASSAGE}), "sample 1"),
        ("a number in place of a context", lines(SAMPLE | {"reference_contexts": [5]}), "sample 1"),
        ("an empty context", lines(SAMPLE | {"reference_contexts": [PASSAGE, ""]}), ""),
        ("ids in one text", lines(SAMPLE | {"reference_context_ids": "engines"}), "sample 1"),
        ("several answers", lines(SAMPLE | {"reference": ["a pump", "the pump"]}), "sample 1: reference is"),
        (
            "messages in place of a question",
            lines(SAMPLE | {"user_input": [{"content": "Who?"}]}),
            "sample 1: there is no",
        ),
    ],
    "quepid": [
        ("grade in words", (",4\n", ",good\n"), 2),
        ("unknown document", ("engines:", "turbines:"), 2),
        ("offsets beyond the text", ("30-79", "30-799"), 2),
        ("two grades", with_line(QUEPID, "What feeds water?,engines:30-79,2"), "q001, engines 30 to 79"),
        ("no question", ("What feeds water?", ""), 2),
    ],
    "trec topics": [
        ("no tab", ("\t", " "), 1),
        ("duplicated id", with_line(TOPICS, "q1\tAgain?"), "'q1'"),
    ],
    "trec judgments": [
        ("a field too few", (" 4\n", "\n"), 1),
        ("grade in words", (" 4\n", " high\n"), 1),
        ("grade below any", (" 4\n", " --1\n"), 1),
        ("unknown query", ("q1 ", "q9 "), 1),
        ("unknown document", ("engines:", "turbines:"), 1),
        ("two grades", with_line(QRELS, "q1 0 engines:30-79 2"), "in: q1, engines 30 to 79"),
    ],
    "test set labels": [("quote not found", ("A pump feeds", "Nobody ever said"), 2)],
}
