"""Kinds of other packages, by entry points: the example of docs/own-steps.md, and faulty ones."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import write_files
from tests.test_without_models import FILES

DOCS = Path(__file__).parent.parent / "docs" / "own-steps.md"
EXAMPLE = DOCS.read_text(encoding="utf-8").split("## Kinds of a package")[1].split("\n## ")[0]
CODE = re.search(r"```python\n(.*?)```", EXAMPLE, re.DOTALL)[1]
ENTRY = re.search(r"^\"(retrieve\..*?)\" = \"(.*?)\"$", EXAMPLE, re.MULTILINE)
METADATA = "Metadata-Version: 2.1\nName: words-kind\nVersion: 1.2\n"
BENCH = """\
name: small
documents: documents/*.txt
queries: queries.csv
labels: labels.csv
retrieve: {kind: shared_words, shortest: [1, 4], top_k: 5}
measures: [ndcg_exp@5]
"""


@pytest.fixture
def project(tmp_path):
    """A benchmark, and a folder of installed packages beside it."""
    write_files(tmp_path, FILES | {"bench.yaml": BENCH})
    return tmp_path


def install(project, code, entry=f"{ENTRY[1]} = {ENTRY[2]}"):
    """Install a package as pip would, by its files."""
    info = "site/words_kind-1.2.dist-info"
    entries = f"[harness.kinds]\n{entry}\n"
    files = {"site/shared_words.py": code, f"{info}/METADATA": METADATA, f"{info}/entry_points.txt": entries}
    write_files(project, files)


def harness(project, *words, refused=""):
    """Run a command, which must succeed, or be refused with a message; returns what it said on one line."""
    paths = os.pathsep.join([str(project / "site"), str(DOCS.parent.parent), *sys.path])
    done = subprocess.run(
        [sys.executable, "-m", "harness", *words],
        cwd=project,
        check=False,
        capture_output=True,
        text=True,
        timeout=900,
        env={**os.environ, "PYTHONPATH": paths},
    )
    said = " ".join((done.stderr if refused else done.stdout).split())
    assert (done.returncode, refused in said) == (bool(refused), True), done.stderr
    return said


def test_the_kind_of_a_package_is_swept_scored_and_recorded(project):
    install(project, CODE)
    harness(project, "bench", "bench.yaml")
    record = json.loads((project / "results/small/record.json").read_text(encoding="utf-8"))
    assert record["versions"]["words-kind"] == "1.2"
    summary = (project / "results/small/summary.csv").read_text(encoding="utf-8")
    # it is called what it says of itself
    assert "word overlap" in (project / "results/small/glance.svg").read_text(encoding="utf-8")
    # each question shares most words with its own document
    assert all(f"shortest={least},retrieve,all,ndcg_exp@5,1.0" in summary for least in (1, 4))


FAULTS = {
    "not installed": ("", "", "there is no kind 'shared_words'. Known kinds: "),
    "cannot be imported": ("import nowhere", ENTRY[2], "of the package words-kind cannot be loaded"),
    "ends the program": ("raise SystemExit(0)", ENTRY[2], "cannot be loaded (SystemExit: 0)"),
    "no kind": ("KIND = 5", ENTRY[2], "is no Kind of that name"),
    "another name": (CODE.replace('"shared_words"', '"other"'), ENTRY[2], "is no Kind of that name"),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_package_with_a_fault_is_named(project, fault):
    code, target, message = FAULTS[fault]
    if target:
        install(project, code)
    assert "bench.yaml:5: retrieve" in harness(project, "validate", "bench.yaml", refused=message)


@pytest.mark.slow
def test_a_retriever_that_leaves_out_a_query_or_fails_ends_the_run_and_is_not_called_a_fault_of_ours(project):
    install(project, CODE.replace("RetrievalResult(rankings)", "RetrievalResult(rankings[:-1])"))
    message = "shared_words did not return one ranking for each of the 2 queries"
    harness(project, "bench", "bench.yaml", refused=message)
    code = CODE.replace("        rankings = ", "        raise KeyError('q7')\n        rankings = ", 1)
    install(project, code)
    line = code.splitlines().index("        raise KeyError('q7')") + 1
    message = f"error: shared_words:{line} of a package failed: KeyError: 'q7'. The traceback is in"
    said = harness(project, "bench", "bench.yaml", refused=message)
    assert "please report it to those who make the package" in said


@pytest.mark.slow
def test_a_kind_of_ours_cannot_be_replaced(project):
    install(project, CODE.replace('"shared_words"', '"bm25"'), "retrieve.bm25 = shared_words:KIND")
    (project / "bench.yaml").write_text(BENCH.replace("shared_words", "bm25"), encoding="utf-8")
    # the key is one of the package's kind alone
    harness(project, "validate", "bench.yaml", refused="bench.yaml:5: retrieve.shortest")


MORE = """
import numpy as np
from harness.data import ImportFormat, ImportSummary, TraceFormat, TraceStep
from harness.measures import Family

def first(data, cutoff):
    return np.ones(len(data.query_ids)) if hasattr(data, "query_ids") else np.full(2, 0.5)

FAMILY = Family(first, about="half of a half", trusted_for="for nothing")

def read(source, target):
    target.mkdir(parents=True)
    return ImportSummary(target, 1, 2, 3, ("Read by a package.",))

FORMAT = ImportFormat("what a package reads", read)

def steps(records):
    return [TraceStep(row["mine"], "1", "", "", "other", row["asked"], row["got"]) for row in records]

TOOL = TraceFormat(lambda record: "mine" in record, steps)
"""
SCORE = ("score", "--run", "run.txt", "--qrels", "qrels.txt", "--measures", "half")


def test_a_package_adds_measures_and_formats(project):
    kinds = "measures.half = shared_words:FAMILY\nimport.mine = shared_words:FORMAT"
    install(project, MORE, f"{kinds}\ntraces.mine = shared_words:TOOL")
    assert "0.5" in harness(project, *SCORE)
    assert "1 document, 2 queries, 3 labels" in harness(
        project, "import", "mine", "queries.csv", "--to", "out"
    )
    (project / "traces.jsonl").write_text('{"mine": "t1", "asked": "Why?", "got": "So."}\n', encoding="utf-8")
    assert "Read as mine." in harness(project, "import", "traces", "traces.jsonl", "--to", "traces")


@pytest.mark.parametrize("wrong", ["0.5", "np.full(2, np.inf)", "np.full(3, 0.5)", "np.array(['a', 'b'])"])
def test_a_measure_that_gives_no_number_for_each_query_is_refused(project, wrong):
    code = MORE.replace(
        'np.ones(len(data.query_ids)) if hasattr(data, "query_ids") else np.full(2, 0.5)', wrong
    )
    install(project, code, "measures.half = shared_words:FAMILY")
    message = "half did not give each of the 2 queries a finite number or NaN"
    harness(project, *SCORE, refused=message)


JUDGE = """
from typing import Literal

from harness.judge import PoolJudgeConfig
from harness.values import Kind


class MineConfig(PoolJudgeConfig):
    kind: Literal["mine"] = "mine"
    wise: bool = True


KIND = Kind(MineConfig, lambda config, tools: None)
"""


@pytest.mark.slow
def test_a_package_adds_a_judge(project):
    install(project, JUDGE, "relevance.judge.mine = shared_words:KIND")
    judged = BENCH.replace("shared_words, shortest: [1, 4]", "bm25")
    judged += "relevance: {judge: mine, foolish: true}\n"
    (project / "bench.yaml").write_text(judged, encoding="utf-8")
    assert "wise" in harness(project, "validate", "bench.yaml", refused="relevance.foolish")
