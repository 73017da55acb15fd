"""A user-defined reranker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from harness.steps.custom.code import CodeConfig, call_function, calling, find_call
from harness.steps.search.rerank import Pair, PairScorer, hashed
from harness.steps.search.step import RerankerConfig


class PythonRerankerConfig(CodeConfig, RerankerConfig):
    """Your own function scores (query, passage) pairs."""

    kind: Literal["python"] = "python"
    batch_size: int = Field(64, ge=1, description="Pairs in one call.")

    @property
    def model_name(self) -> str:
        """The function."""
        return self.call


class PythonScorer(PairScorer):
    """Calls ``function(pairs, **arguments)``, which returns one score per pair; higher is better."""

    own_code = True

    @property
    def fingerprint(self) -> str:
        """The settings of the user."""
        c = self.config
        return hashed("python", [c.call, c.version, c.arguments])

    def describe(self) -> dict[str, str]:
        """The function and its version, for the run record."""
        return {"name": self.config.call, "origin": "python", "fingerprint": self.config.version}

    def batches(self, pairs: Sequence[Pair]) -> list[list[int]]:
        """Pairs in the order given."""
        size = self.config.batch_size
        return [list(range(i, min(i + size, len(pairs)))) for i in range(0, len(pairs), size)]

    def score(self, pairs: Sequence[Pair]) -> NDArray[np.float32]:
        """Call it and check the result."""
        c = self.config
        answer = call_function(c.call, list(pairs), **c.arguments)
        with calling(c.call), np.errstate(over="ignore"):
            returned = np.asarray(answer)
            # text, yes or no and dates would become numbers too
            if returned.dtype.kind not in "iuf":
                raise c.broken("returned scores that are not numbers")
            scores = returned.astype(np.float32)
        if scores.shape != (len(pairs),):
            raise c.broken(f"returned scores of shape {scores.shape}, not one for each of {len(pairs)} pairs")
        if not np.isfinite(scores).all():
            raise c.broken("returned a score that is not finite")
        return scores

    def try_out(self) -> None:
        """Find the function; it is not called."""
        find_call(self.config.call)
