"""Tokens that are words in one setting and a model's in another are not put side by side."""

import pytest
import yaml

import harness
from harness.values import ConfigError
from tests.command import YARD, write_files

MEASURES = ["ndcg_evidence@200", "ndcg_evidence_tokens@50"]


def ran(folder, name, tokenizer):
    config = yaml.safe_load(YARD["c.yaml"]) | {"name": name, "tokenizer": tokenizer, "measures": MEASURES}
    return harness.run(config).folder


def test_costs_are_left_out_and_measures_of_tokens_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path, YARD)
    words, model = ran(tmp_path, "words", "words"), ran(tmp_path, "model", "embedded:all-MiniLM-L6-v2")
    again = ran(tmp_path, "again", "words")
    why = "tokens are words in words"
    costs = harness.compare(words, model).verdict.costs
    assert costs.by_setting is None
    assert why in costs.reason
    with pytest.raises(ConfigError, match=f"ndcg_evidence_tokens@50 counts tokens: {why}"):
        harness.compare(words, model, measure="ndcg_evidence_tokens@50")
    # of one sort they are compared
    assert harness.compare(words, again).verdict.costs.by_setting
    assert harness.compare(words, again, measure="ndcg_evidence_tokens@50").sentences
