"""A model is loaded to try it once; it passes without that while nothing about it has changed."""

import pytest

import harness.running.run_models as running
from harness.models import EmbedConfig, SentenceEncoder
from harness.running import Session, load_config
from harness.running.readiness import check_ready
from harness.steps import RERANKERS
from harness.values import ModelError, Silent

LateInteractionConfig = RERANKERS["late_interaction"].config
LateInteractionScorer = RERANKERS["late_interaction"].make
PythonRerankerConfig = RERANKERS["python"].config
PythonScorer = RERANKERS["python"].make

MINILM = "embedded:all-MiniLM-L6-v2"


MAXSIM = "embedded:maxsim"
SERVED = "{model: m, base_url: 'http://127.0.0.1:9/v1', api_key_env: null}"
ALIKE = f"answer: {{kind: llm, endpoint: {SERVED}}}\nanswer_measures: "
BY_PAIRS = f'[{{kind: answer_similarity, by: cross_encoder, model: "{MAXSIM}"}}]\n'
LIKE = f'{{kind: semantic, model: "{MINILM}"}}'


@pytest.mark.parametrize(
    ("keys", "models"),
    [
        ({}, set()),
        ({"chunk": LIKE}, {MINILM}),
        ({"more": f"read: {{kind: parent, chunk: {LIKE}}}\n"}, {MINILM}),
        ({"retrieve": f'{{kind: exact, model: "{MINILM}", top_k: 5}}'}, {MINILM}),
        ({"rerank": "{kind: late_interaction, top_n: 3}"}, {MAXSIM}),
        ({"more": f"{ALIKE}[answer_similarity]\n"}, {MINILM}),
        ({"more": f"{ALIKE}{BY_PAIRS}"}, {MAXSIM}),
    ],
    ids=["words", "chunker", "reader", "retriever", "reranker", "measure", "measure by pairs"],
)
def test_each_model_that_a_step_needs_is_tried_before_a_run(keys, models, lexical, tried):
    config = load_config(lexical(**keys))
    with Session.at(config.cache, Silent()) as session:
        check_ready(config, session)
        assert {facts["name"] for facts in session.models.describe().values()} == models


@pytest.fixture
def tried(monkeypatch):
    """The classes of the models that were tried, in order."""
    found = []
    for kind in (SentenceEncoder, LateInteractionScorer, PythonScorer):
        monkeypatch.setattr(kind, "try_out", lambda self: found.append(type(self).__name__))
    return found


def attempt(cache, *, batch_tokens=2048):
    with Session.at(cache, Silent()) as session:
        session.models.encoder(EmbedConfig(model=MINILM, batch_tokens=batch_tokens))
        session.models.reranker(LateInteractionConfig(model="embedded:maxsim"))
        session.models.reranker(PythonRerankerConfig(call="math:fsum", version="1"))
        session.models.try_out(session.artifacts)


def test_another_setting_library_or_machine_tries_it_again(tmp_path, tried, monkeypatch):
    attempt(tmp_path)
    tried.clear()
    attempt(tmp_path, batch_tokens=512)
    assert tried == ["SentenceEncoder", "PythonScorer"]
    monkeypatch.setattr(running, "program_key", lambda: "newer libraries")
    tried.clear()
    attempt(tmp_path)
    assert tried == ["SentenceEncoder", "LateInteractionScorer", "PythonScorer"]
    monkeypatch.setattr(running.platform, "node", lambda: "another machine")
    tried.clear()
    attempt(tmp_path)
    assert tried == ["SentenceEncoder", "LateInteractionScorer", "PythonScorer"]


def test_a_failing_model_is_tested_again_in_each_run(tmp_path, tried, monkeypatch):
    def fail(self):
        raise ModelError("damaged")

    passing = SentenceEncoder.try_out
    monkeypatch.setattr(SentenceEncoder, "try_out", fail)
    for _ in range(2):
        with pytest.raises(ModelError, match="damaged"):
            attempt(tmp_path)
    monkeypatch.setattr(SentenceEncoder, "try_out", passing)
    attempt(tmp_path)
    assert tried[0] == "SentenceEncoder"
