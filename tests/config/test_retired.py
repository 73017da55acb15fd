"""A kind that is gone is refused by name, with what takes its place."""

import pytest

from harness.running.config.load import load_config
from harness.values.errors import ConfigError


@pytest.mark.parametrize(
    ("sections", "kind", "instead"),
    [
        ("rewrite: {kind: statement}", "statement", "declarative"),
        ("read: {kind: adjacent}", "adjacent", "parent"),
        ("read: {kind: merge, chunk: {kind: recursive}}", "merge", "window"),
        ("retrieve: {kind: bm25, feedback: {kind: rocchio}}", "rocchio", "rm3"),
        ("retrieve: {kind: dbsf, routes: [{kind: bm25}]}", "dbsf", "minmax"),
        ("retrieve: {kind: zscore, routes: [{kind: bm25}]}", "zscore", "minmax"),
    ],
)
def test_a_retired_kind_names_what_to_use(tmp_path, sections, kind, instead):
    path = tmp_path / "old.yaml"
    path.write_text(f"name: old\ndocuments: x\nqueries: x\nlabels: x\nchunk: {{kind: page}}\n{sections}\n")
    with pytest.raises(ConfigError, match=f"(?s)no kind '?{kind}'? any more.*{instead}"):
        load_config(path)
