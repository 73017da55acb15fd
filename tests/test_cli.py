"""The command line: help that teaches, exit codes, messages."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.store import CacheLayout
from tests.command import YARD, exit_code, printed, refused, write_files


def test_help_answers_at_once_for_it_loads_little():
    """Counted in modules, not in seconds: a busy machine is slow and loads no more of them."""
    code = (
        "import sys; before = set(sys.modules)\n"
        "from harness.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: print(*(set(sys.modules) - before), file=sys.stderr)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = out.stderr.split()
    foreign = {name.split(".")[0] for name in loaded} - set(sys.stdlib_module_names) - {"harness"}
    assert foreign == set()
    assert "harness.cli" in loaded
    assert len(loaded) < 150


def test_wrong_usage_exits_with_2(capsys):
    assert exit_code() == 2
    # an unknown argument is answered with the usage of its command
    assert exit_code("score", "run.txt", "qrels.txt") == 2
    shown = capsys.readouterr().err
    assert "[--run RUN [RUN ...]]" in shown
    assert "harness score: error: unrecognized arguments: run.txt qrels.txt" in shown


@pytest.fixture
def write_config(tmp_path, monkeypatch):
    """Writes c.yaml for a corpus of one document and one question in the current folder."""
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path, YARD)
    return lambda more="": (tmp_path / "c.yaml").write_text(YARD["c.yaml"] + more)


def test_bench_prints_the_summary_and_show_prints_it_again(write_config, tmp_path, capsys):
    write_config()
    assert "ready to run" in printed(capsys, "validate", "c.yaml")
    out = printed(capsys, "bench", "c.yaml", "--quiet")
    assert "One setting: 1.00 in NDCG over the first 10 passages (ndcg_exp@10), on 1 query." in out
    assert "results/one/report.html" in out
    assert (tmp_path / "results" / "one" / "report.html").stat().st_size > 10_000
    shown = printed(capsys, "show", "results/one")
    assert "1.000" in shown
    assert "too few queries for an interval" in shown
    assert "Lost at each step" in shown
    assert "Chunks: lengths" in shown
    assert exit_code("show", "results/one", "--format", "csv", "--output", "s.csv") == 0
    assert (tmp_path / "s.csv").read_text() == (tmp_path / "results/one/summary.csv").read_text()
    assert exit_code("show", "results/one", "--format", "markdown", "--worst", "3") == 0
    assert "| q1 | train | " in capsys.readouterr().out.replace("validation", "train")
    assert "Settings: base" in refused(capsys, "show", "results/one", "--worst", "3", "--setting", "none")
    for words, problem in {
        ("--setting", "base"): "add --worst N",
        ("--worst", "-1"): "cannot be -1",
        ("--worst", "0"): "cannot be 0",
        ("--worst", "3", "--setting", "no"): "no setting 'no'",
        ("--worst", "3", "--format", "json"): "use --format csv",
    }.items():
        assert exit_code("show", "results/one", *words) == 1
        assert problem in capsys.readouterr().err
    assert exit_code("show", "results/one", "--output", "new/s.md") == 0
    assert "written: new/s.md" in capsys.readouterr().err
    assert "--worst needs one result" in refused(capsys, "show", "--worst", "3")
    assert exit_code("show", "--format", "csv") == 0
    assert capsys.readouterr().out.startswith("results,begun (UTC),settings,best setting,measure,mean\none,")
    (tmp_path / "results/one/record.json").write_text("x\n")
    for command in ("show", "compare"):
        assert "record.json is damaged" in refused(capsys, command, "results/one")
    assert "damaged" in printed(capsys, "show")


def test_a_bad_document_can_fail_the_run_when_all_else_is_done(write_config, tmp_path, capsys):
    (tmp_path / "b.txt").write_bytes(b"caf\xe9")
    codes = {}
    for on_bad in ("fail", "fail_at_end", "skip"):
        write_config(f"on_bad_document: {on_bad}\n")
        codes[on_bad] = [exit_code("validate", "c.yaml"), exit_code("bench", "c.yaml", "--dry-run")]
        codes[on_bad].append(exit_code("bench", "c.yaml", "--quiet"))
        if on_bad == "fail":
            assert "b.txt: byte 0xe9 at offset 3 is not UTF-8" in capsys.readouterr().err
            assert not (tmp_path / "results").exists()
        if on_bad == "fail_at_end":
            assert capsys.readouterr().err.count("error: 1 document could not be used: b.") == 3
            assert (tmp_path / "results" / "one" / "summary.csv").exists()
    assert codes == {"fail": [1, 1, 1], "fail_at_end": [1, 1, 1], "skip": [0, 0, 0]}


def test_the_cache_is_sized_tidied_and_cleared_and_judgments_stay(tmp_path, capsys):
    layout = CacheLayout(tmp_path)
    in_use = layout.use()
    chroma = layout.chroma
    (chroma / ".partial-2").mkdir(parents=True)
    (chroma / ".partial-2" / "data").write_bytes(b"x" * 2_000_000)
    (chroma / "def").mkdir()
    (layout.artifacts / "chunks").mkdir(parents=True)
    (layout.artifacts / "chunks" / ".partial-1").write_text("half")
    (tmp_path / "judgments.sqlite").write_bytes(b"x" * 1_000_000)
    assert "2.0" in printed(capsys, "cache", "--cache", tmp_path)
    for what in ("--tidy", "--clear"):
        assert "in use by a benchmark" in refused(capsys, "cache", "--cache", tmp_path, what)
    in_use.release()
    assert "2 half-written or damaged items removed" in printed(
        capsys, "cache", "--cache", tmp_path, "--tidy"
    )
    assert sorted(path.name for path in chroma.iterdir()) == ["def"]
    assert list((layout.artifacts / "chunks").iterdir()) == []
    assert exit_code("cache", "--cache", tmp_path, "--clear") == 0
    assert [path.name for path in tmp_path.iterdir()] == ["judgments.sqlite"]
    assert "nothing to remove" in printed(capsys, "cache", "--cache", tmp_path, "--clear")


def test_what_no_run_has_written_is_not_moved_away(tmp_path, capsys, monkeypatch):
    hit = '{"query_id": "q1", "rank": 1, "document": "a", "start": 0, "end": 30}'
    write_files(tmp_path, YARD | {"results/one/notes.txt": "mine", "hits.jsonl": hit})
    monkeypatch.chdir(tmp_path)
    for command in ("validate", "bench"):
        assert "results/one is in the place of the results, and no run" in refused(capsys, command, "c.yaml")
    words = (
        "--hits",
        "hits.jsonl",
        "--queries",
        "queries.csv",
        "--labels",
        "labels.csv",
        "--documents",
        "a.txt",
    )
    assert "results/one is in the place" in refused(capsys, "score", *words, "--name", "one")
    assert "c.yaml is in the place of the results" in refused(
        capsys, "demo", "--out", "c.yaml", "--no-browser"
    )
    assert (tmp_path / "c.yaml").is_file()
    shutil.rmtree("results/one")
    Path("results/one").mkdir()
    assert exit_code("bench", "c.yaml") == 0


def test_a_misspelt_cache_is_no_empty_one(tmp_path, capsys):
    assert "no is no folder. Correct --cache" in refused(capsys, "cache", "--cache", tmp_path / "no")


def test_clearing_touches_only_what_carries_our_mark(tmp_path, capsys):
    for name in ("venv/bin/python", "videos/a.mp4", "vpn-keys/key", "v1/photo.jpg", "harness-v2/mine"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("mine")
    (tmp_path / "v3").symlink_to(tmp_path / "videos")
    before = sorted(tmp_path.rglob("*"))
    assert exit_code("cache", "--cache", tmp_path, "--clear") == 0
    # nor does using a folder of that name make it ours
    CacheLayout(tmp_path).use().release()
    assert exit_code("cache", "--cache", tmp_path, "--clear") == 0
    shutil.rmtree(tmp_path / ".in-use")
    assert sorted(tmp_path.rglob("*")) == before
