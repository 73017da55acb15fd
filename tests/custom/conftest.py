"""The tiny corpus of the pipeline's tests."""

from tests.bench.conftest import corpus, shared_cache, write_config
from tests.search.conftest import tools

__all__ = ["corpus", "shared_cache", "tools", "write_config"]
