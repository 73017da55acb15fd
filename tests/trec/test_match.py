"""Ids are compared by fingerprint; what is found does not depend on how good the fingerprints are."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.data.trec import ids, pair_rows
from harness.data.trec.ids import DocIds

texts = st.text(st.sampled_from("aé\0"), max_size=3) | st.text(max_size=40)
pairs = st.lists(st.tuples(st.integers(0, 2), texts), max_size=12)


def column(names, coded=False):
    array = pa.array(names, pa.large_string())
    if not coded:
        return DocIds(array)
    whole = array.dictionary_encode()
    return DocIds(whole.dictionary, whole.indices.to_numpy().astype(np.int64))


def paired(rows, coded=False, chosen=None):
    query = np.array([q for q, _ in rows], dtype=np.int32)
    return pair_rows.PairRows.of(query, column([d for _, d in rows], coded), chosen)


@pytest.fixture(params=[64, 1, 0], ids=["good", "one bit", "constant"])
def bits(request, monkeypatch):
    """Cut all fingerprints down to so many bits."""
    mixed, mask = ids._mixed, np.uint64((1 << request.param) - 1)
    monkeypatch.setattr(ids, "_mixed", lambda numbers: mixed(numbers) & mask)
    return request.param


@pytest.mark.parametrize("coded", [False, True])
def test_pairs_are_found_whatever_the_fingerprints(bits, coded):
    @given(pairs.map(lambda found: list(dict.fromkeys(found))), pairs.map(lambda f: list(dict.fromkeys(f))))
    def check(ranked, judged):
        found = pair_rows.judged_rows(paired(ranked, coded, np.arange(len(ranked))), paired(judged, coded))
        assert found.tolist() == [judged.index(pair) if pair in judged else -1 for pair in ranked]

    check()


def test_repeats_are_found_whatever_the_fingerprints(bits):
    @given(pairs)
    def check(rows):
        found = pair_rows.repeated_row(paired(rows))
        assert found == next((i for i, row in enumerate(rows) if row in rows[:i]), None)

    check()


def test_many_pairs_are_sieved_and_found():
    # one of a hundred judged pairs is ranked; every other ranked pair is judged nowhere
    judged = [(i % 7, f"document {i}") for i in range(5000)]
    ranked = [judged[i] if i % 100 == 0 else (8, f"document {i}") for i in range(0, 5000, 50)]
    found = pair_rows.judged_rows(paired(ranked), paired(judged))
    assert found.tolist() == [i if i % 100 == 0 else -1 for i in range(0, 5000, 50)]
    assert len(pair_rows._sieved(paired(ranked).prints, paired(judged).prints)) < 1000
