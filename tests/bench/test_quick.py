"""What needs no model runs first; `--quick` stops there, and a whole run goes on from it."""

import csv
import re
from collections import Counter
from itertools import cycle

import pytest

from harness.measures import Scorer
from harness.report import ScoreRow, SummaryRow, read_as
from harness.running import Running, load_config, model_time, quick_part, run_bench
from harness.running.bench.quick import is_quick
from harness.running.compute import LocalPass
from harness.running.evaluate.scoring import scored_by
from harness.running.model_time import LeftOfModel, Remaining, speed_by_model
from harness.running.search import FoundBySettings
from harness.running.tuning import outlay
from harness.values import ConfigError, Silent
from tests.bench.conftest import DENSE
from tests.command import exit_code, refused

CONFIG = """\
name: t
documents: docs/*.txt
queries: queries.csv
labels: labels.csv
chunk: {kind: recursive, chunk_size: [80, 160]}
settings:
  - retrieve: {kind: bm25, top_k: 5}
  - retrieve: %s
relevance: {judge: labels}
measures: [ndcg_evidence@200]
cache: cache
results: results
"""


@pytest.fixture
def mixed(corpus, monkeypatch):
    monkeypatch.chdir(corpus)
    (corpus / "my.yaml").write_text(CONFIG % (DENSE % "exact"))
    return corpus


def test_a_quick_run_is_the_start_of_a_whole_one(mixed, capsys):
    assert exit_code("bench", "my.yaml", "--quick") == 0
    output = " ".join(capsys.readouterr().out.split())
    left = r"2 of 4 settings need models and were left out \(\d+ texts to embed by "
    left += r"embedded:all-MiniLM-L6-v2, at most about \d.* s\). To run these as well: harness bench my.yaml"
    assert re.search(left, output)
    quick = mixed / "results/t-quick"
    assert {row.setting for row in read_as(quick, SummaryRow)} == {"chunk=80/0 bm25", "chunk=160/0 bm25"}
    assert not list((mixed / "cache").rglob("vectors/*.sqlite"))
    assert exit_code("bench", "my.yaml") == 0
    told = " ".join(capsys.readouterr().err.split())
    measure = "ndcg_evidence@200"
    means = [row for row in read_as(quick, SummaryRow) if (row.split, row.measure) == ("all", measure)]
    best = max(means, key=lambda row: row.mean)
    assert (
        f"First results, mean ndcg_evidence@200 of what needs no model: {best.setting} {best.mean:.3f}"
        in told
    )
    assert "2 settings to go: " in told
    whole = mixed / "results/t"
    same = {(row.setting, row.query_id, row.measure): row.value for row in read_as(whole, ScoreRow)}
    assert all(same[row.setting, row.query_id, row.measure] == row.value for row in read_as(quick, ScoreRow))
    # all is stored now, so that there is nothing to wait for
    assert exit_code("bench", "my.yaml", "--again") == 0
    assert "First results" not in capsys.readouterr().err
    assert exit_code("bench", "my.yaml", "--quick", "--again") == 0
    output = " ".join(capsys.readouterr().out.split())
    assert "2 of 4 settings need models and were left out; what these compute is stored" in output


def test_settings_whose_vectors_are_stored_take_no_time_although_their_rankings_are_new(mixed, capsys):
    (mixed / "docs/canteen.txt").write_text("The canteen serves soup on Thursdays.")
    assert exit_code("bench", "my.yaml") == 0
    (mixed / "docs/canteen.txt").unlink()
    assert exit_code("bench", "my.yaml", "--quick") == 0
    output = " ".join(capsys.readouterr().out.split())
    assert "2 of 4 settings need models and were left out; what these compute is stored" in output
    assert "not known" not in output


class Notes(Silent):
    """Keeps the first results, and whether a vector was computed before."""

    def __init__(self, cache):
        super().__init__()
        self.cache, self.first = cache, []

    def note(self, text):
        if text.startswith("First results"):
            self.first.append((text, list(self.cache.rglob("vectors/*.sqlite"))))


