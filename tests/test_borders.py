"""Whatever a call to the system or a library may raise is met by one wrapper: paths, headers and the disk."""

import builtins
import errno
import inspect
import os
import sqlite3
from email.utils import parsedate_to_datetime
from pathlib import Path

import pytest

from harness import cli
from harness.data import find_documents
from harness.models.llm import faults
from harness.store import CollectionFolders, Faults, KeyValue
from harness.values import CorpusError, HarnessError, StoreError, real_path, refuse_special
from tests.command import run

OS_ERRORS = [OSError(number, os.strerror(number), "/some/path") for number in sorted(errno.errorcode)]
FULL = {errno.ENOSPC, errno.EDQUOT}


def exceptions():
    """One of every exception that Python has and that takes a text, but for those that end the program."""
    for kind in vars(builtins).values():
        if inspect.isclass(kind) and issubclass(kind, Exception) and not issubclass(kind, Warning):
            try:
                yield kind("fault")
            except TypeError:
                continue


ANY = list(exceptions())


def raises(error):
    def call(*_, **__):
        raise error

    return call


@pytest.mark.parametrize("method", ["stat", "resolve"])
def test_whatever_the_system_has_against_a_path_is_told_with_the_path(monkeypatch, method):
    check = {"stat": refuse_special, "resolve": real_path}[method]
    for error in (
        *OS_ERRORS,
        ValueError("embedded null byte"),
        RuntimeError("Symlink loop from '/some/path'"),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(Path, method, raises(error))
            patched.setattr(Path, "is_symlink", raises(OSError(errno.EACCES, "denied")))
            with pytest.raises(CorpusError, match=r"^some/file: cannot be read \(.+\)\. Check"):
                check(Path("some/file"))


def test_links_in_a_circle_end_no_command_in_a_fault(tmp_path, capsys):
    loop, other = tmp_path / "loop.txt", tmp_path / "other.txt"
    loop.symlink_to(other)
    other.symlink_to(loop)
    with pytest.raises(CorpusError, match="loop"):
        find_documents("loop.txt", tmp_path)
    for words in (
        ("score", "--run", loop, "--qrels", other),
        ("bench", loop),
        ("init", loop, "--out", tmp_path / "new"),
        ("init", tmp_path, "--out", loop),
        ("compare", loop, other),
        ("find", "word", "--documents", loop),
    ):
        code, _, err = run(capsys, *words)
        assert code in (1, 2), words
        assert "internal fault" not in err, (words, err)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no files that the system makes up")
def test_a_file_that_the_system_makes_as_it_is_read_is_none(monkeypatch, tmp_path):
    with pytest.raises(CorpusError, match="made by the system"):
        refuse_special(Path("/proc/self/status"))
    (tmp_path / "empty").touch()
    refuse_special(tmp_path / "empty")
    # as /proc/kmsg, where a read waits for the next message
    monkeypatch.setattr(os, "read", raises(BlockingIOError(errno.EAGAIN, "again")))
    with pytest.raises(CorpusError, match="made by the system"):
        refuse_special(tmp_path / "empty")


DATES = [
    *(
        "Wed, 21 Oct 99999999999 07:28:00 GMT",
        "Wed, 99 Oct 2015 07:28:00 GMT",
        "Wed, 21 Oct 2015 07:28:00 +99999999",
    ),
    *(
        "",
        ",",
        "\0",
        "1e999",
        "-1",
        "nan",
        "inf",
        "٣",
        "9" * 5000,
        "0x10",
        "Wed, 21 Xxx 2015",
        "21 21 21 21 21 21",
    ),
]


def test_no_header_raises_whatever_it_holds(monkeypatch):
    for date in DATES:
        for name in ("retry-after", "retry-after-ms"):
            seconds = faults.retry_after({name: date})
            assert seconds is None or 0 <= seconds < float("inf"), (name, date)
    for error in ANY:
        with monkeypatch.context() as patched:
            patched.setattr(faults, "parsedate_to_datetime", raises(error))
            assert faults.retry_after({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}) is None
    assert parsedate_to_datetime("Wed, 21 Oct 2015 07:28:00 GMT").year == 2015


def words_of_a_full_disk():
    """As FAISS and Chroma say it, which have errors of their own."""
    yield RuntimeError(
        "Error in write_index at io.cpp:74: write error in index: 0 != 1 (No space left on device)"
    )
    yield ValueError("Query error: database or disk is full (code: 13)")
    yield RuntimeError("Error creating hnsw writer: No space left on device (os error 28)")
    yield sqlite3.OperationalError("database or disk is full")
    yield from (error for error in OS_ERRORS if error.errno in FULL)


def test_a_full_disk_is_told_in_one_way_whoever_meets_it(tmp_path):
    for error in words_of_a_full_disk():
        with (
            pytest.raises(StoreError, match=r"cannot be written: .+\. Free some space"),
            CollectionFolders(tmp_path / "indexes", Faults()).slot("key"),
        ):
            raise error
        # also where a library's error was put into words of ours
        with (
            pytest.raises(StoreError, match="Free some space"),
            CollectionFolders(tmp_path / "indexes", Faults()).slot("key"),
        ):
            raise HarnessError("an index cannot be written") from error
    assert list((tmp_path / "indexes").iterdir()) == []


def test_other_errors_pass_an_index_unchanged(tmp_path):
    for error in [*ANY, *(error for error in OS_ERRORS if error.errno not in FULL)]:
        with (
            pytest.raises(type(error)) as caught,
            CollectionFolders(tmp_path, Faults()).slot("key"),
        ):
            raise error
        assert caught.value is error


@pytest.mark.parametrize("free", [0, 1 << 30])
def test_a_log_without_room_is_a_full_disk_and_no_damage(tmp_path, monkeypatch, free):
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR
    usage = type("Usage", (), {"free": free})
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage)
    with KeyValue(tmp_path / "values.sqlite", Faults()) as kept:
        kept._db.close()
        kept._db = type(
            "Db", (), {"execute": raises(error), "executemany": raises(error), "close": lambda self: None}
        )()
        with pytest.raises(StoreError) as caught:
            kept.put([(b"k", b"v")])
    assert ("Free some space" in str(caught.value)) == (free == 0)
    assert "it only caches" not in str(caught.value)


def test_every_error_of_the_system_is_one_line(capsys):
    for error in [*OS_ERRORS, *(OSError(number, os.strerror(number)) for number in errno.errorcode)]:
        if not isinstance(error, BrokenPipeError):
            assert cli._report(error) == 1
            err = capsys.readouterr().err
            assert err.startswith("error: ")
            assert err.count("\n") == 1
            assert "internal fault" not in err
            assert "None" not in err


def test_results_that_are_a_file_are_told_as_such(tmp_path, capsys):
    (tmp_path / "results").touch()
    with pytest.raises(FileExistsError) as caught:
        (tmp_path / "results").mkdir()
    cli._report(caught.value)
    assert "is a file where a folder is needed. Remove it, or name another folder." in capsys.readouterr().err
