"""Small PDFs, sound and hostile, made on the spot."""

from io import BytesIO

import pytest
from pypdf import PdfReader, PdfWriter

from harness.data import join_pages
from harness.values import Document, text_sha256


def pdf_bytes(*pages):
    """A PDF with one line of text a page; None is a page without text."""
    # needs Pillow, which other tests do without
    from reportlab.pdfgen.canvas import Canvas

    buffer = BytesIO()
    canvas = Canvas(buffer, invariant=1)
    for text in pages:
        if text is None:
            canvas.rect(100, 100, 200, 200, fill=1)
        else:
            canvas.drawString(72, 720, text)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def encrypted(data, algorithm, password):
    writer = PdfWriter(clone_from=PdfReader(BytesIO(data)))
    writer.encrypt(user_password=password, owner_password="owner", algorithm=algorithm)
    buffer = BytesIO()
    writer.write(buffer)
    return buffer.getvalue()


def document(*pages, doc_id="doc", paged=True):
    text, starts = join_pages(pages)
    return Document(doc_id, text, starts if paged else (), text_sha256(text))


def text_document(doc_id, text, page_starts=()):
    """A document of this text."""
    return Document(doc_id, text, page_starts, text_sha256(text))


@pytest.fixture
def write(tmp_path):
    """Write a file (bytes or text) into the test's folder and give its path."""

    def write_file(name, content):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return path

    return write_file
