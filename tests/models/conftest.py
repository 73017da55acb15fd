"""These tests are about the models themselves."""

import pytest

from tests.bench.conftest import corpus, lexical, shared_cache, write_config
from tests.search.conftest import tools

__all__ = ["corpus", "lexical", "shared_cache", "tools", "write_config"]


@pytest.fixture(autouse=True)
def themselves(real_models):
    """No hashed words here."""
