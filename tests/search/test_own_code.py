"""Steps of the user's own: called with texts, cached by the version stated, checked before they count."""

import pytest

from harness.running import load_config, make_plan
from harness.steps import RERANKERS, RETRIEVERS, REWRITERS
from harness.steps.custom.code import find_call
from harness.values import ConfigError, HarnessError, Silent
from tests.command import bench
from tests.search.test_steps import QUERIES, passages

PythonRerankerConfig = RERANKERS["python"].config
PythonScorer = RERANKERS["python"].make
PythonConfig = RETRIEVERS["python"].config
PythonRewriterConfig = REWRITERS["python"].config


def retrieve(tools, call, **more):
    config = PythonConfig(call=f"tests.search.own:{call}", version="1", **more)
    return tools.search("retrieve", config, passages(), QUERIES).rankings


def test_positions_without_scores_are_a_ranking_and_top_chars_cuts_it(tools):
    assert retrieve(tools, "places_only", top_k=2)[0].chunk_ids == passages().ids[:2]
    assert retrieve(tools, "places_only", top_chars=31)[0].chunk_ids == passages().ids[:2]


def test_the_version_stated_decides_whether_it_is_called_again(tools, monkeypatch):
    before = retrieve(tools, "shared_words", arguments={"weight": 2.0})
    monkeypatch.setattr("tests.search.own.shared_words", lambda *values, **more: 1 / 0)
    assert retrieve(tools, "shared_words", arguments={"weight": 2.0}) == before
    with pytest.raises(HarnessError, match=r"shared_words failed: ZeroDivisionError.*test_own_code.py:\d+"):
        retrieve(tools, "shared_words", arguments={"weight": 3.0})


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ([], "returned 0 lists for 3 queries"),
        ([[5]] * 3, "returned 5 for query q1: positions go from 0 to 4"),
        ([[0, 0]] * 3, "ranked a passage twice for query q1"),
        ([[(0, 1.0), (1, 2.0)]] * 3, "returned scores that rise for query q1"),
    ],
)
def test_an_answer_that_breaks_the_contract_is_named(tools, answer, says):
    with pytest.raises(HarnessError, match=says):
        retrieve(tools, "given", arguments={"answer": answer})


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ("no_number", "returned nan for query q1, which is not a score"),
        ("leaves", r"failed: SystemExit: 0 \(own\.py:\d+\)"),
        ("fails", r"failed: KeyError: 'index' \(own.py:\d+\)"),
        ("fails_late", r"failed: ZeroDivisionError: .* \(own.py:\d+\)"),
    ],
)
def test_code_that_fails_or_returns_no_number_is_named(tools, call, says):
    with pytest.raises(HarnessError, match=says):
        retrieve(tools, call)


@pytest.mark.parametrize(
    "call",
    ["LangChainLike", "LlamaIndexLike", pytest.param("real_langchain", marks=pytest.mark.slow)],
)
def test_a_retriever_of_langchain_or_llamaindex_ranks_as_it_says(tools, call):
    expected = retrieve(tools, "shared_words", top_k=3)
    found = retrieve(tools, call, top_k=3, returns="retriever")
    assert [one.chunk_ids for one in found] == [one.chunk_ids for one in expected]
    if call == "LlamaIndexLike":
        assert [one.scores for one in found] == [one.scores for one in expected]


def test_a_hit_without_a_place_must_have_the_text_of_a_passage(tools):
    with pytest.raises(HarnessError, match=r"'The y' for .*is not the text of a passage"):
        retrieve(tools, "Shortens", returns="retriever")
    with pytest.raises(HarnessError, match="returned list, which has neither `invoke`"):
        retrieve(tools, "too_few_arguments", returns="retriever")


