"""Folders of results are replaced whole, by one run or by many at once, and kills lose nothing."""

import errno
import shutil
import signal
import subprocess
import sys
import textwrap
from contextlib import suppress
from pathlib import Path

import pytest

from harness.store import atomic, lock, replace_folder
from harness.store import locking as folders
from harness.values import StoreError


@pytest.fixture(params=["in one step", "in two"])
def exchange(request, monkeypatch):
    """With a system that can exchange two folders, and with one that cannot."""
    if request.param == "in two":
        monkeypatch.setattr(folders, "exchange", lambda one, other: False)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def write(path, content, keep=None):
    with replace_folder(path, keep) as partial:
        (partial / content).write_text(content, encoding="utf-8")


def test_a_folder_is_replaced_only_when_the_block_ends_well_and_kept_under_a_name_that_is_free(
    tmp_path, exchange
):
    path = tmp_path / "result"
    write(path, "x")
    with pytest.raises(ZeroDivisionError), replace_folder(path) as partial:
        (partial / "b").write_text(str(1 / 0), encoding="utf-8")
    assert names(path) == ["x"]
    write(path, "a")
    assert (names(path), names(tmp_path)) == (["a"], ["result"])
    for content in "bcd":
        write(path, content, lambda current, earlier: f"kept-{names(earlier)[0] in 'ab'}")
    assert {name: names(tmp_path / name) for name in names(tmp_path)} == {
        "kept-False": ["c"],
        "kept-True": ["a"],
        "kept-True-2": ["b"],
        "result": ["d"],
    }


def test_a_live_run_is_left_alone_also_where_names_begin_alike(tmp_path, exchange):
    with replace_folder(tmp_path / "quickstart-big") as big, replace_folder(tmp_path / "quickstart") as small:
        (big / "big").touch()
        (small / "small").touch()
        for name in ("quickstart", "quickstart-big", "other"):
            write(tmp_path / name, "between")
    assert names(tmp_path) == ["other", "quickstart", "quickstart-big"]
    assert names(tmp_path / "quickstart-big") == ["big"]
    assert names(tmp_path / "quickstart") == ["small"]


_KILLED = """
import os, signal, sys
from pathlib import Path
from harness.store import locking as folders
path, moment = Path(sys.argv[1]), sys.argv[2]
die = lambda *args: os.kill(os.getpid(), signal.SIGKILL)
if moment in ("committing", "in two steps"):
    folders.exchange = die if moment == "committing" else lambda one, other: False
if moment == "in two steps":
    rename = Path.rename
    def first_only(self, target):
        rename(self, target)
        if self == path: die()
    Path.rename = first_only
if moment == "retiring":
    folders._retire = die
with folders.replace_folder(path) as partial:
    (partial / "new").touch()
    if moment == "writing": die()
"""


@pytest.mark.parametrize(
    ("moment", "left", "kept"),
    [
        ("writing", ["old"], []),
        # what was finished is not lost, though it never had its place
        ("committing", ["old"], [["new"]]),
        ("in two steps", ["new"], [["old"]]),
        ("retiring", ["new"], [["old"]]),
    ],
)
def test_what_a_kill_leaves_is_put_in_order_by_the_next_run_of_any_name(tmp_path, moment, left, kept):
    path = tmp_path / "result"
    write(path, "old")
    killed = subprocess.run([sys.executable, "-c", _KILLED, str(path), moment], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert len(names(tmp_path)) > 1 or moment == "in two steps"
    with suppress(RuntimeError), replace_folder(tmp_path / "other", lambda current, earlier: "kept"):
        raise RuntimeError
    assert names(path) == left
    assert [names(other) for other in tmp_path.iterdir() if other != path] == kept


def test_a_lock_ends_with_its_process_and_only_then(tmp_path):
    path = tmp_path / "owner"
    script = f"""
    import time
    from pathlib import Path
    from harness.store.locking import lock
    held = lock(Path({str(path)!r}))
    print("held", flush=True)
    time.sleep(600)
    """
    other = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE)
    assert other.stdout.readline() == b"held\n"
    assert lock(path) is None
    other.kill()
    other.wait()
    with lock(path) as mine:
        assert mine.sure
        assert lock(path) is None
    # a file that is removed while it is locked is no longer what others lock; Windows does not remove it
    first, removed = lock(path), True
    try:
        path.unlink()
    except PermissionError:
        removed = False
    assert (lock(path) is not None) is removed
    first.release()


def test_many_processes_replace_one_folder_and_its_namesakes(tmp_path):
    script = """
    import sys
    from pathlib import Path
    from harness.store import replace_folder
    root, own = Path(sys.argv[1]), sys.argv[2]
    for turn in range(20):
        for name in ("run", "run-big"):
            with replace_folder(root / name) as partial:
                for part in "abc":
                    (partial / part).write_text(own, encoding="utf-8")
    """
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(script), str(tmp_path), str(i)], stderr=subprocess.PIPE
        )
        for i in range(4)
    ]
    assert [run.communicate()[1].decode() for run in runs] == [""] * 4
    assert names(tmp_path) == ["run", "run-big"]
    for name in names(tmp_path):
        assert len({(tmp_path / name / part).read_text(encoding="utf-8") for part in "abc"}) == 1


def test_a_folder_never_has_an_owner_without_a_lock_while_it_is_removed(tmp_path, monkeypatch):
    removed, remove = [], shutil.rmtree

    def watched(folder, **options):
        removed.append((folder / "owner").exists())
        remove(folder, **options)

    with replace_folder(tmp_path / "run"):
        monkeypatch.setattr(shutil, "rmtree", watched)
    assert removed[-1] is False


def test_a_folder_that_another_program_holds_open_is_left_and_the_new_one_kept_beside_it(
    tmp_path, monkeypatch
):
    path = tmp_path / "run"
    write(path, "old")
    rename = Path.rename

    def refused(self, target):
        # as Windows does while a file in it is open
        if self == path:
            raise PermissionError(errno.EACCES, "used by another process", str(self))
        return rename(self, target)

    monkeypatch.setattr(folders, "exchange", lambda one, other: False)
    monkeypatch.setattr(atomic, "_PAUSES", (0.0, 0.0))
    with monkeypatch.context() as held:
        held.setattr(Path, "rename", refused)
        for _ in range(2):
            with pytest.raises(StoreError, match=r"used by another process.*Nothing is lost.*run-new"):
                write(path, "new")
    assert {name: names(tmp_path / name) for name in names(tmp_path)} == {
        "run": ["old"],
        "run-new": ["new"],
        "run-new-2": ["new"],
    }
    write(path, "new")
    assert names(path) == ["new"]


def test_a_file_that_is_read_at_that_moment_is_replaced_when_it_is_free(tmp_path, monkeypatch):
    path, refusals = tmp_path / "file", iter([PermissionError(errno.EACCES, "used by another process")] * 3)
    replace = Path.replace

    def refused_three_times(self, target):
        for error in refusals:
            raise error
        return replace(self, target)

    monkeypatch.setattr(atomic, "_PAUSES", (0.0,) * 3)
    monkeypatch.setattr(Path, "replace", refused_three_times)
    atomic.write_text(path, "new")
    assert path.read_text(encoding="utf-8") == "new"
    monkeypatch.setattr(atomic, "_PAUSES", (0.0,))
    refusals = iter([PermissionError(errno.EACCES, "used by another process")] * 3)
    with pytest.raises(PermissionError, match="used by another process"):
        atomic.write_text(path, "newer")
    assert names(tmp_path) == ["file"]
