"""Ranges of numeric keys, and settings that a sampler proposes from them."""

import json
import sys

import pytest

import harness
from harness.running import load_config, load_tuning, open_course, run_course
from harness.values import ConfigError, Silent
from tests.bench.test_tune import CONFIG, pool, tuned
from tests.command import exit_code, refused

__all__ = ["pool"]
KEYS = {"name": "t", "documents": "docs/*.txt", "queries": "queries.csv", "labels": "labels.csv"}
SIZES = {"from": 60, "to": 400, "log": True}
TRIALS = 14


def settings_with(load=load_config, **sections):
    chunk = {"kind": "recursive", "chunk_size": 300, "chunk_overlap": 0}
    config = load({**KEYS, "chunk": chunk, "retrieve": {"kind": "bm25"}, **sections})
    return (config if load is load_config else config[0]).settings


def chunk_with(**keys):
    return {"kind": "recursive", "chunk_size": 300, "chunk_overlap": 0, **keys}


def words_with(**keys):
    return {"kind": "bm25", **keys}


def rrf_with(**keys):
    return {"kind": "rrf", "routes": [{"kind": "bm25"}, {"kind": "bm25", "k1": 2.0}], **keys}


@pytest.mark.parametrize(
    ("sections", "values"),
    [
        # whole numbers for a key that takes these, decimals for one that takes these, whatever the ends
        (
            {"chunk": chunk_with(chunk_size={"from": 200.0, "to": 800, "log": True, "values": 3})},
            [200, 400, 800],
        ),
        ({"chunk": chunk_with(chunk_overlap={"from": 0, "to": 99, "values": 3})}, [0, 50, 99]),
        (
            {"retrieve": words_with(top_k={"from": 5, "to": 20, "log": True, "values": 3})},
            [5, 10, 20],
        ),
        ({"retrieve": words_with(k1={"from": 1, "to": 2, "values": 3})}, [1.0, 1.5, 2.0]),
        ({"retrieve": rrf_with(k={"from": 10, "to": 90, "values": 3})}, [10.0, 50.0, 90.0]),
        (
            {"retrieve": rrf_with(weights=[1, {"from": 0.5, "to": 2, "log": True, "values": 3}])},
            [(1.0, 0.5), (1.0, 1.0), (1.0, 2.0)],
        ),
        (
            {"retrieve": rrf_with(weights=[[0, 1], [{"from": 1, "to": 2, "values": 2}, 3]])},
            [(0.0, 1.0), (1.0, 3.0), (2.0, 3.0)],
        ),
    ],
)
def test_a_range_stands_for_numbers_as_its_key_takes_them(sections, values):
    ((step, keys),) = sections.items()
    key = next(name for name, value in keys.items() if "from" in str(value))
    numbers = [getattr(getattr(setting, step), key) for setting in settings_with(**sections)]
    assert numbers == values
    assert list(map(type, numbers)) == list(map(type, values))


@pytest.mark.parametrize("load", [load_config, load_tuning])
@pytest.mark.parametrize(
    ("sections", "why"),
    [
        (
            {"chunk": chunk_with(chunk_size={"from": 0, "to": 400})},
            "chunk_size: .*from: .*at least 1",
        ),
        ({"chunk": chunk_with(chunk_size={"from": 60.5, "to": 400})}, "from: .*whole number"),
        (
            {"retrieve": {"kind": "bm25", "b": {"from": 0, "to": 2}}},
            "retrieve.b: .*to: .*at most 1",
        ),
        ({"retrieve": {"kind": "chroma", "model": {"from": 1, "to": 2}}}, "model: .*takes no number"),
        ({"chunk": chunk_with(separators={"from": 1, "to": 2})}, "separators: .*takes a list"),
        ({"retrieve": rrf_with(weights=[1, {"from": 3, "to": 2}])}, "weights: .*to a larger one"),
        ({"retrieve": rrf_with(weights=[1, {"from": -1, "to": 2}])}, "weights: .*from: .*Correct its ends"),
        ({"tolerance": {"from": 0.01, "to": 0.1}}, "tolerance: no range can stand here"),
        ({"bootstrap": {"resamples": {"from": 100, "to": 200}}}, "resamples: no range can stand here"),
    ],
)
def test_a_range_that_its_key_does_not_take_says_why(load, sections, why):
    chunk = {"kind": "recursive", "chunk_size": SIZES, "chunk_overlap": 0}
    with pytest.raises(ConfigError, match=why):
        settings_with(load, **{"chunk": chunk, **sections, "tune": {"strategy": "tpe"}})


def test_tpe_without_a_range_says_what_to_do():
    with pytest.raises(ConfigError, match=r"tune.strategy: .*no key has a range.*omit strategy"):
        settings_with(load_tuning, tune={"strategy": "tpe"})
    # without it the same is a sweep of a single setting
    assert len(settings_with(load_tuning)) == 1


def test_numbers_that_do_not_go_together_are_not_proposed():
    overlaps = chunk_with(chunk_size=SIZES, chunk_overlap={"from": 0, "to": 300})
    sections = {"chunk": overlaps, "tune": {"strategy": "tpe", "trials": 12}}
    chunks = [setting.chunk for setting in settings_with(load_tuning, **sections)]
    assert len(chunks) == 12
    assert all(chunk.chunk_overlap < chunk.chunk_size for chunk in chunks)
    # a sweep of the fixed values would have settings that cannot be made
    with pytest.raises(ConfigError, match="should be smaller"):
        settings_with(**sections)
    never = chunk_with(chunk_size=SIZES, chunk_overlap={"from": 400, "to": 500})
    with pytest.raises(ConfigError, match="should be smaller"):
        settings_with(load_tuning, **{**sections, "chunk": never})


