"""Engines: the results of a run do not depend on where its models compute, or in which order batches end."""

import json
import pickle
import re
import sys
from types import SimpleNamespace

import pytest

from harness import running
from harness.models import EmbedConfig
from harness.running import engine as engines
from harness.running.bench import spread
from harness.running.bench.spread import wall_seconds
from harness.running.cut_apart import CutPart, cut_part
from harness.running.engine import Done, Engine, ModelJob
from harness.running.engines import make_engine
from harness.steps import RecursiveConfig
from harness.values import CorpusError, ModelError, Silent
from tests.command import exit_code, printed, refused

SAME = ("per_query.csv", "rankings.csv", "summary.csv", "chunks.csv")


class Scattered(Engine):
    """Sends jobs through pickle, as to other machines, and ends the last part first."""

    apart = True
    worker = ("scattered", 1, 0)

    def __init__(self):
        self.jobs = []

    def size(self):
        return 2

    def map(self, job, parts, here, task):
        self.jobs.append(type(job).__name__)
        for index in reversed(range(len(parts))):
            value = pickle.loads(pickle.dumps(job))(pickle.loads(pickle.dumps(parts[index])))
            yield Done(index, value, 2.0)


@pytest.fixture
def scattered(monkeypatch):
    """The engine that every run gets instead of a cluster."""
    made = Scattered()
    monkeypatch.setattr("harness.running.session.make_engine", lambda config, reporter: made)
    return made


def again(path):
    """Run a configuration, whatever is stored of it; returns the folder of its results."""
    return running.run_or_reuse(running.load_config(path), Silent(), again=True).folder


def tables(path):
    folder = again(path)
    return {name: (folder / name).read_bytes() for name in SAME}


SEARCHED = """{kind: rrf, top_k: 10, routes: [
  {kind: bm25, top_k: 10},
  {kind: exact, model: "embedded:all-MiniLM-L6-v2", batch_tokens: 128, top_k: 10}]}"""


def test_parts_that_end_in_another_order_elsewhere_give_the_same_bytes(write_config, scattered, monkeypatch):
    monkeypatch.setattr("harness.steps.search.retrieve.scan._ROWS", 3)
    elsewhere = tables(write_config(cache="elsewhere", retrieve=SEARCHED))
    assert set(scattered.jobs) == {"ModelJob", "ParseJob", "function", "partial"}
    monkeypatch.setattr("harness.running.session.make_engine", make_engine)
    assert tables(write_config(cache="here", retrieve=SEARCHED)) == elsewhere


def test_documents_are_cut_for_all_settings_in_one_pass_and_once(lexical, scattered, monkeypatch):
    monkeypatch.setattr("harness.running.cut_apart._CHARACTERS", 300)
    asked = []
    cut = scattered.map

    def noted(job, parts, *more):
        asked.extend(
            (part.config.chunk_size, len(part.documents)) for part in parts if hasattr(part, "config")
        )
        return cut(job, parts, *more)

    monkeypatch.setattr(scattered, "map", noted)
    chunk = "{kind: recursive, chunk_size: [90, 180]}"
    path = lexical(cache="elsewhere", chunk=chunk)
    elsewhere = tables(path)
    # three documents are longer than a part may be
    assert sorted(asked) == [(90, 1)] * 3 + [(180, 1)] * 3
    again(path)
    assert len(asked) == 6
    monkeypatch.setattr("harness.running.session.make_engine", make_engine)
    assert tables(lexical(cache="here", chunk=chunk)) == elsewhere


def test_a_worker_with_another_tokenizer_or_other_files_of_a_model_is_refused():
    part = CutPart(RecursiveConfig(chunk_size=90), "embedded:all-MiniLM-L6-v2", "another", ())
    with pytest.raises(ModelError, match=r"another tokenizer of this model.*Give both the same files"):
        cut_part(part)
    job = ModelJob(EmbedConfig(model="embedded:all-MiniLM-L6-v2"), "another model")
    engines._built.clear()
    with pytest.raises(ModelError, match=r"other files of this model.*Give both the same files"):
        job(["a text"])


def test_the_engine_does_not_decide_whether_results_are_up_to_date(lexical, monkeypatch, capsys):
    assert exit_code("bench", lexical()) == 0
    # Ray is not even looked for
    monkeypatch.setitem(sys.modules, "ray", None)
    assert "Nothing has changed" in printed(capsys, "bench", lexical(), "--engine", "ray")
    # and where it is needed, the error says what to install
    path = lexical(cache="elsewhere")
    assert "pip install 'ndcg-harness[ray]'" in refused(capsys, "bench", path, "--engine", "ray")


