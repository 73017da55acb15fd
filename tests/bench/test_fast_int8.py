"""`precision: fast` with `int8_changes`: int8 is taken where it gains and changes little; no real clock."""

import pytest

import harness
from harness import models
from harness.models import EXACT, EmbedConfig, Probe, ScreenEncoder, Way
from harness.running import fast_int8, readiness, run_models
from harness.values import ModelError
from tests.bench.test_tune import pool
from tests.bench.test_tune_screen import MINILM, vectors
from tests.command import exit_code, refused

__all__ = ["pool"]
HALF = Way("bfloat16")
CONFIG = """
name: t
documents: docs/*.txt
queries: queries.csv
labels: labels.csv
relevance: {{judge: labels}}
measures: [ndcg_exp@10]
bootstrap: {{resamples: 200}}
cache: cache
results: results
precision: fast
int8_changes: {most}
chunk: {{kind: recursive, chunk_size: 200, chunk_overlap: 0}}
retrieve: {{kind: exact, top_k: 10, model: '{model}'}}
{more}
"""


class Machine:
    """Bi-encoders whose vectors depend on words alone, and the seconds that one batch takes."""

    def __init__(self):
        self.int8, self.other = 0.1, {EXACT: 0.4, HALF: 0.2}
        self.spoilt, self.trials, self.embedded = 0, 0, {"exact": 0, "int8": 0}


