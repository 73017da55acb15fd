"""The same model run by torch and by OpenVINO gives the same numbers; and neither talks to anybody."""

import socket

import numpy as np
import pytest

from harness.models import EmbedConfig, SentenceEncoder
from harness.steps import RERANKERS, CrossEncoderConfig
from tests.models import tiny

CrossEncoderScorer = RERANKERS["cross_encoder"].make
LateInteractionConfig = RERANKERS["late_interaction"].config
LateInteractionScorer = RERANKERS["late_interaction"].make

pytestmark = pytest.mark.slow

MINILM = "embedded:all-MiniLM-L6-v2"
# of very different lengths, one beyond the model's window
TEXTS = ["x", "net sales of 2023", "The pump must be primed. " * 9, "word " * 700, ""]


@pytest.fixture(scope="module", autouse=True)
def compiler():
    """OpenVINO, which takes seconds to load."""
    return pytest.importorskip("openvino")


@pytest.fixture(scope="module")
def cross_encoder(tmp_path_factory):
    return tiny.cross_encoder(tmp_path_factory.mktemp("compiled") / "cross_encoder")


RUNS = {
    "vectors": (lambda _, **by: SentenceEncoder(EmbedConfig(model=MINILM, **by)).encode, TEXTS, 2e-6),
    "a cross-encoder": (
        lambda model, **by: CrossEncoderScorer(CrossEncoderConfig(model=model, **by)).score,
        [("which pump", text) for text in TEXTS],
        1e-5,
    ),
    "late interaction": (
        lambda _, **by: LateInteractionScorer(LateInteractionConfig(**by)).score,
        [("net sales", text) for text in TEXTS[:4]],
        2e-6,
    ),
}


@pytest.mark.parametrize(("make", "given", "error"), RUNS.values(), ids=RUNS)
def test_numbers_are_those_of_torch_in_a_batch_or_alone(make, given, error, cross_encoder):
    torch, compiled = (make(cross_encoder, backend=backend) for backend in ("torch", "openvino"))
    expected = torch(given)
    assert len(np.unique(expected, axis=0)) == len(given)
    np.testing.assert_allclose(compiled(given), expected, atol=error)
    np.testing.assert_allclose(np.concatenate([compiled([one]) for one in given]), expected, atol=error)


def test_no_telemetry_is_sent(monkeypatch):
    def refused(*args, **kwargs):
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    assert SentenceEncoder(EmbedConfig(model=MINILM, backend="openvino")).encode(["word"]).shape == (1, 384)
