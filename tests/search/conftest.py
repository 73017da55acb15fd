"""The tiny corpus of the pipeline's tests."""

import pytest

from harness.store import CollectionFolders
from tests.bench.conftest import corpus, lexical, shared_cache, write_config
from tests.judge.conftest import quick_backoff
from tests.search.helpers import Given, tools_at

__all__ = ["corpus", "lexical", "quick_backoff", "shared_cache", "write_config"]


@pytest.fixture
def tools(tmp_path):
    """The tools of a run with a cache of its own."""
    return tools_at(tmp_path)


def nearest(retriever, queries, asked, passages, vectors, tools=None):
    """The hits of a dense retriever among given vectors."""
    return (tools or Given()).run(retriever.search(passages, vectors, queries, asked))


def index_tools(folder, key="key"):
    """Tools of which one key names the index, in a folder."""
    return Given(slot=CollectionFolders(folder).slot, key=key)
