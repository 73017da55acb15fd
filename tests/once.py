"""The models that ship with the harness, loaded once a session of tests and asked once for a text.

Loading one takes a quarter of a second, which hundreds of small benchmarks would pay again. Only what ships
and runs in torch is kept: ``tests/models`` loads and damages models of its own, hides the package of another
backend, and encodes without ``keep_values``, as the contract test of all steps does.
"""

# Nothing heavy is imported here: when numpy is loaded it reads the number of threads, which conftest.py sets.
import importlib.util
from functools import cache

import pytest

SHIPPED = "embedded:"


@pytest.fixture(scope="session", autouse=True)
def models_once():
    """Load each shipped model, and each of its tokenizers, once a session."""
    with pytest.MonkeyPatch.context() as patch:
        if importlib.util.find_spec("tokenizers"):  # not where only the judge is tested
            keep_models(patch)
        yield


@pytest.fixture
def encoded_once(monkeypatch):
    """Let the shipped models encode each text once a session."""
    keep_values(monkeypatch)


def keep_models(patch):
    """Keep what loads the shipped models, and makes their tokenizers, from doing it twice."""
    from harness.models import ModelTokenizer, encoder, token_encoder
    from harness.steps.search.rerank import late_interaction

    load, start = cache(encoder.load_bi_encoder), ModelTokenizer.__init__
    tokenizers = {}

    def loaded(model, *options):
        kept = model.name.startswith(SHIPPED) and "openvino" not in options
        return (load if kept else load.__wrapped__)(model, *options)

    def started(self, model):
        if not model.name.startswith(SHIPPED):
            start(self, model)
        elif model in tokenizers:
            self.__dict__.update(tokenizers[model])
        else:
            start(self, model)
            tokenizers[model] = dict(self.__dict__)

    for room in (encoder, token_encoder, late_interaction):
        patch.setattr(room, "load_bi_encoder", loaded)
    patch.setattr(ModelTokenizer, "__init__", started)


@cache
def kept_values(what, fingerprint):
    """The vectors of a shipped model so far, by text."""
    return {}


def keep_values(patch):
    """Keep the shipped models from encoding a text twice."""
    import numpy as np

    from harness.models import encoder
    from harness.steps.search.rerank import late_interaction

    encode, token_vectors = encoder.SentenceEncoder.encode, late_interaction.LateInteractionScorer._encode

    def values(what, compute, self, texts):
        if not self.model.name.startswith(SHIPPED):
            return compute(self, texts)
        known = kept_values(what, self.model.computing_in(self.config.dtype, self.config.backend))
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            known.update(zip(new, compute(self, new), strict=True))
        return [known[text] for text in texts]

    patch.setattr(encoder.SentenceEncoder, "encode", lambda *given: np.stack(values("texts", encode, *given)))
    patch.setattr(
        late_interaction.LateInteractionScorer,
        "_encode",
        lambda *given: values("tokens", token_vectors, *given),
    )
