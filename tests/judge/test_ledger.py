"""The ledger alone: identity, append-only, turns, money, export and import."""

import json
import sqlite3
import subprocess
import sys

import pytest

from harness.store import Ledger
from harness.store.ledger import Imported
from harness.values import LlmAnswer, LlmCall, LlmError

CALL = {
    "query": "what?",
    "passages": ("one", "two"),
    "prompt_sha": "p",
    "model": "m",
    "parameters": {"temperature": 0.0, "seed": 1},
    "sample": 0,
}
ANSWER = {
    "settled": True,
    "grades": (3, 0),
    "reason": "",
    "raw": "{}",
    "prompt_tokens": 10,
    "completion_tokens": 2,
    "price": 0.5,
    "seconds": 0.1,
    "request_id": "r1",
    "served_model": "m-1",
    "finish": "stop",
    "logprobs": [{"token": "4", "logprob": -0.5, "top_logprobs": []}],
}


def put(ledger, **changes):
    call = {name: changes.pop(name, value) for name, value in CALL.items()}
    key = key_of(ledger, **call)
    ledger.record(key, LlmAnswer(**call, **{**ANSWER, **changes}))
    return key


def key_of(ledger, **changes):
    return ledger.key(LlmCall(**{**CALL, **changes}))


@pytest.mark.parametrize(
    "change",
    [
        {"query": "What?"},
        {"passages": ("two", "one")},
        {"passages": ("one two",)},
        {"prompt_sha": "q"},
        {"model": "n"},
        {"parameters": {"temperature": 0.5, "seed": 1}},
        {"sample": 1},
    ],
    ids=str,
)
def test_everything_that_can_change_an_answer_changes_the_key(change, ledger):
    assert key_of(ledger) != key_of(ledger, **change)


def test_the_folders_of_a_new_ledger_are_made(tmp_path):
    for _ in range(2):
        with Ledger(tmp_path / "new" / "too" / "l.db") as ledger:
            put(ledger)


@pytest.mark.parametrize(
    ("changes", "kept"),
    [
        # a text that results are made of, as it came
        ({"grades": None}, True),
        ({}, False),
        ({"grades": None, "reason": "refused"}, False),
    ],
)
def test_a_secret_in_a_reply_is_kept_only_where_results_are_made_of_its_text(ledger, changes, kept):
    secret = "sk-abcdefghijklmnop1234567890"
    entry = ledger.find(put(ledger, raw=f"the key is {secret}", **changes))
    assert (secret in entry.raw) is kept
    # tokens spell it out
    assert (entry.logprobs is not None) is kept


def test_the_order_of_parameters_does_not_change_the_key(ledger):
    turned = dict(reversed(CALL["parameters"].items()))
    assert key_of(ledger) == key_of(ledger, parameters=turned)


def test_an_entry_comes_back_as_it_was_put(ledger):
    entry = ledger.find(put(ledger))
    for name, value in {**CALL, **ANSWER}.items():
        assert getattr(entry, name) == value
    assert entry.answered_at.endswith("+00:00")


def test_lone_surrogates_and_null_characters_pass(ledger):
    entry = ledger.find(put(ledger, query="a\ud800b", passages=("x\x00y", "中文"), raw="\udfff"))
    assert (entry.query, entry.passages, entry.raw) == ("a\ud800b", ("x\x00y", "中文"), "\udfff")


def test_none_is_kept_apart_from_zero(ledger):
    entry = ledger.find(put(ledger, grades=None, reason="refusal", price=None, prompt_tokens=None))
    assert (entry.grades, entry.reason, entry.price, entry.prompt_tokens) == (None, "refusal", None, None)
    assert ledger.cost(entry.key) is None


def test_only_settled_answers_are_found_and_the_newest_wins_but_all_cost(ledger):
    key = put(ledger, settled=False, grades=None, reason="no_grade")
    assert ledger.find(key) is None
    put(ledger, grades=(1, 1))
    put(ledger, grades=(2, 2))
    assert ledger.find(key).grades == (2, 2)
    assert ledger.cost(key) == 1.5
    assert len(list(ledger.entries())) == 3


@pytest.mark.parametrize("statement", ["UPDATE answers SET grades = '[4,4]'", "DELETE FROM answers"])
def test_answers_are_only_added(statement, tmp_path):
    with Ledger(tmp_path / "l.db") as ledger:
        put(ledger)
    other = sqlite3.connect(tmp_path / "l.db")
    with pytest.raises(sqlite3.IntegrityError, match="only added"):
        other.execute(statement)
    other.close()


def test_a_turn_is_one_run_s_until_it_ends_it(tmp_path):
    with Ledger(tmp_path / "l.db") as mine, Ledger(tmp_path / "l.db") as yours:
        assert mine.take_turn("m")
        assert not yours.take_turn("m")
        assert not mine.take_turn("m"), "nor does it have two turns at once"
        yours.end_turn("m")
        assert not yours.take_turn("m"), "only who has it may end it"
        assert yours.take_turn("another model"), "whose answers cannot be the same"
        mine.end_turn("m")
        assert yours.take_turn("m")
        yours.close()
        assert mine.take_turn("m"), "closing the ledger ends it"
        put(mine)


def test_processes_of_all_versions_wait_at_one_file(tmp_path):
    """It is named after the model: `printf m | sha256sum | cut -c1-12`."""
    with Ledger(tmp_path / "l.db") as ledger:
        assert ledger.take_turn("m")
        assert [path.name for path in tmp_path.glob("*.lock")] == ["l.db.62c66a7a5dd7.lock"]


