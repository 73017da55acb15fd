"""A cache that is damaged or cannot be written changes no figure: what fails is reported, computed again."""

import errno
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from harness.steps import RETRIEVERS, Passages
from harness.store import Artifacts, CacheLayout, CollectionFolders, Faults, KeyValue, tidy
from harness.values import Query, StoreError
from tests.search.helpers import Given

ChromaConfig = RETRIEVERS["chroma"].config
ChromaRetriever = RETRIEVERS["chroma"].make

ITEMS = {bytes([i]) * 32: np.full(96, i, dtype=np.float32).tobytes() for i in range(200)}


def flip(path, seed, count=1, start=0):
    """Flip ``count`` bits of a file, at places that ``seed`` decides."""
    content = bytearray(path.read_bytes())
    rnd = random.Random(seed)
    for _ in range(count):
        content[rnd.randrange(start, len(content))] ^= 1 << rnd.randrange(8)
    path.write_bytes(bytes(content))


def filled(path):
    with KeyValue(path) as store:
        store.put(ITEMS)
    return path


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("end", ["", "-values"])
def test_flipped_bits_in_vectors_never_give_another_value(tmp_path, seed, end):
    path = filled(tmp_path / "values.sqlite")
    flip(Path(f"{path}{end}"), seed, count=20)
    faults = Faults()
    with KeyValue(path, faults, "vectors") as store:
        found = store.get(list(ITEMS))
        assert found.items() <= ITEMS.items()
        # what is missing is written again; that may show the whole file to be damaged
        for _ in range(2):
            again = store.get(list(ITEMS))
            assert again.items() <= ITEMS.items()
            store.put({key: value for key, value in ITEMS.items() if key not in again})
        assert store.get(list(ITEMS)).items() <= ITEMS.items()
    lost = len(ITEMS) - len(found)
    shown = faults.sentences()
    assert len(shown) <= 1
    # a key that has changed is a value that was never there
    if shown or (lost and end):
        assert "of vectors" in shown[0]
        assert "computed again" in shown[0]
    if not list(tmp_path.glob("*.damaged")):
        assert len(again) >= len(found)


def test_a_value_that_fails_its_check_is_written_again(tmp_path):
    path = filled(tmp_path / "values.sqlite")
    first, second, *_ = ITEMS
    with closing(sqlite3.connect(path)) as db:
        db.execute(
            "UPDATE item SET value = (SELECT value FROM item WHERE key = ?) WHERE key = ?", (second, first)
        )
        db.commit()
    with KeyValue(path) as store:
        assert first not in store.get(list(ITEMS))
        store.put({first: ITEMS[first]})
    with KeyValue(path) as store:
        assert store.get(list(ITEMS)) == ITEMS


def damaged_header(path):
    path.write_bytes(b"this is no database at all, but long enough to look at" * 500)


def damaged_page(path):
    content = bytearray(path.read_bytes())
    content[4096 : 4096 + 64] = b"\xff" * 64
    path.write_bytes(bytes(content))


def cut(path):
    path.write_bytes(path.read_bytes()[:5000])


@pytest.mark.parametrize("damage", [damaged_header, damaged_page, cut])
def test_a_damaged_database_is_replaced_while_others_use_it(tmp_path, damage):
    path = filled(tmp_path / "values.sqlite")
    other = KeyValue(path)
    damage(path)
    faults = Faults()
    for _ in range(2):
        with KeyValue(path, faults) as store:
            missing = ITEMS.keys() - store.get(list(ITEMS)).keys()
            store.put({key: ITEMS[key] for key in missing})
            assert store.get(list(ITEMS)) == ITEMS
    assert faults.sentences()
    assert other.get(list(ITEMS)).items() <= ITEMS.items()
    other.close()


