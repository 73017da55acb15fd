"""Chinese, end to end: a PDF with embedded fonts, a table, questions; searched, judged, shown."""

import shutil
import sys
from pathlib import Path

import pytest
from rich.cells import cell_len

from harness.running import load_config, make_plan, run_bench, write_page
from harness.values import Silent
from tests.command import run
from tests.judge.fake_server import FakeServer, grade
from tests.report.conftest import chromium
from tests.report.page_browser import check

__all__ = ["chromium"]

ROOT = Path(__file__).parent.parent
CORPUS = ROOT / "corpora" / "lanchuan"
PAGE = (ROOT / "docs" / "chinese.md").read_text(encoding="utf-8")
CONFIG = ROOT / "configs" / "lanchuan.yaml"
LEXICAL = CONFIG.read_text(encoding="utf-8").split("settings:")[0]


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def write(tmp_path, cache, monkeypatch):
    """Write a configuration over the collection."""
    monkeypatch.chdir(ROOT)

    def write_config(text):
        path = tmp_path / "lanchuan.yaml"
        path.write_text(f"{text}\ncache: {cache}\nresults: {tmp_path}/results\n", encoding="utf-8")
        return path

    return write_config


@pytest.fixture(scope="module")
def finished(tmp_path_factory, cache):
    """The folder of results of the shipped configuration, and what was warned of."""
    folder = tmp_path_factory.mktemp("results")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        config = load_config(CONFIG).model_copy(update={"cache": cache, "results": folder})
        reporter = Silent()
        results, place = run_bench(config, reporter)
    return results, place, reporter


def scores_of(results):
    rows = [row for row in results.summary if row.measure == "ndcg_exp@5" and row.split == "all"]
    scores = {row.setting: row.mean for row in rows}
    shown = [
        row.split("|")[2].strip()
        for row in PAGE.splitlines()
        if row.startswith(("| BM25", "| dense", "| min"))
    ]
    settings = ("bm25 analyser=auto", "bm25 analyser=plain", "chroma", "minmax")
    return [scores[name] for name in settings], shown


def test_words_are_found_by_pairs_of_characters_and_not_by_runs(finished):
    results, _, _ = finished
    scores, shown = scores_of(results)
    assert [f"{score:.3f}" for score in scores[:2]] == shown[:2]
    assert results.record.counts["documents"] == 3


@pytest.mark.slow
def test_the_model_reaches_the_figures_of_the_page(real_models, write):
    results, _ = run_bench(load_config(write(CONFIG.read_text(encoding="utf-8"))), Silent())
    scores, shown = scores_of(results)
    # what a model computes may differ between machines, enough to swap neighbours
    assert scores == pytest.approx(list(map(float, shown)), abs=0.03)


def test_an_english_model_is_warned_of_by_name(finished, write):
    (warning,) = [text for text in finished[2].warnings if "is for English only" in text]
    for part in ("embedded:all-MiniLM-L6-v2", "most are Chinese", "intfloat/multilingual-e5-small"):
        assert part in warning
    reporter = Silent()
    make_plan(load_config(write(LEXICAL + "retrieve: {kind: bm25}\nmeasures: [ndcg_exp@5]\n")), reporter)
    assert not [text for text in reporter.warnings if "English" in text]


@pytest.mark.parametrize("parser", ["pypdf", pytest.param("pypdfium2", marks=pytest.mark.slow)])
def test_every_label_is_found_in_the_text_of_either_parser(write, parser):
    path = write(LEXICAL + f"parse: {{kind: {parser}}}\nretrieve: {{kind: bm25}}\nmeasures: [ndcg_exp@5]\n")
    corpus = make_plan(load_config(path), Silent()).corpus
    assert [one for one in corpus.anchored.anchorings if not one.accepted] == []
    assert sum(not query.answerable for query in corpus.queries.queries) == 4
    assert len(corpus.queries.queries) == 20


@pytest.mark.parametrize("command", ["show --worst 20", "compare"])
def test_nothing_that_is_printed_is_wider_than_the_window(finished, capsys, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    word, *more = command.split()
    code, out, _ = run(capsys, word, finished[1], *more)
    lines = out.splitlines()
    assert code == 0
    assert [line for line in lines if cell_len(line) > 80] == []
    if word == "show":
        assert "    每股分红多少钱？" in lines
        # lines of the PDF are joined without blanks
        assert "公司将 部分" not in "\n".join(lines)


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("chromedriver"), reason="needs chromium and chromedriver on the path")
@pytest.mark.parametrize("width", [390, 1440])
def test_a_question_can_be_read_in_a_browser(chromium, finished, width):
    chromium.open(write_page(finished[1])[0].as_uri(), width)
    wide = "return document.documentElement.scrollWidth <= window.innerWidth"
    assert chromium.run(wide)
    chromium.run("[...document.querySelectorAll('tr')].find(r => r.textContent.includes('冬天')).click()")
    chromium.until("return document.body.innerText.includes('可用容量约减少一成')")
    assert chromium.run(wide)
    check(chromium)


@pytest.mark.slow
def test_a_judge_is_asked_in_chinese(write, monkeypatch):
    monkeypatch.setenv("FAKE_KEY", "sk-do-not-show-me-4711")

    def careful(request, number):
        text = request["body"]["messages"][-1]["content"]
        return grade(4 if "年产能合计" in text and "全部基地" in text else 0)

    with FakeServer(careful) as server:
        path = write(
            LEXICAL + "retrieve: {kind: bm25, top_k: 3}\n"
            "relevance:\n  judge: llm\n  prompt: pointwise_zh\n  pool: {unit: chunk, depth: 2}\n"
            f"  endpoint: {{model: fake-1, base_url: '{server.url}', api_key_env: FAKE_KEY}}\n"
            "measures: [ndcg_exp@3, judged@2]\n"
        )
        results, _ = run_bench(load_config(path), Silent())
        prompts = [request["body"]["messages"] for request in server.requests]
    assert len(prompts) > 20
    assert all("不要执行" in messages[0]["content"] for messages in prompts)
    assert any("年产能合计有多少？" in messages[-1]["content"] for messages in prompts)
    grades = {judgment.grade for judgment in results.judgments if judgment.judge != "human"}
    assert grades == {0, 4}


def test_the_report_is_built_from_its_source(monkeypatch):
    monkeypatch.syspath_prepend(str(CORPUS))
    sys.modules.pop("build", None)
    import build

    if not build.FONT.exists():
        pytest.skip("WenQuanYi Micro Hei is not installed (fonts-wqy-microhei)")
    assert build.build() == build.REPORT.read_bytes()
    sys.modules.pop("build")
