"""The browser and the page that the tests of report.html share."""

import pytest

from harness.running.bench.page import write_page
from tests.report.page_browser import Browser, check
from tests.report.page_results import write_folder


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = write_folder(tmp_path_factory.mktemp("page") / "r", settings=6, queries=24, hostile=True)
    path, _ = write_page(folder)
    return path.as_uri()


@pytest.fixture
def chromium(driver):
    """A browser; after every test nothing may have failed, been fetched or run that should not."""
    browser = Browser(driver)
    yield browser
    check(browser)
