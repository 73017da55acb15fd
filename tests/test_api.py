"""`import harness`: what commands can do, a script and a notebook can."""

import doctest
import math
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import yaml

import harness
from harness.cli import api
from harness.cli.notebook import progress_shown
from harness.cli.terminal import TerminalReporter
from harness.running import run_bench
from harness.values import ConfigError, HarnessError, Silent
from tests.bench.conftest import corpus, lexical, shared_cache, write_config
from tests.command import YARD, write_files

__all__ = ["corpus", "lexical", "shared_cache", "write_config"]


def test_a_run_leaves_tables_a_verdict_and_a_page(write_config):
    results = harness.run(write_config(more="measures: [ndcg_exp@3, ndcg_text@300, recall@3]"))
    assert isinstance(results, harness.Results)
    assert set(results.summary["stage"]) == {"retrieve", "rerank"}
    assert results.per_query["value"].dtype == "float64"
    assert (results.folder / "report.html").stat().st_size > 10_000
    page = results.report(results.folder / "again.html")
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    compared = results.compare("ndcg_exp@3")
    assert compared.as_dict()["measure"] == "ndcg_exp@3"
    assert len(compared.differences) == 1
    assert "90 characters" in str(results)
    assert str(harness.Results(str(results.folder))) == str(results)
    again = harness.read_results(str(results.folder))
    assert again.table("rankings")["rank"].min() == 1
    assert harness.compare(again, baseline="chunk=90/0").verdict.baseline == "chunk=90/0"


def test_results_without_a_verdict_say_why(write_config, corpus):
    (corpus / "labels.csv").write_text('query_id,document,quote,grade\nq1,people,"39,717 people",0\n')
    results = harness.run(write_config(rerank="null", retrieve="{kind: bm25}"))
    assert str(results).startswith("There is no verdict: No query has a value of ")
    assert results._repr_html_() == str(results)


def test_runs_of_other_tools_are_scored_from_dictionaries_frames_and_files(tmp_path):
    run = {"q1": {"d1": 3.0, "d2": 2.0}, "q2": {"d9": 1.0}}
    qrels = {"q1": {"d1": 0, "d2": 2}, "q2": {"d8": 1}}
    from_dicts = harness.score(run, qrels, ["ndcg_exp@10", "recall@10"])
    # DCG of q1: 3 / log2(3), over the ideal 3
    assert from_dicts.loc["q1", "ndcg_exp@10"] == pytest.approx(1 / math.log2(3))
    assert from_dicts.loc["q2", "recall@10"] == 0
    frame = pd.DataFrame([(q, d, s) for q, docs in run.items() for d, s in docs.items()])
    frame.columns = ["query_id", "doc_id", "score"]
    (tmp_path / "qrels.txt").write_text("q1 0 d1 0\nq1 0 d2 2\nq2 0 d8 1\n")
    from_files = harness.score(frame, tmp_path / "qrels.txt", ["ndcg_exp@10", "recall@10"])
    pd.testing.assert_frame_equal(from_dicts, from_files.loc[from_dicts.index])
    # one measure may stand alone
    assert list(harness.score(run, qrels, "ndcg_exp@10").columns) == ["ndcg_exp@10"]


def test_ndcg_of_one_ranking_has_the_ideal_of_all_that_was_judged():
    # gains 1, 0, 15 at ranks 1 to 3; the ideal 15, 7, 1 of which the 7 was never retrieved
    found = 1 + 15 / 2
    best = 15 + 7 / math.log2(3) + 1 / 2
    assert harness.ndcg([1, 0, 4], [4, 3, 1, 0], k=3) == pytest.approx(found / best)
    assert harness.ndcg([2, 0], [2], gain="lin") == 1
    assert math.isnan(harness.ndcg([0, 0], [0, 0]))
    assert harness.ndcg([], [3]) == 0
    assert harness.ndcg([3], [3], k=10**30) == 1
    values = harness.score({("a", 1): {"d": 1.0}}, {("a", 1): {"d": 1}}, None)
    assert values.index.tolist() == [("a", 1)]


TINY = {
    "name": "tiny",
    "documents": "docs/*.txt",
    "queries": Path("queries.csv"),
    "labels": "labels.csv",
    "chunk": {"kind": "recursive", "chunk_size": np.int64(90), "chunk_overlap": 0},
    "retrieve": {"kind": "bm25", "top_k": 10},
    "measures": ("ndcg_exp@3", "recall@3"),
}


