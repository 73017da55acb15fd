"""Users of a folder share it; whoever wants it alone is told of them, and no killed one is counted."""

import errno
import shutil
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from harness.store import CacheLayout, cache_layout, clear, sizes, tidy
from harness.store import locking as locks
from harness.store.locking import alone, join
from harness.values import StoreError

USER = """
import sys, time
from pathlib import Path
from harness.store import CacheLayout
from harness.store.locking import alone
if sys.argv[2] == "user":
    user = CacheLayout(Path(sys.argv[1])).use()
else:
    one = alone(CacheLayout(Path(sys.argv[1])).users)
    one.__enter__()
print("there", flush=True)
time.sleep(600)
"""


def started(folder, what):
    other = subprocess.Popen([sys.executable, "-c", USER, str(folder), what], stdout=subprocess.PIPE)
    assert other.stdout.readline() == b"there\n"
    return other


def killed(process):
    process.kill()
    process.communicate()


def test_users_share_the_cache_and_the_last_one_frees_it(tmp_path):
    layout = CacheLayout(tmp_path)
    one, two = layout.use(), layout.use()
    one.release()
    for empty in (tidy, clear):
        with pytest.raises(
            StoreError, match=r"in use by another command\. Try again when that has ended; nothing"
        ):
            empty(layout)
    two.release()
    two.release()
    assert clear(layout) == (layout.base,)
    assert list(tmp_path.iterdir()) == []


def test_a_user_in_another_process_counts_until_it_is_killed(tmp_path):
    layout = CacheLayout(tmp_path)
    one, two = started(tmp_path, "user"), started(tmp_path, "user")
    killed(one)
    with pytest.raises(StoreError, match="in use"):
        clear(layout)
    assert layout.base.is_dir()
    killed(two)
    # the next user removes what killed ones have left
    layout.use().release()
    assert [path.name for path in layout.users.iterdir()] == ["gate"]
    assert clear(layout) == (layout.base,)


def test_who_is_alone_keeps_users_out_until_it_is_killed(tmp_path):
    cleaner = started(tmp_path, "cleaner")
    user = subprocess.Popen([sys.executable, "-c", USER, str(tmp_path), "user"], stdout=subprocess.PIPE)
    layout = CacheLayout(tmp_path)
    assert locks.lock(layout.users / "gate") is None
    assert [path.name for path in layout.users.iterdir()] == ["gate"]
    killed(cleaner)
    assert user.stdout.readline() == b"there\n"
    killed(user)


def test_a_user_who_waits_while_the_cache_is_removed_begins_it_again(tmp_path):
    layout = CacheLayout(tmp_path)
    layout.use().release()
    with alone(layout.users):
        user = subprocess.Popen([sys.executable, "-c", USER, str(tmp_path), "user"], stdout=subprocess.PIPE)
        # as far as the system lets what is open be removed
        with suppress(PermissionError):
            (layout.users / "gate").unlink()
            layout.users.rmdir()
    assert user.stdout.readline() == b"there\n"
    with pytest.raises(StoreError, match="in use"):
        clear(layout)
    killed(user)


def test_where_a_file_system_has_no_locks_a_user_is_believed(tmp_path, monkeypatch):
    def refused(handle, *, blocking):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(locks, "lock_descriptor", refused)
    user = join(tmp_path / "files")
    message = r"or, if none is, remove .*user-.*: this file system has no locks"
    with pytest.raises(StoreError, match=message), alone(tmp_path / "files"):
        raise AssertionError
    user.release()
    with alone(tmp_path / "files"):
        pass
    # a ledger's turn is nobody's there: what is bought in it would be bought twice
    with pytest.raises(OSError, match="no locks"):
        locks.turn(tmp_path / "turn")


