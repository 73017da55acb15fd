"""Quality of retrieval as an assertion, for the tests of a project."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from harness import measures
from harness.cli.api import Folder, Results
from harness.cli.gate_check import check_against, means_in
from harness.values import ConfigError

_SHOWN = 3


def assert_ndcg(
    results: Results | Folder,
    *,
    min: float | None = None,
    baseline: Results | Folder | None = None,
    max_drop: float = 0.0,
    measure: str | None = None,
    undecided: bool = True,
) -> None:
    """Raise AssertionError, in sentences, where results are not as good as they have to be.

    ```python
    def test_search_is_as_good_as_before(harness_gate):
        results = harness.evaluate(search, queries="queries.csv", labels="labels.csv", documents="docs/*")
        harness_gate(results, min=0.6, baseline="results/main", max_drop=0.02)
    ```

    ``results`` is what ``harness.run`` or ``harness.evaluate`` returns, or a folder. Every setting must reach
    the mean ``min`` under ``measure`` (default: the headline), and must not have dropped from the setting of
    that name in ``baseline`` by more than ``max_drop``, as ``harness gate`` tests it: a drop counts where it
    is more than chance explains. ``undecided`` False: what may have dropped by more fails too. Raises
    ConfigError where nothing is required, HarnessError where the two cannot be compared.
    """
    __tracebackhide__ = True  # pytest shows the line of the test, and not this function
    faults = faults_of(
        results, min=min, baseline=baseline, max_drop=max_drop, measure=measure, undecided=undecided
    )
    if faults:
        raise AssertionError("\n".join(faults.values()))


def faults_of(
    results: Results | Folder,
    *,
    min: float | None = None,
    baseline: Results | Folder | None = None,
    max_drop: float = 0.0,
    measure: str | None = None,
    undecided: bool = True,
) -> dict[str, str]:
    """What is wrong with each setting at fault, in sentences, with the page; see ``assert_ndcg``."""
    folder = _folder(results)
    if min is None and baseline is None:
        raise ConfigError("assert_ndcg: give min, baseline or both; without them nothing is required.")
    faults: dict[str, list[str]] = {}
    if min is not None:
        means = means_in(folder, measure)
        for name in means.below(min):
            lowest = _lowest(means.matrix.query_ids, means.matrix.row(name))
            mean = f"{means.measure} is {means.by_setting[name]:.4f}, below the {min:g} required"
            faults.setdefault(name, []).append(f"{name}: {mean}.{lowest}")
    if baseline is not None:
        checked = check_against(
            folder, _folder(baseline), measure=measure, max_drop=max_drop, must_decide=not undecided
        )
        for check in checked.result.checks:
            if check.failed:
                parts = (checked.result.measure, check.reason, checked.result.holds_for)
                words = f"{check.setting}: {' '.join(filter(None, parts))}"
                faults.setdefault(check.setting, []).append(words)
    page = folder / "report.html"
    where = [f"Page: {page.resolve().as_uri()}"] if page.exists() else []
    return {name: "\n".join([*words, *where]) for name, words in faults.items()}


def _folder(results: Results | Folder) -> Path:
    return results.folder if isinstance(results, Results) else Path(results)


def _lowest(query_ids: Sequence[str], values: measures.Floats) -> str:
    """The queries with the lowest values, in words."""
    numbers = [(float(value), query_id) for value, query_id in zip(values, query_ids, strict=True)]
    worst = sorted(pair for pair in numbers if not math.isnan(pair[0]))[:_SHOWN]
    words = ", ".join(f"{query_id} ({value:.2f})" for value, query_id in worst)
    return f" Lowest: {words}." if words else ""
