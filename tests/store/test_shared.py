"""A cache that machines share: what one has computed or paid for is there for the others, once."""

import shutil

import fsspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.store import Artifacts, CacheLayout, Faults, KeyValue, Ledger, SharedCache
from harness.store.shared_cache import _items, _packs
from harness.values import LlmAnswer, LlmCall, StoreError

CALL = {
    "query": "what?",
    "passages": ("one", "two"),
    "prompt_sha": "p",
    "model": "m",
    "parameters": {"seed": 1},
    "sample": 0,
}
ANSWER = {"settled": True, "grades": (3, 0), "reason": "", "raw": "{}", "prompt_tokens": 10}
ANSWER |= {"completion_tokens": 2, "price": 0.5, "seconds": 0.1, "request_id": "r1", "served_model": "m-1"}
VECTOR = bytes(range(256)) * 6


@pytest.fixture(params=["memory://cache", "local"])
def url(request, tmp_path):
    yield f"file://{tmp_path}/there" if request.param == "local" else request.param
    system = fsspec.filesystem("memory")
    system.store.clear()
    system.pseudo_dirs[:] = [""]


class Machine:
    """A cache of its own, and the place that it shares."""

    def __init__(self, folder, url):
        self.layout, self.faults = CacheLayout(folder), Faults()
        self.layout.use().release()
        self.shared = SharedCache(url, self.layout, self.faults)
        self.artifacts = Artifacts(self.layout.artifacts, self.faults)

    def put(self, path, **values):
        with KeyValue(path, self.faults, durable=path.parent == self.layout.paid) as table:
            table.put({key.encode(): value for key, value in values.items()})

    def values(self, path):
        with KeyValue(path, self.faults) as table:
            return {key.decode(): value for key, value in table.get(list(table)).items()}

    def ask(self, query):
        with Ledger(self.layout.ledger) as ledger:
            call = {**CALL, "query": query}
            ledger.record(ledger.key(LlmCall(**call)), LlmAnswer(**call, **ANSWER))

    def asked(self):
        with Ledger(self.layout.ledger) as ledger:
            return sorted(entry.query for entry in ledger.entries())


def there(url):
    """The files at a URL, with their bytes."""
    system, base = fsspec.core.url_to_fs(url)
    return {path.removeprefix(base): system.cat_file(path) for path in system.find(base)}


def test_each_machine_gets_what_the_others_have_and_nothing_twice(url, tmp_path):
    one, two = Machine(tmp_path / "one", url), Machine(tmp_path / "two", url)
    tables = (one.layout.vectors("e"), one.layout.scores("r"), one.layout.served("vectors", "p"))
    for path in tables:
        one.put(path, a=VECTOR, b=b"1.25")
    one.artifacts.put("chunks", "k", {"doc": [[0, 5]]})
    one.ask("first")
    one.shared.push()
    before = there(url)
    one.shared.push()
    assert there(url) == before

    two.ask("second")
    two.put(two.layout.vectors("e"), b=b"1.25", c=b"new")
    two.shared.pull()
    for path in tables[1:]:
        assert two.values(two.layout.root / path.relative_to(one.layout.root)) == {"a": VECTOR, "b": b"1.25"}
    assert two.values(two.layout.vectors("e")) == {"a": VECTOR, "b": b"1.25", "c": b"new"}
    assert two.artifacts.get("chunks", "k") == {"doc": [[0, 5]]}
    assert two.asked() == ["first", "second"]
    two.shared.push()
    # a pack for the vector and one for the answer that were new
    assert len(there(url)) == len(before) + 2

    one.shared.pull()
    assert one.values(one.layout.vectors("e")) == {"a": VECTOR, "b": b"1.25", "c": b"new"}
    assert one.asked() == ["first", "second"]
    assert one.faults.sentences() == two.faults.sentences() == []


def test_a_cleared_cache_is_filled_again(url, tmp_path):
    one = Machine(tmp_path / "one", url)
    one.put(one.layout.vectors("e"), a=VECTOR)
    one.shared.push()
    other = Machine(tmp_path / "two", url)
    for _ in range(2):
        other.shared.pull()
        assert other.values(other.layout.vectors("e")) == {"a": VECTOR}
        for path in other.layout.base.glob("*"):
            shutil.rmtree(path, ignore_errors=True)


def test_a_pack_that_was_cut_short_is_left_out_and_said(url, tmp_path):
    one, two = Machine(tmp_path / "one", url), Machine(tmp_path / "two", url)
    one.put(one.layout.vectors("e"), a=VECTOR)
    one.shared.push()
    system, base = fsspec.core.url_to_fs(url)
    (pack,) = (path for path in system.find(base) if path.endswith(".pack"))
    whole = system.cat_file(pack)
    system.pipe_file(pack, whole[:-1])
    two.shared.pull()
    assert two.values(two.layout.vectors("e")) == {}
    assert "1 of shared packs" in two.faults.sentences()[0]
    system.pipe_file(pack, whole)
    two.shared.pull()
    assert two.values(two.layout.vectors("e")) == {"a": VECTOR}


def test_names_that_lead_elsewhere_are_not_followed(tmp_path):
    machine = Machine(tmp_path / "deep" / "one", "memory://cache")
    names = ["../../../out.json.gz", "harness-v2/artifacts/../../../out.json.gz", "elsewhere/x.json.gz"]
    names += ["/out.sqlite/ab.pack", "harness-v2/vectors/../../../out.sqlite/ab.pack"]
    files = {f"/cache/{name}": name for name in [*names, "harness-v2/other/x.sqlite/ab.pack"]}

    class System:
        def find(self, base):
            return list(files)

        def get(self, paths, places):
            assert not paths

        def cat_file(self, path):
            return b""

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fsspec.core.url_to_fs", lambda url: (System(), "/cache"))
        machine.shared.pull()
    assert {path.name for path in tmp_path.rglob("*") if path.is_file()} <= {"CACHEDIR.TAG", "gate"}


@pytest.mark.parametrize("work", ["pull", "push"])
def test_a_place_that_cannot_be_used_is_named(work, tmp_path):
    machine = Machine(tmp_path / "one", "nowhere://bucket/cache")
    with pytest.raises(
        StoreError, match=r"shared_cache: nowhere://bucket/cache cannot be used .*credentials"
    ):
        getattr(machine.shared, work)()


@given(st.lists(st.tuples(st.binary(min_size=1, max_size=40), st.binary(max_size=300))))
def test_items_come_out_of_packs_as_they_went_in(items):
    assert [item for pack in _packs(items) for item in _items(pack)] == items
