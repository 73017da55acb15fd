"""Many files: order, failures, processes."""

import pytest

from harness.data import PARSERS, ParsingConfig, PypdfConfig, find_documents, parse_documents
from tests.corpus.attacks import self_referring_form
from tests.corpus.conftest import pdf_bytes

Pypdfium2Config = PARSERS["pypdfium2"].config


@pytest.fixture
def folder(write, tmp_path):
    write("a.pdf", pdf_bytes("first"))
    write("b.txt", "second")
    write("c.pdf", b"")
    write("d.pdf", pdf_bytes("fourth", "and more"))
    return tmp_path


def test_order_is_that_of_the_files_and_what_was_skipped_is_reported(folder):
    done = []
    files = find_documents("*", folder)
    parsed, skipped = parse_documents(
        files, PypdfConfig(), "fail_at_end", ParsingConfig(workers=2), lambda *one: done.append(one)
    )
    assert [p.document.doc_id for p in parsed] == ["a", "b", "d"]
    assert [(s.doc_id, s.path.name) for s in skipped] == [("c", "c.pdf")]
    assert "the file is empty" in skipped[0].reason
    assert sorted((file.doc_id, item is not None) for file, item in done) == [
        ("a", True),
        ("b", True),
        ("c", False),
        ("d", True),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_a_form_that_draws_itself_loses_its_own_file_alone(write, folder, workers):
    """730 bytes for which PDFium takes all memory there is."""
    write("c.pdf", self_referring_form())
    files = find_documents("*", folder)
    limits = ParsingConfig(memory_mb=300, workers=workers)
    parsed, skipped = parse_documents(files, Pypdfium2Config(), "skip", limits)
    assert [p.document.doc_id for p in parsed] == ["a", "b", "d"]
    (bad,) = skipped
    assert bad.reason.startswith(f"{folder / 'c.pdf'}, page 1: pypdfium2 crashed (SIG")
    assert "300 MB" in bad.reason
    assert "raise parsing.memory_mb" in bad.reason