def test_a_dict_is_a_configuration_as_a_file_with_the_same_keys(corpus, shared_cache, monkeypatch):
    monkeypatch.chdir(corpus)
    results = harness.run({**TINY, "cache": shared_cache})
    assert set(results.summary["measure"]) >= {"ndcg_exp@3", "recall@3"}
    plain = {**TINY, "queries": "queries.csv", "measures": list(TINY["measures"])}
    plain["chunk"] = {**TINY["chunk"], "chunk_size": 90}
    (corpus / "tiny.yaml").write_text(yaml.safe_dump(plain))
    read = harness.load_config("tiny.yaml")
    assert read.model_dump() == harness.load_config(TINY).model_dump()


RING: dict[str, object] = {}
RING["chunk"] = RING
RUN, QRELS = {"q1": {"d1": 0.9}}, {"q1": {"d1": 3}}


def pairs(**columns):
    """A DataFrame of one pair."""
    return pd.DataFrame({"query_id": ["q"], "doc_id": ["d"], **columns})


@pytest.mark.parametrize(
    ("function", "given", "message"),
    [
        (harness.run, [42], "path of a YAML file or a dict of its keys, not int"),
        (
            harness.run,
            [{**TINY, "docments": "x"}],
            "docments: there is no such key .did you mean 'documents'",
        ),
        (harness.run, [{**TINY, "retrieve": {"top_k": object()}}], "retrieve.top_k: this cannot be object"),
        (harness.run, [{**TINY, **RING}], "nested deeper"),
        (harness.score, [5, QRELS], "run is a dict, a DataFrame or a file, not int"),
        (harness.score, [RUN, [1]], "qrels is a dict, a DataFrame or a file, not list"),
        (harness.score, [RUN, {"q1": {"d1": math.nan}}], "document d1: the grade is not a whole number"),
        (harness.score, [{1: {"d1": 1}}, {"1": {"d1": 1}}], "common: run has 1, qrels has '1'"),
        (harness.score, [{"q": {7: 1}}, {"q": {"7": 1}}], "run names documents as 7, qrels as '7'"),
        (harness.score, [pa.table({"query_id": ["q"]}), QRELS], "not Table"),
        (harness.score, [RUN, QRELS, [10]], "10"),
        (harness.score, [{1: {7: 1}}, pairs(grade=[1])], "ids of a dictionary that meet a table"),
        (harness.score, [pairs(score=[1.0]), pairs(grade=[1], query_id=["r"])], "common: run has 'q'"),
        (harness.score, [{"q1": 3}, QRELS], "query q1 needs a dict: {document: score}"),
        (harness.read_results, [5], "by their folder, .* not int"),
        (harness.read_results, ["/nowhere"], "no benchmark results"),
        (harness.compare, [None], "by their folder, .* not NoneType"),
        (harness.compare, [], "Name the results"),
        (harness.ndcg, [[1], [1], 10, "expo"], "gain is 'expo'; it can be exp or lin"),
        (harness.ndcg, [[3, 3], [3, 2]], "grade 3 more often than judged"),
        (harness.ndcg, [[3, 0], [2]], "grade 3 more often than judged"),
        (harness.ndcg, [[0, -1], [2]], "below 0"),
        (harness.ndcg, [[2], [2], 0], "k is 0"),
        (harness.ndcg, [[2], [2], 1.5], "k is 1.5"),
        (harness.ndcg, [[2], [2], "10"], "k is 10"),
        (harness.ndcg, [[2.5, 0], [2.5, 1]], "not a whole number"),
        (harness.ndcg, [[math.nan], [2]], "not a whole number"),
        (harness.ndcg, [["a"], [2]], "ranked has an entry that is no grade"),
        (harness.ndcg, [[2], [[2]]], "judged is not a whole number"),
        (harness.ndcg, [[10**30], [10**30]], "too large"),
    ],
)
def test_what_is_wrong_is_refused_in_our_words(function, given, message):
    kinds = {harness.run: ConfigError, harness.ndcg: ValueError}
    with pytest.raises(kinds.get(function, (HarnessError, ValueError)), match=message):
        function(*given)


def test_dir_shows_what_is_meant_for_people_and_nothing_else_is_there():
    assert dir(harness) == sorted([*harness.__all__, "__version__"])
    assert all(hasattr(harness, name) for name in dir(harness))
    assert not hasattr(harness, "ndgc")


