"""Retrieval ranking benchmark: NDCG over your own documents, comparable between chunkings.

```python
import harness

results = harness.evaluate(my_retriever, queries="queries.csv", labels="labels.csv", documents="docs/*.pdf")
results = harness.run("my.yaml")            # as `harness bench my.yaml`; a dict of its keys will do
print(results.verdict)                      # in words
results.summary                             # tables as pandas DataFrames
results.compare("ndcg_exp@10").differences
harness.score({"q1": {"d1": 0.9}}, {"q1": {"d1": 3}}, ["ndcg_exp@10"])
```
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.cli.api import Comparison, Results, compare, load_config, ndcg, read_results, run, score
    from harness.cli.assertions import assert_ndcg
    from harness.cli.own_retrievers import evaluate, score_hits
    from harness.data import Collection

__version__ = "0.1.0"

_HOMES = {
    "harness.cli.api": (
        "Comparison",
        "Results",
        "compare",
        "load_config",
        "ndcg",
        "read_results",
        "run",
        "score",
    ),
    "harness.cli.assertions": ("assert_ndcg",),
    "harness.cli.own_retrievers": ("evaluate", "score_hits"),
    "harness.data": ("Collection",),
}
__all__ = [
    "Collection",
    "Comparison",
    "Results",
    "assert_ndcg",
    "compare",
    "evaluate",
    "load_config",
    "ndcg",
    "read_results",
    "run",
    "score",
    "score_hits",
]


def __getattr__(name: str) -> Any:
    """Import the Python face when it is first used: ``harness --help`` needs none of it."""
    for home, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(home), name)
    # Python suggests the nearest name by these two
    raise AttributeError(f"module 'harness' has no attribute {name!r}", name=name, obj=sys.modules[__name__])


def __dir__() -> list[str]:
    """What is meant for people; rooms and helpers are not."""
    return sorted([*__all__, "__version__"])
