"""Models that run here, loaded when first needed; their tokenizers; encoders: texts → values kept by text."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from typing import Any, ClassVar, Generic, Literal, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from harness.models import model_files
from harness.values import HarnessError, ModelError, StageConfig, first_line, text_batches, text_sha256

_OFFSET = frozenset({"roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "mpnet", "data2vec-text"})
"""Types of models that count positions from behind the padding token."""


class ModelTokenizer:
    """The tokenizer of ``model`` with truncation and padding off.

    ``window`` is the longest input in tokens the model reads, special tokens included (0: not stated);
    ``special`` the number of special tokens it adds to a single text.
    """

    def __init__(self, model: model_files.ModelFiles) -> None:
        from tokenizers import Tokenizer

        path = model.folder / "tokenizer.json"
        if not path.is_file():
            raise ModelError(
                f"{model.name}: no tokenizer.json in {model.folder}; only fast tokenizers are read. Make "
                "one: transformers.AutoTokenizer.from_pretrained(folder).save_pretrained(folder)"
            )
        self.name = model.name
        self.fingerprint = model.fingerprint
        self.window = _window(model)
        try:
            self._tokenizer: Any = Tokenizer.from_file(str(path))
        except Exception as error:
            # the library raises Exception itself
            raise model_files.damaged(model.name, path, str(error).partition("\n")[0][:120]) from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self.special: int = self._tokenizer.num_special_tokens_to_add(False)

    def offsets(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        """The half-open character range of every content token of every text, in one batched call."""
        encodings = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return [encoding.offsets for encoding in encodings]

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """The number of tokens the model would see of every text, special tokens included."""
        lengths: list[int] = []
        for batch in text_batches(texts):
            encodings = self._tokenizer.encode_batch_fast(batch, add_special_tokens=False)
            lengths += [len(encoding) + self.special for encoding in encodings]
        return lengths


def _window(model: model_files.ModelFiles) -> int:
    """The longest input that the model states for sentence-transformers, else for tokenizer and positions."""
    config = model_files.read_json(model.folder, "config.json")
    stated = _sizes(model_files.read_json(model.folder, "sentence_bert_config.json").get("max_seq_length"))
    limit = _sizes(model_files.read_json(model.folder, "tokenizer_config.json").get("model_max_length"))
    positions = _sizes(config.get("max_position_embeddings"))
    if config.get("model_type") in _OFFSET:
        # the positions up to that of the padding token are never used
        pad = config.get("pad_token_id", 1)
        positions = [size - 1 - (pad if isinstance(pad, int) else 1) for size in positions]
        stated = [min(stated + positions)] if stated else []
    return min(stated or (limit + positions), default=0)


def _sizes(stated: object) -> list[int]:
    # tokenizers without a limit state an astronomically large number
    return [int(stated)] if isinstance(stated, int | float) and 0 < stated < 1_000_000 else []


Role = Literal["passage", "query"]
METHODS: dict[Role, str] = {"passage": "encode_document", "query": "encode_query"}
Value = NDArray[np.float32] | bytes
"""The encoding of one text: numbers, or bytes that only the retriever it serves has to read."""


E = TypeVar("E", bound="EncoderConfig")


class ComputingConfig(StageConfig):
    """Base of configurations that name a model which runs on this machine."""

    batch_tokens: int = Field(
        2048,
        ge=64,
        description="Tokens in one batch, padding included. Small batches fit into a processor's cache; "
        "raise it on a GPU.",
    )
    device: str | None = Field(None, description="`cpu`, `cuda`, `mps`; empty: the best one there is.")
    dtype: model_files.Dtype = Field("float32", description=model_files.DTYPE_TEXT)
    backend: model_files.Backend = Field("torch", description=model_files.BACKEND_TEXT)

    @property
    def way(self) -> model_files.Way:
        """The number format and the library."""
        return model_files.Way(self.dtype, self.backend)

    def made(self, encoder: type[E]) -> E:
        """The configuration of an encoder, its fields as far as this section has them."""
        return encoder(**{name: getattr(self, name) for name in encoder.model_fields if hasattr(self, name)})

    def check_ready(self) -> None:
        """Raise ModelError where the package of the backend is missing, without loading it."""
        if self.backend == "openvino" and find_spec("openvino") is None:
            raise ModelError(model_files.NO_OPENVINO)


class LocalConfig(ComputingConfig):
    """Base of the configurations that name a model which runs here."""

    model: str

    @property
    def model_name(self) -> str:
        """The model."""
        return self.model


Configured = TypeVar("Configured", bound=LocalConfig)


class LocalModel(ABC, Generic[Configured]):
    """Base of encoders and rerankers whose model runs here; ``kind`` is the class that reads the weights."""

    kind: model_files.Kind

    def __init__(self, config: Configured) -> None:
        self.config = config
        self.model = model_files.resolve(config.model)
        self.tokenizer = ModelTokenizer(self.model)
        self._loaded: Any = None

    def describe(self) -> dict[str, str]:
        """The model and what it computes in, for the run record."""
        return {**self.model.describe(), **self.config.way._asdict()}

    def loaded(self) -> Any:
        """The model with its weights."""
        if self._loaded is None:
            self._loaded = self._with_weights()
            longest, window = getattr(self._loaded, "max_seq_length", None), self.tokenizer.window
            # the library lets models with an offset of positions, such as XLM-R, read past their last one
            if window and isinstance(longest, int) and longest > window:
                self._loaded.max_seq_length = window
        return self._loaded

    def _with_weights(self) -> Any:
        # its libraries take long to load, and most benchmarks find all values in the cache
        from harness.models.weights import load

        c = self.config
        return load(self.kind, self.model, c.device, c.dtype, c.backend)

    @abstractmethod
    def numbers(self, texts: Sequence[str]) -> Iterable[NDArray[np.float32]]:
        """What it computes of one batch of texts."""

    def check_numbers(self, texts: Sequence[str]) -> None:
        """Run the model on a batch of texts; raises ModelError where a number is not finite."""
        if not all(np.isfinite(value).all() for value in self.numbers(texts)):
            raise ModelError(
                f"{self.model.name}: the model in {self.model.folder} computes values that are not finite "
                "numbers: its weights are damaged, or dtype is too small for it. Fetch or save it again."
            )

    def try_out(self) -> None:
        """Load the model and run it on texts of different lengths; raises ModelError if it cannot be used."""
        self.loaded()
        try:
            self.check_numbers(["word", "some words more"])
        except (HarnessError, MemoryError):
            raise
        except Exception as error:
            raise ModelError(
                f"{self.model.name}: the model in {self.model.folder} was loaded but cannot compute "
                f"({first_line(error)[:300]}). Do its dimensions and tokenizer fit? Fetch or save it again."
            ) from error


class EncoderConfig(StageConfig, ABC):
    """Base configuration of encoders: equal configurations are one encoder.

    ``runs_here``: on this machine, so that the model's files and its tokenizer are available.
    """

    runs_here: ClassVar[bool] = True

    @property
    @abstractmethod
    def model_name(self) -> str:
        """The model's name in the record and on the page."""

    @abstractmethod
    def make(self) -> Encoder:
        """The encoder; loads no weights and sends nothing."""


