"""Our measures against ragas 0.4.3 on the same model outputs; docs/answer-measures.md lists what differs.

ragas_0_4_3.json holds what ragas gives in the worlds of worlds.py. The slow test runs ragas itself, where
HARNESS_RAGAS names the Python of an environment that has it (see ragas_oracle.py); to record anew:

    HARNESS_RAGAS=/path/to/bin/python HARNESS_RAGAS_RECORD=1 pytest -m slow tests/answer/test_ragas_parity.py
"""

import hashlib
import json
import os
import subprocess
from pathlib import Path

import pytest

from harness.measures import ANSWER_MEASURES

from .helpers import ToyTools
from .worlds import case_of, reply_in, world

HERE = Path(__file__).parent
RECORDED = HERE / "ragas_0_4_3.json"
WORLDS = [world(seed) for seed in range(40)]
SHA = hashlib.sha256(json.dumps(WORLDS).encode()).hexdigest()
OURS = {
    "faithfulness": {},
    "answer_relevancy": {},
    "answer_similarity": {},
    "answer_correctness": {},
    "context_precision": {},
    "context_recall": {},
    "context_relevance": {},
    "context_entity_recall": {},
    "noise_sensitivity": {},
    "noise_sensitivity_irrelevant": {"kind": "noise_sensitivity", "passages": "irrelevant"},
    "aspect_critic": {"aspect": "It is short."},
}


def ours(name, world):
    """The value of our measure in a world."""
    options = dict(OURS[name])
    kind = ANSWER_MEASURES[options.pop("kind", name)]
    tools = ToyTools(reply_in(world), world["vectors"].get)
    (found,) = tools.score(kind.make(kind.config(**options)), [case_of(world)])
    return found.value


def theirs(name, world, value):
    """The values of ragas, less the small numbers that it adds so as not to divide by zero."""
    if name == "context_entity_recall":
        number = len(world["entities"][world["reference"]])
        return value * (number + 1e-8) / number
    if name == "context_precision" and any(world["useful"]):
        useful = sum(world["useful"])
        return value * (useful + 1e-10) / useful
    return value


@pytest.mark.parametrize("name", OURS)
def test_the_values_of_ragas_are_ours(name):
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    assert recorded["worlds"] == SHA, "the worlds have changed: record the values of ragas anew"
    expected = [
        theirs(name, one, values[name]) for one, values in zip(WORLDS, recorded["values"], strict=True)
    ]
    found = [ours(name, one) for one in WORLDS]
    assert found == pytest.approx(expected, abs=1e-9)
    # worlds in which a measure is always the same would show nothing
    assert len({round(value, 6) for value in found}) > 1


@pytest.mark.slow
def test_the_record_is_what_ragas_gives():
    python = os.environ.get("HARNESS_RAGAS")
    if not python:
        pytest.skip("HARNESS_RAGAS names no Python with ragas 0.4.3")
    done = subprocess.run(
        [python, "-W", "ignore", str(HERE / "ragas_oracle.py")],
        input=json.dumps(WORLDS),
        capture_output=True,
        text=True,
        check=True,
    )
    found = {"ragas": "0.4.3", "worlds": SHA, "values": json.loads(done.stdout)}
    if os.environ.get("HARNESS_RAGAS_RECORD"):
        RECORDED.write_text(json.dumps(found, indent=0) + "\n", encoding="utf-8")
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    for one, other in zip(found["values"], recorded["values"], strict=True):
        assert one == pytest.approx(other, abs=1e-12)