def test_first_results_are_those_of_the_run_which_searches_and_scores_once(mixed, monkeypatch):
    config, scored, searched = load_config(mixed / "my.yaml"), Counter(), Counter()
    score, ended = Scorer.score, FoundBySettings.ended

    def scored_once(self, rankings, measures):
        if tuple(measures) == tuple(scored_by(config)):
            scored[tuple(ranking.chunk_ids for ranking in rankings)] += 1
        return score(self, rankings, measures)

    def ended_once(self, where, part, value):
        if type(self.running) is Running and part.name == "retrieve":
            searched[where.setting] += 1
        return ended(self, where, part, value)

    monkeypatch.setattr(Scorer, "score", scored_once)
    monkeypatch.setattr(FoundBySettings, "ended", ended_once)
    notes = Notes(mixed / "cache")
    _, folder = run_bench(config, notes)
    ((text, vectors),) = notes.first
    assert not vectors
    assert set(scored.values()) == {1}
    assert searched == {"0": 1, "1": 1, "2": 1, "3": 1}
    measure = config.measures[0]
    means = [row for row in read_as(folder, SummaryRow) if (row.split, row.measure) == ("all", measure)]
    quick = sorted((row for row in means if "bm25" in row.setting), key=lambda row: -row.mean)
    shown = " and ".join(f"{row.setting} {row.mean:.3f}" for row in quick)
    assert text == f"First results, mean {measure} of what needs no model: {shown}."


@pytest.fixture
def clock(monkeypatch):
    """Takes 2 seconds for the first half of a sample and 1 for the second, whatever the machine does."""
    ticks = cycle([2.0, 1.0])
    times = (time for took in ticks for time in (0.0, took))
    monkeypatch.setattr(model_time, "perf_counter", lambda: next(times))


def test_the_rest_is_timed_by_the_slower_half_of_a_sample(clock, tmp_path):
    class Model:
        def score(self, items):
            return items

    class Stored:
        rate = None

        def get(self, *_):
            return self.rate

    model = LocalPass("vectors", "f", tmp_path, None, Model())
    # of 4 texts every second one is in a half: 20 + 20 characters in 2 s, 60 + 60 in 1 s
    sample = ["a" * 20, "b" * 60, "c" * 20, "d" * 60]
    left, stored = LeftOfModel(model, "4 texts to embed by m", 2000, sample), Stored()
    assert speed_by_model(left, stored) == 20
    # 2000 characters at 20 a second, and a quarter more: 125 s
    assert (
        Remaining([left], elsewhere=False).takes(stored) == "4 texts to embed by m, at most about 2 min 5 s"
    )
    besides = Remaining([left], elsewhere=True).takes(stored)
    assert besides.endswith("2 min 5 s; what endpoints and code of your own take besides is not known")
    # the slower of sample and earlier runs counts, unless no model is to be loaded
    stored.rate = {"characters": 100, "seconds": 10}
    assert speed_by_model(left, stored) == 10
    stored.rate = {"characters": 1000, "seconds": 10}
    assert speed_by_model(left, stored) == 20
    assert speed_by_model(left, stored, stored=True) == 100


class CountingModel:
    """Scores nothing, and counts how often it is called."""

    calls = 0

    def score(self, items):
        self.calls += 1
        return items


class Rates:
    """Has one rate of earlier runs, or none."""

    def __init__(self, rate=None):
        self.rate = rate

    def get(self, *_):
        return self.rate


@pytest.mark.parametrize("sample", [[], ["", ""]])
def test_a_sample_without_characters_leaves_the_speed_of_earlier_runs_or_none(sample, tmp_path):
    left = LeftOfModel(LocalPass("vectors", "f", tmp_path, None, CountingModel()), "2 texts", 5, sample)
    assert speed_by_model(left, Rates({"characters": 100, "seconds": 10})) == 10
    for rates in (Rates(), Rates({"characters": 0, "seconds": 10})):
        assert speed_by_model(left, rates) is None
        told = Remaining([left], elsewhere=False).takes(rates)
        assert told == "2 texts; how long that takes is not known, as all texts of its sample are empty"


def test_an_empty_text_is_no_half_of_a_sample(clock, tmp_path):
    left = LeftOfModel(LocalPass("vectors", "f", tmp_path, None, CountingModel()), "", 5, ["", "a" * 20])
    assert speed_by_model(left, Rates()) == 10


def test_a_plan_of_tune_takes_the_speed_of_earlier_runs_and_computes_nothing(tmp_path):
    model = CountingModel()
    part = LocalPass("vectors", "f", tmp_path, None, model)
    rates = Rates({"characters": 100, "seconds": 10})
    assert outlay._texts(part, ["a" * 20, ""], rates).seconds == 2
    assert outlay._pairs(part, 1, 50, [("a", "b")], rates).seconds == 5
    assert model.calls == 0
    assert outlay._texts(part, ["", ""], Rates()).seconds == 0