class Encoder(ABC):
    """Texts → values that depend on the text alone. ``bulky``: those of a corpus are too large to hold."""

    bulky = False

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """Everything that decides a value besides the text."""

    @abstractmethod
    def describe(self) -> dict[str, str]:
        """The model, for the run record: its name among the facts."""


class LocalEncoderConfig(LocalConfig, EncoderConfig):
    """Base of the configurations of encoders whose model runs here."""


class LocalEncoder(LocalModel[LocalEncoderConfig], Encoder):
    """An encoder whose model runs here: loaded when the first text has to be encoded, and only then."""

    @property
    def prompts(self) -> dict[str, str]:
        """The prefixes that the model was saved with, by name (``query``); a retriever sets its own."""
        saved = model_files.read_json(self.model.folder, "config_sentence_transformers.json").get("prompts")
        named = saved.items() if isinstance(saved, dict) else ()
        return {str(name): text for name, text in named if text and isinstance(text, str)}

    def batches(self, texts: Sequence[str]) -> list[list[int]]:
        """Indices of ``texts`` in length-sorted batches of at most ``batch_tokens`` tokens."""
        window = self.tokenizer.window or 1 << 30
        lengths = [min(length, window) for length in self.tokenizer.lengths(texts)]
        return length_sorted_batches(lengths, self.config.batch_tokens)

    def encoded(self, texts: Sequence[str], method: str = "encode", **how: Any) -> Any:
        """What a method of the library's model makes of one batch of texts."""
        encode = getattr(self.loaded(), method)
        return encode(list(texts), batch_size=max(1, len(texts)), show_progress_bar=False, **how)

    @abstractmethod
    def encode(self, texts: Sequence[str]) -> Iterable[Value]:
        """The values of one batch of texts, in their order."""

    def numbers(self, texts: Sequence[str]) -> Iterable[NDArray[np.float32]]:
        """The values of one batch as numbers, where ``encode`` packs them into bytes too."""
        return cast("Iterable[NDArray[np.float32]]", self.encode(texts))


