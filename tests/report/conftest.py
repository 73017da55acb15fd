"""The browser and the page that the tests of report.html share."""

import shutil

import pytest

from harness.bench.page import write_page
from tests.report.page_browser import Browser
from tests.report.page_results import write_folder


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = write_folder(tmp_path_factory.mktemp("page") / "r", settings=6, queries=24, hostile=True)
    path, _ = write_page(folder)
    return path.as_uri()


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium, of the dev extra")
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    profile = tmp_path_factory.mktemp("profile")
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.add_argument(f"--user-data-dir={profile}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    try:
        service = webdriver.ChromeService(shutil.which("chromedriver"))
        driver = webdriver.Chrome(options=options, service=service)
    except Exception as error:  # a browser that this machine cannot start says nothing about the page
        pytest.skip(f"chromium does not start here: {error}")
    driver.set_page_load_timeout(60)
    yield Browser(driver)
    driver.quit()
