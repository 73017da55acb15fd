"""A folder of documents becomes a benchmark that can be filled and run, from any folder."""

import csv
import shutil
from pathlib import Path

import pytest

from harness.labels import load_testset
from harness.labels.scaffold.config_text import language_of
from harness.running import load_config
from tests.command import printed, refused
from tests.testset.helpers import run

ROOT = Path(__file__).parents[2]
CHINESE = "# 蓝川公司年报\n\n## 业绩\n\n营业收入为96亿元。公司在苏州的工厂有员工1200人。\n" * 3


def test_nothing_is_overwritten(folder, capsys):
    Path("bench").mkdir()
    Path("bench/queries.csv").write_text("query_id,text\nmine,What?\n")
    assert "queries.csv exists already" in refused(capsys, "init", "docs", "--out", "bench")
    assert Path("bench/queries.csv").read_text().endswith("mine,What?\n")
    assert not Path("bench/bench.yaml").exists()


def test_paths_are_written_without_steps_upwards(folder, capsys):
    Path("inside").mkdir()
    printed(capsys, "init", "inside/../docs", "--out", "inside/../bench")
    for name in ("bench.yaml", "testset.yaml", "README.md"):
        assert "inside" not in Path("bench", name).read_text()
    assert load_testset(Path("bench")).documents[0].startswith(str(Path("docs").resolve()))


def test_what_cannot_be_read_is_reported(folder, capsys):
    Path("docs/photo.jpg").write_bytes(b"\xff\xd8")
    Path("docs/broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    told = printed(capsys, "init", "docs", "--out", "bench")
    assert "1 .jpg" in told
    assert "1 document cannot be used" in told
    Path("empty").mkdir()
    assert "no document that can be read" in refused(capsys, "init", "empty")
    assert "is not a folder" in refused(capsys, "init", "nowhere")
    assert not Path("nowhere-bench").exists()


def test_files_whose_packages_are_missing_are_left_out_and_named_together(folder, capsys, monkeypatch):
    for name in ("page.html", "old.htm", "letter.docx"):
        Path("docs", name).write_bytes(b"<p>text</p>")
    missing = {"bs4", "docx"}
    monkeypatch.setattr(
        "harness.data.corpus.document_files.find_spec", lambda name: None if name in missing else name
    )
    assert run("init", "docs", "--out", "bench") == 0
    output, told = capsys.readouterr()
    told = " ".join(told.split())
    assert "2 .htm/.html files need beautifulsoup4 and lxml" in told
    assert "1 .docx file needs python-docx" in told
    assert "pip install 'ndcg-harness[docx,html]'" in told
    assert "docs: 3 of 6 documents (1 .csv, 1 .docx, 1 .htm, 1 .html, 2 .md)" in output
    for name in ("report.md", "regions.csv", "guide.md"):
        Path("docs", name).unlink()
    told = refused(capsys, "init", "docs", "--out", "second")
    assert "No document can be read yet." in told
    assert "pip install 'ndcg-harness[docx,html]'" in told


def test_two_files_of_one_name_are_two_documents(folder, capsys):
    Path("docs/report.txt").write_text("The same report, as text.")
    assert "docs: 4 documents" in printed(capsys, "init", "docs", "--out", "bench")
    rows = printed(
        capsys, "find", "same report", "--in", "bench/bench.yaml", "--format", "csv", "--query", "q1"
    )
    # the text keeps the bare name, and the other file has its ending
    assert "q1,report,,0,25," in rows
    assert "q1,report.md," in rows


def test_its_paths_hold_in_every_folder(folder, capsys, monkeypatch):
    assert run("init", "docs", "--out", "bench") == 0
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    assert "founded by Carla Meier" in printed(capsys, "find", "Carla Meier", "--in", "../bench/bench.yaml")
    written = load_config(Path("../bench/bench.yaml"))
    assert {path.is_absolute() for path in (written.queries, written.cache, written.results)} == {True}
    Path("list.csv").write_text("question\nWhere is the plant?\n")
    assert run("testset", "../bench", "propose", "--from", "list.csv") == 0
    assert list((folder / "elsewhere").iterdir()) == [folder / "elsewhere" / "list.csv"]


def test_an_impossible_place_is_refused_as_such(folder, capsys):
    Path("file").write_text("x")
    told = refused(capsys, "init", "docs", "--out", "file/bench")
    assert told.startswith(
        "error: file/bench cannot be written (Not a directory). Name another folder with --out."
    )


def test_its_files_are_no_documents(folder, capsys):
    told = refused(capsys, "init", "docs", "--out", "docs/bench")
    assert told.startswith("error: docs/bench lies in docs, so its files with .")
    assert not Path("docs/bench/README.md").exists()


def test_the_benchmark_runs_once_it_is_filled(folder, capsys):
    run("init", "docs", "--out", "bench")
    with Path("bench/queries.csv").open("a", encoding="utf-8") as file:
        file.write("q1,What was total revenue?,fact,,,\nq2,When was Lyon closed?,fact,,,\n")
    rows = [
        ["q1", "report", "", "", "", "Total revenue was 96,773 million in 2023.", "4", "", ""],
        ["q2", "report", "", "", "", "The plant in Lyon was closed in May 2023.", "4", "", ""],
    ]
    with Path("bench/labels.csv").open("a", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    # no model is run in a fast test
    words_only = Path("bench/bench.yaml").read_text().splitlines()
    kept = [line for line in words_only if "&dense" not in line and "*dense" not in line]
    Path("bench/words.yaml").write_text("\n".join(kept) + "\n")
    assert run("bench", "bench/words.yaml", "--quiet") == 0
    assert Path("bench/results/docs/summary.csv").exists()


@pytest.mark.parametrize(("download", "settings"), [(True, 6), (False, 4)])
def test_chinese_gets_what_chinese_needs(folder, download, settings):
    shutil.rmtree("docs")
    Path("docs").mkdir()
    Path("docs/年报 [终稿].md").write_text(CHINESE, encoding="utf-8")
    assert run("init", "docs", "--out", "bench", *([] if download else ["--no-download"])) == 0
    config = load_config(Path("bench/bench.yaml"))
    assert len(config.settings) == settings
    assert {setting.chunk.kind for setting in config.settings} == {"sentence"}
    models = {one.model_name for setting in config.settings for one in setting.retrieve.encoders()}
    assert models == ({"intfloat/multilingual-e5-small"} if download else set())
    assert "ndcg_evidence_tokens@1250" in config.measures
    # the same amount of text with every length of chunks
    assert {setting.retrieve.top_chars for setting in config.settings} == {10_000}
    steps = load_testset(Path("bench"))
    assert steps.language == "zh"
    assert (steps.embed is not None) == download


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The plant in Lyon was closed, and the people of the town were told of it.", "English"),
        ("Das Werk in Lyon wurde geschlossen, und die Leute haben davon nicht erfahren.", "German"),
        ("L'usine de Lyon est fermée dans la région, et les gens ne sont pas au courant.", "French"),
        ("報告期間の売上高は増加しました。工場は大阪にあります。", "Japanese"),
        ("报告期内营业收入增加。", "Chinese"),
        ("보고 기간의 매출은 증가했다.", "Korean"),
        ("12 34 56", ""),
    ],
)
def test_languages_are_distinguished(text, language):
    assert language_of([text]) == language