def test_a_plan_has_no_more_settings_than_the_ranges_hold():
    few = chunk_with(chunk_size={"from": 60, "to": 62}, chunk_overlap=[0, 5])
    settings = settings_with(load_tuning, chunk=few, tune={"strategy": "tpe"})
    assert len({setting.name for setting in settings}) == len(settings) == 6


@pytest.fixture
def proposed(pool):
    """Sizes and k1 from ranges, with one of two overlaps: none of them by fixed values."""
    text = (CONFIG % f", strategy: tpe, trials: {TRIALS}").replace(", values: 4", "")
    text = text.replace("k1: [0.4, 1.2, 2.5]", "k1: {from: 0.2, to: 2.5}")
    (pool / "my.yaml").write_text(text.replace("chunk_overlap: 0", "chunk_overlap: [0, 10]"))
    return pool


class Stopping(Silent):
    """Stops the run at its second note, between two rounds of proposals."""

    def __init__(self):
        super().__init__()
        self.notes = 0

    def note(self, message):
        self.notes += 1
        if self.notes == 2:
            raise KeyboardInterrupt


def test_proposals_are_settings_and_a_stopped_run_goes_on_to_the_same_numbers(proposed, capsys):
    config, space = load_tuning(proposed / "my.yaml")
    course, new = open_course(config, Silent(), space)
    assert new
    with pytest.raises(KeyboardInterrupt):
        run_course(config, course, Stopping())
    plan = proposed / "results/t.tune.json"
    before = json.loads(plan.read_text("utf-8"))["sampled"]
    # ten drawn evenly, and the first that was proposed by their scores
    assert len(before["proposals"]) == 11
    assert exit_code("tune", "my.yaml") == 0
    told = " ".join(capsys.readouterr().out.split())
    assert f"0 of 2 stages seen, 11 of {TRIALS} proposals tried" in told
    assert "cover only the settings that were compared" in told
    stopped = tuned(proposed)
    assert [row["values"] for row in stopped["proposed"]][:11] == before["proposals"]
    assert exit_code("tune", "my.yaml", "--dry-run") == 0
    again = " ".join(capsys.readouterr().out.split())
    assert f"1 of 2 stages seen, {TRIALS} of {TRIALS} proposals tried" in again
    # another run, which is not stopped and finds nothing stored, has the same proposals and numbers
    text = (proposed / "my.yaml").read_text()
    (proposed / "my.yaml").write_text(
        text.replace("cache: cache", "cache: c").replace("results: results", "results: r")
    )
    assert exit_code("tune", "my.yaml") == 0
    whole = json.loads((proposed / "r/t/tune.json").read_text("utf-8"))
    assert {**whole, "cpu_seconds": 0} == {**stopped, "cpu_seconds": 0}

    rows = stopped["proposed"]
    assert len({row["setting"] for row in rows}) == len(rows) == TRIALS
    for row in rows:
        size, k1 = row["values"]["chunk.chunk_size"], row["values"]["retrieve.k1"]
        assert isinstance(size, int)
        assert 60 <= size <= 400
        assert 0.2 <= k1 <= 2.5
    # lists are one choice among their combinations
    assert {row["values"]["combination"] for row in rows} == {0, 1}
    # points between the values of a grid
    assert len({row["values"]["chunk.chunk_size"] for row in rows}) > 5

    results = harness.read_results(proposed / "results/t")
    seen, dropped = set(results.per_query.setting), set(results.table("tuned").setting)
    assert seen | dropped == {row["setting"] for row in rows}
    assert dropped
    assert not seen & dropped
    assert {*stopped["survivors"]} == seen
    # the settings that see everything are the best by the first stage, of which the means are
    means = {row["setting"]: row["mean"] for row in rows}
    assert min(means[name] for name in seen) >= max(means[name] for name in dropped)
    assert any("no bound allows for how" in row["text"] for row in results.record["warnings"])
    page = (proposed / "results/t/report.html").read_text("utf-8")
    assert 'id="data"' in page
    assert exit_code("compare", "results/t") == 0
    assert exit_code("gate", "results/t", "--baseline", "r/t") == 0


def test_all_proposals_see_everything_where_the_budget_has_room(proposed, capsys):
    (proposed / "my.yaml").write_text((proposed / "my.yaml").read_text().replace("80 %", "100 %"))
    assert exit_code("tune", "my.yaml") == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "No setting was dropped" in told
    assert "cover only the settings that were compared" in told
    seen = set(harness.read_results(proposed / "results/t").per_query.setting)
    assert seen == {row["setting"] for row in tuned(proposed)["proposed"]}
    assert len(seen) == TRIALS
    # what the sampler saw were train queries
    assert tuned(proposed)["plan"]["stages"][0]["part"]["split"] == "train"


def test_without_optuna_the_line_that_installs_it_comes_first(proposed, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    told = refused(capsys, "tune", "my.yaml", "--dry-run")
    assert "pip install 'ndcg-harness[tune]'" in told
    assert not (proposed / "cache").exists()
    assert not (proposed / "results").exists()
    # the same ranges as fixed values need none
    assert len(load_config(proposed / "my.yaml").settings) == 50