class EmbedConfig(LocalEncoderConfig):
    """A bi-encoder, and how it computes."""

    model: str = Field(
        "sentence-transformers/all-MiniLM-L6-v2",
        description="Hub id, local folder, or `embedded:all-MiniLM-L6-v2` (needs no network).",
    )

    def make(self) -> SentenceEncoder:
        """The encoder."""
        return SentenceEncoder(self)


class SentenceEncoder(LocalEncoder):
    """A bi-encoder: one vector per text."""

    kind = "SentenceTransformer"

    @property
    def fingerprint(self) -> str:
        """Everything that decides a vector besides the text."""
        return self.model.computing_in(self.config.dtype, self.config.backend)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of one batch of texts, float32 [texts, dimension], as the model gives them."""
        return np.asarray(self.encoded(texts, convert_to_numpy=True), dtype=np.float32)


class SparseConfig(LocalEncoderConfig):
    """A learned sparse encoder for passages or for queries, which some models read differently."""

    model: str = Field(description="Hub id or local folder.")
    role: Role = Field("passage", description="What it encodes.")
    max_active_dims: int | None = Field(
        None, ge=1, description="The maximum number of weights kept per text, the largest ones."
    )

    def make(self) -> SparseTextEncoder:
        """The encoder."""
        return SparseTextEncoder(self)


class SparseTextEncoder(LocalEncoder):
    """Texts → sparse vectors; each is an array [2, n]: dimensions in ascending order, and their weights.

    Vocabularies are far smaller than 2²⁴, up to which single precision holds whole numbers exactly.
    """

    kind = "SparseEncoder"
    config: SparseConfig

    @property
    def fingerprint(self) -> str:
        """Everything that decides a sparse vector besides the text."""
        c = self.config
        facts = ["sparse", self.model.computing_in(c.dtype, c.backend), c.role, c.max_active_dims]
        return text_sha256(json.dumps(facts))

    def encode(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """The sparse vector of every text of one batch; zeros are left out."""
        how = {
            "convert_to_tensor": False,
            "save_to_cpu": True,
            "max_active_dims": self.config.max_active_dims,
        }
        vectors = self.encoded(texts, METHODS[self.config.role], **how)
        return [_as_rows(vector) for vector in vectors]


def length_sorted_batches(lengths: Sequence[int], budget: int, most: int = 512) -> list[list[int]]:
    """Group item indices so that padded length × count stays within ``budget`` tokens.

    Longest first, so that the first batch is the largest and running out of memory shows immediately; equal
    lengths keep their order. An item longer than the budget forms a batch of its own.
    """
    order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    batches: list[list[int]] = []
    for index in order:
        current = batches[-1] if batches else None
        if current is not None and len(current) < most and (len(current) + 1) * lengths[current[0]] <= budget:
            current.append(index)
        else:
            batches.append([index])
    return batches


def _as_rows(vector: Any) -> NDArray[np.float32]:
    sparse = vector.coalesce()
    values = sparse.values().float().numpy()
    kept = values != 0
    dimensions = sparse.indices().numpy().reshape(-1)[kept]
    return np.stack([dimensions.astype(np.float32), values[kept].astype(np.float32)])