def test_a_run_without_a_setting_that_needs_no_model_says_what_it_takes(mixed, clock):
    (mixed / "dense.yaml").write_text(
        CONFIG.replace("  - retrieve: {kind: bm25, top_k: 5}\n", "") % (DENSE % "exact")
    )
    said = []

    class Lines(Silent):
        def note(self, text):
            if "to go" in text:
                said.append((text, list((mixed / "cache").rglob("vectors/*.sqlite"))))

    run_bench(load_config(mixed / "dense.yaml"), Lines())
    ((text, vectors),) = said
    assert not vectors
    words = r"2 settings to go: \d+ texts to embed by embedded:all-MiniLM-L6-v2, at most about \d.* s\."
    assert re.fullmatch(words, text)


def test_vectors_that_cut_chunks_are_estimated_before_they_are_computed(mixed):
    """They come before all other estimates, which count in chunks; a second run has them."""
    text = CONFIG % "{kind: bm25, top_k: 3}"
    semantic = "{kind: semantic, chunk_size: 200, min_size: 40}"
    text = text.replace("{kind: recursive, chunk_size: [80, 160]}", semantic)
    (mixed / "semantic.yaml").write_text(text)
    said = []

    class Lines(Silent):
        def note(self, text):
            if text.startswith("To cut chunks"):
                said.append(text)

    for _ in range(2):
        run_bench(load_config(mixed / "semantic.yaml"), Lines())
    (line,) = said
    words = r"To cut chunks: \d+ texts to embed by embedded:all-MiniLM-L6-v2, at most about (\d+ ms|\d.* s)\."
    assert re.fullmatch(words, line)


def test_a_scorer_that_reads_a_passage_once_takes_no_longer_than_all_passages(mixed, monkeypatch):
    """5 queries on 5 passages are up to 25 pairs, which would take several times as long."""
    text = CONFIG % "{kind: bm25, top_k: 5}\n    rerank: {kind: late_interaction}"
    (mixed / "reranked.yaml").write_text(text.replace("chunk_size: [80, 160]", "chunk_size: 80"))
    needs = []
    monkeypatch.setattr(model_time, "speed_by_model", lambda need, *_, **__: needs.append(need) or 1.0)
    run_bench(load_config(mixed / "reranked.yaml"), Silent())
    (need,) = needs
    assert need.items == "at most 25 pairs to score by embedded:maxsim"
    documents = sum(len(path.read_text()) for path in (mixed / "docs").glob("*.txt"))
    with (mixed / "queries.csv").open() as file:
        queries = sum(len(row["text"]) for row in csv.DictReader(file))
    # but for the line breaks between chunks
    assert 0.9 * (documents + queries) < need.characters <= documents + queries


def test_the_rest_is_timed_after_the_first_results(mixed, monkeypatch):
    """Loading a model does not hold them up."""
    order, speed = [], model_time.speed_by_model

    def noted(*words, **named):
        order.append("timed")
        return speed(*words, **named)

    monkeypatch.setattr(model_time, "speed_by_model", noted)

    class Lines(Silent):
        def note(self, text):
            order.extend(word for word in ("First results", "to go") if word in text)

    run_bench(load_config(mixed / "my.yaml"), Lines())
    assert order == ["First results", "timed", "to go"]


def test_without_a_setting_that_needs_no_model_it_is_refused(mixed, capsys):
    (mixed / "dense.yaml").write_text(
        CONFIG.replace("  - retrieve: {kind: bm25, top_k: 5}\n", "") % (DENSE % "exact")
    )
    assert "every setting needs a model" in refused(capsys, "bench", "dense.yaml", "--quick")


@pytest.mark.parametrize(
    ("steps", "quick"),
    [
        ("retrieve: {kind: bm25, top_k: 5}", True),
        ("retrieve: {kind: rrf, top_k: 5, routes: [{kind: bm25, top_k: 5}, {kind: bm25, top_k: 4}]}", True),
        (f"retrieve: {{kind: rrf, top_k: 5, routes: [{{kind: bm25, top_k: 5}}, {DENSE % 'exact'}]}}", False),
        (f"retrieve: {DENSE % 'chroma'}", False),
        (
            "retrieve: {kind: bm25, top_k: 5}\n    rerank: {kind: late_interaction}",
            False,
        ),
        ("retrieve: {kind: python, call: 'mine:search', version: '1', top_k: 5}", False),
    ],
)
def test_quick_is_what_names_no_model_and_no_code(mixed, steps, quick):
    (mixed / "mine.py").write_text("def search(*given):\n    return []\n")
    text = (CONFIG % (DENSE % "exact")).replace("retrieve: {kind: bm25, top_k: 5}", steps, 1)
    (mixed / "one.yaml").write_text(text)
    config = load_config(mixed / "one.yaml")
    assert sum(is_quick(setting) for setting in config.settings) == 2 * quick
    if quick:
        assert len(quick_part(config).settings) == 2
    else:
        with pytest.raises(ConfigError):
            quick_part(config)
