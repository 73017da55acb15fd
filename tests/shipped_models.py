"""The models that ship with the harness, replaced by vectors of hashed words wherever they are not the point.

Loading torch takes seconds in every worker. A vector of hashed words is computed at once, is the same
everywhere, and brings texts together that share words. Real are the models of ``tests/models``, of slow tests
and of those that ask for ``real_models``, those that a test makes itself, and those of processes that a test
starts.
"""

# Nothing heavy is imported here: when numpy is loaded it reads the number of threads, which conftest.py sets.
import hashlib
import importlib.util
import re
from functools import cache

import pytest

SHIPPED = "embedded:"
WIDTH = 384


class Models:
    """Which models a test computes with."""

    real = False


@pytest.fixture(scope="session", autouse=True)
def shipped_models():
    """Replace the shipped models, and make each of their tokenizers once."""
    with pytest.MonkeyPatch.context() as patch:
        if importlib.util.find_spec("tokenizers"):  # not where only the judge is tested
            replace_models(patch)
        yield


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Say, before any fixture of a test is made, which models it computes with."""
    # figures of the docs are among the slow tests
    Models.real = item.get_closest_marker("slow") is not None


@pytest.fixture
def real_models(monkeypatch):
    """Compute with the shipped models themselves, each loaded once a session."""
    monkeypatch.setattr(Models, "real", True)


class HashedWords:
    """What is asked of a bi-encoder: a vector of a text, or of each of its words."""

    def encode(self, texts, **options):
        """Unit-length vectors, float32 [texts, WIDTH]: the sum of those of their words."""
        import numpy as np

        sums = np.stack([self.words(text).sum(axis=0) for text in texts])
        return sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)

    def words(self, text):
        """Unit-length vectors, float32 [words, WIDTH]; words that begin alike are the same."""
        import numpy as np

        vectors = [vector_of(word[:5]) for word in re.findall(r"[a-z0-9]+|[^\W_]", text.lower())]
        return np.stack(vectors) if vectors else np.zeros((0, WIDTH), np.float32)


@cache
def vector_of(word):
    """A random direction for a word, the same on every machine."""
    import numpy as np

    bits = hashlib.shake_256(word.encode()).digest(WIDTH // 8)
    signs = np.unpackbits(np.frombuffer(bits, np.uint8)).astype(np.float32) * 2 - 1
    return signs / np.float32(WIDTH**0.5)


def replace_models(patch):
    """Let what loads the shipped models give hashed words, and keep their tokenizers."""
    from harness.models import encoder, token_encoder, weights

    load, vectors = cache(weights.load), token_encoder.content_vectors
    start, tokenizers = encoder.ModelTokenizer.__init__, {}

    def loaded(kind, model, *options):
        if kind != "SentenceTransformer" or not model.name.startswith(SHIPPED) or "openvino" in options:
            return load.__wrapped__(kind, model, *options)
        return load(kind, model, *options) if Models.real else HashedWords()

    def content_vectors(model, texts):
        return (
            [model.words(text) for text in texts] if isinstance(model, HashedWords) else vectors(model, texts)
        )

    def started(self, model):
        if model in tokenizers:
            self.__dict__.update(tokenizers[model])
            return
        start(self, model)
        if model.name.startswith(SHIPPED):
            tokenizers[model] = dict(self.__dict__)

    patch.setattr(weights, "load", loaded)
    patch.setattr(token_encoder, "content_vectors", content_vectors)
    patch.setattr(encoder.ModelTokenizer, "__init__", started)
