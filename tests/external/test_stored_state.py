"""The state of an existing collection: what changes it, and what does not."""

import json
from dataclasses import replace

import numpy as np
import pytest

from harness.running.stored_state import CollectionState, state_of
from harness.steps import StoredCollection, StoredRow, StoreFacts
from harness.steps.search.retrieve.stored import without


class Rows(StoredCollection):
    """Rows in the order in which they are handed over, under keys that are their places."""

    lasting_keys = False

    def __init__(self, rows, dimension=2):
        self.held, self.dimension = rows, dimension

    def facts(self):
        return StoreFacts(len(self.held), self.dimension)

    def rows(self, vectors=False, limit=None):
        if vectors and self.dimension is None:
            raise AssertionError("the table has no vectors")
        for place, row in enumerate(self.held[:limit]):
            yield replace(row, key=str(place), vector=row.vector if vectors else None)

    def near(self, vectors, depth, exact=False):
        raise NotImplementedError


def rows_of(texts):
    return [StoredRow("", {"text": text}, np.array([len(text), n])) for n, text in enumerate(texts)]


ROWS = rows_of(f"passage {n}" for n in range(1500))


@pytest.mark.parametrize("count", [40, 1500])
def test_another_order_and_other_keys_of_the_store_are_no_change(count):
    rows = ROWS[:count]
    state = state_of(Rows(rows))
    assert len(state.vectors) == 32
    assert state.same_as(state_of(Rows(rows[::-1])))
    assert state.same_as(CollectionState(**json.loads(json.dumps(state.to_json()))))


def test_a_key_that_lasts_is_a_part_of_a_row():
    rows, other = Rows(ROWS[:40]), Rows(ROWS[39::-1])
    rows.lasting_keys = other.lasting_keys = True
    assert not state_of(rows).same_as(state_of(other))


def test_other_vectors_are_a_change_in_whatever_order():
    rows = ROWS[:40]
    changed = [replace(row, vector=row.vector + 1) for row in rows]
    assert not state_of(Rows(rows)).same_as(state_of(Rows(changed[::-1])))


def test_of_rows_that_are_alike_all_vectors_count_or_none():
    rows = rows_of(["the same"] * 3)
    state = state_of(Rows(rows))
    assert state.same_as(state_of(Rows(rows[::-1])))
    assert not state.same_as(state_of(Rows([*rows[:2], rows[0]])))
    # only some of them are read
    many = rows_of(["the same"] * 1001)
    assert state_of(Rows(many)).same_as(state_of(Rows(many[::-1])))


def test_a_table_without_vectors_has_a_state():
    state = state_of(Rows(ROWS[:3], None))
    assert (state.rows, state.dimension, state.vectors) == (3, None, {})
    assert not state.same_as(state_of(Rows([*ROWS[:2], ROWS[3]], None)))


def test_a_payload_loses_the_vector_alone():
    payload = {"a": {"vector": [1], "b": 2}, "vector": [3]}
    assert without(payload, "vector") == {"a": {"vector": [1], "b": 2}}
    assert without(payload, "a.vector") == {"a": {"b": 2}, "vector": [3]}
    assert without(payload, "c.d") == payload
