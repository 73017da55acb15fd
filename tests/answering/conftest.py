from tests.bench.conftest import corpus, shared_cache, write_config
from tests.judge.conftest import quick_backoff

__all__ = ["corpus", "quick_backoff", "shared_cache", "write_config"]
