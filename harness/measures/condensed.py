"""Any measure of judged items only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.measures.graded import Graded
from harness.measures.ragged import Floats


def condensed(graded: Graded, k: int | None, of: Callable[..., Floats], **params: Any) -> Floats:
    """The measure ``of`` rankings whose unjudged items are taken out, the others moved up into the gaps.

    Sources: Sakai, SIGIR 2007; ``trec_eval -J``.
    """
    return of(graded.condensed(), k, **params)
