"""These tests are about the models themselves."""

import pytest


@pytest.fixture(autouse=True)
def themselves(real_models):
    """No hashed words here."""
