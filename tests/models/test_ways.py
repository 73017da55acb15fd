"""The probe takes the fastest way that works, once per model and machine; no time here is the machine's."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from harness.models import ways
from harness.models.encoder import EmbedConfig, LocalModel
from harness.models.model_files import EXACT, Way
from harness.models.ways import Probe, probe
from harness.store.artifacts import Artifacts
from harness.values.errors import ModelError

HALF, COMPILED = Way("bfloat16"), Way("float32", "openvino")


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
    monkeypatch.setattr(ways, "ways_of", lambda kind, device: [EXACT, HALF, COMPILED])


def found(machine, folder):
    return probe(machine.model(EXACT), machine.model, Artifacts(folder), machine.clock)[0]


def test_the_fastest_way_is_taken_and_not_measured_again(tmp_path):
    machine = Machine({EXACT: 0.4, HALF: 0.1, COMPILED: 0.2})
    first = found(machine, tmp_path)
    assert first.way == HALF
    assert first.gain == pytest.approx(4)
    # float32 is not tried where bfloat16 gains
    assert first.seconds == {EXACT: pytest.approx(0.4), HALF: pytest.approx(0.1)}
    # one round that warms up, two that count
    assert machine.runs == [EXACT] * 3 + [HALF] * 3
    # what is stored stands, whatever the machine does meanwhile
    other = Machine({EXACT: 0.1, HALF: 0.4, COMPILED: 0.4})
    assert found(other, tmp_path) == first
    assert not other.runs


def test_the_fastest_model_is_kept_as_it_is_loaded(tmp_path):
    machine, made = Machine({EXACT: 0.4, HALF: 0.1, COMPILED: 0.2}), {}
    exact, store = machine.model(EXACT), Artifacts(tmp_path)
    result, kept = probe(exact, lambda way: made.setdefault(way, machine.model(way)), store, machine.clock)
    assert kept is made[result.way]
    # nothing is loaded for measures that are stored
    assert probe(exact, machine.model, store, machine.clock) == (result, None)


def test_another_machine_or_library_measures_again(tmp_path, monkeypatch):
    found(Machine({EXACT: 0.4, HALF: 0.1, COMPILED: 0.2}), tmp_path)
    other = Machine({EXACT: 0.1, HALF: 0.4, COMPILED: 0.4})
    monkeypatch.setattr(ways.platform, "node", lambda: "another machine")
    assert found(other, tmp_path).way == EXACT
    monkeypatch.setattr(ways, "version_of", lambda name: "newer")
    assert found(Machine({EXACT: 0.4, HALF: 0.4, COMPILED: 0.1}), tmp_path).way == COMPILED


def test_float32_by_torch_stays_where_others_gain_little(tmp_path):
    assert found(Machine({EXACT: 1.0, HALF: 0.95, COMPILED: 0.92}), tmp_path).way == EXACT
    assert Probe({EXACT: 1.0}).gain == 1


def test_a_slow_model_is_measured_in_one_round(tmp_path):
    machine = Machine({EXACT: 9.0, HALF: 8.5, COMPILED: 0.9})
    assert found(machine, tmp_path).way == COMPILED
    assert machine.runs == [EXACT] * 2 + [HALF] * 2 + [COMPILED] * 3


def test_a_way_that_gives_no_numbers_is_left_out(tmp_path):
    machine = Machine({EXACT: 0.4, HALF: 0.1, COMPILED: 0.2}, broken={HALF})
    assert found(machine, tmp_path).seconds.keys() == {EXACT, COMPILED}
    broken = Machine(machine.seconds, broken={EXACT})
    with pytest.raises(ModelError, match="not finite"):
        found(broken, tmp_path / "other")
