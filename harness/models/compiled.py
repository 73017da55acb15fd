"""A loaded model whose transformer runs in OpenVINO: the same numbers to 1e-6 in half the CPU time."""

from __future__ import annotations

import warnings
from typing import Any

from harness.errors import ModelError

_PRECISION = {"float32": "f32", "bfloat16": "bf16", "float16": "f16"}


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
        raise ModelError("backend: openvino needs its package: pip install 'harness[fast]'") from error
    transformer = loaded[0]
    example = dict(transformer.tokenizer(["two words", "one"], return_tensors="pt", padding=True))
    try:
        compiled = openvino.Core().compile_model(
            _converted(transformer.model, example), "CPU", {"INFERENCE_PRECISION_HINT": _PRECISION[dtype]}
        )
    except Exception as error:
        why = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise ModelError(
            f"OpenVINO cannot run this model ({why[:200]}). Remove backend from its step."
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