@pytest.fixture
def machine(pool, monkeypatch):
    machine = Machine()

    def exact(_, texts):
        machine.embedded["exact"] += len(texts)
        return vectors(texts)

    def rounded(_, texts):
        machine.embedded["int8"] += len(texts)
        rows = vectors(texts)
        # a share of the texts is told from nothing
        rows[: len(rows) * machine.spoilt // 100] = 1.0
        return rows

    def seconds_of(model):
        assert isinstance(model, ScreenEncoder)
        machine.trials += 1
        if machine.int8 is None:
            raise ModelError("it cannot be converted")
        return machine.int8

    monkeypatch.setattr("harness.models.encoder.SentenceEncoder.encode", exact)
    monkeypatch.setattr("harness.models.encoder.SentenceEncoder.loaded", lambda _: None)
    monkeypatch.setattr(ScreenEncoder, "encode", rounded)
    monkeypatch.setattr(run_models, "probe_of", lambda config, stored: (Probe(dict(machine.other)), None))
    monkeypatch.setattr(fast_int8, "seconds_of", seconds_of)
    monkeypatch.setattr(readiness, "check_screen_packages", lambda key: None)
    return machine


def bench(folder, capsys, most=0.05, more=""):
    (folder / "my.yaml").write_text(CONFIG.format(most=most, model=MINILM, more=more))
    assert exit_code("bench", "my.yaml") == 0
    told = " ".join((lambda out: out.out + out.err)(capsys.readouterr()).split())
    (model,) = harness.read_results(folder / "results/t").record["models"].values()
    return told, (model["dtype"], model["backend"])


def test_int8_is_taken_where_it_gains_and_changes_no_more_than_is_allowed(pool, machine, capsys):
    told, way = bench(pool, capsys)
    assert way == ("int8", "openvino")
    # half the seconds of bfloat16, a quarter of those of float32 by torch
    assert (
        f"in int8, {MINILM} takes 50% of the time of bfloat16 by torch and changes 0.0% of the first ten "
        "places of a sample; int8_changes allows 5.0%, so it computes in int8 by openvino." in told
    )
    assert "computes in int8 by openvino, 4.0 times as fast as float32 by torch" in told
    assert machine.trials == 1
    # the outcome is kept: nothing is tried or embedded again
    count = dict(machine.embedded)
    assert bench(pool, capsys, more="tolerance: 0.03")[1] == ("int8", "openvino")
    assert (machine.trials, machine.embedded) == (1, count)


def test_what_changes_too_much_is_left_out(pool, machine, capsys):
    machine.spoilt = 60
    told, way = bench(pool, capsys)
    assert way == ("bfloat16", "torch")
    assert "int8_changes allows 5.0%, so it computes in bfloat16 by torch." in told
    # whoever allows all gets it, and the sample of the search warns of what it did
    told, way = bench(pool, capsys, most=1)
    assert way == ("int8", "openvino")


@pytest.mark.parametrize(
    ("seconds", "sentence"),
    [
        (
            0.19,
            "is not a tenth faster in int8 than in bfloat16 by torch, so it computes in",
        ),
        (None, "does not run in int8 (it cannot be converted), so it computes in"),
    ],
)
def test_what_gains_nothing_is_not_compared(pool, machine, capsys, seconds, sentence):
    machine.int8 = seconds
    told, way = bench(pool, capsys)
    assert way == ("bfloat16", "torch")
    assert f"{MINILM} {sentence} bfloat16 by torch." in told
    assert machine.embedded["int8"] == 0


def test_the_sample_of_the_search_says_where_more_changed_than_is_allowed(pool, machine, capsys, monkeypatch):
    monkeypatch.setattr("harness.running.precision.changed_share", lambda *both: 0.25)
    monkeypatch.setattr(fast_int8, "changed_share", lambda *both: 0.01)
    bench(pool, capsys)
    record = harness.read_results(pool / "results/t").record
    (text,) = [row["text"] for row in record["warnings"] if "hold another chunk" in row["text"]]
    assert "computed in int8 by openvino" in text
    assert "25.0% hold another chunk than in float32. That is more than int8_changes allows (5.0%)" in text


def test_without_the_key_int8_is_not_tried(pool, machine, capsys):
    _, way = bench(pool, capsys, most=0)
    assert (way, machine.trials) == (("bfloat16", "torch"), 0)


@pytest.mark.parametrize(
    ("old", "new"),
    [("precision: fast", "precision: exact"), ("name: t", "name: t\nengine: {kind: ray}")],
)
def test_it_needs_fast_in_this_process(pool, capsys, old, new):
    text = CONFIG.format(most=0.05, model=MINILM, more="")
    (pool / "my.yaml").write_text(text.replace(old, new))
    assert "set precision: fast and leave out engine" in " ".join(
        refused(capsys, "validate", "my.yaml").split()
    )


def test_a_missing_package_is_told_before_anything(pool, capsys, monkeypatch):
    monkeypatch.setattr("harness.models.quantised.find_spec", lambda name: None)
    (pool / "my.yaml").write_text(CONFIG.format(most=0.05, model=MINILM, more=""))
    told = " ".join(refused(capsys, "validate", "my.yaml").split())
    assert (
        "int8_changes computes in int8, which needs its packages: pip install 'ndcg-harness[screen]'" in told
    )


def test_tune_has_its_own_screen(pool, machine, capsys):
    (pool / "my.yaml").write_text(CONFIG.format(most=0.05, model=MINILM, more=""))
    assert "tune: {screen: true}" in " ".join(refused(capsys, "tune", "my.yaml").split())


def test_a_model_that_names_its_own_way_keeps_it(pool, machine):
    made = models.CalibrationTexts(("some text",))
    run = run_models.RunModels(probes=object())
    plain, half = EmbedConfig(model=MINILM), EmbedConfig(model=MINILM, dtype="bfloat16")
    run.encoder(plain)
    (pair,) = run.left_open
    rounded = fast_int8.in_int8(plain, models.Quantising(made, None))
    run.take_int8(pair[0], rounded, Probe({**machine.other, models.INT8: 0.1}))
    assert run.encoder(plain) is rounded
    assert type(run.encoder(half)) is not ScreenEncoder
    assert (run.is_fast(plain), run.is_fast(half)) == (True, False)


def test_a_model_is_compared_by_different_queries_from_all_over():
    assert fast_int8.queries_compared(["a", "b", "c", "d", "e"]) == ["a", "b", "c", "d", "e"]
    assert fast_int8.queries_compared([]) == []
    assert fast_int8.queries_compared(list(map(str, range(80)))) == list(map(str, range(0, 80, 2)))
