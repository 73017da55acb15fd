"""For pytest: the fixture ``harness_gate``, and ``--harness bench.yaml``, which makes a test of every rule.

Rules are options or, in the configuration of pytest, keys of the same names:

```toml
[tool.pytest.ini_options]
harness_min = "0.6"
harness_baseline = "results/main"
harness_max_drop = "0.02"
```

`pytest --harness bench.yaml` runs the benchmark once and has one test for each setting and rule, such as
``bench.yaml::min[chunk=500/0]`` and ``bench.yaml::drop[chunk=500/0]``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

# every run of pytest loads it where the package is installed, so what takes time is imported when it is used
if TYPE_CHECKING:
    from harness.cli.api import Results

_OPTIONS = {
    "min": "the mean that every setting must reach",
    "baseline": "the folder of results to compare with",
    "max_drop": "the largest drop from the baseline that is tolerated",
    "measure": "the measure; default: the headline of the results",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, on the command line and in the configuration."""
    options = parser.getgroup("harness", "quality of retrieval (ndcg-harness)")
    options.addoption(
        "--harness",
        action="append",
        default=[],
        metavar="YAML",
        help="test a benchmark: a test a rule and setting",
    )
    for name, help in _OPTIONS.items():
        options.addoption(f"--harness-{name.replace('_', '-')}", metavar="X", help=help)
        parser.addini(f"harness_{name}", help)


def _rule(config: pytest.Config, name: str) -> str | None:
    value = config.getoption(f"harness_{name}") or config.getini(f"harness_{name}")
    return str(value) if value else None


def _requirements(config: pytest.Config) -> dict[str, Any]:
    """The keywords of ``assert_ndcg`` that options and configuration set."""
    stated = {name: _rule(config, name) for name in _OPTIONS}
    try:
        numbers = {name: float(stated[name] or "") for name in ("min", "max_drop") if stated[name]}
    except ValueError:
        raise pytest.UsageError(
            f"harness: min and max_drop are numbers, not {stated['min']} and {stated['max_drop']}."
        ) from None
    words = {name: word for name in ("baseline", "measure") if (word := stated[name])}
    if "baseline" in words and not config.getoption("harness_baseline"):
        # the configuration lies at the root, wherever pytest is started; options are typed where one is
        words["baseline"] = str(config.rootpath / words["baseline"])
    return {**numbers, **words}


@pytest.fixture
def harness_gate(request: pytest.FixtureRequest) -> Callable[..., None]:
    """``harness.assert_ndcg`` with the rules of the configuration as defaults."""
    from harness.cli.assertions import assert_ndcg

    return partial(assert_ndcg, **_requirements(request.config))


def pytest_configure(config: pytest.Config) -> None:
    """Have the benchmarks collected beside the tests that were named."""
    config.args.extend(path for path in config.getoption("harness") if path not in config.args)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect the benchmarks that ``--harness`` names."""
    benchmarks = {Path(path).resolve() for path in parent.config.getoption("harness")}
    if file_path.resolve() not in benchmarks:
        return None
    return Benchmark.from_parent(parent, path=file_path)


class Benchmark(pytest.File):
    """A configuration: run once, when the first of its tests is."""

    _results: Results | None = None

    def collect(self) -> Iterator[pytest.Item]:
        """A test for each rule and setting."""
        from harness.cli.api import load_config
        from harness.values import HarnessError

        requirements = _requirements(self.config)
        rules = [rule for rule, option in (("min", "min"), ("drop", "baseline")) if option in requirements]
        if not rules:
            raise pytest.UsageError(
                "--harness: nothing is required. Give --harness-min or --harness-baseline, or set them in "
                "the configuration of pytest."
            )
        try:
            settings = [setting.name for setting in load_config(self.path).settings]
        except HarnessError as error:
            raise pytest.UsageError(str(error)) from error
        for rule in rules:
            for setting in settings:
                yield Requirement.from_parent(self, name=f"{rule}[{setting}]", rule=rule, setting=setting)

    def results(self) -> Results:
        """The results of the benchmark, computed where they are not there yet."""
        if self._results is None:
            from harness.cli.api import run

            self._results = run(self.path)
        return self._results


class Requirement(pytest.Item):
    """One rule for one setting."""

    def __init__(self, *, rule: str, setting: str, **more: Any) -> None:
        super().__init__(**more)
        self.rule, self.setting = rule, setting

    def runtest(self) -> None:
        """Fail where the setting does not meet the rule."""
        from harness.cli.api import Results
        from harness.cli.assertions import faults_of

        assert isinstance(self.parent, Benchmark), "made by it"
        requirements = _requirements(self.config)
        requirements.pop("min" if self.rule == "drop" else "baseline", None)
        if self.rule == "min":
            requirements.pop("max_drop", None)
        elif self.setting not in set(Results(Path(requirements["baseline"])).summary["setting"]):
            pytest.skip("the baseline has no setting of this name, so no drop is tested")
        faults = faults_of(self.parent.results(), **requirements)
        if words := faults.get(self.setting):
            raise AssertionError(words)

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        """The sentences alone: no line of ours says anything about the retriever."""
        from harness.values import HarnessError

        if excinfo.errisinstance((AssertionError, HarnessError)):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where it is from, for the list of tests."""
        return self.path, None, self.name
