"""Runs that share their caches, and a cache that is no folder."""

import re
from pathlib import Path

import pytest

from harness import running
from harness.store import SharedCache
from harness.values import ConfigError, LlmError, RecordingReporter, Silent
from tests.bench.test_prices import run as run_with_prices

CHUNK = "{kind: recursive, chunk_size: 180}"


def test_what_another_machine_has_computed_is_taken_from_the_shared_cache(write_config, tmp_path):
    share = f"shared_cache: file://{tmp_path}/there"
    done = [
        run_with_prices(write_config(cache=name, more=share, chunk=CHUNK)) for name in ("one", "two", "two")
    ]
    shares = [
        {
            value
            for notes in results.record.counts["settings"].values()
            for value in notes["computed_share"].values()
        }
        for results, _ in done
    ]
    assert 1.0 in shares[0]
    assert shares[1:] == [{0.0}, {0.0}]
    assert done[0][1] == done[1][1] == done[2][1]


def test_results_stand_where_nothing_can_be_given_to_the_shared_cache(write_config, tmp_path, monkeypatch):
    def refuses(self):
        raise LlmError("the ledger cannot be read")

    monkeypatch.setattr(SharedCache, "push", refuses)
    path = write_config(retrieve="{kind: bm25}", rerank="null", more=f"shared_cache: file://{tmp_path}/there")
    reporter = RecordingReporter(Silent())
    assert running.run_or_reuse(running.load_config(path), reporter, again=True).folder.is_dir()
    assert "the ledger cannot be read" in reporter.warnings


def test_a_url_is_no_cache_folder(write_config):
    path = write_config()
    for url in ("s3://bucket/cache", "file:///somewhere"):
        path.write_text(re.sub("(?m)^cache: .*$", f"cache: {url}", path.read_text()))
        with pytest.raises(ConfigError, match="is a URL"):
            running.run_or_reuse(running.load_config(path), Silent())
        assert not Path(url.partition("/")[0]).exists()
