"""A desk over the small pool."""

import pytest

from tests.label_page.pools import desk_at


@pytest.fixture
def desk(tmp_path):
    desk = desk_at(tmp_path)
    yield desk
    desk.state.close()