def test_a_gate_that_cannot_be_removed_while_it_is_held_goes_when_it_is_free(tmp_path, monkeypatch):
    """As on Windows, where what is open cannot be removed; who has come by then keeps all of it."""
    layout, unlink, removed = CacheLayout(tmp_path), Path.unlink, locks._removed
    gate = layout.users / "gate"

    def unless_open(self, missing_ok=False):
        if self == gate:
            free = locks.lock(self, create=False)
            if free is None:
                raise PermissionError(errno.EACCES, "used by another process", str(self))
            free.release()
        unlink(self, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", unless_open)
    layout.use().release()
    assert clear(layout) == (layout.base,)
    assert not layout.users.exists()

    def after_a_newcomer(files):
        newcomers.append(locks.lock(gate))
        return removed(files)

    layout.use().release()
    newcomers = []
    monkeypatch.setattr(locks, "_removed", after_a_newcomer)
    with alone(layout.users, last=True):
        pass
    # nobody comes in while the gate is held; who does when it is free keeps it
    assert [user is not None for user in newcomers] == [False, True]
    assert gate.exists()


def test_what_another_command_removes_first_is_no_fault(tmp_path, monkeypatch):
    layout = CacheLayout(tmp_path)
    layout.use().release()

    def after_another(files, **options):
        clear(layout)
        return alone(files, **options)

    with monkeypatch.context() as patch:
        # between the look for folders and the lock on them
        patch.setattr(
            cache_layout, "alone", lambda files, **options: patch.undo() or after_another(files, **options)
        )
        assert clear(layout) == ()
    assert not layout.base.exists()


def test_sizes_are_told_while_files_come_and_go(tmp_path):
    layout, stop = CacheLayout(tmp_path), threading.Event()
    layout.use().release()

    def come_and_go():
        while not stop.is_set():
            for number in range(40):
                (layout.artifacts / f"{number}").mkdir(parents=True, exist_ok=True)
                (layout.artifacts / f"{number}" / "file").write_bytes(b"1234")
            # Windows refuses it while the folder is being read
            shutil.rmtree(layout.artifacts, ignore_errors=True)

    others = threading.Thread(target=come_and_go)
    others.start()
    try:
        for _ in range(300):
            assert sizes(layout).get("artifacts", 0) in range(0, 161, 4)
    finally:
        stop.set()
        others.join()


RUNS = """
import contextlib, io, sys
from harness.cli import main

for number in range(int(sys.argv[2])):
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            main(["bench", sys.argv[1], "--again", "--quiet"])
        except SystemExit as end:
            if end.code:
                raise
"""
CLEARS = """
import contextlib, io, pathlib, sys, time
from harness.cli import main

stop, outcomes = pathlib.Path(sys.argv[2]), {}
while not stop.exists():
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(["cache", "--clear", "--cache", sys.argv[1]])
        except SystemExit as end:
            assert not end.code or "in use by another command" in err.getvalue(), err.getvalue()
    kind = "cleared" if "Removed: " in out.getvalue() else "met" if err.getvalue() else "empty"
    outcomes[kind] = outcomes.get(kind, 0) + 1
    time.sleep(0.01)
print(outcomes.get("cleared", 0), outcomes.get("met", 0))
"""


@pytest.mark.slow
def test_a_cache_that_is_cleared_again_and_again_fails_no_run_that_ends(tmp_path):
    """Some 30 runs of two sessions and two that clear: hundreds of times they meet."""
    (tmp_path / "a.md").write_text("The harbour pump is old.\n\nThe crane is red.\n")
    (tmp_path / "queries.csv").write_text("query_id,text\nq1,what is old?\nq2,what is red?\n")
    quotes = "q1,a,The harbour pump is old.,4\nq2,a,The crane is red.,4\n"
    (tmp_path / "labels.csv").write_text(f"query_id,document,quote,grade\n{quotes}")
    cache, stop, runs = tmp_path / "cache", tmp_path / "stop", 15
    cache.mkdir()

    def session(code, *words):
        command = [sys.executable, "-c", code, *map(str, words)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    running = []
    for name in ("one", "two"):
        config = tmp_path / f"{name}.yaml"
        config.write_text(
            f"name: {name}\ndocuments: {tmp_path}/*.md\nqueries: {tmp_path}/queries.csv\n"
            f"labels: {tmp_path}/labels.csv\ncache: {cache}\nresults: {tmp_path}/results\n"
            "chunk: {kind: recursive, chunk_size: 40}\nretrieve: {kind: bm25}\n"
            "bootstrap: {resamples: 100}\n"
        )
        running.append(session(RUNS, config, runs))
    clearing = [session(CLEARS, cache, stop) for _ in range(2)]
    ends = [(*other.communicate(timeout=900), other.returncode) for other in running]
    stop.touch()
    counts = [other.communicate(timeout=900) for other in clearing]
    assert [(err, code) for _, err, code in ends] == [("", 0)] * 2
    assert [err for _, err in counts] == ["", ""]
    cleared, met = (sum(column) for column in zip(*(map(int, out.split()) for out, _ in counts), strict=True))
    assert cleared >= 1
    assert cleared + met >= 200
    assert sorted(path.name for path in (tmp_path / "results").iterdir()) == ["one", "two"]
