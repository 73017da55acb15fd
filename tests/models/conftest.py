"""These tests are about the models themselves."""

import pytest

from tests.bench.conftest import corpus, shared_cache, write_config

__all__ = ["corpus", "shared_cache", "write_config"]


@pytest.fixture(autouse=True)
def themselves(real_models):
    """No hashed words here."""