def test_rewriters_and_rerankers_are_checked_too(tools):
    def own(kind, call, **arguments):
        return kind(call=f"tests.search.own:{call}", version="1", arguments=arguments)

    polite = own(PythonRewriterConfig, "polite", ending="thanks")
    assert tools.rewritten(polite, QUERIES)[0].text == "How many vehicles fit the yard? thanks"
    with pytest.raises(HarnessError, match="returned None, which is not text"):
        tools.rewritten(own(PythonRewriterConfig, "given", answer=[None] * 3), QUERIES)
    with pytest.raises(HarnessError, match=r"returned 1 text, not one text for each of \d+ questions"):
        tools.rewritten(own(PythonRewriterConfig, "given", answer=["one"]), QUERIES)
    # half of a character, which no tokenizer takes
    assert tools.rewritten(own(PythonRewriterConfig, "halved"), QUERIES)[0].text.endswith(chr(0xFFFD))
    scorer = PythonScorer(own(PythonRerankerConfig, "lengths"))
    scorer.try_out()
    assert scorer.score([("a", "bb"), ("a", "b")]).tolist() == [2.0, 1.0]
    with pytest.raises(HarnessError, match=r"returned scores of shape \(1,\), not one for each of 2 pairs"):
        PythonScorer(own(PythonRerankerConfig, "given", answer=[1.0])).score([("a", "bb"), ("a", "b")])
    with pytest.raises(HarnessError, match="returned scores that are not numbers"):
        PythonScorer(own(PythonRerankerConfig, "huge")).score([("a", "bb")])


def test_own_steps_run_from_yaml_found_in_the_working_folder(write_config, tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(
        "def by_length(queries, passages, k):\n"
        "    order = sorted(range(len(passages)), key=lambda i: -len(passages[i]))\n"
        "    return [order[:k] for _ in queries]\n"
        "def shortest(pairs):\n"
        "    return [-len(p) for _, p in pairs]\n"
    )
    monkeypatch.chdir(tmp_path)
    path = write_config(
        chunk="{kind: recursive, chunk_size: 90}",
        retrieve="{kind: python, call: 'mine:by_length', version: a1, top_k: 5}",
        rerank="{kind: python, call: 'mine:shortest', version: a1}",
        more="measures: [ndcg_exp@3]",
    )
    results, _ = bench(path)
    first, second = (results.runs["base", stage][0].chunk_ids for stage in ("retrieve", "rerank"))
    assert set(first) == set(second)
    assert len(first) == 5
    assert first != second
    assert results.record.models["mine:shortest"]["origin"] == "python"


def test_a_plan_runs_a_rewriter_only_where_a_language_model_rewrites_its_texts(lexical, monkeypatch):
    monkeypatch.setenv("FAKE_KEY", "sk-do-not-show-me-4711")
    calls = []
    monkeypatch.setattr(
        "tests.search.own.polite", lambda questions: calls.append(questions) or questions, raising=True
    )
    own = "{kind: python, call: 'tests.search.own:polite', version: a}"
    model = "{kind: llm, endpoint: {model: m, base_url: 'http://localhost:9', api_key_env: FAKE_KEY}}"
    for first, second, times in ((own, "null", 0), ("null", own, 0), (model, own, 0), (own, model, 1)):
        calls.clear()
        path = lexical(
            retrieve=f"{{kind: bm25, rewrite: {second}}}",
            more=f"rewrite: {first}\nmeasures: [ndcg_exp@3]",
            cache="own-cache",
        )
        make_plan(load_config(path), Silent())
        assert len(calls) == times, (first, second)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("divides", "1 / 0"),
        ("broken", "def f(:"),
        ("lacks", "from os import nothing_of_the_kind"),
        ("leaves", "raise SystemExit(0)"),
    ],
)
def test_a_module_that_cannot_be_imported_is_named(name, content, tmp_path, monkeypatch):
    (tmp_path / f"cannot_{name}.py").write_text(content)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=rf"cannot_{name} cannot be imported: \w+(Error|Exit): [^<]*$"):
        find_call(f"cannot_{name}:f")
