"""The fastest number format and library for a model on this machine, found by a short probe."""

from __future__ import annotations

import platform
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from time import perf_counter
from typing import TYPE_CHECKING, Any

from harness.models.model_files import EXACT, Kind, Way
from harness.models.weights import IN_OPENVINO, silence
from harness.store import Artifacts, key_of
from harness.values import ModelError, version_of

if TYPE_CHECKING:
    from harness.models.encoder import LocalModel

# texts of some 125 tokens each, as many as fit into half a batch
_TEXTS = [f"{number} {'a sentence of the text that a model reads. ' * 12}" for number in range(8)]
_ROUNDS = 2
_MOST_SECONDS = 2.0
WORTH = 1.1
"""What gains less is not worth other last digits."""


@dataclass(frozen=True, slots=True)
class Probe:
    """The seconds that one batch took in each way that works here; `EXACT` is among them."""

    seconds: dict[Way, float]

    @property
    def way(self) -> Way:
        """The fastest, if it gains a tenth."""
        best = min(self.seconds, key=self.seconds.__getitem__)
        return best if self.seconds[EXACT] >= WORTH * self.seconds[best] else EXACT

    @property
    def gain(self) -> float:
        """How many times as fast as `EXACT` that is."""
        return self.seconds[EXACT] / self.seconds[self.way]


def probe(
    model: LocalModel[Any],
    make: Callable[[Way], LocalModel[Any]],
    stored: Artifacts,
    clock: Callable[[], float] | None = None,
) -> tuple[Probe, LocalModel[Any] | None]:
    """Measure every way, once per model, machine and version of the libraries: ``stored`` keeps it.

    ``make`` gives the model that computes in a way; the one that computes in the fastest comes back, so that
    it need not be loaded again, unless the measures were stored. A way in which the model does not work is
    left out, and so is float32 by another library where bfloat16 gains; raises ModelError where it works in
    none.
    """
    versions = [version_of(name) for name in ("torch", "openvino", "transformers")]
    machine = [platform.node(), platform.machine(), *versions]
    key = key_of(model.kind, model.model.fingerprint, model.config.device, *machine)
    rows = stored.get("probe", key)
    if rows is not None:
        return Probe({Way(dtype, backend): took for dtype, backend, took in rows}), None
    measured, kept = Probe({}), model
    for way in ways_of(model.kind, model.config.device):
        if way.dtype == EXACT.dtype and measured.seconds and measured.way.dtype != EXACT.dtype:
            continue
        candidate = make(way)
        try:
            measured.seconds[way] = seconds_of(candidate, clock or perf_counter)
        except ModelError:
            if way == EXACT:
                raise
            continue
        # the others are let go: weights of several may not fit
        kept = candidate if measured.way == way else kept
    stored.put("probe", key, [[*way, took] for way, took in measured.seconds.items()])
    return measured, kept


def ways_of(kind: Kind, device: str | None) -> list[Way]:
    """The ways in which this machine can run a kind of model, `EXACT` first."""
    silence()
    import torch
    from sentence_transformers.util import get_device_name

    device = device or get_device_name()
    ways = [EXACT]
    if device == "cpu" and torch.ops.mkldnn._is_mkldnn_bf16_supported():
        ways.append(Way("bfloat16"))
    if device.startswith("cuda") and torch.cuda.is_bf16_supported(including_emulation=False):
        ways.append(Way("bfloat16"))
    if device == "cpu" and kind in IN_OPENVINO and find_spec("openvino") is not None:
        import openvino

        able = openvino.Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")
        ways += [*([Way("bfloat16", "openvino")] if "BF16" in able else []), Way("float32", "openvino")]
    return ways


def seconds_of(model: LocalModel[Any], clock: Callable[[], float] = perf_counter) -> float:
    """The seconds of the fastest of a few rounds of one batch, after one that warms up."""
    model.check_numbers(_TEXTS)
    took: list[float] = []
    while len(took) < _ROUNDS and sum(took) < _MOST_SECONDS:
        begun = clock()
        list(model.numbers(_TEXTS))
        took.append(clock() - begun)
    return min(took)
