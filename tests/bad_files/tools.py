"""A test set of ragas, as `harness import` reads it."""

from tests.bad_files.benchmark import ENGINES, PASSAGE
from tests.bad_files.kind import Kind, lines

SAMPLE = {"user_input": "What feeds water?", "reference": "a pump", "reference_contexts": [PASSAGE]}

KINDS = {
    "ragas test set": Kind(
        "t.jsonl",
        "import ragas t.jsonl --documents docs/* --to out",
        {"docs/engines.txt": ENGINES, "t.jsonl": lines(SAMPLE)},
    ),
}

ROWS = {
    "ragas test set": [
        ("contexts in one text", lines(SAMPLE | {"reference_contexts": PASSAGE}), 1),
        ("a number in place of a context", lines(SAMPLE | {"reference_contexts": [5]}), 1),
        ("an empty context", lines(SAMPLE | {"reference_contexts": [PASSAGE, ""]}), ""),
        ("no context", lines(SAMPLE | {"reference_contexts": []}), "no sample has reference_contexts"),
        ("messages in place of a question", lines(SAMPLE | {"user_input": [{"content": "Who?"}]}), 1),
    ],
}