def test_tidying_removes_the_damaged_database_and_keeps_the_new_one(tmp_path):
    layout = CacheLayout(tmp_path)
    with layout.use():
        path = layout.vectors("f" * 64)
        damaged_header(filled(path))
        filled(path)
    assert len(list(path.parent.glob("*.damaged"))) == 1
    assert tidy(layout) == 1
    assert sorted(p.name for p in path.parent.iterdir()) == [path.name, f"{path.name}-values"]
    with KeyValue(path) as store:
        assert store.get(list(ITEMS)) == ITEMS


def test_a_full_disk_is_reported_with_what_to_do(tmp_path):
    with KeyValue(tmp_path / "values.sqlite") as store:
        store._db.execute("PRAGMA max_page_count = 2")
        with pytest.raises(StoreError, match=r"values\.sqlite cannot be written: .*full.*Free some space"):
            store.put(ITEMS)
        assert store.get(list(ITEMS)) == {}


@pytest.mark.parametrize("kind", [sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR])
def test_a_disk_that_is_full_while_a_file_is_opened_is_named_too(kind, tmp_path, monkeypatch):
    def full(*_, **__):
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorcode = kind
        raise error

    monkeypatch.setattr("harness.store.keyvalue.opened", full)
    with pytest.raises(StoreError, match=r"vectors\.sqlite"):
        KeyValue(tmp_path / "vectors.sqlite")


def test_a_disk_that_is_full_for_the_values_beside_loses_none_that_were_there(tmp_path, monkeypatch):
    first = next(iter(ITEMS))
    with KeyValue(tmp_path / "values.sqlite") as store:
        store.put({first: ITEMS[first]})
        with monkeypatch.context() as patched:

            def full(self, values):
                with self.path.open("ab") as file:
                    file.write(b"the beginning of a value")
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

            patched.setattr("harness.store.keyvalue.ValueFile.append", full)
            with pytest.raises(StoreError, match=r"cannot be written: .*Free some space"):
                store.put(ITEMS)
        assert store.get(list(ITEMS)) == {first: ITEMS[first]}
        store.put(ITEMS)
        assert store.get(list(ITEMS)) == ITEMS


