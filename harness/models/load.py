"""Load weights through sentence-transformers: safetensors only, no remote code, no network, no noise."""

from __future__ import annotations

import logging
import os
from typing import Any

from harness.models.resolve import Model


def load_bi_encoder(model: Model, device: str | None, dtype: str = "float32") -> Any:
    """A SentenceTransformer in evaluation mode; ``device`` None takes the best one there is."""
    _silence()
    from sentence_transformers import SentenceTransformer

    _silence_loading_bars()
    return SentenceTransformer(str(model.folder), device=device, **_safe(dtype)).eval()


def load_cross_encoder(model: Model, device: str | None, dtype: str = "float32") -> Any:
    """A CrossEncoder with one output in evaluation mode; ``device`` None takes the best one there is."""
    _silence()
    from sentence_transformers import CrossEncoder

    _silence_loading_bars()
    return CrossEncoder(str(model.folder), num_labels=1, device=device, **_safe(dtype)).eval()


def _safe(dtype: str) -> dict[str, Any]:
    return {
        "trust_remote_code": False,
        "local_files_only": True,
        "model_kwargs": {"use_safetensors": True, "dtype": dtype},
    }


def _silence() -> None:
    """Turn off telemetry and bars before the libraries are imported: they read these once."""
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("DO_NOT_TRACK", "1")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    logging.getLogger("sentence_transformers").setLevel(logging.WARNING)


def _silence_loading_bars() -> None:
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()
