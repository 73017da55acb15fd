"""Text extraction with pypdfium2 (the PDF engine of Chromium): fast, and another opinion on reading order."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, Literal

from harness.data.corpus.parsers import pdf_file
from harness.values import StageConfig

# FPDF_GetSecurityHandlerRevision; revision 4 may be either cipher, PDFium does not tell which.
_ENCRYPTION = {-1: "none", 2: "rc4-40", 3: "rc4-128", 4: "rc4-128 or aes-128", 5: "aes-256", 6: "aes-256"}
_FPDF_ERR_PASSWORD = 4
# PDFium writes lines with CRLF, and a hyphen at a line end as U+FFFE (newer builds: U+0002).
_PDFIUM_MARKS = str.maketrans({"\r": None, "\ufffe": "-", "\x02": "-"})


class Pypdfium2Config(StageConfig):
    """pypdfium2 has nothing to set."""

    kind: Literal["pypdfium2"] = "pypdfium2"

    def read(self, path: Path, on_page: pdf_file.OnPage) -> pdf_file.PdfPages:
        """Extract the text of every page; line ends become LF, PDFium's marks for hyphens become hyphens."""
        pdf_file.check_pdf_file(path)
        with closing(_open(path)) as pdf:
            pages = pdf_file.read_pages(path, "pypdfium2", len(pdf), on_page, partial(_page_text, pdf))
            return pdf_file.PdfPages(pages, _encryption_of(pdf))


def count_with_pypdfium2(path: Path, on_page: pdf_file.OnPage) -> list[pdf_file.PageReading]:
    """Count the characters of every page, as a second reading; raises CorpusError as the parser does."""
    with closing(_open(path)) as pdf:
        return list(pdf_file.read_pages(path, "pypdfium2", len(pdf), on_page, partial(_count, pdf)))


def _count(pdf: Any, number: int) -> pdf_file.PageReading:
    characters = sum(map(len, _page_text(pdf, number).split()))
    return pdf_file.PageReading(characters, blank=not characters and _is_blank(pdf, number))


def _is_blank(pdf: Any, number: int) -> bool:
    """Whether a page holds nothing but a few lines and boxes."""
    from pypdfium2 import raw

    with closing(pdf[number - 1]) as page:
        count = raw.FPDFPage_CountObjects(page)
        return count < pdf_file.MOST_PATHS_OF_A_BLANK_PAGE and all(
            raw.FPDFPageObj_GetType(raw.FPDFPage_GetObject(page, i)) == raw.FPDF_PAGEOBJ_PATH
            for i in range(count)
        )


def _open(path: Path) -> Any:
    import pypdfium2

    # PDFium keeps the error of an earlier file and may report it for this one; this sets FPDF_ERR_FORMAT
    pypdfium2.raw.FPDF_LoadMemDocument64(b"no PDF", 6, None)
    try:
        return pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) == _FPDF_ERR_PASSWORD:
            raise pdf_file.password_error(path) from error
        raise pdf_file.damaged_error(path, "pypdfium2", error) from error


def _page_text(pdf: Any, number: int) -> str:
    with closing(pdf[number - 1]) as page, closing(page.get_textpage()) as text_page:
        text: str = text_page.get_text_bounded()
    return text.translate(_PDFIUM_MARKS)


def _encryption_of(pdf: Any) -> str:
    from pypdfium2 import raw

    revision = int(raw.FPDF_GetSecurityHandlerRevision(pdf))
    return _ENCRYPTION.get(revision, f"security handler revision {revision}")
