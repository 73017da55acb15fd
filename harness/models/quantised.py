"""Models that compute in int8: in the stages of `harness tune`, and where `int8_changes` allows it.

The matrices of the model and what they multiply are rounded to 8 bits by NNCF, which learns the ranges of the
values from texts of the corpus (post-training quantisation with SmoothQuant). OpenVINO runs what comes out.
"""

from __future__ import annotations

import base64
import io
import json
import logging
import random
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass
from functools import cached_property, partial
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Generic, NamedTuple

from harness.models.encoder import Configured, LocalEncoderConfig, LocalModel, SentenceEncoder
from harness.store import Artifacts
from harness.values import ModelError, first_line, text_sha256

NO_SCREEN = "{key} computes in int8, which needs its packages: pip install 'ndcg-harness[screen]'"
TEXTS = 128
# as short as small chunks, as long as large ones, in characters
_SHORTEST, _LONGEST = 100, 2_000
# of a model that states no longest input
_WINDOW = 512
_KIND = "int8"


@dataclass(frozen=True)
class CalibrationTexts:
    """The texts by which the ranges of a model's values are learnt."""

    texts: tuple[str, ...]

    @cached_property
    def key(self) -> str:
        """A hash of the texts."""
        return text_sha256(json.dumps(self.texts))


class Quantising(NamedTuple):
    """What models in int8 are made by: the texts, and where what was made of a model is kept."""

    calibration: CalibrationTexts
    stored: Artifacts


def calibration_of(documents: Sequence[str], seed: int, count: int = TEXTS) -> CalibrationTexts:
    """Pieces drawn from documents, long documents more often, in lengths of small and of large chunks."""
    documents = [text for text in documents if text.strip()]
    if not documents:
        raise ModelError("No document has text, so there is nothing to calibrate a model in int8 by.")
    rng = random.Random(seed)
    pieces = []
    for text in rng.choices(documents, weights=list(map(len, documents)), k=count):
        length = round(_SHORTEST * (_LONGEST / _SHORTEST) ** rng.random())
        start = rng.randrange(max(1, len(text) - length))
        pieces.append(text[start : start + length])
    return CalibrationTexts(tuple(pieces))


def check_screen_packages(key: str = "tune.screen") -> None:
    """Raise ModelError where a package that int8 needs is missing, or where it is no gain.

    ``key`` of the configuration asks for it.
    """
    if any(find_spec(name) is None for name in ("openvino", "nncf")):
        raise ModelError(NO_SCREEN.format(key=key))
    from harness.models.weights import silence

    silence()
    from sentence_transformers.util import get_device_name

    if (device := get_device_name()) != "cpu":
        raise ModelError(
            f"{key} computes on the CPU, and models on this machine run on its {device}, which is "
            "faster. Leave it out."
        )


class InInt8(LocalModel[Configured], Generic[Configured]):
    """Base of models in int8 on the CPU, calibrated once: ``stored`` keeps what came out.

    ``exact`` are patterns of names of operations that stay in float32.
    """

    def __init__(
        self, config: Configured, calibration: CalibrationTexts, stored: Artifacts, exact: Sequence[str] = ()
    ) -> None:
        super().__init__(config)
        self._calibration, self._stored, self._exact = calibration, stored, tuple(exact)

    def _samples(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        """What the model reads at a time, made of texts: one text, or a pair."""
        return [(text,) for text in texts]

    @property
    def fingerprint(self) -> str:
        """Everything that decides a value besides the text: the calibration and the packages too."""
        facts = [_KIND, self.model.fingerprint, self._calibration.key, self._exact, _versions()]
        return text_sha256(json.dumps(facts))

    def describe(self) -> dict[str, str]:
        """The model and what it computes in."""
        return {**self.model.describe(), "dtype": _KIND, "backend": "openvino"}

    def _with_weights(self) -> Any:
        check_screen_packages()
        # its libraries take long to load
        from harness.models.weights import load, run_in_openvino

        plain = load(self.kind, self.model, "cpu", "float32", "torch")
        return run_in_openvino(plain, "cpu", "float32", partial(self._converted, plain.tokenizer))

    def _converted(self, tokenizer: Any, model: Any, example: dict[str, Any]) -> Any:
        """The model in int8 as OpenVINO reads it: the stored one, else made and stored."""
        import openvino

        from harness.models.weights import converted

        parts = self._stored.get(_KIND, self.fingerprint)
        if parts is None:
            cut = {"truncation": True, "max_length": self.tokenizer.window or _WINDOW}
            samples = [
                dict(tokenizer(*([text] for text in sample), return_tensors="np", **cut))
                for sample in self._samples(self._calibration.texts)
            ]
            try:
                parts = _quantised(converted(model, example), samples, self._exact)
            except (MemoryError, OSError):
                raise
            except Exception as error:
                raise ModelError(
                    f"{self.model.name} cannot be computed in int8 ({first_line(error)[:300]}). Leave out "
                    "tune.screen or int8_changes."
                ) from error
            self._stored.put(_KIND, self.fingerprint, parts)
        network, weights = (base64.b64decode(parts[name]) for name in ("network", "weights"))
        return openvino.Core().read_model(network, weights)


class ScreenEncoder(InInt8[LocalEncoderConfig], SentenceEncoder):
    """A bi-encoder in int8."""


def _versions() -> dict[str, str]:
    """The versions of the packages that round and run a model; '' for one that is missing."""
    return {name: _version(name) for name in ("nncf", "openvino")}


def _version(name: str) -> str:
    with suppress(PackageNotFoundError):
        return version(name)
    return ""


def _quantised(network: Any, samples: Sequence[Mapping[str, Any]], exact: Sequence[str]) -> dict[str, str]:
    """The network in int8, its graph and its weights in base 64."""
    nncf = _without_reports()
    import openvino

    scope = nncf.IgnoredScope(patterns=list(exact), validate=False) if exact else None
    # it draws bars and has no switch for them
    with redirect_stdout(io.StringIO()):
        rounded = nncf.quantize(
            network,
            nncf.Dataset(samples),
            subset_size=len(samples),
            model_type=nncf.ModelType.TRANSFORMER,
            ignored_scope=scope,
        )
    with TemporaryDirectory() as folder:
        path = Path(folder, "model.xml")
        openvino.serialize(rounded, path, path.with_suffix(".bin"))
        files = {"network": path, "weights": path.with_suffix(".bin")}
        return {name: base64.b64encode(file.read_bytes()).decode("ascii") for name, file in files.items()}


def _without_reports() -> Any:
    """NNCF, which would tell its makers of every use, and prints what it does."""
    reporting = "openvino_telemetry"
    before = sys.modules.get(reporting)
    sys.modules[reporting] = None  # type: ignore[assignment]
    try:
        with redirect_stdout(io.StringIO()):
            import nncf
    finally:
        if before is None:
            del sys.modules[reporting]
        else:
            sys.modules[reporting] = before
    nncf.set_log_level(logging.ERROR)
    return nncf
