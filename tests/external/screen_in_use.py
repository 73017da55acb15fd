"""Run by test_screen.py in an environment with the extra `screen`: a small model in int8."""

import random
import socket
import sys

import numpy as np
import pytest

from harness.models import (
    EmbedConfig,
    Quantising,
    ScreenEncoder,
    SentenceEncoder,
    calibration_of,
    check_screen_packages,
    quantised,
)
from harness.steps import RERANKERS, CrossEncoderConfig, Int8CrossEncoder
from harness.store import Artifacts
from harness.values import ModelError
from tests.models import tiny

CrossEncoderScorer = RERANKERS["cross_encoder"].make

RNG = random.Random(3)
TEXTS = [" ".join(RNG.choices(tiny.WORDS, k=count)) for count in (1, 5, 9, 20, 33, 70)]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return EmbedConfig(model=tiny.bi_encoder(tmp_path_factory.mktemp("model")))


@pytest.fixture
def quiet(monkeypatch):
    """No connection can be opened."""

    def refused(*args, **kwargs):
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_vectors_are_near_the_exact_ones_and_the_model_is_calibrated_once(
    model, quiet, tmp_path, monkeypatch, capfd
):
    check_screen_packages()
    calibration = calibration_of([" ".join(TEXTS * 20)], 7, count=8)
    screen = ScreenEncoder(model, calibration, Artifacts(tmp_path))
    screen.try_out()
    vectors = screen.encode(TEXTS)
    assert capfd.readouterr() == ("", "")
    # it has nothing to send reports by
    assert not hasattr(sys.modules["nncf.telemetry.wrapper"], "Telemetry")
    exact = SentenceEncoder(model).encode(TEXTS)
    cosines = (unit(vectors) * unit(exact)).sum(axis=1)
    # 8 bits: near, and not the same
    assert cosines.min() > 0.98
    assert np.abs(vectors - exact).max() > 1e-4
    facts = screen.describe()
    assert (facts["dtype"], facts["backend"]) == ("int8", "openvino")

    def never(*args):
        raise AssertionError("it was calibrated again")

    monkeypatch.setattr(quantised, "_quantised", never)
    again = ScreenEncoder(model, calibration, Artifacts(tmp_path))
    np.testing.assert_array_equal(again.encode(TEXTS), vectors)
    # other texts are another calibration
    other = ScreenEncoder(model, calibration_of([" ".join(TEXTS * 20)], 8, count=8), Artifacts(tmp_path))
    with pytest.raises(ModelError, match=r"calibrated again.*Leave out tune\.screen"):
        other.encode(TEXTS)


def test_a_cross_encoder_in_int8_scores_near_the_exact_one(quiet, tmp_path):
    config = CrossEncoderConfig(model=tiny.cross_encoder(tmp_path / "model"))
    quantising = Quantising(calibration_of([" ".join(TEXTS * 20)], 7, count=8), Artifacts(tmp_path / "kept"))
    rounded, exact = Int8CrossEncoder(config, *quantising), CrossEncoderScorer(config)
    pairs = [(TEXTS[0], text) for text in TEXTS]
    scores, true = rounded.score(pairs), exact.score(pairs)
    # between 0 and 1; 8 bits change the third digit of these
    assert 0 < np.abs(scores - true).max() < 0.01
    assert rounded.fingerprint != exact.fingerprint
    assert rounded.describe()["dtype"] == "int8"
    again = Int8CrossEncoder(config, *quantising)
    np.testing.assert_array_equal(again.score(pairs), scores)
