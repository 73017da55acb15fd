"""The command line: help that teaches, exit codes, messages."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.store import CacheLayout
from tests.command import YARD, exit_code, printed, refused, run, write_files


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


def test_without_a_command_it_says_how_to_start(capsys):
    assert exit_code() == 2
    shown = capsys.readouterr()
    assert shown.err == ""
    commands = [line.split()[1] for line in shown.out.splitlines() if line.startswith("  harness ")]
    assert commands == ["demo", "init", "bench", "--help", "COMMAND", "docs"]
    # what it names is there
    for command in commands[:3]:
        assert exit_code(command, "--help") == 0


def test_what_is_neither_a_configuration_nor_a_folder_is_told_with_both(capsys):
    told = refused(capsys, "label", "nothing")
    assert "There is nothing at nothing." in told
    assert "the YAML file of a benchmark" in told
    assert "the folder of a test set" in told


def test_wrong_usage_exits_with_2(capsys):
    # an unknown argument is answered with the usage of its command
    assert exit_code("score", "run.txt", "qrels.txt") == 2
    shown = capsys.readouterr().err
    assert "[--run RUN [RUN ...]]" in shown
    assert "harness score: error: unrecognized arguments: run.txt qrels.txt" in shown


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("compair results/mine", "harness: error: there is no command 'compair' (did you mean 'compare'?)."),
        ("judge exprt", "harness judge: error: there is no command 'exprt' (did you mean 'export'?)."),
        ("zzzzzz", "harness: error: there is no command 'zzzzzz'."),
    ],
)
def test_a_misspelt_command_ends_with_one_line_and_a_suggestion(words, said, capsys):
    code, out, err = run(capsys, *words.split())
    assert (code, out) == (2, "")
    assert err == f"{said} `{said.split(':')[0]} --help` lists them.\n"


def test_a_misspelt_option_gets_a_suggestion(capsys):
    for words in ("bench my.yaml --dryrun", "tune my.yaml --dryrun", "bench my.yaml --DryRun=1"):
        code, _, err = run(capsys, *words.split())
        assert code == 2
        assert "(did you mean '--dry-run'?)" in err
    assert "(did you mean '--quick'?)" in run(capsys, "demo", "--quik")[2]
    # that both begin with dashes, or share some letters, makes no option the one that was meant
    for words in (
        "bench my.yaml --zzzzzz",
        "gate a --baseline b --setting x",
        "compare results --top 3",
    ):
        assert "did you mean" not in run(capsys, *words.split())[2]


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
    assert (
        "nothing to compare it with: 1.00 in NDCG over the first 10 passages (ndcg_exp@10), on 1 query."
        in out
    )
    assert (tmp_path / "results" / "one" / "report.html").stat().st_size > 10_000
    shown = printed(capsys, "show", "results/one")
    for part in ("1.000", "too few queries for an interval", "Lost at each step", "Chunks: lengths"):
        assert part in shown
    assert exit_code("show", "results/one", "--format", "csv", "--output", "new/s.csv") == 0
    assert (tmp_path / "new/s.csv").read_text() == (tmp_path / "results/one/summary.csv").read_text()
    assert exit_code("show", "results/one", "--output", "new/s.txt") == 0
    assert "1.000" in (tmp_path / "new/s.txt").read_text()
    worst = printed(capsys, "show", "results/one", "--format", "markdown", "--worst", "3")
    assert "| q1 | train | " in worst.replace("validation", "train")
    for words, problem in {
        ("--setting", "base"): "add --worst N",
        ("--worst", "-1"): "cannot be -1",
        ("--worst", "0"): "cannot be 0",
        ("--worst", "3", "--setting", "no"): "no setting 'no'",
        ("--worst", "3", "--format", "json"): "use --format csv",
    }.items():
        assert problem in refused(capsys, "show", "results/one", *words)
    assert "--worst needs one result" in refused(capsys, "show", "--worst", "3")
    listed = printed(capsys, "show", "--format", "csv")
    assert listed.startswith("results,begun (UTC),settings,best setting,measure,mean one,")
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
    half = {".partial-2/data": "x" * 2_000_000, "def/data": "x"}
    write_files(layout.chroma, half)
    write_files(layout.artifacts, {"chunks/.partial-1": "half"})
    write_files(tmp_path, {"judgments.sqlite": "x"})

    def cache(ended, *words):
        return ended(capsys, "cache", "--cache", tmp_path, *words)

    assert "2.0" in cache(printed)
    for what in ("--tidy", "--clear"):
        assert "in use by another command" in cache(refused, what)
    in_use.release()
    assert "2 half-written or damaged items removed" in cache(printed, "--tidy")
    assert sorted(path.name for path in layout.chroma.iterdir()) == ["def"]
    assert list((layout.artifacts / "chunks").iterdir()) == []
    cache(printed, "--clear")
    assert [path.name for path in tmp_path.iterdir()] == ["judgments.sqlite"]
    assert "nothing to remove" in cache(printed, "--clear")
    # a misspelt cache is no empty one
    assert "no is no folder. Correct --cache" in refused(capsys, "cache", "--cache", tmp_path / "no")


def test_what_no_run_has_written_is_not_moved_away(tmp_path, capsys, monkeypatch):
    hit = '{"query_id": "q1", "rank": 1, "document": "a", "start": 0, "end": 30}'
    write_files(tmp_path, YARD | {"results/one/notes.txt": "mine", "hits.jsonl": hit})
    monkeypatch.chdir(tmp_path)
    score = "score --hits hits.jsonl --queries queries.csv --labels labels.csv --documents a.txt --name one"
    for command in ("validate c.yaml", "bench c.yaml", score):
        assert "results/one is in the place of the results, and no run" in refused(capsys, *command.split())
    said = refused(capsys, "demo", "--out", "c.yaml", "--no-browser")
    assert "c.yaml is in the place of the results" in said
    assert (tmp_path / "c.yaml").is_file()
    shutil.rmtree("results/one")
    Path("results/one").mkdir()
    assert exit_code("bench", "c.yaml") == 0


def test_clearing_touches_only_what_carries_our_mark(tmp_path, capsys):
    names = ("venv/bin/python", "videos/a.mp4", "vpn-keys/key", "v1/photo.jpg", "harness-v2/mine")
    write_files(tmp_path, dict.fromkeys(names, "mine"))
    (tmp_path / "v3").symlink_to(tmp_path / "videos")
    before = sorted(tmp_path.rglob("*"))
    assert exit_code("cache", "--cache", tmp_path, "--clear") == 0
    # nor does using a folder of that name make it ours
    CacheLayout(tmp_path).use().release()
    assert exit_code("cache", "--cache", tmp_path, "--clear") == 0
    shutil.rmtree(tmp_path / ".in-use")
    assert sorted(tmp_path.rglob("*")) == before
