"""Every file of configs/recipes runs as it stands, at one local endpoint, on few questions.

The files are not changed: the environment sends what they ask of localhost:8000 to a server on a free port.
Vectors are those of hashed words.
tests/test_recipes.py runs most of them on all questions, with the shipped models, and reads what comes out.
"""

import shutil
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest

from benchmarks import example_index
from benchmarks.rule_endpoint import ALL_QUERIES, Rules, server
from tests.command import exit_code, save_table, table
from tests.docs_commands import kept, small_folder
from tests.shipped_models import Models
from tests.test_docs_commands import TO_RUN

ROOT = Path(__file__).parent.parent
RECIPES = Path("configs/recipes")
FILES = sorted(path.name for path in (ROOT / RECIPES).glob("*.yaml"))
SAMPLE = ROOT / "corpora" / "rgb_sample"
ENDPOINT = "http://localhost:8000/v1"
# the commands of docs/tune.md are run by their own test
ELSEWHERE = {"tune.yaml": "harness tune configs/recipes/tune.yaml"}
MOST = 4
"""Questions that are kept of a file: what a run reports of each takes the time."""
# of the first pages of the 10-K; the last has no answer there
FIRST = ("mq001", "mq006", "mq020")
QUESTIONS = (
    (RECIPES / "ten_k_queries.csv", RECIPES / "ten_k_labels.csv"),
    (RECIPES / "abilities_queries.csv", RECIPES / "abilities_labels.csv"),
    (Path("corpora/meridian/queries.csv"), Path("corpora/meridian/labels.csv")),
    (Path("corpora/meridian/quickstart_queries.csv"), Path("corpora/meridian/quickstart_judged.csv")),
)


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """What a clone has, with few pages and questions."""
    folder = small_folder(tmp_path_factory.mktemp("clone"))
    for queries, labels in QUESTIONS:
        graded = [row for row in table(folder / labels) if kept(row)]
        of_query = Counter(row["query_id"] for row in graded)
        rows = sorted(
            table(folder / queries),
            # a judge is fitted to 30 grades of train queries at least
            key=lambda row: (
                row["query_id"] not in FIRST,
                row["split"] != "train",
                -of_query[row["query_id"]],
            ),
        )[:MOST]
        ids = {row["query_id"] for row in rows}
        save_table(folder / queries, rows)
        save_table(folder / labels, [row for row in graded if row["query_id"] in ids])
    return folder


@pytest.fixture
def endpoint(monkeypatch):
    """The requests that an endpoint by rules gets for localhost:8000, by what they ask for."""
    with server(0, Rules.of(*ALL_QUERIES)) as serving:
        asked = []
        answer = serving.RequestHandlerClass.do_POST

        def noted(handler):
            asked.append(handler.path)
            answer(handler)

        monkeypatch.setattr(serving.RequestHandlerClass, "do_POST", noted)
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        for name in ("HTTP_PROXY", "NO_PROXY", "no_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{serving.server_port}")
        yield asked
        serving.shutdown()


def bench(name):
    """Run a benchmark; its results have values of rankings, and of answers where it asks for some."""
    assert exit_code("bench", RECIPES / f"{name}.yaml", "--quiet") == 0
    results = Path("results") / name
    assert any(row["mean"] for row in table(results / "summary.csv"))
    if "\nanswer:" in (RECIPES / f"{name}.yaml").read_text(encoding="utf-8"):
        assert any(row["mean"] for row in table(results / "answer_summary.csv"))


@pytest.mark.slow
@pytest.mark.parametrize("file", [file for file in FILES if file not in ELSEWHERE])
def test_a_recipe_runs_as_it_stands(file, clone, endpoint, monkeypatch, capsys):
    monkeypatch.chdir(clone)
    monkeypatch.setattr(Models, "real", False)
    name = file.removesuffix(".yaml")
    if name == "testset":
        Path("reviewed").mkdir()
        shutil.copy(RECIPES / file, "reviewed")
        assert exit_code("testset", "reviewed", "propose") == 0
        assert exit_code("testset", "reviewed", "choose", "--auto") == 0
        assert any(row["keep"] == "yes" for row in table(Path("reviewed/chosen.csv")))
    else:
        if name == "existing-index":
            monkeypatch.setattr(sys, "argv", ["example_index"])
            example_index.main()
        bench(name)
    # what names the endpoint asks it, and nothing else does
    assert bool(endpoint) == (ENDPOINT in (RECIPES / file).read_text(encoding="utf-8"))
    assert all(target.startswith(f"{ENDPOINT}/") for target in endpoint)


@pytest.mark.parametrize("file", ELSEWHERE)
def test_a_recipe_that_runs_elsewhere_does(file):
    assert file in FILES
    assert ELSEWHERE[file].split() in [command.words for page in TO_RUN.values() for command in page]


def test_the_sample_of_rgb_is_what_the_import_makes_of_its_files(tmp_path, capsys):
    made = tmp_path / "rgb_sample"
    assert exit_code("import", "rgb", SAMPLE / "source", "--to", made) == 0
    names = {path.relative_to(made) for path in made.rglob("*") if path.is_file()}
    shipped = {path.relative_to(SAMPLE) for path in SAMPLE.rglob("*") if path.is_file()}
    assert shipped - names == {path.relative_to(SAMPLE) for path in (SAMPLE / "source").iterdir()}
    for name in names - {Path("README.md")}:
        assert (made / name).read_bytes() == (SAMPLE / name).read_bytes()
