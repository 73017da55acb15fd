"""The same model run by torch and by OpenVINO gives the same numbers; and neither talks to anybody."""

import socket

import numpy as np
import pytest

from harness.models import resolve
from harness.models.encoder import EmbedConfig, SentenceEncoder
from harness.steps.search.rerank.cross_encoder import CrossEncoderConfig, CrossEncoderScorer
from harness.steps.search.rerank.late_interaction import LateInteractionConfig, LateInteractionScorer
from tests.models import tiny

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


def test_vectors_are_those_of_torch():
    torch, compiled = (SentenceEncoder(EmbedConfig(model=MINILM, backend=b)) for b in ("torch", "openvino"))
    a, b = torch.encode(TEXTS), compiled.encode(TEXTS)
    np.testing.assert_allclose(b, a, atol=2e-6)
    # in a batch or alone
    alone = np.concatenate([compiled.encode([text]) for text in TEXTS])
    np.testing.assert_allclose(alone, a, atol=2e-6)


def test_scores_of_a_cross_encoder_are_those_of_torch(cross_encoder):
    pairs = [("which pump", text) for text in TEXTS]
    torch, compiled = (
        CrossEncoderScorer(CrossEncoderConfig(model=cross_encoder, backend=b)) for b in ("torch", "openvino")
    )
    a = torch.score(pairs)
    assert len(set(a.tolist())) == len(pairs)
    np.testing.assert_allclose(compiled.score(pairs), a, atol=1e-5)


def test_scores_of_late_interaction_are_those_of_torch():
    pairs = [("net sales", text) for text in TEXTS[:4]]
    torch, compiled = (
        LateInteractionScorer(LateInteractionConfig(backend=backend)) for backend in ("torch", "openvino")
    )
    np.testing.assert_allclose(compiled.score(pairs), torch.score(pairs), atol=2e-6)


def test_what_is_computed_otherwise_is_cached_apart(cross_encoder):
    known = {
        SentenceEncoder(EmbedConfig(model=MINILM, backend=backend, dtype=dtype)).fingerprint
        for backend in ("torch", "openvino")
        for dtype in ("float32", "bfloat16")
    }
    assert len(known) == 4
    assert SentenceEncoder(EmbedConfig(model=MINILM)).fingerprint == resolve(MINILM).fingerprint


def test_no_telemetry_is_sent(monkeypatch):
    def refused(*args, **kwargs):
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    assert SentenceEncoder(EmbedConfig(model=MINILM, backend="openvino")).encode(["word"]).shape == (1, 384)
