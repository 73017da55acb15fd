"""The benchmarks behind docs/scale.md: small runs of them, and the page made of their constants."""

import json
import math
import subprocess
import sys
from dataclasses import replace

import pytest

from benchmarks import scale, scale_sample, scale_sample_table, scale_table
from harness.values import Document, Judgment
from tests.models import tiny

LABELLED = "Meridian employed 39,717 people in 2025, of whom 812 worked at Paducah.\n"
OTHER = "A plant of Meridian near the river makes 120 axles an hour.\n"
QUERIES = {"q1": "how many people were employed", "q2": "which plant makes axles"}


def document(name, text, pages=()):
    return Document(name, text, pages, "")


def test_made_distractors_hold_no_labelled_line_and_no_name_or_figure_of_the_source():
    source = document("report", OTHER + LABELLED + OTHER)
    start = source.text.index(LABELLED) + 3
    lender = document(scale_sample.REPORT, OTHER)
    label = Judgment("q1", "report", start, start + 20, 4)
    parts = scale_sample.other_companies([lender, source], [label], 3)
    assert parts.labelled == {"report": source.text}
    # three companies tell both documents
    assert len(parts.pool) == 6
    for name, text in parts.pool.items():
        # "A" and "of", "near", "the", "river" are words like others; the name and the figure are replaced
        assert text.count("axles an hour") == (2 if "-report-" in name else 1)
        assert not any(word in text for word in ("employed", "Meridian", "Paducah", "39,717"))


def test_pages_with_labelled_text_are_the_labelled_part():
    pages = ("first page. ", "second page. ", "third page. ")
    source = document("filing", "".join(pages), (0, 12, 25))
    # from the second page into the third, so both hold it: 16 is 4 characters into the second
    parts = scale_sample.pages_apart([source], [Judgment("q1", "filing", 16, 30, 3)])
    assert sorted(parts.labelled) == ["filing-p002", "filing-p003"]
    assert parts.pool == {"filing-p001": pages[0]}
    (one, other) = parts.labels
    assert one[:5] == ("q1", "filing-p002", 3, 4, 13)
    assert other[:5] == ("q1", "filing-p003", 3, 0, 5)
    assert one[5] == other[5] != ""


def test_a_distractor_with_labelled_text_is_refused():
    label = ("q1", "a", 4, 0, len(LABELLED), "")
    parts = scale_sample.Parts(
        {"a": LABELLED}, {"p": OTHER, "copy": f"x {LABELLED.replace(' ', '  ')}"}, [label]
    )
    with pytest.raises(ValueError, match="distractor copy holds labelled text"):
        parts.check()
    replace(parts, pool={"p": OTHER}).check()


def test_a_study_by_words_runs_once_and_is_then_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = LABELLED + OTHER
    labels = [("q1", "a", 4, 0, 40, ""), ("q2", "a", 3, len(LABELLED), len(text) - 1, "")]
    parts = scale_sample.Parts(
        {"a": text}, {f"p{i}": f"another plant makes wheels {i} " * 4 for i in range(6)}, labels
    )
    arguments = (parts, QUERIES, tmp_path / "work", scale_sample.settings(None), [0, 1, 50], 2)
    rows = scale_sample.study(*arguments)
    # 50 times the labelled text is more than there is
    assert [(row["size"], row["sample"]) for row in rows] == [(None, 0), (0, 0), (1, 0), (1, 1)]
    assert all(len(row["means"][measure]) == 2 for row in rows for measure in scale_sample.MEASURES)
    records = sorted((tmp_path / "work" / "results").rglob("record.json"))
    before = [path.read_bytes() for path in records]
    assert scale_sample.study(*arguments) == rows
    # what has been run is read again: a new run would have another time in its record
    assert [path.read_bytes() for path in records] == before


@pytest.mark.slow
def test_every_part_of_a_cold_run_is_counted(tmp_path):
    (tmp_path / "a.md").write_text(f"# Report\n\n{LABELLED}\n{OTHER}", encoding="utf-8")
    scale_sample.write_table(tmp_path / "queries.csv", [("query_id", "text"), *QUERIES.items()])
    rows = [("query_id", "document", "grade", "quote"), ("q1", "a.md", 4, LABELLED.strip())]
    scale_sample.write_table(tmp_path / "labels.csv", rows)
    config = {
        "name": "cold",
        "documents": str(tmp_path / "a.md"),
        "queries": str(tmp_path / "queries.csv"),
        "labels": str(tmp_path / "labels.csv"),
        "chunk": {"kind": "recursive", "chunk_size": 200, "chunk_overlap": 0},
        "retrieve": {"kind": "exact", "model": str(tiny.bi_encoder(tmp_path / "made")), "top_k": 2},
    }
    (tmp_path / "cold.yaml").write_text(json.dumps(config), encoding="utf-8")
    command = [sys.executable, "benchmarks/cold_speed.py", "--config", str(tmp_path / "cold.yaml")]
    command += ["--write", str(tmp_path / "cold.json")]
    subprocess.run(command, cwd=scale.ROOT, check=True, capture_output=True)
    taken = json.loads((tmp_path / "cold.json").read_text(encoding="utf-8"))
    assert {*taken} == {"the rest", "loading", "parser", "forward passes", "tokenising"}


def test_tau_and_the_line_beyond_the_largest_corpus():
    one = {"a": 0.3, "b": 0.2, "c": 0.1}
    # of three pairs one is turned: (2 - 1) / 3
    assert scale_sample_table.tau(one, {"a": 0.2, "b": 0.3, "c": 0.1}) == pytest.approx(1 / 3)
    assert scale_sample_table.tau(one, one) == 1
    # a tie in one of two: (2 - 0) / sqrt(3 * 2)
    assert scale_sample_table.tau(one, {"a": 0.2, "b": 0.2, "c": 0.1}) == pytest.approx(2 / math.sqrt(6))
    rows = [{"stage": "exact", "chunks": n, "cpu": cpu} for n, cpu in ((10, 1.0), (20, 3.0), (30, 9.0))]
    constants = scale_table.Constants("", 1, {}, rows)
    # 9 + 10 * (9 - 3) / (30 - 20); between the first two: 1 + 5 * (3 - 1) / (20 - 10)
    assert constants.at("exact", "cpu", 40) == pytest.approx(15)
    assert constants.at("exact", "cpu", 15) == pytest.approx(2)


def test_the_page_is_made_of_the_constants():
    page = scale_table.PAGE.read_text(encoding="utf-8")
    assert scale_table.written(page) == page, "run python -m benchmarks.scale_table"
