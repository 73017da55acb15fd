"""Load weights through sentence-transformers: safetensors only, no remote code, no network, no log output."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np

from harness.models.model_files import LOCAL, NO_OPENVINO, Kind, ModelFiles, modules_of, read_json
from harness.values import ModelError, first_line

IN_OPENVINO = ("SentenceTransformer", "CrossEncoder")
_PRECISION = {"float32": "f32", "bfloat16": "bf16", "float16": "f16"}
_STREAMS = 4
_STEP = 16


def load(kind: Kind, model: ModelFiles, device: str | None, dtype: str, backend: str) -> Any:
    """A model in evaluation mode; ``device`` None takes the best one there is.

    A CrossEncoder has one output. Raises ModelError for files that are of another kind, to which the library
    would add an untrained head.
    """
    if kind == "TokenClassification":
        return _tagger(model, device, dtype, backend)
    several = kind in ("SparseEncoder", "MultiVectorEncoder")
    return (_last if several else _load)(kind, model, device, dtype, backend)


def _load(kind: Kind, model: ModelFiles, device: str | None, dtype: str, backend: str) -> Any:
    silence()
    try:
        import sentence_transformers
        from transformers.utils import logging as transformers_logging
    except ModuleNotFoundError as error:
        raise ModelError(
            f"{model.name} runs on this machine, and that needs {error.name}: {LOCAL}. "
            "Or name a model at an endpoint, or search by words: retrieve: "
            "{kind: bm25}."
        ) from error

    transformers_logging.disable_progress_bar()
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


def _tagger(model: ModelFiles, device: str | None, dtype: str, backend: str) -> Any:
    """A model of transformers that labels tokens, with its tokenizer as ``harness_tokenizer``."""
    silence()
    try:
        import torch
        import transformers
    except ModuleNotFoundError as error:
        raise ModelError(
            f"{model.name} runs on this machine, and that needs {error.name}: {LOCAL}. "
            "Or find entities by rules: field: {kind: entities}."
        ) from error
    transformers.utils.logging.disable_progress_bar()
    if backend != "torch":
        raise ModelError(f"{model.name}: a model that labels tokens runs in torch; omit backend: {backend}.")
    files: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    with _whole(model):
        tokenizer = transformers.AutoTokenizer.from_pretrained(str(model.folder), use_fast=True, **files)
        loaded = transformers.AutoModelForTokenClassification.from_pretrained(
            str(model.folder), use_safetensors=True, dtype=getattr(torch, dtype), **files
        ).eval()
    if "O" not in map(str, loaded.config.id2label.values()):
        raise ModelError(
            f"{model.name}: none of its labels is `O`, which says that a token is in no name. Set "
            f"`id2label` in {model.folder / 'config.json'}, or name a model trained to find entities."
        )
    loaded.to(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    loaded.harness_tokenizer = tokenizer
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
    if any(getattr(module, "true_token_id", 0) == getattr(module, "false_token_id", 1) for module in loaded):
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
        info = kwargs.get("loading_info")
        missing.update(info.missing_and_mismatched() if info is not None else ())
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
        f"{model.name}: the model in {model.folder} cannot be loaded ({first_line(error)[:300]}). Is it "
        "complete, of the right kind, and its `device` there? Fetch or save it again, or name another device."
    )


def silence() -> None:
    """Turn off telemetry and bars before the libraries are imported: they read these once."""
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("DO_NOT_TRACK", "1")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    logging.getLogger("sentence_transformers").setLevel(logging.WARNING)


def run_in_openvino(
    loaded: Any,
    device: str | None,
    dtype: str,
    convert: Callable[[Any, dict[str, Any]], Any] | None = None,
) -> Any:
    """Let the transformer of a sentence-transformers model compute in OpenVINO; returns the model.

    ``loaded`` holds float32 weights; ``dtype`` is what OpenVINO computes in. Tokenizer, pooling, scaling and
    everything else of the model stay as they are. ``convert`` makes a network of the transformer and an
    example of its input, by default one that gives the same numbers. Raises ModelError without the package
    ``openvino``, for a ``device`` other than the CPU, and for a model that cannot be converted.
    """
    if device not in (None, "cpu"):
        raise ModelError(f"backend: openvino computes on the CPU, not on {device}: omit device.")
    try:
        import openvino
    except ImportError as error:
        raise ModelError(NO_OPENVINO) from error
    from torch import get_num_threads

    transformer = loaded[0]
    tokenizer = transformer.tokenizer
    example = dict(tokenizer(["two words", "one"], return_tensors="pt", padding=True))
    # each stream keeps its share of a batch in the caches of its own cores
    threads = get_num_threads()
    streams = min(threads, _STREAMS)
    options = {
        "INFERENCE_PRECISION_HINT": _PRECISION[dtype],
        "INFERENCE_NUM_THREADS": threads,
        "NUM_STREAMS": str(streams),
    }
    try:
        network = (convert or converted)(transformer.model, example)
        compiled = openvino.Core().compile_model(network, "CPU", options)
    except ModelError:
        raise
    except Exception as error:
        remedy = "Leave out tune.screen or int8_changes" if convert else "Remove backend from its step"
        raise ModelError(f"OpenVINO cannot run this model ({first_line(error)[:300]}). {remedy}.") from error
    fill = {name: tokenizer.pad_token_id if name == "input_ids" else 0 for name in example}
    requests = [compiled.create_infer_request() for _ in range(streams)]
    output = transformer.modality_config["text"]["method_output_name"]
    transformer.model.forward = _Forward(requests, fill, output, transformer.max_seq_length or 0)
    return loaded


def converted(model: Any, example: dict[str, Any]) -> Any:
    """The network of OpenVINO that gives the same numbers as the forward method of a model."""
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
    """Takes the place of the forward method of a transformer: tensors in, tensors by name out.

    ``requests`` share the rows of a batch. Texts are filled up with ``fill``, by name of an input, to one of
    few lengths, but not beyond ``longest`` tokens: OpenVINO prepares itself for every new shape.
    """

    def __init__(self, requests: list[Any], fill: dict[str, int], output: str, longest: int) -> None:
        self._requests, self._fill, self._output, self._longest = requests, fill, output, longest

    def __call__(self, **features: Any) -> dict[str, Any]:
        import torch

        inputs = {name: features[name].numpy() for name in self._fill}
        rows, length = next(iter(inputs.values())).shape
        more = max(0, min(-(-length // _STEP) * _STEP, self._longest) - length)
        for name, values in inputs.items():
            inputs[name] = np.pad(values, ((0, 0), (0, more)), constant_values=self._fill[name])
        busy = self._requests[:rows]
        for place, request in enumerate(busy):
            request.start_async({name: values[place :: len(busy)] for name, values in inputs.items()})
        for request in busy:
            request.wait()
        outputs = [request.get_output_tensor(0).data for request in busy]
        result = np.empty((rows, *outputs[0].shape[1:]), dtype=outputs[0].dtype)
        for place, part in enumerate(outputs):
            result[place :: len(busy)] = part
        # token by token, or a score a row
        return {self._output: torch.from_numpy(result[:, :length] if result.ndim > 2 else result)}
