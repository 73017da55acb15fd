"""`make pictures`: the pictures of docs/ are made anew from the pages as they are."""

import struct

import pytest

from tests.report.page_browser import MARKS
from tests.report.page_results import write_folder
from tools.screenshots import HEIGHT, ROOT, WIDTH, label_picture, report_picture

pytestmark = MARKS


def size_of(path):
    """The width and height that a PNG says it has."""
    head = path.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", head[16:24])


def test_a_picture_of_the_report(driver, tmp_path):
    write_folder(tmp_path / "r", settings=4, queries=24)
    report_picture(driver, tmp_path / "r", tmp_path / "report.png")
    assert size_of(tmp_path / "report.png") == (WIDTH, HEIGHT)
    assert driver.title.startswith("r ")


@pytest.mark.timeout(600)
def test_a_picture_of_the_labelling_page(driver, tmp_path):
    label_picture(driver, tmp_path / "label.png")
    assert size_of(tmp_path / "label.png") == (WIDTH, HEIGHT)
    # an empty page has next to none
    assert (tmp_path / "label.png").stat().st_size > 40_000


@pytest.mark.parametrize("name", ["report", "label"])
def test_the_pictures_of_docs_have_that_size(name):
    assert size_of(ROOT / "docs" / f"{name}.png") == (WIDTH, HEIGHT)