@pytest.mark.parametrize("lost", ["all", "half"])
def test_values_that_are_gone_from_the_file_beside_are_written_again(tmp_path, lost):
    path = filled(tmp_path / "values.sqlite")
    beside = Path(f"{path}-values")
    if lost == "all":
        beside.unlink()
    else:
        beside.write_bytes(beside.read_bytes()[: beside.stat().st_size // 2 + 7])
    faults = Faults()
    with KeyValue(path, faults, "vectors") as store:
        found = store.get(list(ITEMS))
        assert len(found) == {"all": 0, "half": len(ITEMS) // 2}[lost]
        assert store.damaged == ITEMS.keys() - found.keys()
        store.put({key: ITEMS[key] for key in store.damaged})
    with KeyValue(path) as store:
        assert store.get(list(ITEMS)) == ITEMS
    assert f"{len(ITEMS) - len(found)} of vectors" in faults.sentences()[0]


def test_flipped_bits_in_artifacts_never_give_another_value(tmp_path):
    value = {"spans": [[i, i * 7.25, "text"] for i in range(200)]}
    for seed in range(40):
        faults = Faults()
        store = Artifacts(tmp_path, faults)
        store.put("chunks", "key", value)
        flip(store.path("chunks", "key"), seed, count=1 + seed % 3)
        found = store.get("chunks", "key")
        # a bit of the header that says nothing, such as the time, may change
        assert found == value or (found is None and "1 of chunks" in faults.sentences()[0])


def test_an_artifact_under_another_key_or_that_cannot_be_read_counts_as_absent(tmp_path):
    store = Artifacts(tmp_path)
    store.put("chunks", "one", [1])
    shutil.copy(store.path("chunks", "one"), store.path("chunks", "two"))
    store.path("chunks", "key").mkdir(parents=True)
    assert store.get("chunks", "two") is store.get("chunks", "key") is None


QUERIES = [Query(f"q{i}", "text", "train", True) for i in range(4)]
VECTORS = np.random.default_rng(3).normal(size=(60, 8)).astype(np.float32)


def retrieve(folder, faults, key="a" * 64, vectors=VECTORS):
    ids = tuple(f"d:{i}-{i + 1}" for i in range(len(vectors)))
    passages = Passages(ids, tuple("t" for _ in ids), tuple(1 for _ in ids), "p")
    # what the retriever asks of a run: the place of its index
    given = Given(slot=CollectionFolders(folder, faults).slot, key=key)
    return given.run(ChromaRetriever(ChromaConfig(top_k=5)).search(passages, vectors, QUERIES, VECTORS[:4]))


@pytest.mark.parametrize("name", ["seal", "*/chroma.sqlite3", "*/*/data_level0.bin"])
def test_a_damaged_index_is_built_again(tmp_path, name):
    expected = retrieve(tmp_path, Faults())
    faults = Faults()
    assert retrieve(tmp_path, faults) == expected
    assert faults.sentences() == []
    (path,) = (tmp_path / ("a" * 64)).glob(name)
    flip(path, 1)
    assert retrieve(tmp_path, faults) == expected
    assert "1 of indexes" in faults.sentences()[0]
    faults = Faults()
    assert retrieve(tmp_path, faults) == expected
    assert faults.sentences() == []


def test_an_index_that_several_runs_store_at_once_is_whole_and_none_of_them_fails(tmp_path):
    # each finds no index, and so would remove what another has stored since
    at_once, start = 6, threading.Barrier(6)

    def store(number):
        with CollectionFolders(tmp_path, Faults()).slot(key) as slot:
            slot.path.mkdir(parents=True)
            for name in "abcdef":
                (slot.path / name).write_text(name * 1000, encoding="utf-8")
            slot.finish()
            start.wait(900)

    for round_ in range(20):
        key = f"{round_:064x}"
        with ThreadPoolExecutor(at_once) as threads:
            list(threads.map(store, range(at_once)))
        with CollectionFolders(tmp_path, Faults()).slot(key) as slot:
            assert slot.built
    assert not list(tmp_path.glob(".partial-*"))


FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")


def put(folder, file="file"):
    with CollectionFolders(folder, Faults()).slot("key") as slot:
        slot.path.mkdir(parents=True, exist_ok=True)
        (slot.path / file).write_text("text", encoding="utf-8")
        slot.finish()
        return slot.built


def test_what_is_only_read_is_opened_where_it_is_stored_and_otherwise_as_a_copy(tmp_path):
    assert not put(tmp_path)
    for in_place in (True, False):
        with CollectionFolders(tmp_path, Faults()).slot("key", in_place=in_place) as slot:
            assert slot.built
            assert (slot.path.parent == tmp_path / "key") is in_place
            assert len(list(tmp_path.glob(".partial-*"))) == (0 if in_place else 1)
    # what is damaged is made again in a fresh place
    (tmp_path / "key" / "collection" / "file").write_text("other", encoding="utf-8")
    with CollectionFolders(tmp_path, faults := Faults()).slot("key", in_place=True) as slot:
        assert not slot.built
        assert slot.path.parent != tmp_path / "key"
    assert "1 of indexes" in faults.sentences()[0]


def test_a_copy_with_a_file_that_is_let_go_of_late_is_removed(tmp_path, monkeypatch):
    """As on Windows, where Chroma closes its files a moment after it has said so."""
    put(tmp_path)
    remove, refusals = shutil.rmtree, [PermissionError(13, "used by another process")] * 2

    def refused_at_first(folder, **options):
        if refusals:
            raise refusals.pop()
        remove(folder, **options)

    with CollectionFolders(tmp_path, Faults()).slot("key") as slot:
        monkeypatch.setattr(shutil, "rmtree", refused_at_first)
        assert slot.built
    assert not list(tmp_path.glob(".partial-*"))


@FULL
def test_a_disk_that_is_full_for_an_index_says_what_to_do_and_leaves_no_half_of_one(tmp_path):
    with pytest.raises(StoreError, match=r"cannot be written: No space.*Free some space"):
        put(tmp_path, "/dev/full")
    assert list(tmp_path.iterdir()) == []
    assert not put(tmp_path)


def test_a_disk_that_is_full_for_the_copy_of_an_index_says_what_to_do(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    put(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(shutil, "copy2", full)
        with pytest.raises(StoreError, match="Free some space"):
            put(tmp_path)
    assert put(tmp_path)


def test_an_error_that_is_not_of_the_disk_passes(tmp_path):
    with pytest.raises(FileNotFoundError), CollectionFolders(tmp_path, Faults()).slot("key"):
        (tmp_path / "none").read_bytes()


def test_swapped_indexes_are_damage(tmp_path):
    few = VECTORS[:20]
    expected = retrieve(tmp_path, Faults()), retrieve(tmp_path, Faults(), "b" * 64, few)
    one, other = tmp_path / ("a" * 64), tmp_path / ("b" * 64)
    for place, target in ((one, tmp_path / "between"), (other, one), (tmp_path / "between", other)):
        place.rename(target)
    faults = Faults()
    assert (retrieve(tmp_path, faults), retrieve(tmp_path, faults, "b" * 64, few)) == expected
    assert "2 of indexes" in faults.sentences()[0]
    faults = Faults()
    assert retrieve(tmp_path, faults) == expected[0]
    assert faults.sentences() == []


_AS_NOBODY = """
import json, os, sys
from pathlib import Path
from harness.store import Artifacts, CacheLayout, Faults, KeyValue
if os.geteuid() == 0:
    os.setuid(65534)  # the superuser may write everywhere
layout, faults = CacheLayout(Path(sys.argv[1])), Faults()
held = layout.use()
store = Artifacts(layout.artifacts, faults)
found = [store.get("chunks", "key")]
with KeyValue(layout.vectors("f" * 64), faults, "vectors") as values:
    found.append(values.get([b"a"])[b"a"].decode())
print(json.dumps([found, faults.sentences()]))
store.put("chunks", "new", 1)
for fingerprint in "f" * 64, "e" * 64:
    with KeyValue(layout.vectors(fingerprint), faults, "vectors") as values:
        values.put({b"b": b"2"})
print(json.dumps(faults.sentences()))
"""


def test_a_cache_that_cannot_be_written_is_read():
    with tempfile.TemporaryDirectory() as folder:
        layout = CacheLayout(Path(folder))
        layout.use().release()
        Artifacts(layout.artifacts).put("chunks", "key", [1, 2])
        with KeyValue(layout.vectors("f" * 64)) as values:
            values.put({b"a": b"1"})
        for path in (Path(folder), *Path(folder).rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)
        done = subprocess.run(
            [sys.executable, "-c", _AS_NOBODY, folder], capture_output=True, text=True, check=False
        )
        for path in (Path(folder), *Path(folder).rglob("*")):
            path.chmod(0o755)
    assert done.stderr == ""
    read, written = done.stdout.splitlines()
    assert json.loads(read) == [[[1, 2], "1"], []]
    (message,) = json.loads(written)
    assert "cannot be written" in message
    assert "not kept" in message


@pytest.mark.parametrize("way", ["a file", "a link", "a folder"])
def test_what_is_in_the_way_of_the_cache_is_told(tmp_path, way):
    cache = tmp_path / "cache"
    if way == "a file":
        cache.write_text("x", encoding="utf-8")
    elif way == "a link":
        cache.symlink_to(tmp_path / "gone")
    else:
        Artifacts(cache).path("kind", "k").mkdir(parents=True)
    with pytest.raises(StoreError, match="Remove what is in the way, or name another folder"):
        Artifacts(cache).put("kind", "k", 1)
