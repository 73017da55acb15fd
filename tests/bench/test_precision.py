"""`precision: fast`: the same run in the fastest way, kept apart, and compared with an exact one."""

import json

import numpy as np
import pytest

from harness.models import EXACT, SentenceEncoder, Way, ways
from harness.running import load_config, make_plan, precision
from harness.steps import RERANKERS
from harness.values import Silent
from tests.command import exit_code, printed

LateInteractionScorer = RERANKERS["late_interaction"].make

MINILM, MAXSIM = "embedded:all-MiniLM-L6-v2", "embedded:maxsim"
HALF = Way("bfloat16")


@pytest.fixture(autouse=True)
def half_is_faster(monkeypatch):
    """A machine on which bfloat16 takes a quarter of the time; a run on a word must give numbers."""
    monkeypatch.setattr(ways, "ways_of", lambda kind, device: [EXACT, HALF])
    monkeypatch.setattr(ways, "seconds_of", lambda model, clock: {EXACT: 0.4, HALF: 0.1}[model.config.way])


def record_of(path):
    """Run a configuration; returns the record of its results."""
    assert exit_code("bench", path, "--quiet") == 0
    return json.loads((path.parent / "results" / "tiny" / "record.json").read_text(encoding="utf-8"))


def test_an_exact_run_takes_nothing_of_a_fast_one_and_the_record_says_how_each_computed(write_config):
    fast, exact = (record_of(write_config(cache="own", more=more)) for more in ("precision: fast", ""))
    computes = [{name: (m["dtype"], m["backend"]) for name, m in r["models"].items()} for r in (exact, fast)]
    assert computes == [{MINILM: EXACT, MAXSIM: EXACT}, {MINILM: HALF, MAXSIM: HALF}]
    # nor of what that computed exactly to compare
    for what in ("vectors_computed", "pairs_computed"):
        assert exact["counts"][what] == fast["counts"][what] > 0
    assert "precision" not in exact["counts"]
    for facts in fast["counts"]["precision"].values():
        assert facts["way"] == "bfloat16 by torch"
        assert facts["seconds"] == {"float32 by torch": 0.4, "bfloat16 by torch": 0.1}
        assert facts["queries"] == 5
        assert 0 <= facts["changed"] < 0.5


def test_a_changed_order_is_counted(write_config, corpus, monkeypatch):
    """Vectors and scores that point the other way in bfloat16: nearly every place changes."""
    embed, score = SentenceEncoder.encode, LateInteractionScorer.score
    asked = {row.split(",")[1] for row in (corpus / "queries.csv").read_text().splitlines()}

    def turned(self, texts):
        sign = [-1 if self.config.way == HALF and text in asked else 1 for text in texts]
        return embed(self, texts) * np.array(sign, dtype=np.float32)[:, None]

    def turned_scores(self, pairs):
        return score(self, pairs) * (-1 if self.config.way == HALF else 1)

    monkeypatch.setattr(SentenceEncoder, "encode", turned)
    monkeypatch.setattr(LateInteractionScorer, "score", turned_scores)
    path = write_config(cache="own", more="precision: fast", chunk="{kind: recursive_token, chunk_size: 90}")
    facts = record_of(path)["counts"]["precision"]
    assert facts[MINILM]["changed"] > 0.8
    assert facts[MAXSIM]["changed"] > 0.8


def test_a_model_that_states_a_way_takes_it(write_config):
    rerank = "{kind: late_interaction, dtype: float16}"
    record = record_of(write_config(cache="own", more="precision: fast", rerank=rerank))
    models = {name: facts["dtype"] for name, facts in record["models"].items()}
    assert models == {MINILM: "bfloat16", MAXSIM: "float16"}
    assert record["counts"]["precision"].keys() == {MINILM}


def test_a_dry_run_says_what_fast_would_save(write_config, capsys, monkeypatch):
    # what is judged depends on what is found, so this is computed
    judged = f"relevance: {{judge: cosine, model: '{MINILM}', pool: {{unit: chunk, depth: 3}}}}"
    dry = ("bench", write_config(cache="own", more=judged), "--dry-run")
    assert "precision" not in printed(capsys, *dry)
    monkeypatch.setattr(precision, "_WORTH_A_PROBE", 1)
    write_config(cache="another", more=judged)
    shown = printed(capsys, *dry)
    assert f"{MINILM} would compute in bfloat16 by torch, 4.0 times as fast as in float32" in shown
    assert "are kept for the run; fast ones would take about" in shown
    # all is stored: nothing is left to save
    assert "precision" not in printed(capsys, *dry)


def test_a_dry_run_computes_nothing_where_no_price_depends_on_it(write_config, capsys, monkeypatch):
    monkeypatch.setattr(precision, "_WORTH_A_PROBE", 1)
    path = write_config(cache="own")
    plan = make_plan(load_config(path), Silent())
    chunks, pairs = (sum(getattr(one, work) for one in plan.settings) for work in ("to_embed", "pairs"))
    with monkeypatch.context() as patch:
        # the probe of a model aside, which is fixed above
        patch.setattr(SentenceEncoder, "encode", None)
        patch.setattr(LateInteractionScorer, "score", None)
        shown = printed(capsys, "bench", path, "--dry-run")
    assert f"A run embeds {chunks} chunks and scores at most {pairs} pairs on this machine." in shown
    assert "this dry run computed none, as no price depends on it. labels: 0 pairs, at no cost." in shown
    # what fast would save is told of what is counted too
    assert f"{MINILM} would compute in bfloat16 by torch, 4.0 times as fast as in float32" in shown
    assert "are kept for the run" not in shown
    counts = record_of(path)["counts"]
    assert counts["vectors_computed"] >= chunks > 0
    assert 0 < counts["pairs_computed"] <= pairs
    shown = printed(capsys, "bench", path, "--dry-run")
    assert "computed none" not in shown
    assert "precision" not in shown
