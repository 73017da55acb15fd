"""The tiny corpus of the pipeline's tests."""

from types import SimpleNamespace

import pytest

from harness.store import CollectionFolders
from tests.bench.conftest import corpus, lexical, shared_cache, write_config
from tests.judge.conftest import quick_backoff
from tests.search.helpers import tools_at

__all__ = ["corpus", "lexical", "quick_backoff", "shared_cache", "write_config"]


@pytest.fixture
def tools(tmp_path):
    """The tools of a run with a cache of its own."""
    return tools_at(tmp_path)


# tools that search in this process
_HERE = SimpleNamespace(spread=None)


def nearest(retriever, queries, asked, passages, vectors, tools=_HERE):
    """The hits of a dense retriever among given vectors."""
    with retriever.opened(passages, vectors, tools) as search:
        return search(queries, asked)


def index_tools(folder, key="key"):
    """Tools of which one key names the index, in a folder."""
    slot = CollectionFolders(folder).slot
    return SimpleNamespace(key=lambda *_: key, fingerprint=lambda _: "", index=slot, spread=None)
