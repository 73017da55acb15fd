"""A cross-encoder that computes in int8, where `precision: fast` may: see `int8_changes`."""

from __future__ import annotations

from collections.abc import Sequence

from harness.models import InInt8
from harness.steps.search.rerank.cross_encoder import CrossEncoderConfig, CrossEncoderScorer

# characters of a text that stand for a query
_QUERY = 60


class Int8CrossEncoder(InInt8[CrossEncoderConfig], CrossEncoderScorer):
    """A cross-encoder in int8, its ranges learnt from pairs: the beginning of a text, and another text."""

    @property
    def fingerprint(self) -> str:
        """Everything that decides a score besides the pair: the calibration and the packages too."""
        return f"{self.config.kind}:{super().fingerprint}"

    def _samples(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        return [(texts[at - 1][:_QUERY], text) for at, text in enumerate(texts)]
