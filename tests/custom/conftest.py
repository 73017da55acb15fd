"""The tiny corpus of the pipeline's tests."""

from tests.bench.conftest import corpus, shared_cache, write_config

__all__ = ["corpus", "shared_cache", "write_config"]
