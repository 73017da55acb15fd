"""`harness tune` with stages in int8: what stands in for the models passes through the same doors."""

import hashlib
import json

import numpy as np
import pytest

import harness
from harness.models import (
    EmbedConfig,
    Quantising,
    ScreenEncoder,
    SentenceEncoder,
    calibration_of,
    check_screen_packages,
)
from harness.models.quantised import NO_SCREEN
from harness.running import load_config
from harness.running.run_models import RunModels
from harness.running.tuning import outlay
from harness.store import Artifacts
from harness.values import ModelError
from tests.bench.test_tune import CONFIG, pool, tuned
from tests.command import exit_code, printed, refused

__all__ = ["pool"]
MINILM = "embedded:all-MiniLM-L6-v2"
DENSE = f"retrieve: {{kind: exact, top_k: 10, model: '{MINILM}'}}"
SPEEDS = {SentenceEncoder: 100.0, ScreenEncoder: 400.0}
"""Characters a second."""


def config(tune=""):
    text = (CONFIG % tune).replace("values: 4", "values: 8")
    return text.replace("retrieve: {kind: bm25, top_chars: 1000, k1: [0.4, 1.2, 2.5]}", DENSE)


def vectors(texts):
    """A vector for every text that depends on its words."""
    rows = np.zeros((len(texts), 64), dtype=np.float32)
    for row, text in zip(rows, texts, strict=True):
        for word in text.lower().split():
            row[hashlib.sha256(word.encode()).digest()[0] % 64] += 1
    return rows + 0.01


@pytest.fixture
def embedded(pool, monkeypatch):
    """The texts that were embedded, by what embedded them; vectors of the screen are rounded."""
    seen = {"exact": [], "screen": []}

    def exact(_, texts):
        seen["exact"] += texts
        return vectors(texts)

    def rounded(_, texts):
        seen["screen"] += texts
        return np.round(vectors(texts))

    monkeypatch.setattr(SentenceEncoder, "encode", exact)
    monkeypatch.setattr(SentenceEncoder, "loaded", lambda _: None)
    monkeypatch.setattr(ScreenEncoder, "encode", rounded)
    # what a plan measures would be the time of this machine
    monkeypatch.setattr(outlay, "speed_by_model", lambda left, _, **__: SPEEDS[type(left.model.model)])
    monkeypatch.setattr("harness.running.tuning.calibrating.check_screen_packages", lambda: None)
    (pool / "my.yaml").write_text(config(", screen: true"))
    return seen


def test_stages_are_seen_in_int8_and_what_is_left_is_computed_exactly(pool, embedded, capsys):
    assert exit_code("tune", "my.yaml") == 0
    told = " ".join(capsys.readouterr().out.split())
    plan = tuned(pool)["plan"]["stages"]
    assert [stage["quantised"] for stage in plan] == [True] * (len(plan) - 1) + [False]
    assert "vectors in int8" in told
    # nothing of a stage before serves the last one, which embeds its share of the chunkings anew
    whole = tuned(pool)["plan"]["whole"]["seconds"]
    assert plan[-1]["outlay"]["seconds"] >= whole * plan[-1]["enter"] / 8
    results = harness.read_results(pool / "results/t")
    left = set(results.per_query.setting)
    assert len(left) == plan[-1]["enter"] < 8
    # the figures are those of a benchmark that knows no screen
    settings = [s for s in load_config(pool / "my.yaml").settings if s.name in left]
    alone = load_config(pool / "my.yaml").model_copy(update={"name": "alone", "settings": tuple(settings)})
    assert embedded["screen"]
    embedded["screen"].clear()
    plain = harness.run(alone.model_copy(update={"cache": pool / "other"}))
    assert embedded["screen"] == []
    both = [
        r.per_query.sort_values(["setting", "query_id", "measure"]).value.tolist() for r in (results, plain)
    ]
    assert both[0] == both[1]
    (model,) = results.record["models"].values()
    assert (model["dtype"], model["backend"]) == ("float32", "torch")
    # whoever reads of the dropped settings learns how they were seen
    assert any("computed in int8" in row["text"] for row in results.record["warnings"])
    assert any("through a screen" in sentence for sentence in tuned(pool)["sentences"])


def test_what_the_screen_saw_predicts_no_exact_score(pool, embedded):
    assert exit_code("tune", "my.yaml") == 0
    kept = json.loads((pool / "results/t.tune.json").read_text("utf-8"))
    assert all(stage["basis"].endswith(", int8") for stage in kept["stages"])
    assert len(kept["calibration"]) == 128
    count = len(embedded["screen"]), len(embedded["exact"])
    first = tuned(pool)
    # a second run goes by the plan, and the cache has the vectors of both
    assert exit_code("tune", "my.yaml") == 0
    assert (len(embedded["screen"]), len(embedded["exact"])) == count
    assert tuned(pool) == first