def test_progress_in_a_notebook_is_a_bar_that_ends(monkeypatch):
    drawn = []
    place = SimpleNamespace(update=lambda drawing, raw: drawn.append(drawing))

    def display(drawing, raw, display_id):
        drawn.append(drawing)
        return place

    kernel = SimpleNamespace(kernel=True)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: kernel))
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display))
    reporter = progress_shown()
    with reporter.task("vectors <b>", 3) as task:
        task.advance(3)
    assert '<progress value="0" max="3">' in drawn[0]["text/html"]
    assert drawn[-1]["text/html"].startswith("vectors &lt;b&gt;: 3")
    with pytest.raises(KeyError), reporter.task("pairs", 3):
        raise KeyError
    assert drawn[-1]["text/plain"].startswith("pairs: 0 of 3")
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    assert isinstance(progress_shown(), TerminalReporter)


def test_importing_is_light_and_a_library_that_misses_widgets_does_not_warn():
    code = (
        "import harness, sys, warnings\n"
        "print(sorted({'numpy', 'torch', 'pydantic', 'pandas'} & set(sys.modules)))\n"
        "harness.run; warnings.warn('IProgress not found. Please update')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


@pytest.mark.slow
def test_a_plain_script_reads_pdfs_without_a_main_guard(tmp_path):
    from tests.corpus.attacks import LINE, pages_of

    script = (
        "print('started')\n"
        "import harness\n"
        "config = harness.load_config('c.yaml')\n"
        "from harness.running.session import Session\n"
        "from harness.running.corpora import load_corpus\n"
        "from harness.values.progress import Silent\n"
        "with Session.at(config.cache, Silent()) as session:\n"
        "    print(len(load_corpus(config, session.document_reader).documents))\n"
    )
    files = {"a.pdf": pages_of(LINE, LINE), "b.pdf": pages_of(LINE), "script.py": script}
    labels = "query_id,document,page,grade\nq1,a,1,4\n"
    config = YARD["c.yaml"].replace("*.txt", "*.pdf")
    write_files(tmp_path, YARD | files | {"labels.csv": labels, "c.yaml": config})
    root = str(Path(harness.__file__).parent.parent)
    done = subprocess.run(
        [sys.executable, "script.py"],
        cwd=tmp_path,
        env={"PYTHONPATH": root, "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    assert done.stdout.split() == ["started", "2"], done.stderr


def test_the_same_result_again_keeps_the_page_of_the_first(write_config):
    config = harness.load_config(write_config(rerank="null", retrieve="{kind: bm25}"))
    first = harness.run(config)
    page = (first.folder / "report.html").read_bytes()
    (first.folder.parent / "notes.md").write_text("mine")
    # as a script may run it, without a page of its own
    _, folder = run_bench(config, Silent())
    assert folder == first.folder
    assert (folder / "report.html").read_bytes() == page
    assert (folder.parent / "notes.md").read_text() == "mine"

    def fails(unfinished, results):
        raise HarnessError("no page today")

    with pytest.raises(HarnessError, match="no page today"):
        run_bench(config, Silent(), fails)
    assert (folder / "report.html").read_bytes() == page
    assert sorted(path.name for path in folder.parent.iterdir()) == ["notes.md", "tiny"]


def test_what_a_user_has_put_into_a_result_survives_the_next_run(write_config):
    config = harness.load_config(write_config(rerank="null", retrieve="{kind: bm25}"))
    first = harness.run(config)
    (first.folder / "notes.md").write_text("mine")
    harness.run(config, again=True)
    kept = [path.read_text() for path in first.folder.parent.rglob("notes.md")]
    assert kept == ["mine"]


def test_the_examples_in_the_docstrings_hold(lexical, tmp_path, monkeypatch):
    # With chunks of 90 characters q1 finds its passage second, 1 / log2(3) = 0.63; all else is found first,
    # so the mean of four is 0.91. NDCG of (3, 0, 2): (7 + 3 / 2) / (7 + 3 / log2(3) + 3 / 2) = 0.818.
    lexical(chunk="{kind: recursive, chunk_size: [90, 180]}")
    monkeypatch.chdir(tmp_path)
    harness.run("bench.yaml")
    outcome = doctest.testmod(api, extraglobs={"harness": harness}, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert outcome.attempted >= 10
    assert outcome.failed == 0
