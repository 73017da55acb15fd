"""A run that finds nothing changed shows the results that stand; in any doubt it runs."""

import dataclasses
import os
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

import harness.running.bench.flow
import harness.running.bench.job as unchanged
from harness.running import load_config
from harness.running.bench.job import input_hashes
from harness.running.program import _libraries
from harness.store import CacheLayout, clear
from harness.values import RunRecord, StoreError
from tests.command import exit_code, write_files

bench = partial(exit_code, "bench")


@pytest.fixture
def words(lexical, corpus):
    """A configuration that loads no model, in a cache of its own."""
    (corpus / "words.txt").write_text("harbour, port\n")
    return lexical(retrieve=f"{{kind: bm25, top_k: 10, synonyms: '{corpus}/words.txt'}}", cache="own")


@pytest.fixture
def runs(monkeypatch):
    """How many benchmarks were really run."""
    found = []
    run = harness.running.bench.flow.run_bench

    def counted(*given):
        found.append(given)
        return run(*given)

    monkeypatch.setattr(harness.running.bench.flow, "run_bench", counted)
    return found


def contents(*folders):
    return {
        str(path): (path.read_bytes(), path.stat().st_mtime_ns)
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_a_repeated_run_says_the_same_and_writes_nothing(words, corpus, runs, capsys):
    assert bench(words) == 0
    first = capsys.readouterr()
    before = contents(corpus / "results", corpus / "own")
    assert bench(words) == 0
    second = capsys.readouterr()
    assert len(runs) == 1
    assert contents(corpus / "results", corpus / "own") == before
    # each is wrapped to the terminal, so paragraphs are compared
    before_text, after_text = (
        [" ".join(part.split()) for part in out.split("\n\n")] for out in (first.out, second.out)
    )
    ((ran, stands),) = [pair for pair in zip(before_text, after_text, strict=True) if pair[0] != pair[1]]
    assert "Done in " in ran
    assert stands.startswith("Nothing has changed since the run of ")
    assert f"Page: {corpus}/results/tiny/report.html" in after_text[-1]
    # warned of is the same too, not what was read and done on the way
    warned = [line for line in first.err.splitlines() if line.startswith("warning: ")]
    assert [line for line in second.err.splitlines() if line.startswith("warning: ")] == warned


def append(name, text):
    return lambda corpus: (corpus / name).write_text((corpus / name).read_text() + text)


def add_document(corpus):
    (corpus / "docs" / "more.txt").write_text("The foundry has a new crane.")


def rename_document(corpus):
    # the labels name it without its ending
    (corpus / "docs" / "people.txt").rename(corpus / "docs" / "people.md")
    config = (corpus / "bench.yaml").read_text()
    (corpus / "bench.yaml").write_text(config.replace("docs/*.txt", "docs/*"))


def flip_a_bit(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def damage_the_cache(corpus):
    (kept,) = (CacheLayout(corpus / "own").artifacts / "finished").iterdir()
    flip_a_bit(kept)


CHANGES = {
    "a document": append("docs/people.txt", "\n\nA word more."),
    "a question": append("queries.csv", "q6,What holds vehicles?,train,no\n"),
    "the configuration": append("bench.yaml", "bootstrap: {resamples: 200}\n"),
    "a damaged table": lambda corpus: flip_a_bit(corpus / "results/tiny/rankings.csv"),
    "a damaged note in the cache": damage_the_cache,
    "a document's name": rename_document,
    "a file that a key names": append("words.txt", "harbour, quay\n"),
    "results that are gone": lambda corpus: (corpus / "results/tiny").rename(corpus / "tiny"),
}


def test_whatever_has_changed_is_run_once(words, corpus, runs, capsys):
    assert bench(words, "--quiet") == 0
    for done, (what, change) in enumerate(CHANGES.items(), start=1):
        assert len(runs) == done
        change(corpus)
        assert bench(words, "--quiet") == 0, what
        assert len(runs) == done + 1, what
        assert bench(words, "--quiet") == 0
    assert len(runs) == len(CHANGES) + 1


def test_another_program_or_the_wish_runs_again_and_an_added_file_is_left_alone(
    words, corpus, runs, monkeypatch, capsys
):
    bench(words, "--quiet")
    added = corpus / "results/tiny/waterfall.svg"
    added.write_text("a figure of ours")
    bench(words, "--quiet")
    assert (len(runs), added.exists()) == (1, True)
    assert bench(words, "--quiet", "--again") == 0
    assert len(runs) == 2
    bench(words, "--quiet")
    assert len(runs) == 2
    monkeypatch.setattr(unchanged, "program_key", lambda: "another version")
    bench(words, "--quiet")
    assert len(runs) == 3


def test_prompts_and_code_of_ones_own_are_inputs(lexical, corpus, monkeypatch):
    monkeypatch.chdir(corpus)
    code = "def cut(text):\n    return [(0, len(text))]\n"
    write_files(corpus, {"mine.yaml": "system: s\nuser: '{{ query }}'\n", "steps/cut.py": code})
    endpoint = "{model: m, base_url: 'http://127.0.0.1:9/v1'}"
    config = lexical(
        cache="own",
        chunk="{kind: python, call: 'steps.cut:cut', version: '1'}",
        more=f"rewrite: {{kind: llm, prompt: mine.yaml, endpoint: {endpoint}}}\n",
    )
    inputs = input_hashes(load_config(config))
    assert {"mine.yaml", "steps/cut.py"} <= inputs.keys()
    names = {Path(name).name for name in inputs}
    assert {"people.txt", "engines.txt", "harbour.txt", "queries.csv", "labels.csv"} <= names


def test_what_changes_while_it_runs_is_run_again(words, corpus, monkeypatch, capsys):
    run, count = harness.running.bench.flow.run_bench, []

    def interfered(*given):
        found = run(*given)
        if not count:
            add_document(corpus)
        count.append(given)
        return found

    monkeypatch.setattr(harness.running.bench.flow, "run_bench", interfered)
    for _ in range(3):
        bench(words, "--quiet")
    assert len(count) == 2


FAILURES = [
    ({"documents_skipped": 1}, {}),
    ({"calls_failed": 1}, {}),
    ({"cache_faults": ["damaged"]}, {}),
    ({"rewriting": {"p by m": {"faults": {"timeout": 1}}}}, {}),
    ({"endpoints": {"m": {"faults": {"http_500": 2}}}}, {}),
    ({}, {"unscored": {"refusal": 1}}),
    ({}, {"faults": {"timeout": 1}}),
]


def test_a_result_with_failures_is_not_kept_as_finished():
    counts = {"documents_skipped": 0, "rewriting": {"p by m": {"faults": {}}}, "endpoints": {}}
    cost = {"unscored": {"refusal": 0}, "faults": {}}
    fields = {field.name: {} for field in dataclasses.fields(RunRecord)}
    record = RunRecord(**fields | {"counts": counts, "cost": cost})
    assert unchanged.is_complete(record)
    assert unchanged.is_complete(replace(record, cost={}))
    for more, lost in FAILURES:
        failed = replace(record, counts=counts | more, cost=cost | lost)
        assert not unchanged.is_complete(failed), (more, lost)


def test_what_a_package_brings_along_is_no_library_of_the_program(tmp_path, monkeypatch):
    """Ray puts a folder of its own on the path once it is imported."""
    before = _libraries()
    (tmp_path / "brought" / "one-1.0.dist-info").mkdir(parents=True)
    monkeypatch.syspath_prepend(str(tmp_path / "brought"))
    assert _libraries() == before | {"one-1.0.dist-info"}
    (tmp_path / "__init__.py").touch()
    assert _libraries() == before


@pytest.mark.slow
def test_two_unchanged_runs_at_once_load_no_model(write_config, corpus, capsys):
    """A configuration with two models: neither they nor the libraries that would load them are touched."""
    config = write_config(chunk="{kind: recursive_token, chunk_size: 180}")
    assert bench(config, "--quiet") == 0
    before = contents(corpus / "results")
    script = (
        "import sys\nfrom harness.cli import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit as end:\n    assert not end.code\n"
        "heavy = {'torch', 'transformers', 'sentence_transformers', 'chromadb', 'scipy', 'pandas'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    words = [sys.executable, "-c", script, "bench", str(config)]
    env = {**os.environ, "PYTHONPATH": str(Path(harness.__file__).parent.parent)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    for one in [subprocess.Popen(words, env=env, **pipes) for _ in range(2)]:
        out, err = one.communicate(timeout=900)
        assert one.returncode == 0, err
        assert "Nothing has changed" in out
    assert contents(corpus / "results") == before


def test_the_cache_is_in_use_until_the_origin_is_kept(words, corpus, monkeypatch, capsys):
    """Emptying it meanwhile failed with "Directory not empty", or removed what was being written."""
    keep, refused = unchanged.keep_origin, []

    def keep_while_another_empties(*given):
        try:
            clear(CacheLayout(corpus / "own"))
        except StoreError as error:
            refused.append(str(error))
        keep(*given)

    monkeypatch.setattr(unchanged, "keep_origin", keep_while_another_empties)
    assert bench(words) == 0
    assert len(refused) == 1
    assert "in use by another command" in refused[0]
    assert bench(words) == 0
    assert "Nothing has changed" in capsys.readouterr().out
    assert clear(CacheLayout(corpus / "own")) != ()


def test_a_note_that_cannot_be_kept_loses_no_results(words, monkeypatch, capsys):
    def full(*given):
        raise StoreError("the disk is full")

    monkeypatch.setattr("harness.running.bench.job.keep_origin", full)
    assert bench(words) == 0
    shown = capsys.readouterr()
    assert "One setting" in shown.out
    assert "the disk is full" in shown.err
