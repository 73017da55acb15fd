"""Retrieval ranking benchmark: NDCG over your own documents, comparable between chunkings.

```python
import harness

results = harness.run("my.yaml")            # as `harness bench my.yaml`; a dict of its keys will do
print(results)                              # the verdict in words
results.summary                             # tables as pandas DataFrames
results.compare("ndcg_exp@10").differences
harness.score({"q1": {"d1": 0.9}}, {"q1": {"d1": 3}}, ["ndcg_exp@10"])
```
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.cli.api import Comparison, Results, compare, load_config, ndcg, read_results, run, score

__version__ = "0.1.0"

__all__ = ["Comparison", "Results", "compare", "load_config", "ndcg", "read_results", "run", "score"]


def __getattr__(name: str) -> Any:
    """Import the Python face when it is first used: ``harness --help`` needs none of it."""
    if name in __all__:
        from harness.cli import api

        return getattr(api, name)
    # Python suggests the nearest name by these two
    raise AttributeError(f"module 'harness' has no attribute {name!r}", name=name, obj=sys.modules[__name__])


def __dir__() -> list[str]:
    """What is meant for people; rooms and helpers are not."""
    return sorted([*__all__, "__version__"])
