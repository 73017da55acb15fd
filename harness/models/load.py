"""Load weights through sentence-transformers: safetensors only, no remote code, no network, no log output."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from harness.models.model_files import NO_OPENVINO, Kind, ModelFiles, modules_of, read_json
from harness.values import ModelError

IN_OPENVINO = ("SentenceTransformer", "CrossEncoder")
_PRECISION = {"float32": "f32", "bfloat16": "bf16", "float16": "f16"}


def load(kind: Kind, model: ModelFiles, device: str | None, dtype: str, backend: str) -> Any:
    """A model in evaluation mode; ``device`` None takes the best one there is.

    A CrossEncoder has one output. Raises ModelError for files that are of another kind, to which the library
    would add an untrained head.
    """
    several = kind in ("SparseEncoder", "MultiVectorEncoder")
    return (_last if several else _load)(kind, model, device, dtype, backend)


def _load(kind: Kind, model: ModelFiles, device: str | None, dtype: str, backend: str) -> Any:
    silence()
    try:
        import sentence_transformers
    except ModuleNotFoundError as error:
        raise ModelError(
            f"{model.name} runs on this machine, and that needs {error.name}: pip install "
            "sentence-transformers torch. Or name a model at an endpoint, or search by words: retrieve: "
            "{kind: bm25}."
        ) from error

    _silence_loading_bars()
    if backend != "torch" and kind not in IN_OPENVINO:
        raise ModelError(
            f"{model.name}: backend: {backend} runs bi-encoders and cross-encoders; omit it for "
            "sparse and multi-vector models."
        )
    options: dict[str, Any] = {
        # openvino takes the weights in single precision
        "device": "cpu" if backend == "openvino" else device,
        "trust_remote_code": False,
        "local_files_only": True,
        "model_kwargs": {"use_safetensors": True, "dtype": "float32" if backend == "openvino" else dtype},
    }
    if kind == "CrossEncoder":
        options["num_labels"] = 1
    _refuse_guesses(kind, model)
    with _whole(model):
        loaded = getattr(sentence_transformers, kind)(str(model.folder), **options).eval()
        if backend == "openvino":
            return run_in_openvino(loaded, device, dtype)
    if kind == "SparseEncoder":
        _refuse_untrained(loaded, model)
    _refuse_tokens(loaded, model)
    return loaded


# the last one is kept, as chunks and queries are both encoded by it
_last = lru_cache(maxsize=1)(_load)


def _refuse_guesses(kind: Kind, model: ModelFiles) -> None:
    """Raise ModelError where the files do not say how to use the model, and the library would guess."""
    from transformers.models.auto import modeling_auto as auto

    config = read_json(model.folder, "config.json")
    labels, family = config.get("id2label"), config.get("model_type")
    if kind == "CrossEncoder" and isinstance(labels, dict) and len(labels) > 1:
        raise ModelError(
            f"{model.name} gives {len(labels)} scores for a pair, and a cross-encoder here gives one. Name a "
            "model for relevance or similarity, such as BAAI/bge-reranker-v2-m3."
        )
    decoder = family in set(auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES) - set(
        auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES
    )
    if kind == "SentenceTransformer" and decoder and not modules_of(model.folder):
        raise ModelError(
            f"{model.name} is a decoder whose files do not say how its tokens become one vector (no "
            "modules.json). Most take the last token: save SentenceTransformer(modules=[Transformer(name), "
            "Pooling(dimension, 'lasttoken')]) of sentence-transformers to a folder, and name that."
        )


def _refuse_tokens(loaded: Any, model: ModelFiles) -> None:
    if getattr(loaded.tokenizer, "pad_token", "") is None:
        raise ModelError(
            f"{model.name}: its tokenizer has no padding token, which batches need. Save it with one in "
            f"{model.folder}: tokenizer.pad_token = tokenizer.eos_token, and `pad_token_id` in config.json."
        )
    # without the words, the library takes the token of unknown words for both
    if any(getattr(one, "true_token_id", 0) == getattr(one, "false_token_id", 1) for one in loaded):
        raise ModelError(
            f"{model.name} would score pairs by the tokens `yes` and `no`, but its tokenizer has neither, so "
            "that all scores are equal. Name a reranker, or the token ids in its module LogitScore."
        )


def _refuse_untrained(loaded: Any, model: ModelFiles) -> None:
    from sentence_transformers.sparse_encoder.modules import SparseAutoEncoder

    saved = modules_of(model.folder)
    autoencoders = [module for module in loaded if isinstance(module, SparseAutoEncoder)]
    if len(autoencoders) > sum(str(module.get("type", "")).endswith("SparseAutoEncoder") for module in saved):
        raise ModelError(
            f"{model.name} is not a learned sparse model: it has neither the head of a masked language model "
            "nor a trained autoencoder. Name a SPLADE model, or use it as a bi-encoder: retrieve: {kind: "
            "exact, …}."
        )


@contextmanager
def _whole(model: ModelFiles) -> Iterator[None]:
    """Turn errors of the libraries into a ModelError, and refuse weights that the files do not hold.

    transformers gives random numbers to weights it does not find, and only logs this.
    """
    from transformers import modeling_utils

    report = modeling_utils.log_state_dict_report
    missing: set[str] = set()

    def noted(*args: Any, **kwargs: Any) -> Any:
        found = kwargs.get("loading_info")
        missing.update(found.missing_and_mismatched() if found is not None else ())
        return report(*args, **kwargs)

    modeling_utils.log_state_dict_report = noted
    try:
        yield
    except (ModelError, MemoryError):
        raise
    except Exception as error:
        raise _not_loaded(model, error) from error
    finally:
        modeling_utils.log_state_dict_report = report
    # the pooler of BERT is not used here, and many models come without it
    needed = sorted(key for key in missing if "pooler" not in key.split("."))
    if needed:
        raise ModelError(
            f"{model.name}: the weights in {model.folder} lack {', '.join(needed[:3])}"
            f"{' and more' if len(needed) > 3 else ''}; random numbers would be used instead. Fetch the "
            "whole model, or name one of the right kind."
        )


def _not_loaded(model: ModelFiles, error: Exception) -> ModelError:
    if any(words in str(error) for words in ("custom code", "third-party code")):
        return ModelError(
            f"{model.name} brings its own Python code, which is never run here (trust_remote_code). Name a "
            "model of an architecture that transformers has, or serve it and name its `endpoint`."
        )
    return ModelError(
        f"{model.name}: the model in {model.folder} cannot be loaded ({one_line_of(error)}). "
        "Is it complete, and of the right kind? Fetch or save it again."
    )


def one_line_of(error: Exception) -> str:
    """The first line of what a library says, cut short; the name of the error where it says nothing."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)[:300]


