"""The notebooks: without outputs in the repository, and run from the first cell to the last by a kernel."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.external.libraries import python_with

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
# what Jupyter and the notebooks need beyond what is installed here
WANTED = ("nbclient", "ipykernel", "langchain-core", "langchain-text-splitters", "llama-index-core")


def cells(path, kind="code"):
    return [
        cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == kind
    ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_output_is_committed(path):
    assert cells(path)
    for cell in cells(path):
        assert (cell["outputs"], cell["execution_count"], cell["metadata"]) == ([], None, {})


@pytest.fixture(scope="module")
def jupyter(tmp_path_factory):
    """A Python with a kernel and the libraries, beside what is installed here."""
    return python_with(tmp_path_factory.mktemp("jupyter"), *WANTED)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["start", "own_retriever"])
def test_a_notebook_runs_to_its_verdict(jupyter, name, tmp_path):
    folder = tmp_path / "notebooks"
    folder.mkdir()
    shutil.copy(ROOT / "notebooks" / f"{name}.ipynb", folder)
    shutil.copytree(ROOT / "corpora" / "meridian", tmp_path / "corpora" / "meridian")
    script = Path(__file__).with_name("execute_notebook.py")
    done = subprocess.run(
        [jupyter, script, folder / f"{name}.ipynb", tmp_path / "run.ipynb"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    outputs = [cell["outputs"] for cell in cells(tmp_path / "run.ipynb")]
    assert all(output.get("name") != "stderr" for some in outputs for output in some)
    (evaluated,) = (some for some in outputs if any("<svg" in html(output) for output in some))
    # each step of the run is a line below the cell, and the last output is the picture of the verdict
    steps = [html(output) for output in evaluated[:-1]]
    assert sum(bool(re.search(r"search: 63 in \d+ s", step)) for step in steps) == 2
    assert any(step.startswith("report: ") for step in steps)
    assert "<progress" not in "".join(steps)
    assert "Use " in html(evaluated[-1])
    (words,) = (text for some in outputs for text in map(stream, some) if text.startswith("Verdict: "))
    assert "63 queries on 10 documents" in words


def html(output):
    return "".join(output.get("data", {}).get("text/html", ""))


def stream(output):
    return "".join(output.get("text", ""))
