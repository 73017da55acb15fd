"""The probe takes the fastest way that works, once per model and machine; no time here is the machine's."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from harness.models import EXACT, EmbedConfig, LocalModel, Way, probe, ways
from harness.store import Artifacts
from harness.values import ModelError

HALF, COMPILED = Way("bfloat16"), Way("float32", "openvino")
WAYS = [EXACT, HALF, COMPILED]


class Machine:
    """Models whose batches take the seconds given, on a clock that only they move."""

    def __init__(self, seconds, broken=()):
        self.now, self.seconds, self.broken, self.runs = 0.0, seconds, broken, []

    def clock(self):
        return self.now

    def model(self, way):
        def numbers(texts):
            self.runs.append(way)
            self.now += self.seconds[way]
            return [np.full(2, np.nan if way in self.broken else 1.0, dtype=np.float32) for _ in texts]

        files = SimpleNamespace(name="m", folder="folder", fingerprint="f")
        made = SimpleNamespace(
            kind="SentenceTransformer", model=files, config=EmbedConfig(model="m"), numbers=numbers
        )
        made.check_numbers = partial(LocalModel.check_numbers, made)
        return made


@pytest.fixture(autouse=True)
def three_ways(monkeypatch):
    monkeypatch.setattr(ways, "ways_of", lambda kind, device: WAYS)


def found(machine, folder):
    return probe(machine.model(EXACT), machine.model, Artifacts(folder), machine.clock)[0]


@pytest.mark.parametrize(
    ("seconds", "way", "gain", "runs"),
    [
        # one round that warms up, two that count; the last way is not tried where bfloat16 gains
        ((0.4, 0.1, 0.2), HALF, 4, [EXACT] * 3 + [HALF] * 3),
        # a slow model is measured in one round
        ((9.0, 8.5, 0.9), COMPILED, 10, [EXACT] * 2 + [HALF] * 2 + [COMPILED] * 3),
        # float32 by torch stays where others gain little
        ((1.0, 0.95, 0.92), EXACT, 1, [EXACT] * 3 + [HALF] * 3 + [COMPILED] * 3),
    ],
)
def test_the_fastest_way_is_taken_kept_as_it_is_loaded_and_not_measured_again(
    tmp_path, seconds, way, gain, runs
):
    machine, made, store = Machine(dict(zip(WAYS, seconds, strict=True))), {}, Artifacts(tmp_path)
    exact = made[EXACT] = machine.model(EXACT)
    first, kept = probe(exact, lambda way: made.setdefault(way, machine.model(way)), store, machine.clock)
    assert (first.way, first.gain) == (way, pytest.approx(gain))
    assert machine.runs == runs
    assert kept is made[way]
    # what is stored stands, whatever the machine does meanwhile, and nothing is loaded for it
    other = Machine({EXACT: 0.1, HALF: 0.4, COMPILED: 0.4})
    assert probe(other.model(EXACT), other.model, store, other.clock) == (first, None)
    assert not other.runs


def test_another_machine_or_library_measures_again(tmp_path, monkeypatch):
    found(Machine({EXACT: 0.4, HALF: 0.1, COMPILED: 0.2}), tmp_path)
    other = Machine({EXACT: 0.1, HALF: 0.4, COMPILED: 0.4})
    monkeypatch.setattr(ways.platform, "node", lambda: "another machine")
    assert found(other, tmp_path).way == EXACT
    monkeypatch.setattr(ways, "version_of", lambda name: "newer")
    assert found(Machine({EXACT: 0.4, HALF: 0.4, COMPILED: 0.1}), tmp_path).way == COMPILED


def test_a_way_that_gives_no_numbers_is_left_out(tmp_path):
    machine = Machine({EXACT: 0.4, HALF: 0.1, COMPILED: 0.2}, broken={HALF})
    assert found(machine, tmp_path).seconds.keys() == {EXACT, COMPILED}
    broken = Machine(machine.seconds, broken={EXACT})
    with pytest.raises(ModelError, match="not finite"):
        found(broken, tmp_path / "other")
