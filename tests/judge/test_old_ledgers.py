"""Ledgers of earlier versions: every row is kept, and what was paid for is not paid for again."""

import json
import sqlite3

import pytest

from harness.judge import LlmJudge
from harness.store import Ledger, Schema
from harness.store import ledger as ledgers
from harness.store.ledger import VERSION, Imported
from harness.values import LlmError
from tests.judge.fake_server import FakeServer, grade
from tests.judge.helpers import config, judge_all, pairs, script_of

# The tables of version 1, as that version made them.
SCHEMA_1 = """
CREATE TABLE answers (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL, settled INTEGER NOT NULL,
  query TEXT NOT NULL, passages TEXT NOT NULL, prompt_sha TEXT NOT NULL, model TEXT NOT NULL,
  parameters TEXT NOT NULL, sample INTEGER NOT NULL,
  grades TEXT, reason TEXT NOT NULL, raw TEXT NOT NULL,
  prompt_tokens INTEGER, completion_tokens INTEGER, price REAL, seconds REAL NOT NULL,
  request_id TEXT NOT NULL, served_model TEXT NOT NULL, answered_at TEXT NOT NULL
);
CREATE INDEX answers_by_key ON answers (key, settled);
CREATE TRIGGER answers_never_change BEFORE UPDATE ON answers
  BEGIN SELECT RAISE(ABORT, 'answers are only added'); END;
CREATE TRIGGER answers_never_go BEFORE DELETE ON answers
  BEGIN SELECT RAISE(ABORT, 'answers are only added'); END;
CREATE TABLE claims (key TEXT PRIMARY KEY, owner TEXT NOT NULL, until REAL NOT NULL);
PRAGMA user_version = 1;
"""

# What version 1 exported of the first pair of `pairs`, asked with the prompt `pointwise` v1: its key is the
# identity of everybody's paid answers, so it may never change.
LINE_1 = (
    '{"answered_at":"2025-06-01T07:37:20.357+00:00","completion_tokens":10,"grades":[3],'
    '"key":"b8f4eca1d21f218f3f6c70d4b84a47b92e021b31432644a7d25be50e68b5038b","model":"fake",'
    '"parameters":{"max_tokens":400,"seed":0,"structured":"json_schema","temperature":0.0},'
    '"passages":["passage 0"],"price":0.002,'
    '"prompt_sha":"9105663d34e9e98ffdb42b154015ec3166061bcc5d9c3af6b3f41bf4f6fded9e",'
    '"prompt_tokens":100,"query":"question 0","raw":"{\\"grade\\": 3}","reason":"","request_id":"req-0",'
    '"sample":0,"seconds":0.65,"served_model":"fake-1-2025","settled":true}'
)
JSON = ("query", "passages", "parameters", "grades", "raw", "reason")


def write_version_1(path, *lines):
    db = sqlite3.connect(path)
    db.executescript(SCHEMA_1)
    for line in lines:
        row = {k: json.dumps(v) if k in JSON and v is not None else v for k, v in json.loads(line).items()}
        db.execute(
            f"INSERT INTO answers ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", list(row.values())
        )
    db.execute("INSERT INTO claims VALUES ('k', 'host:1:x', 9e9)")
    db.commit()
    db.close()


def rows_of(path):
    db = sqlite3.connect(path)
    rows = db.execute("SELECT id, key, query, passages, grades, raw, price FROM answers").fetchall()
    version = db.execute("PRAGMA user_version").fetchone()[0]
    db.close()
    return rows, version


def changed(**fields):
    return json.dumps({**json.loads(LINE_1), **fields})


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.db"


def test_the_answers_of_a_ledger_of_version_1_are_used_and_nothing_is_asked(path):
    write_version_1(path, LINE_1)
    before, _ = rows_of(path)
    with FakeServer(script_of(grade(0))) as server, Ledger(path) as ledger:
        (only,), summary = judge_all(config(server.url), ledger, pairs(1))
    assert (only.judgment.grade, only.cost) == (3, 0.002)
    assert (server.count, summary.calls, summary.from_ledger) == (0, 0, 1)
    # every ledger since version 1 says 2: another number would refuse those that are in use
    assert rows_of(path) == (before, 2), "no row was touched"


def test_the_lines_of_an_old_export_are_imported_and_used(path):
    with FakeServer(script_of(grade(0))) as server, Ledger(path) as ledger:
        assert ledger.import_lines([LINE_1]) == Imported(1, 0)
        assert ledger.import_lines([LINE_1]) == Imported(0, 1)
        (only,), _ = judge_all(config(server.url), ledger, pairs(1))
    assert (only.judgment.grade, server.count) == (3, 0)


def test_answers_are_still_only_added(path):
    write_version_1(path, LINE_1)
    Ledger(path).close()
    db = sqlite3.connect(path)
    with pytest.raises(sqlite3.IntegrityError, match="only added"):
        db.execute("UPDATE answers SET finish = 'stop'")
    db.close()


def test_a_process_of_the_version_before_may_go_on_writing(path):
    """It has the file open while another one brings it up to date."""
    write_version_1(path)
    old = sqlite3.connect(path)
    with Ledger(path) as ledger:
        row = {k: json.dumps(v) if k in JSON else v for k, v in json.loads(LINE_1).items()}
        columns, marks = ", ".join(row), ", ".join("?" * len(row))
        old.execute(f"INSERT INTO answers ({columns}) VALUES ({marks})", list(row.values()))
        old.execute("DELETE FROM claims WHERE key = 'k'")
        old.commit()
        assert [entry.grades for entry in ledger.entries()] == [(3,)]
    old.close()


def test_a_migration_that_fails_leaves_the_file_as_it_was(path, monkeypatch):
    write_version_1(path, LINE_1)
    before = rows_of(path)
    broken = Schema(VERSION, "", {1: "ALTER TABLE answers ADD x TEXT; SELECT nothing;"})
    monkeypatch.setattr(ledgers, "_SCHEMA", broken)
    with pytest.raises(LlmError, match="cannot be used"):
        Ledger(path)
    assert rows_of(path) == before
    monkeypatch.undo()
    with Ledger(path) as ledger:
        assert [entry.grades for entry in ledger.entries()] == [(3,)]


CUT_OFF = {
    "as long as allowed": ({"completion_tokens": 400}, "truncated"),
    "a thought without an end": ({"raw": '<think>It says {"grade": 3}'}, "unfinished_thought"),
    "two grades": ({"raw": '{"grade": 3}\nGrade: 1'}, "ambiguous"),
}


@pytest.mark.parametrize(("fields", "reason"), CUT_OFF.values(), ids=CUT_OFF.keys())
def test_a_grade_that_version_1_took_from_an_answer_cut_off_is_none(fields, reason, path):
    write_version_1(path, changed(**fields))
    with FakeServer(script_of(grade(1))) as server, Ledger(path) as ledger:
        (only,), _ = judge_all(config(server.url, max_unscored=1), ledger, pairs(1))
        assert (only.judgment.grade, only.reason, server.count) == (None, reason, 0)
        (anew,), _ = judge_all(config(server.url, ask_again=True), ledger, pairs(1))
    assert (anew.judgment.grade, server.count) == (1, 1)


def test_a_dry_run_counts_what_an_old_ledger_has(path):
    write_version_1(path, LINE_1)
    with Ledger(path) as ledger:
        estimate = LlmJudge(config("http://unused/v1"), ledger).estimate(pairs(3))
    assert (estimate.already_answered, estimate.calls) == (1, 2)
