"""Engines: the results of a run do not depend on where its models compute, or in which order batches end."""

import json
import pickle
import sys

import pytest

from harness import running
from harness.cli import main
from harness.models import EmbedConfig
from harness.running import engine as engines
from harness.running.engine import Engine, EngineConfig, LocalEngine, ModelJob, make_engine
from harness.values import CorpusError, ModelError, Silent

SAME = ("per_query.csv", "rankings.csv", "summary.csv", "chunks.csv")


class Scattered(Engine):
    """Sends jobs through pickle, as to other machines, and ends the last part first."""

    apart = True

    def __init__(self):
        self.jobs = []

    def map(self, job, parts, here):
        self.jobs.append(type(job).__name__)
        for index in reversed(range(len(parts))):
            yield index, pickle.loads(pickle.dumps(job))(pickle.loads(pickle.dumps(parts[index])))


@pytest.fixture
def scattered(monkeypatch):
    """The engine that every run gets instead of a cluster."""
    made = Scattered()
    monkeypatch.setattr("harness.running.context.make_engine", lambda config, reporter: made)
    return made


def code_of(*args):
    """The exit code of a command."""
    with pytest.raises(SystemExit) as left:
        main([str(one) for one in args])
    return left.value.code


def tables(folder):
    return {name: (folder / name).read_bytes() for name in SAME}


def test_parts_that_end_in_another_order_elsewhere_give_the_same_bytes(write_config, scattered, monkeypatch):
    config = running.load_config(write_config(cache="elsewhere"))
    elsewhere = tables(running.run_or_reuse(config, Silent(), again=True).folder)
    assert {"ModelJob", "ParseJob"} == set(scattered.jobs)
    monkeypatch.setattr("harness.running.context.make_engine", make_engine)
    config = running.load_config(write_config(cache="here"))
    assert tables(running.run_or_reuse(config, Silent(), again=True).folder) == elsewhere


def test_the_engine_does_not_decide_whether_results_are_up_to_date(write_config, capsys):
    path = write_config(retrieve="{kind: bm25}", rerank="null")
    assert code_of("bench", path) == 0
    capsys.readouterr()
    # Ray is not even looked for
    assert code_of("bench", path, "--engine", "ray") == 0
    assert "Nothing has changed" in capsys.readouterr().out


def test_a_worker_with_other_files_of_a_model_is_refused():
    job = ModelJob(EmbedConfig(model="embedded:all-MiniLM-L6-v2"), "another model")
    engines._built.clear()
    with pytest.raises(ModelError, match=r"other files of this model.*Give both the same files"):
        job(["a text"])


def test_a_worker_that_does_not_see_a_document_ends_the_run(write_config, scattered, monkeypatch):
    path = write_config(cache="elsewhere", retrieve="{kind: bm25}", rerank="null")
    monkeypatch.setattr("harness.running.parsing.file_sha256", lambda path: "of another file")
    with pytest.raises(CorpusError, match="does not see this file, or sees another one"):
        running.run_or_reuse(running.load_config(path), Silent(), again=True)


def test_a_bad_document_is_refused_and_skipped_as_here(write_config, corpus, scattered, capsys):
    (corpus / "docs" / "bad.txt").write_bytes(b"\xff\xfe\x00broken")
    path = write_config(cache="elsewhere", retrieve="{kind: bm25}", rerank="null")
    assert code_of("bench", path) != 0
    error = capsys.readouterr().err
    assert f"{corpus}/docs/bad.txt" in error
    assert "on_bad_document: skip" in error
    path.write_text(path.read_text() + "on_bad_document: skip\n")
    assert code_of("bench", path) == 0


def test_the_record_names_the_engine(write_config, scattered, monkeypatch):
    monkeypatch.setattr(scattered, "describe", lambda: {"kind": "scattered"}, raising=False)
    path = write_config(cache="elsewhere", retrieve="{kind: bm25}", rerank="null")
    folder = running.run_or_reuse(running.load_config(path), Silent(), again=True).folder
    assert json.loads((folder / "record.json").read_text())["engine"] == {"kind": "scattered"}


def test_a_run_of_this_process_names_no_engine():
    engine = make_engine(EngineConfig(), Silent())
    assert isinstance(engine, LocalEngine)
    assert engine.describe() == {}


def test_without_ray_the_error_says_what_to_install(write_config, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "ray", None)
    path = write_config(cache="elsewhere", retrieve="{kind: bm25}", rerank="null")
    assert code_of("bench", path, "--engine", "ray") != 0
    assert "pip install 'ndcg-harness[ray]'" in capsys.readouterr().err
