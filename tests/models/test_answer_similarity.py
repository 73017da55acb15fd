"""Answers compared with golden answers by a cross-encoder on this machine, as its library scores them."""

import json

import pytest

from harness.steps import RERANKERS
from tests.command import exit_code, table
from tests.models import tiny

CrossEncoderScorer = RERANKERS["cross_encoder"].make

# the library takes seconds to load
pytestmark = pytest.mark.slow

ANSWERS = [
    ("how many vehicles", "4 , 200 vehicles"),
    ("rain fell", "rain fell on harbour"),
    ("asphalt", "word"),
]


@pytest.mark.parametrize("activation", [{}, {"activation_fn": "torch.nn.modules.linear.Identity"}])
def test_the_value_is_what_the_library_predicts(activation, tmp_path, monkeypatch):
    import torch
    from sentence_transformers import CrossEncoder

    monkeypatch.chdir(tmp_path)
    name = tiny.cross_encoder(tmp_path / "model", **activation)
    rows = [{"user_input": f"q{n}", "response": a, "reference": b} for n, (a, b) in enumerate(ANSWERS)]
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    measure = {"kind": "answer_similarity", "by": "cross_encoder", "model": name}
    (tmp_path / "c.yaml").write_text(json.dumps({"answer_measures": [measure]}))
    words = ["score-answers", "answers.jsonl", "--config", "c.yaml", "--output", "s.csv", "--quiet"]
    assert exit_code(*words) == 0
    found = [float(row["value"]) for row in table(tmp_path / "s.csv")]
    model = CrossEncoder(name, local_files_only=True)
    logits = model.predict(ANSWERS, activation_fn=torch.nn.Identity())
    # one output: the sigmoid of the logit, unless the model names another activation
    expected = logits if activation else 1 / (1 + torch.exp(-torch.tensor(logits))).numpy()
    assert found == pytest.approx(expected.tolist(), abs=1e-6)
    assert len(set(found)) == 3
    # computed once
    monkeypatch.setattr(CrossEncoderScorer, "score", None)
    assert exit_code(*words) == 0
