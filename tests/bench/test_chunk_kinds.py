"""Chunkers that lean on something else: a model, a library."""

import pytest

from harness.running.bench.plan import make_plan
from harness.running.config.load import load_config
from harness.values.errors import CorpusError
from harness.values.progress import Silent
from tests.command import bench

BM25 = "{kind: bm25, top_k: 10}"


def test_sentences_are_embedded_once_for_all_chunkings_by_meaning(write_config):
    chunk = "{kind: semantic, percentile: [50, 80], chunk_size: 300, min_size: 20}"
    path = write_config(chunk=chunk, rerank="null", retrieve=BM25, cache="own")
    first, _ = bench(path)
    # three documents of eight sentences; both chunkings read the same ones
    assert first.record.counts["vectors_computed"] == 24
    assert "embedded:all-MiniLM-L6-v2" in first.record.models
    again, _ = bench(path)
    assert again.record.counts.get("vectors_computed", 0) == 0
    assert again.summary == first.summary
    assert make_plan(load_config(path), Silent()).models == ("embedded:all-MiniLM-L6-v2",)


def test_a_splitter_that_alters_text_ends_the_run_with_the_place(write_config):
    markdown = '{headers_to_split_on: [["#", Title]]}'
    chunk = f"{{kind: langchain, splitter: MarkdownHeaderTextSplitter, arguments: {markdown}}}"
    path = write_config(chunk=chunk, rerank="null", retrieve=BM25)
    with pytest.raises(CorpusError, match=r"engines: splitter MarkdownHeader.* \(character \d+\)"):
        bench(path)
