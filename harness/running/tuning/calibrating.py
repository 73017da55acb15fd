"""The texts by which models are calibrated for a screen in int8: the same ones for all stages of a plan."""

from __future__ import annotations

from harness.models import CalibrationTexts, Quantising, calibration_of, check_screen_packages
from harness.running.config.models import BenchConfig
from harness.running.config.tune_keys import PartConfig
from harness.running.corpora import load_corpora
from harness.running.document_reader import DocumentReader
from harness.running.readiness import parts_of
from harness.running.run_models import RunModels, screens
from harness.steps import RetrieverConfig
from harness.store import Artifacts
from harness.values import ConfigError


def check_screen(config: BenchConfig) -> None:
    """Raise ModelError where ``tune.screen`` lacks a package, ConfigError where it has nothing to do."""
    check_screen_packages()
    retrievers = [part for part in parts_of(config.settings) if isinstance(part, RetrieverConfig)]
    if not any(screens(encoder) for retriever in retrievers for encoder in retriever.encoders()):
        raise ConfigError(
            "tune.screen: no setting searches by a bi-encoder on this CPU that leaves open how it computes. "
            "Leave out tune.screen, or leave out dtype, backend and device of the retriever."
        )
    if config.engine.kind != "local":
        raise ConfigError(
            f"tune.screen computes in this process alone, and engine.kind is {config.engine.kind}. Leave out "
            "one of them."
        )


def draw_calibration(config: BenchConfig, part: PartConfig, reader: DocumentReader) -> CalibrationTexts:
    """Pieces of the documents of a part that all stages see."""
    corpus = load_corpora(config.model_copy(update={"part": part}), reader).united
    return calibration_of([document.text for document in corpus.documents], config.tune.seed)


def calibrate(models: RunModels, calibration: CalibrationTexts, quantised: Artifacts) -> None:
    """Have the bi-encoders among the models compute in int8 from now on; those are kept in ``quantised``."""
    models.quantising = Quantising(calibration, quantised)
