"""Users of a folder share it; whoever wants it alone is told of them, and no killed one is counted."""

import errno
import subprocess
import sys

import pytest

from harness.store import CacheLayout, clear, tidy
from harness.store import locking as locks
from harness.store.locking import alone, join
from harness.values.errors import StoreError

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
        with pytest.raises(StoreError, match=r"in use by a benchmark\. Try again when it has ended; nothing"):
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
