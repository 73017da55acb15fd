"""Many files: order, failures, processes."""

import os
import signal

import pytest

from harness.corpus import PARSERS, PypdfConfig, find_documents, parse_documents
from harness.corpus import parallel as parallel_module
from harness.errors import CorpusError
from tests.corpus.conftest import pdf_bytes


@pytest.fixture
def folder(write, tmp_path):
    write("a.pdf", pdf_bytes("first"))
    write("b.txt", "second")
    write("c.pdf", b"")
    write("d.pdf", pdf_bytes("fourth", "and more"))
    return tmp_path


@pytest.mark.parametrize("jobs", [1, 2])
def test_order_is_that_of_the_files_and_what_was_skipped_is_told(folder, jobs):
    done = []
    files = find_documents("*", folder)
    parsed, skipped = parse_documents(files, PypdfConfig(), "skip", jobs, lambda *told: done.append(told))
    assert [p.document.doc_id for p in parsed] == ["a", "b", "d"]
    assert [(s.doc_id, s.path.name) for s in skipped] == [("c", "c.pdf")]
    assert "the file is empty" in skipped[0].reason
    assert {file.doc_id: item is not None for file, item in done} == {
        "a": True,
        "b": True,
        "c": False,
        "d": True,
    }


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_bad_file_fails_with_its_own_message(folder, jobs):
    with pytest.raises(CorpusError, match=r"c\.pdf: the file is empty.*on_bad_document: skip"):
        parse_documents(find_documents("*", folder), PypdfConfig(), "fail", jobs)


def test_no_files_no_documents():
    assert parse_documents([], PypdfConfig()) == ([], [])


def kill_worker(file, parser):
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_killed_worker_is_an_error_that_names_the_files_under_way(folder, monkeypatch):
    monkeypatch.setattr(parallel_module, "_outcome", kill_worker)
    with pytest.raises(CorpusError, match=r"worker process died.*\.pdf.*jobs: 1"):
        parse_documents(find_documents(["a.pdf", "d.pdf"], folder), PypdfConfig(), jobs=2)


def test_every_kind_has_a_config_that_names_it():
    for name, kind in PARSERS.items():
        assert kind.config().kind == name
