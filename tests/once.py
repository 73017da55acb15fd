"""The models that ship with the harness, loaded once a session of tests and asked once for a text.

Loading one takes a quarter of a second, which hundreds of small benchmarks would pay again. What loading
and encoding do is tested in ``tests/models``, which uses neither.
"""

from functools import cache

import numpy as np

from harness.models import ModelTokenizer, encoder, token_encoder
from harness.search.rerank import late_interaction

SHIPPED = "embedded:"


def keep_models(patch):
    """Load each shipped model, and each of its tokenizers, once."""
    load, start = cache(encoder.load_bi_encoder), ModelTokenizer.__init__
    tokenizers = {}

    def loaded(model, *options):
        return (load if model.name.startswith(SHIPPED) else load.__wrapped__)(model, *options)

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
    """What a shipped model has made of texts so far, by text."""
    return {}


def keep_values(patch):
    """Let the shipped models encode each text once."""
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