def test_a_worker_that_does_not_see_a_document_ends_the_run(lexical, scattered, monkeypatch):
    def elsewhere(job, parts, *more):
        return Scattered.map(scattered, job, [(file, "other") for file, _ in parts], *more)

    monkeypatch.setattr(scattered, "map", elsewhere)
    with pytest.raises(CorpusError, match="does not see this file, or sees another one"):
        again(lexical(cache="elsewhere"))


def test_a_bad_document_is_refused_and_skipped_as_here(lexical, corpus, scattered, capsys):
    (corpus / "docs" / "bad.txt").write_bytes(b"\xff\xfe\x00broken")
    error = refused(capsys, "bench", lexical(cache="elsewhere"))
    assert f"{corpus}/docs/bad.txt" in error
    assert "on_bad_document: skip" in error
    assert exit_code("bench", lexical(cache="elsewhere", more="on_bad_document: skip")) == 0


def planned(path):
    reporter = Silent()
    running.make_plan(running.load_config(path), reporter)
    # what is assumed of the labels comes first
    return reporter.notes[1:]


def test_a_plan_says_how_the_work_is_spread_and_how_long_it_takes(write_config, scattered):
    path = write_config(cache="elsewhere")
    cold = planned(path)
    assert cold[0] == "Engine: ray at auto, 2 workers of 1 CPU."
    embed = re.match(r"embed by .*: (\d+) texts in (\d+) batches on 2 workers: time unknown", cold[1])
    count, batches = map(int, embed.groups())
    # two settings, ten passages for each question, at most
    assert re.search(r"at most \d+ pairs on 2 workers: time unknown", cold[2])
    assert cold[3] == "On the workers, together: what is unknown."
    record = json.loads((again(path) / "record.json").read_text())
    assert record["counts"]["vectors_computed"] == count
    warm = planned(path)
    assert warm[1] == "Nothing is left to compute on workers."
    assert warm[2].endswith(f" in the run of {record['date']}.")
    # a batch takes two seconds in this engine, so that the rate is its characters by 2 s
    path = write_config(cache="elsewhere", chunk="{kind: recursive_token, chunk_size: 60}")
    told = planned(path)
    speed = re.search(r"\(([\d,]+) characters a second each, by earlier runs on Ray\)", told[1])[1]
    with running.Session.at(running.load_config(path).cache, Silent()) as session:
        rates = [
            rate for rate in kept_rates(session) if f"{rate['characters'] / rate['seconds']:,.0f}" == speed
        ]
    assert [rate["seconds"] for rate in rates] == [2.0 * batches]
    assert "unknown" not in "".join(told)


def kept_rates(session):
    """All rates that a cache has."""
    folder = session.artifacts.path("rate", "").parent
    keys = [path.name.removesuffix(".json.gz") for path in folder.iterdir()]
    return [session.artifacts.get("rate", key) for key in keys]


def test_before_a_worker_was_measured_this_machine_tells_its_speed(monkeypatch):
    speeds = {}
    monkeypatch.setattr(spread, "LocalEngine", lambda: SimpleNamespace(worker=("local", 8, 0)))
    model = SimpleNamespace(speed=lambda worker: speeds.get(worker[0]))

    def told(**asked):
        config = engines.EngineConfig(kind="ray", threads=2, **asked)
        over = SimpleNamespace(worker=("ray", 2, 0), size=lambda: 1)
        work = spread.Work([], None, [], SimpleNamespace(engine=config))
        values = {"model": "m", "pairs": "6 pairs"}
        return work._stage(model, 600, over, None, ("spread.score", values))

    seconds, line = told()
    assert seconds is None
    assert line.endswith("on 1 worker: time unknown (nothing was measured with such workers).")
    # 300 characters a second on 8 CPUs, of which a worker has 2: 600 / (300 * 2 / 8)
    speeds["local"] = 300.0
    seconds, line = told()
    assert seconds == 8.0
    assert line == (
        "score by m: at most 6 pairs on 1 worker: about 8 s (75 characters a second each, by earlier runs in "
        "one process on 8 CPUs of this machine)."
    )
    # what CPUs take says nothing about GPUs
    assert told(gpus=1)[0] is None
    # what such workers took themselves comes first: 600 / 50
    speeds["ray"] = 50.0
    assert told()[0] == 12.0


@pytest.mark.parametrize(
    ("batches", "seconds", "wall"),
    # as many workers as there are batches are busy; where these are not known, all are
    [(100, 60.0, 15.0), (2, 60.0, 30.0), (None, 60.0, 15.0), (0, 60.0, 60.0), (100, None, None)],
)
def test_no_more_workers_are_busy_than_there_are_batches(batches, seconds, wall):
    assert wall_seconds(seconds, 4, batches) == wall
