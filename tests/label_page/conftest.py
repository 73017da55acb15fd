"""A desk over the small pool, and requests that are numbered."""

import pytest

from tests.label_page.pools import Requests, desk_at


@pytest.fixture
def desk(tmp_path):
    desk = desk_at(tmp_path)
    yield desk
    desk.state.close()


@pytest.fixture
def by():
    return Requests().by