def test_a_turn_ends_with_its_process(tmp_path):
    code = (
        "import os, sys; from pathlib import Path; from harness.store.ledger import Ledger;"
        "ledger = Ledger(Path(sys.argv[1])); assert ledger.take_turn('m'); os._exit(9)"
    )
    ended = subprocess.run([sys.executable, "-c", code, str(tmp_path / "l.db")], check=False)
    assert ended.returncode == 9
    with Ledger(tmp_path / "l.db") as ledger:
        assert ledger.take_turn("m")


def test_a_turn_that_cannot_be_taken_is_named(tmp_path):
    with Ledger(tmp_path / "l.db") as ledger:
        assert ledger.take_turn("m")
        (lock,) = tmp_path.glob("l.db.*.lock")
    lock.unlink()
    lock.mkdir()
    with Ledger(tmp_path / "l.db") as ledger, pytest.raises(LlmError, match=lock.name):
        ledger.take_turn("m")


def test_export_and_import_carry_everything_once(tmp_path):
    with Ledger(tmp_path / "a.db") as source, Ledger(tmp_path / "b.db") as target:
        put(source)
        put(source, sample=1, grades=None, reason="refusal", query="中\ud800")
        put(source, sample=2, settled=False, grades=None, reason="no_grade")
        lines = list(source.export_lines())
        assert all(line.isascii() and "\n" not in line for line in lines)
        assert target.import_lines(lines) == Imported(3, 0)
        assert target.import_lines([*lines, ""]) == Imported(0, 3)
        assert list(target.entries()) == list(source.entries())


def test_answers_without_a_grade_are_imported_if_they_say_why(tmp_path):
    with Ledger(tmp_path / "a.db") as source, Ledger(tmp_path / "b.db") as target:
        put(source, grades=None, reason="refusal")
        # no line has a grade under this model and prompt
        assert target.import_lines(source.export_lines()) == Imported(1, 0)


def changed(line, **fields):
    return json.dumps({**json.loads(line), **fields})


@pytest.mark.parametrize(
    "break_line",
    [
        lambda line: line[:-5],
        lambda line: "[1]",
        lambda line: changed(line, grades=[3]),
        lambda line: changed(line, grades=["4", 0]),
        lambda line: changed(line, grades=[5, 0]),
        lambda line: changed(line, query="another"),
        lambda line: json.dumps({k: v for k, v in json.loads(line).items() if k != "raw"}),
        lambda line: changed(line, grades=None),
        lambda line: changed(line, reason="refusal"),
        lambda line: changed(line, price=-3),
        lambda line: changed(line, price=float("nan")),
        lambda line: changed(line, price="3"),
        lambda line: changed(line, completion_tokens=-1),
        lambda line: changed(line, prompt_tokens=2**70),
        lambda line: changed(line, settled="no"),
        lambda line: changed(line, answered_at="2025-06-01\ud800"),
        lambda line: changed(line, finish="\ud800"),
        lambda line: changed(line, request_id="\ud800"),
        lambda line: changed(line, served_model="\ud800"),
    ],
)
def test_a_bad_import_is_named_and_leaves_nothing_behind(break_line, tmp_path):
    with Ledger(tmp_path / "a.db") as source, Ledger(tmp_path / "b.db") as target:
        put(source)
        put(source, sample=1)
        first, second = source.export_lines()
        with pytest.raises(LlmError, match=r"judgments\.jsonl, line 2"):
            target.import_lines([first, break_line(second)], "judgments.jsonl")
        assert list(target.entries()) == []


def test_a_field_that_an_import_lacks_is_named(tmp_path):
    with Ledger(tmp_path / "a.db") as source:
        put(source)
        (line,) = source.export_lines()
        short = json.dumps({k: v for k, v in json.loads(line).items() if k != "raw"})
        with pytest.raises(LlmError, match=r"it has no field 'raw'"):
            source.import_lines([short], "j.jsonl")


def test_a_file_that_is_no_ledger_is_refused_and_kept(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("not a database, but long enough to be taken for one " * 20, encoding="utf-8")
    before = path.read_bytes()
    with pytest.raises(LlmError, match=r"cannot be used: .* It is damaged: move it away"):
        Ledger(path)
    assert path.read_bytes() == before


def test_a_ledger_that_is_whole_is_not_called_damaged(tmp_path):
    """One whose table another program has taken away, which an old one would do."""
    with Ledger(tmp_path / "l.db") as ledger:
        put(ledger)
        other = sqlite3.connect(tmp_path / "l.db")
        other.execute("DROP TABLE answers")
        other.commit()
        other.close()
        with pytest.raises(LlmError, match=r"no such table: answers\. Is another program using it") as error:
            list(ledger.entries())
    assert "damaged" not in str(error.value)


def test_a_ledger_of_another_version_is_refused(tmp_path):
    Ledger(tmp_path / "l.db").close()
    other = sqlite3.connect(tmp_path / "l.db")
    other.execute("PRAGMA user_version = 99")
    other.close()
    with pytest.raises(LlmError, match="99"):
        Ledger(tmp_path / "l.db")


def fill(ledger):
    for i in range(200):
        put(ledger, query=f"question {i}")


def test_a_full_disk_and_a_damaged_page_are_reported_with_what_to_do(tmp_path):
    path = tmp_path / "judgments.sqlite"
    with Ledger(path) as ledger:
        pages = ledger._db.execute("PRAGMA page_count").fetchone()[0]
        ledger._db.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(LlmError, match=r"cannot be used: .*full\. Free space .*not paid for again"):
            fill(ledger)
        kept = len(list(ledger.entries()))
    with Ledger(path) as ledger:
        assert len(list(ledger.entries())) == kept
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    path.write_bytes(bytes(content))
    with (
        pytest.raises(LlmError, match=r"judgments\.sqlite cannot be (used|opened)"),
        Ledger(path) as ledger,
    ):
        list(ledger.entries())
