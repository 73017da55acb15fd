"""Quality of retrieval in people's own tests: the fixture, the assertion and `pytest --harness`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import harness
from harness.values import ConfigError
from tests.command import DROPPED, REPEATED, YARD, bench, write_files

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A project with a benchmark and its results as the baseline."""
    folder = tmp_path_factory.mktemp("project")
    write_files(folder, YARD)
    done = subprocess.run(
        [sys.executable, "-m", "harness", "bench", "c.yaml", "--quiet"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    (folder / "results" / "one").rename(folder / "baseline")
    return folder


def run_pytest(folder, *options, at=".", installed=False, **files):
    """The exit code of pytest in a folder of a project, and its output.

    ``installed``: the plug-in is found as users have it, by the entry point of the installed package.
    """
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    # installed or not, it is the plug-in of this checkout that is tested
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    if installed:
        # other plug-ins only take time
        plugins = [f"no:{name}" for name in ("langsmith_plugin", "anyio", "hypothesispytest", "xdist")]
    else:
        environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        plugins = ["harness.cli.pytest_plugin"]
    named = [word for plugin in (*plugins, "no:cacheprovider") for word in ("-p", plugin)]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *named, *options],
        cwd=folder / at,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout + done.stderr


def test_a_benchmark_has_one_test_a_rule_and_setting(project):
    options = ("--harness", "c.yaml", "--harness-min", "0.5", "--harness-baseline", "baseline", "-v")
    code, output = run_pytest(project, *options)
    assert code == 0, output
    assert "c.yaml::min[base] PASSED" in output
    assert "c.yaml::drop[base] PASSED" in output


def test_a_drop_from_a_baseline_without_the_setting_is_skipped_and_not_passed(project, tmp_path):
    import shutil

    for name in ("summary", "per_query"):
        text = (project / "baseline" / f"{name}.csv").read_text()
        (tmp_path / f"{name}.csv").write_text(text.replace("base,", "other,"))
    shutil.copy(project / "baseline" / "record.json", tmp_path)
    code, output = run_pytest(project, "--harness", "c.yaml", "--harness-baseline", str(tmp_path), "-rs")
    assert code == 0, output
    assert "1 skipped" in output
    assert "the baseline has no setting of this name, so no drop is tested" in output


def test_what_fails_reads_like_a_sentence_and_links_the_page(project):
    code, output = run_pytest(project, "--harness", "c.yaml", "--harness-min", "1.5")
    assert code == 1
    assert "below the 1.5 required. Lowest: q1 (" in output
    assert "Page: file://" in output
    # no line of code says anything about the retriever
    assert "assertions.py" not in output


def test_a_drop_fails_its_test_and_no_other(tmp_path, monkeypatch):
    write_files(tmp_path, REPEATED)
    monkeypatch.chdir(tmp_path)
    bench(Path("c.yaml"))[1].rename("baseline")
    (tmp_path / "c.yaml").write_text(DROPPED)
    rules = ("--harness-baseline", "baseline", "--harness-max-drop", "0.02", "--harness-min", "0")
    code, output = run_pytest(tmp_path, "--harness", "c.yaml", *rules, "-v")
    assert code == 1, output
    assert "c.yaml::min[base] PASSED" in output
    assert "c.yaml::drop[base] FAILED" in output
    # second of two, and then lost: 1 / log2(3) = 0.6309
    assert "base: ndcg_exp@10 0.6309 to 0.0000 over 8 queries: a drop of 0.6309" in output
    assert "Page: file://" in output


def test_without_a_rule_nothing_would_be_tested_and_that_is_told(project):
    code, output = run_pytest(project, "--harness", "c.yaml")
    assert code != 0
    assert "nothing is required" in output


def test_the_fixture_has_the_rules_of_the_configuration(project):
    test = (
        "import harness\n"
        "def test_search(harness_gate):\n"
        "    harness_gate('baseline')\n"
        "def test_more(harness_gate):\n"
        "    harness_gate('baseline', min=1.5)\n"
    )
    (project / "pytest.ini").write_text("[pytest]\nharness_min = 0.5\nharness_baseline = baseline\n")
    code, output = run_pytest(project, "test_search.py", installed=True, test_search=test)
    assert code == 1, output
    assert "1 failed, 1 passed" in output
    assert "below the 1.5 required" in output
    assert "raise AssertionError" not in output  # the line of the test is shown, and none of the package
    # the folder of the baseline lies at the root, wherever pytest is started
    (project / "sub").mkdir()
    (project / "sub" / "test_here.py").write_text(
        "def test_search(harness_gate):\n    harness_gate('../baseline', min=0.5)\n"
    )
    code, output = run_pytest(project, "test_here.py", at="sub")
    assert code == 0, output
    # an option is typed where pytest is started
    code, output = run_pytest(project, "test_here.py", "--harness-baseline", "baseline", at="sub")
    assert code == 1, output


def test_an_assertion_without_a_rule_is_refused(project):
    with pytest.raises(ConfigError, match="give min, baseline or both"):
        harness.assert_ndcg(project / "baseline")


def test_a_drop_is_an_assertion_error_with_the_gate_s_words(tmp_path):
    texts = {"a": "The harbour was built in 1890.\n\nShips pay ten crowns.", "b": "The museum opens at ten."}
    queries = {f"q{number}": f"When was the harbour built, {number}?" for number in range(1, 9)}
    quote = "The harbour was built in 1890."
    labels = [{"query_id": query, "document": "a", "quote": quote, "grade": 4} for query in queries]
    returned = [quote, "The museum opens at ten."]
    places = {"cache": tmp_path / "cache", "name": "mine", "measures": ["ndcg_exp@3"]}
    before, after = (
        harness.evaluate(
            {"s": lambda query, hits=hits: hits}, queries, labels, texts, results=tmp_path / name, **places
        )
        for name, hits in (("before", returned), ("after", returned[::-1]))
    )
    harness.assert_ndcg(after, min=0.6, baseline=before, max_drop=0.5)
    with pytest.raises(
        AssertionError, match=r"s: ndcg_exp@3 1.0000 to 0.6309 over 8 queries: a drop of 0.3691"
    ):
        harness.assert_ndcg(after, baseline=before, max_drop=0.02)


def test_the_plugin_is_an_entry_point_and_light():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert '[project.entry-points.pytest11]\nndcg-harness = "harness.cli.pytest_plugin"' in text
    heavy = (
        "import sys, harness.cli.pytest_plugin; "
        "print([name for name in ('numpy', 'pandas', 'torch') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", heavy],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.stdout == "[]\n"
