"""Multi-vector encoding: a vector for every token, for late interaction."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from harness.models.encoder import METHODS, LocalEncoder, LocalEncoderConfig, Role
from harness.models.model_files import ModelFiles, modules_of, read_json, tensor_names
from harness.values import ModelError, text_sha256

_STANFORD = "HF_ColBERT"
_PROJECTION = "linear.weight"
_HEADER = 4


class TokenConfig(LocalEncoderConfig):
    """A multi-vector encoder for passages or for queries, which ColBERT models read differently."""

    model: str = Field(description="`embedded:maxsim`, a ColBERT model or a bi-encoder.")
    role: Role = Field("passage", description="What it encodes.")

    def make(self) -> TokenEncoder:
        """The encoder; raises ModelError for a multi-vector model whose projection was never trained."""
        return TokenEncoder(self)


class TokenEncoder(LocalEncoder):
    """Texts → matrices of token vectors, in half precision, as an index of them is kept.

    A ColBERT model (of sentence-transformers, PyLate or Stanford) brings its own projection, marks for
    queries and passages, and expansion of queries. Any other model is read as a bi-encoder: the unit-length
    contextual embeddings of its content tokens, without a projection, since an untrained one is noise.
    """

    bulky = True
    config: TokenConfig

    def __init__(self, config: TokenConfig) -> None:
        super().__init__(config)
        self._is_multi_vector = is_multi_vector(self.model)
        self.kind = "MultiVectorEncoder" if self._is_multi_vector else "SentenceTransformer"
        if self._is_multi_vector and not has_projection(self.model):
            raise ModelError(
                f"{self.model.name}: the projection of this multi-vector model is not among the weights in "
                f"{self.model.folder}; an untrained one would be used, which is noise. Use a trained "
                "ColBERT model, or embedded:maxsim."
            )

    @property
    def fingerprint(self) -> str:
        """Everything that decides the vectors besides the text; the role, where the model has roles."""
        c = self.config
        role = c.role if self._is_multi_vector else ""
        facts = ["tokens", self.model.computing_in(c.dtype, c.backend), role]
        return text_sha256(json.dumps(facts))

    def encode(self, texts: Sequence[str]) -> list[bytes]:
        """The matrix of every text of one batch, packed for ``unpack``."""
        return [pack(matrix) for matrix in self.numbers(texts)]

    def numbers(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """The vectors of the tokens of every text of one batch, float32 [tokens, dimension] each."""
        if not self._is_multi_vector:
            return content_vectors(self.loaded(), texts)
        matrices = self.encoded(texts, METHODS[self.config.role], convert_to_numpy=True)
        return [np.asarray(matrix, dtype=np.float32) for matrix in matrices]


def pack(matrix: NDArray[np.float32]) -> bytes:
    """A matrix [tokens, dimension] in half precision behind its dimension, four bytes."""
    return int(matrix.shape[1]).to_bytes(_HEADER, "little") + matrix.astype(np.float16).tobytes()


def unpack(raw: bytes) -> NDArray[np.float32]:
    """The matrix that ``pack`` was given, float32 [tokens, dimension]."""
    dimension = int.from_bytes(raw[:_HEADER], "little")
    values = np.frombuffer(raw, dtype=np.float16, offset=_HEADER)
    return values.astype(np.float32).reshape(-1, dimension)


def content_vectors(model: Any, texts: Sequence[str]) -> list[NDArray[np.float32]]:
    """Unit-length embeddings of the content tokens of every text, float32 [tokens, dimension] each."""
    import torch

    with torch.inference_mode():
        features = model.preprocess(list(texts))
        kinds = features["input_ids"].cpu()
        on_device = {
            key: value.to(model.device) if isinstance(value, torch.Tensor) else value
            for key, value in features.items()
        }
        out = torch.nn.functional.normalize(model.forward(on_device)["token_embeddings"].float(), dim=-1)
    # an unknown word is content too, though its token counts as special
    special = set(model.tokenizer.all_special_ids) - {model.tokenizer.unk_token_id}
    content = ~torch.isin(kinds, torch.tensor(sorted(special)))
    tokens = out.cpu()
    return [row[keep].numpy() for row, keep in zip(tokens, content, strict=True)]


def is_multi_vector(model: ModelFiles) -> bool:
    """Whether a model's files say that it makes a vector for every token, in whichever library."""
    settings = read_json(model.folder, "config_sentence_transformers.json")
    return (
        settings.get("model_type") in {"MultiVectorEncoder", "ColBERT"}
        or {"query_prefix", "document_prefix"} <= settings.keys()
        or any(name == _STANFORD or name.endswith("ForRetrieval") for name in _architectures(model))
    )


def has_projection(model: ModelFiles) -> bool:
    """Whether the projection of a multi-vector model is among its weights.

    A model saved as a multi-vector encoder without any projection is whole too. One that does its projecting
    within the transformer is examined when it is loaded, like every transformer.
    """
    architectures = _architectures(model)
    if _STANFORD in architectures:
        return any(
            _PROJECTION in tensor_names(model.name, path) for path in model.folder.glob("*.safetensors")
        )
    modules = modules_of(model.folder)
    if not modules:
        return any(name.endswith("ForRetrieval") for name in architectures)
    dense = [module for module in modules if str(module.get("type", "")).endswith(".Dense")]
    if not dense:
        settings = read_json(model.folder, "config_sentence_transformers.json")
        return settings.get("model_type") == "MultiVectorEncoder"
    folders = [model.folder / str(module["path"]) for module in dense]
    weights = [
        [tensor_names(model.name, path) for path in folder.glob("*.safetensors")] for folder in folders
    ]
    return all(any(_PROJECTION in names for names in files) for files in weights)


def _architectures(model: ModelFiles) -> list[str]:
    named = read_json(model.folder, "config.json").get("architectures")
    return [str(name) for name in named] if isinstance(named, list) else []
