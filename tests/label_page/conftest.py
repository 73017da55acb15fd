"""A service over the small pool."""

import pytest

from tests.label_page.pools import desk_at


@pytest.fixture
def service(tmp_path):
    service = desk_at(tmp_path)
    yield service
    service.state.close()
