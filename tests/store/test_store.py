"""Storage on disk: atomic files and folders, artifacts, the key-value file."""

import gzip
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
import time
from contextlib import closing
from functools import partial

import pytest

from harness.store import Artifacts, KeyValue, key_of, write_bytes, write_text
from harness.store.sqlite import use_write_ahead_log


def test_keys_depend_on_content_and_not_on_the_order_of_mappings():
    assert key_of({"a": 1, "b": [1, 2]}) == key_of({"b": [1, 2], "a": 1})
    assert key_of("ab", "c") != key_of("a", "bc")
    assert key_of(1) != key_of("1")


def test_artifacts_come_back_and_damaged_ones_count_as_absent(tmp_path):
    store = Artifacts(tmp_path)
    assert store.get("chunks", "k") is None
    value = {"text": "naïve \u2028 \ud83d", "n": [1, 2.5, None]}
    store.put("chunks", "k", value)
    assert store.get("chunks", "k") == value
    path = store.path("chunks", "k")
    whole = path.read_bytes()
    Artifacts(tmp_path / "other").put("chunks", "k", value)
    assert Artifacts(tmp_path / "other").path("chunks", "k").read_bytes() == whole
    for damaged in (b"", whole[: len(whole) // 2], b"not gzip", gzip.compress(b"{")):
        path.write_bytes(damaged)
        assert store.get("chunks", "k") is None


def test_a_file_is_written_whole_or_stays_as_it_is(tmp_path):
    path = tmp_path / "a.txt"
    assert write_bytes(path, (b"one\n", b"two\n")) == 2
    with pytest.raises(ZeroDivisionError):
        write_bytes(path, (b"%d" % (1 // number) for number in (1, 0)))
    assert path.read_bytes() == b"one\ntwo\n"
    assert [*tmp_path.iterdir()] == [path]


def test_a_file_is_written_through_a_link(tmp_path):
    (tmp_path / "shared").mkdir()
    real, link = tmp_path / "shared/labels.csv", tmp_path / "labels.csv"
    link.symlink_to("shared/labels.csv")
    for text in ("new", "changed"):
        write_text(link, text)
        assert link.is_symlink()
        assert real.read_text() == text
    assert [*real.parent.iterdir()] == [real]
    gone = tmp_path / "gone.csv"
    gone.symlink_to(tmp_path / "unmounted/labels.csv")
    with pytest.raises(FileNotFoundError) as refused:
        write_text(gone, "text")
    assert refused.value.filename == str(gone)


def test_key_value_keeps_the_first_value_and_survives_reopening(tmp_path):
    path = tmp_path / "values.sqlite"
    store = KeyValue(path)
    store.put({b"a": b"1", b"b": b"2"})
    store.put([(b"a", b"other"), (b"c", b"3")])
    store.close()
    again = KeyValue(path)
    assert again.get([b"a", b"b", b"c", b"d"]) == {b"a": b"1", b"b": b"2", b"c": b"3"}
    many = {str(i).encode(): b"x" for i in range(1700)}
    again.put(many)
    assert again.get(list(many)) == many


def test_key_value_writes_all_items_or_none(tmp_path):
    store = KeyValue(tmp_path / "values.sqlite")

    def items():
        yield b"a", b"1"
        raise RuntimeError

    with pytest.raises(RuntimeError):
        store.put(items())
    assert store.get([b"a"]) == {}


def test_a_file_that_others_are_opening_is_waited_for(tmp_path):
    """SQLite refuses to switch the journal of a file in use at once, without the connection's timeout."""
    path = tmp_path / "values.sqlite"
    connect = partial(sqlite3.connect, path, timeout=0, isolation_level=None, check_same_thread=False)
    with closing(connect()) as other, closing(connect()) as mine:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            use_write_ahead_log(mine, patience=0.02)
        timer = threading.Timer(0.2, lambda: other.execute("COMMIT"))
        timer.start()
        use_write_ahead_log(mine, patience=240)
        timer.join()
        assert mine.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_two_processes_write_at_once_and_a_kill_leaves_whole_batches(tmp_path):
    path = tmp_path / "values.sqlite"
    script = textwrap.dedent(
        f"""
        import sys
        from pathlib import Path
        from harness.store import KeyValue
        store = KeyValue(Path({str(path)!r}))
        for batch in range(100000):
            keys = [f"{{sys.argv[1]}}-{{batch}}-{{i}}".encode() for i in range(10)]
            # short ones within the table, long ones beside it
            store.put({{key: b"x" * (batch % 2 * 999 + 1) for key in keys}})
        """
    )
    runs = [subprocess.Popen([sys.executable, "-c", script, name]) for name in ("p", "q")]
    store = KeyValue(path)
    deadline = time.monotonic() + 900
    while len(store.get([b"p-20-0", b"q-20-0"])) < 2:
        assert time.monotonic() < deadline
        assert [run.poll() for run in runs] == [None, None]
        time.sleep(0.01)
    for run in runs:
        os.kill(run.pid, signal.SIGKILL)
        run.wait()
    for name in ("p", "q"):
        counts = [
            len(store.get([f"{name}-{batch}-{i}".encode() for i in range(10)]))
            for batch in range(100000 // 50)
        ]
        assert set(counts) <= {0, 10}
        assert counts[0] == 10
