"""A disk that is full when a cache is opened is named, like one that fills up later."""

import sqlite3

import pytest

from harness.store import keyvalue
from harness.values.errors import HarnessError


@pytest.mark.parametrize("kind", [sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR])
def test_the_file_is_named(kind, tmp_path, monkeypatch):
    def full(*_, **__):
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorcode = kind
        raise error

    monkeypatch.setattr(keyvalue, "opened", full)
    with pytest.raises(HarnessError, match=r"vectors\.sqlite"):
        keyvalue.KeyValue(tmp_path / "vectors.sqlite")
