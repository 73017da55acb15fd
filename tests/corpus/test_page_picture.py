"""Pictures of PDF pages, and where quotes are in them."""

import io
from pathlib import Path

import pytest
from pypdf import PdfWriter

from harness.data import draw_page
from harness.values import CorpusError

pytest.importorskip("PIL", reason="needs Pillow, of the pdfium extra")
PDF = Path("corpora/meridian/documents/meridian-10k-2025.pdf")


def opened(picture):
    from PIL import Image

    return Image.open(io.BytesIO(picture.data))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A page of 400 by 600 points with two lines, and the same page turned by 90 degrees."""
    canvas = pytest.importorskip("reportlab.pdfgen.canvas", reason="needs reportlab, of the corpus extra")
    path = tmp_path_factory.mktemp("pdf") / "two.pdf"
    out = canvas.Canvas(str(path), pagesize=(400, 600))
    for _ in range(2):
        out.drawString(50, 500, "The first line says one thing")
        out.drawString(50, 300, "and the second another.")
        out.showPage()
    out.save()
    pages = PdfWriter(clone_from=path)
    pages.pages[1].rotate(90)
    pages.write(path)
    return path


def test_a_page_fits_its_limits_and_quotes_are_found_line_by_line(made):
    drawn = draw_page(
        made, 1, width=400, height=1000, quotes=["one  thing and the second", "not there at all"]
    )
    assert drawn.size == opened(drawn).size == (400, 600)
    (first, second), none = drawn.boxes
    assert none == ()
    # at one pixel a point the baselines are 600 - 500 = 100 and 600 - 300 = 300 pixels below the top
    assert first[1] < 100 <= first[3] + 5
    assert second[1] < 300 <= second[3] + 5
    assert second[0] == pytest.approx(50, abs=3)
    assert first[0] > 120, "the quote begins in the middle of the first line"
    # where a box is, something is drawn
    grey = opened(drawn).convert("L")
    assert grey.crop(first).getextrema()[0] < 100
    assert grey.crop(second).getextrema()[0] < 100


def test_boxes_follow_the_rotation_of_a_page(made):
    drawn = draw_page(made, 2, width=1000, height=400, quotes=["and the second another."])
    assert drawn.size == (600, 400)
    (box,) = drawn.boxes[0]
    assert box[3] - box[1] > box[2] - box[0], "the line runs down the picture"
    assert opened(drawn).convert("L").crop(box).getextrema()[0] < 100


def test_a_page_that_cannot_be_drawn_is_an_error_that_names_it(tmp_path, made):
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.4 and nothing else")
    with pytest.raises(CorpusError, match=r"Page 1 of broken\.pdf cannot be drawn"):
        draw_page(broken, 1)
    with pytest.raises(CorpusError, match=r"Page 9 of two\.pdf cannot be drawn"):
        draw_page(made, 9)
    with pytest.raises(CorpusError, match=r"Page 0 of two\.pdf cannot be drawn"):
        draw_page(made, 0)
