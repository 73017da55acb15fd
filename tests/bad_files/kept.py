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
FOREIGN = "{file}, line {last}: not a judgment of this ledger ("
STEP = {"step": "propose", "when": "2026-01-01", "how": "by hand", "files": ["proposed.csv"], "facts": {}}
UNREADABLE = "{file} cannot be read (… Remove the folder; the tables are untouched."

KINDS = {
    "export of the ledger": Kind(
        "j.jsonl",
        "judge import j.jsonl",
        {"j.jsonl": LEDGER},
        {
            "missing": "{file} cannot be read: No such file or directory. Export it again.",
            "a folder": "{file}: is a folder, not a file. Write",
            "empty": "",
            "not UTF-8": "{file} cannot be read: 'utf-8' codec can't decode … Export it again.",
            "NUL bytes": "{file}, line 1: not a judgment of this ledger (… Nothing was imported.",
            "damaged JSON": FOREIGN + "Expecting … Nothing was imported.",
            "wrong type in a row": FOREIGN + "it is not an object). Nothing was imported.",
        },
    ),
    "step of a test set": Kind(
        "set/history/0001-propose/step.json",
        "testset set undo",
        SET | {"set/history/0001-propose/step.json": json.dumps(STEP, indent=1) + "\n"},
        dict.fromkeys(
            ("missing", "a folder", "empty", "only a header", "not UTF-8", "NUL bytes"), UNREADABLE
        ),
    ),
}

ROWS = {
    "export of the ledger": [
        (
            "a line that was edited",
            ("What feeds", "Who feeds"),
            "{file}, line 1: the key does not belong to this",
        ),
        (
            "grade above the scale",
            ("[4]", "[9]"),
            "{file}, line 1: not a judgment of this ledger (grades [9]",
        ),
        ("missing key", ('"model": "m", ', ""), "{file}, line 1: not a judgment of this ledger ('model')"),
        (
            "tokens in words",
            ('"prompt_tokens": 9', '"prompt_tokens": "many"'),
            "{file}, line 1: not a judgment of this ledger (prompt_tokens: Input should be a valid integer",
        ),
        (
            "nested without end",
            LEDGER + "[" * 100_000 + "\n",
            "{file}, line 2: not a judgment of this ledger (… Nothing was imported.",
        ),
    ],
    "step of a test set": [
        ("a list in place of an object", "[1]\n", UNREADABLE),
        ("missing key", ('"how": "by hand"', '"hwo": "by hand"'), UNREADABLE),
        ("files that are no list", ('[\n  "proposed.csv"\n ]', "5"), UNREADABLE),
    ],
}
