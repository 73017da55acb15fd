"""chunks.csv: one row a setting, examined once per chunking."""

import csv

import pytest

from harness.running import chunks
from harness.values.progress import Silent
from tests.command import bench


def run(path):
    results, folder = bench(path)
    with (folder / "chunks.csv").open(newline="") as file:
        return results, list(csv.DictReader(file))


def test_chunk_health_is_written_and_examined_once_per_chunking(write_config, monkeypatch):
    path = write_config(chunk="{kind: recursive, chunk_size: [60, 180], chunk_overlap: 40}", cache="fresh")
    results, rows = run(path)
    assert [row["setting"] for row in rows] == ["chunk=60/40", "chunk=180/40"]
    record = results.record.counts["settings"]
    for row in rows:
        own = record[row["setting"]]
        assert int(row["chunks"]) == own["chunks"]
        assert float(row["tokens_mean"]) * own["chunks"] == pytest.approx(own["tokens"])
        assert sum(map(int, row["histogram"].split())) == own["chunks"]
        assert row["share_overlong"] == "0.0"
    # sentences of some 70 characters: pieces of 60 must cut them, pieces of 180 need not
    assert float(rows[0]["share_cut_mid_sentence"]) > float(rows[1]["share_cut_mid_sentence"])
    monkeypatch.setattr(chunks, "examine", None)  # asking again would fail
    assert run(path)[1] == rows


@pytest.mark.parametrize(("window", "warned"), [(256, False), (16, True)])
def test_a_size_that_the_window_of_tokens_caps_is_warned_of(write_config, window, warned):
    path = write_config(
        chunk=f"{{kind: recursive_token, chunk_size: [60, 180], tokens_per_chunk: {window}}}", rerank="null"
    )
    reporter = Silent()
    bench(path, reporter)
    capped = [text for text in reporter.warnings if "at chunk_size" in text]
    assert bool(capped) == warned
    if warned:
        assert capped[-1].startswith("chunk=180/0 window=16: ")
        assert "end at the window of 16 tokens, not at chunk_size 180: the median chunk has" in capped[-1]