def test_a_dry_run_says_what_is_computed_in_int8(pool, embedded, capsys):
    told = printed(capsys, "tune", "my.yaml", "--dry-run")
    assert "Stages before the last compute vectors in int8" in " ".join(told.split())
    assert "others, vectors in int8" in told
    assert "all documents, vectors" not in told
    (pool / "my.yaml").write_text(config())
    assert "int8" not in printed(capsys, "tune", "my.yaml", "--dry-run")


def test_a_search_through_the_screen_is_not_certified(pool, embedded, capsys):
    told = printed(capsys, "tune", "my.yaml", "--dry-run")
    assert "Nothing was spent. The models of the screen were calibrated, and are kept." in told
    assert "Without `screen`, `give: certify` drops" in " ".join(told.split())
    assert "Leave out tune.screen, and run again with" in refused(capsys, "tune", "my.yaml", "--certify")
    assert exit_code("tune", "my.yaml") == 0
    ended = " ".join(capsys.readouterr().out.split())
    assert " in int8" in ended
    assert "--certify" not in ended.partition("This is a search")[2]


def test_a_benchmark_by_the_screen_is_refused_and_told_what_it_is_for(pool, capsys):
    (pool / "my.yaml").write_text(config() + "precision: screen\n")
    told = refused(capsys, "bench", "my.yaml")
    assert "for the stages of `harness tune`" in told
    assert "tune: {screen: true}" in told


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        (
            lambda text: text.replace(DENSE, "retrieve: {kind: bm25, k1: [0.4, 1.2, 2.5]}"),
            "no setting searches",
        ),
        (lambda text: text.replace("top_k: 10", "top_k: 10, dtype: bfloat16"), "no setting searches"),
        (lambda text: text + "engine: {kind: ray}\n", "engine.kind is ray"),
        (lambda text: text.replace("screen: true", "screen: true, give: certify"), "shows nothing of exact"),
    ],
    ids=["words", "another dtype", "ray", "certify"],
)
def test_a_screen_that_cannot_serve_is_refused(pool, embedded, capsys, changed, why):
    (pool / "my.yaml").write_text(changed(config(", screen: true")))
    assert why in refused(capsys, "tune", "my.yaml")
    assert embedded == {"exact": [], "screen": []}


@pytest.mark.parametrize("missing", ["openvino", "nncf"])
def test_a_missing_package_is_told_before_anything_is_computed(pool, capsys, monkeypatch, missing):
    monkeypatch.setattr("harness.models.quantised.find_spec", lambda name: None if name == missing else name)
    (pool / "my.yaml").write_text(config(", screen: true"))
    assert NO_SCREEN.format(key="tune.screen") in refused(capsys, "tune", "my.yaml")
    assert not (pool / "cache").exists()
    with pytest.raises(ModelError, match=r"pip install 'ndcg-harness\[screen\]'"):
        check_screen_packages()


def test_vectors_of_the_screen_have_keys_of_their_own(tmp_path):
    stored = Artifacts(tmp_path)
    texts = ["The harbour was built in 1890. " * 40, "The museum opens at ten. " * 90]
    exact = SentenceEncoder(EmbedConfig(model=MINILM))
    screens = [ScreenEncoder(exact.config, calibration_of(texts, seed), stored) for seed in (7, 8)]
    again = ScreenEncoder(exact.config, calibration_of(texts, 7), stored)
    partly = ScreenEncoder(exact.config, calibration_of(texts, 7), stored, exact=["dense"])
    compiled = SentenceEncoder(EmbedConfig(model=MINILM, backend="openvino"))
    assert screens[0].fingerprint == again.fingerprint
    encoders = [exact, compiled, partly, *screens]
    assert len({encoder.fingerprint for encoder in encoders}) == len(encoders)


def test_only_models_that_leave_open_how_they_compute_are_screened(tmp_path):
    calibration = calibration_of(["some text"], 7)
    models = RunModels(quantising=Quantising(calibration, Artifacts(tmp_path)))
    assert type(models.encoder(EmbedConfig(model=MINILM))) is ScreenEncoder
    assert type(models.encoder(EmbedConfig(model=MINILM, dtype="bfloat16"))) is SentenceEncoder
    assert type(models.encoder(EmbedConfig(model=MINILM, device="cuda"))) is SentenceEncoder
    assert type(RunModels().encoder(EmbedConfig(model=MINILM))) is SentenceEncoder


def test_calibration_draws_from_all_documents_by_their_length():
    short, long = "short. " * 60, "long. " * 6000
    drawn = calibration_of([short, "  ", long], 7).texts
    assert drawn == calibration_of([short, "  ", long], 7).texts != calibration_of([short, long], 8).texts
    assert len(drawn) == 128
    assert all(piece and (piece in short or piece in long) for piece in drawn)
    assert sum(piece in long for piece in drawn) > 100
    assert 100 <= min(len(piece) for piece in drawn if piece in long) < 300
    assert 1500 < max(map(len, drawn)) <= 2000
    with pytest.raises(ModelError, match="No document has text"):
        calibration_of([" "], 7)
