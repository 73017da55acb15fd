"""Turns exclude others until they end, or their process does; without locks there are none."""

import errno
import subprocess
import sys

import pytest

from harness.store import locking as locks
from harness.store.locking import Turn

HOLDER = """
import sys, time
from pathlib import Path
from harness.store.locking import Turn
turn = Turn(Path(sys.argv[1]))
print(turn.take(), flush=True)
time.sleep(600)
"""


def test_one_object_at_a_time_has_the_turn(tmp_path):
    one, other = Turn(tmp_path / "turn"), Turn(tmp_path / "turn")
    other.end()
    assert one.take()
    assert not one.take()
    assert not other.take()
    one.end()
    assert other.take()


def test_a_turn_ends_with_its_process_however_that_ends(tmp_path):
    path = tmp_path / "turn"
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout.readline() == b"True\n"
        turn = Turn(path)
        assert not turn.take()
        holder.kill()
        holder.wait()
        assert turn.take()


def test_where_a_file_system_has_no_locks_nobody_has_a_turn(tmp_path, monkeypatch):
    def refused(handle, *, blocking):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(locks, "lock_descriptor", refused)
    with pytest.raises(OSError, match="no locks"):
        Turn(tmp_path / "turn").take()
