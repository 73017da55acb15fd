"""What a run lacks is found before anything is computed or paid for, by validate, dry run and bench alike."""

import sys
from importlib.metadata import PackageNotFoundError, version

import pytest

from harness.running import load_config, make_plan
from harness.running.bench import flow, preparing
from harness.values import HarnessError, Silent

MODEL = 'model: "embedded:all-MiniLM-L6-v2"'
MISSING = {
    "a function": (
        {"retrieve": "{kind: python, call: 'no_such_module:serch', version: '1'}"},
        "no module no_such_module",
    ),
    "a function of a route": (
        {"retrieve": "{kind: rrf, routes: [{kind: bm25}, {kind: python, call: 'json:no', version: '1'}]}"},
        "json has no no",
    ),
    "a reranker": ({"rerank": "{kind: cross_encoder, model: ./no-such-model}"}, "no-such-model"),
    "the encoder of names": ({"rerank": "{kind: entities, model: ./no-such-model}"}, "no-such-model"),
    "a judge by vectors": ({"more": "relevance: {judge: cosine, model: ./no-such-model}"}, "no-such-model"),
    "a judge by pairs": (
        {"more": "relevance: {judge: cross_encoder, cuts: [1, 2, 3, 4], model: ./no-such-model}"},
        "no-such-model",
    ),
}
PACKAGES = {
    "openvino": f"{{kind: exact, {MODEL}, backend: openvino}}",
    "faiss": f"{{kind: faiss, {MODEL}}}",
    "jieba": "{kind: bm25, analyser: jieba}",
}
CHUNKS = {
    "langchain_text_splitters": "{kind: langchain}",
    "tiktoken": "{kind: recursive, chunk_size: 20, unit: cl100k_base}",
}


@pytest.fixture
def unread(monkeypatch):
    """Nothing may read the documents."""
    monkeypatch.setattr(preparing, "load_corpora", lambda *_: pytest.fail("documents were read first"))


@pytest.mark.parametrize("name", MISSING)
@pytest.mark.parametrize("start", [flow.run_bench, make_plan])
def test_what_is_missing_is_named_before_documents_are_read(name, start, lexical, unread):
    sections, says = MISSING[name]
    config = load_config(lexical(cache="fresh", **sections))
    with pytest.raises(HarnessError, match=says):
        start(config, Silent())


@pytest.mark.parametrize("package", PACKAGES)
def test_a_missing_package_is_named_too(package, lexical, unread, monkeypatch):
    def installed(name):
        if name == package:
            raise PackageNotFoundError(name)
        return version(name)

    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setattr("harness.steps.search.analyser.installed_version", installed)
    config = load_config(lexical(retrieve=PACKAGES[package], cache="fresh"))
    with pytest.raises(HarnessError, match="pip install 'ndcg-harness"):
        flow.run_bench(config, Silent())


@pytest.mark.parametrize("package", CHUNKS)
def test_a_missing_package_of_a_chunker_is_named_before_documents_are_read(
    package, lexical, unread, monkeypatch
):
    monkeypatch.setitem(sys.modules, package, None)
    config = load_config(lexical(chunk=CHUNKS[package], cache="fresh"))
    with pytest.raises(HarnessError, match=r"pip install 'ndcg-harness\["):
        flow.run_bench(config, Silent())


def test_a_missing_engine_is_named_before_documents_are_read(lexical, unread, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    config = load_config(lexical(more="engine: {kind: ray}", cache="fresh"))
    with pytest.raises(HarnessError, match=r"pip install 'ndcg-harness\[ray\]'"):
        flow.run_bench(config, Silent())


ENDPOINT = "model: far-1, base_url: 'http://127.0.0.1:9/v1', api_key_env: NO_SUCH_KEY"
ASKED = {
    "a judge": {"more": f"relevance: {{judge: llm, endpoint: {{{ENDPOINT}}}}}"},
    "a reranker": {"rerank": f"{{kind: endpoint, endpoint: {{{ENDPOINT}}}}}"},
    "an encoder": {"retrieve": f"{{kind: exact, endpoint: {{{ENDPOINT}}}}}"},
    "a rewriter": {"more": f"rewrite: {{kind: llm, endpoint: {{{ENDPOINT}}}}}"},
    "an encoder of answers": {
        "more": "answer: {kind: extractive, model: 'embedded:all-MiniLM-L6-v2'}\n"
        f"answer_measures: [answer_similarity]\nanswer_embedding: {{endpoint: {{{ENDPOINT}}}}}"
    },
    "an answerer": {"more": f"answer: {{kind: llm, endpoint: {{{ENDPOINT}}}}}"},
}


@pytest.mark.parametrize("name", ASKED)
def test_a_missing_key_ends_a_run_before_documents_are_read(name, lexical, monkeypatch):
    """With nothing stored of the endpoint; a plan and a dry run name it and go on."""
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    config = load_config(lexical(cache="fresh", **ASKED[name]))
    for search in (False, True):
        reporter = Silent()
        make_plan(config, reporter, search=search)
        assert sum("NO_SUCH_KEY" in text for text in reporter.warnings) == 1
    monkeypatch.setattr(preparing, "load_corpora", lambda *_: pytest.fail("documents were read first"))
    with pytest.raises(HarnessError, match="NO_SUCH_KEY is not set"):
        flow.run_bench(config, Silent())


def test_the_key_of_an_encoder_of_answers_is_not_needed_where_no_measure_embeds(lexical, monkeypatch):
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    answered = ASKED["an encoder of answers"]["more"].replace("answer_similarity", "token_f1")
    reporter = Silent()
    make_plan(load_config(lexical(cache="fresh", more=answered)), reporter)
    assert not any("NO_SUCH_KEY" in text for text in reporter.warnings)