def not_finite(model: ModelFiles) -> ModelError:
    """The error for a model that computes no numbers."""
    return ModelError(
        f"{model.name}: the model in {model.folder} computes values that are not finite numbers: its weights "
        "are damaged, or dtype is too small for it. Fetch or save it again."
    )


def silence() -> None:
    """Turn off telemetry and bars before the libraries are imported: they read these once."""
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("DO_NOT_TRACK", "1")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    logging.getLogger("sentence_transformers").setLevel(logging.WARNING)


def _silence_loading_bars() -> None:
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()


def run_in_openvino(loaded: Any, device: str | None, dtype: str) -> Any:
    """Let the transformer of a sentence-transformers model compute in OpenVINO; returns the model.

    ``loaded`` holds float32 weights; ``dtype`` is what OpenVINO computes in. Tokenizer, pooling, scaling and
    everything else of the model stay as they are. Raises ModelError without the package ``openvino``, for a
    ``device`` other than the CPU, and for a model that cannot be converted.
    """
    if device not in (None, "cpu"):
        raise ModelError(f"backend: openvino computes on the CPU, not on {device}: omit device.")
    try:
        import openvino
    except ImportError as error:
        raise ModelError(NO_OPENVINO) from error
    transformer = loaded[0]
    example = dict(transformer.tokenizer(["two words", "one"], return_tensors="pt", padding=True))
    try:
        compiled = openvino.Core().compile_model(
            _converted(transformer.model, example), "CPU", {"INFERENCE_PRECISION_HINT": _PRECISION[dtype]}
        )
    except Exception as error:
        raise ModelError(
            f"OpenVINO cannot run this model ({one_line_of(error)}). Remove backend from its step."
        ) from error
    output = transformer.modality_config["text"]["method_output_name"]
    transformer.model.forward = _Forward(compiled, list(example), output)
    return loaded


def _converted(model: Any, example: dict[str, Any]) -> Any:
    # openvino.convert_model would report the conversion to its makers; the front end below it does not
    from openvino.frontend import FrontEndManager
    from openvino.frontend.pytorch.ts_decoder import TorchScriptPythonDecoder

    front = FrontEndManager().load_by_framework("pytorch")
    with warnings.catch_warnings():
        # of the tracer; tests hold the numbers of traced models against torch at many lengths
        warnings.simplefilter("ignore")
        # named, because it must outlive the conversion
        decoder = TorchScriptPythonDecoder(model, example_input=example)
        return front.convert(front.load(decoder))


class _Forward:
    """Takes the place of the forward method of a transformer: tensors in, tensors by name out."""

    def __init__(self, compiled: Any, inputs: list[str], output: str) -> None:
        self._compiled, self._inputs, self._output = compiled, inputs, output

    def __call__(self, **features: Any) -> dict[str, Any]:
        import torch

        given = {name: features[name].numpy() for name in self._inputs}
        return {self._output: torch.from_numpy(self._compiled(given)[0].copy())}
