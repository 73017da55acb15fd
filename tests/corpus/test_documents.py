"""Globs to files with ids."""

import unicodedata

import pytest

from harness.corpus import DocumentFile, find_documents
from harness.errors import CorpusError


def test_globs_reach_into_folders_and_results_are_sorted_by_path(write, tmp_path):
    for name in ("b.txt", "a.md", "deep/er/c.PDF"):
        write(name, "x")
    found = find_documents(["**/*.PDF", "*.txt", "*.md"], tmp_path)
    assert [file.doc_id for file in found] == ["a", "b", "c"]


def test_a_file_matched_twice_is_one_document(write, tmp_path):
    path = write("a.txt", "x")
    assert find_documents(["*.txt", "a.*", str(path)], tmp_path) == [DocumentFile("a", path)]


def test_ids_hold_no_space_and_no_colon_and_are_composed(write, tmp_path):
    write(unicodedata.normalize("NFD", "Café  report: 2023.txt"), "x")
    (file,) = find_documents("*.txt", tmp_path)
    assert file.doc_id == "Café_report__2023"


def test_a_name_with_glob_characters_is_taken_literally_first(write, tmp_path):
    write("report [1].txt", "x")
    assert [file.doc_id for file in find_documents("report [1].txt", tmp_path)] == ["report_[1]"]


def test_two_files_with_one_id_are_refused(write, tmp_path):
    write("x/a.txt", "x")
    write("y/a.md", "x")
    with pytest.raises(CorpusError, match=r"x/a\.txt and .*y/a\.md would both be document 'a'"):
        find_documents("**/*", tmp_path)


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("*.pdf", r"pattern matches no file: '\*\.pdf', looked for in "),
        ("missing.pdf", "file is not there: 'missing.pdf'"),
        ("folder", r"is a folder.*folder/\*\.pdf"),
        ("*.docx", r"cannot read a \.docx .*Known: \.pdf, \.txt, \.md"),
        ([], "no pattern is given"),
    ],
)
def test_what_cannot_be_documents_is_an_error(write, tmp_path, pattern, message):
    write("a.docx", "x")
    write("folder/a.txt", "x")
    with pytest.raises(CorpusError, match=message):
        find_documents(pattern, tmp_path)
