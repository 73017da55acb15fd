"""What the harness has written, and people move about: an export of the ledger, a step of a test set."""

import json

from harness.store.artifacts import key_of
from tests.bad_files.kind import Kind, lines
from tests.bad_files.people import SET

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
}

ROWS = {
    "export of the ledger": [
        ("a line that was edited", ("What feeds", "Who feeds"), 1),
        ("grade above the scale", ("[4]", "[9]"), 1),
        ("missing key", ('"model": "m", ', ""), 1),
        ("tokens in words", ('"prompt_tokens": 9', '"prompt_tokens": "many"'), 1),
        ("nested without end", LEDGER + "[" * 100_000 + "\n", 2),
    ],
    "step of a test set": [
        ("a list in place of an object", "[1]\n", "cannot be read"),
        ("missing key", ('"how": "by hand"', '"hwo": "by hand"'), "cannot be read"),
        ("files that are no list", ('[\n  "proposed.csv"\n ]', "5"), "cannot be read"),
    ],
}
