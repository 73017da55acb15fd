"""Globs to files with ids."""

import os
import unicodedata
from glob import glob
from pathlib import Path

import pytest

from harness.data import DocumentFile, expand, find_documents
from harness.values import CorpusError


@pytest.mark.parametrize(
    ("patterns", "found"),
    [
        pytest.param(
            ["**/*.PDF", "*.txt", "*.md"],
            {"a.md": "a", "b.txt": "b", "deep/er/c.PDF": "c"},
            id="globs reach into folders",
        ),
        pytest.param(["*.txt", "a.*", "a.txt"], {"a.txt": "a"}, id="matched twice"),
        pytest.param(
            "*.txt",
            {unicodedata.normalize("NFD", "Café  report: 2023.txt"): "Café_report__2023"},
            id="ids hold no space and no colon and are composed",
        ),
        pytest.param("report [1].txt", {"report [1].txt": "report_[1]"}, id="a name is no glob"),
        pytest.param(
            "**/*.*",
            {
                "2022/q1/a.txt": "2022/q1/a",
                "2023/b.txt": "b",
                "2023/q1/a.md": "2023/q1/a",
                "other/c c.txt": "c_c",
            },
            id="one name in several folders",
        ),
    ],
)
def test_files_are_found_in_the_order_of_their_paths_with_ids(write, tmp_path, patterns, found):
    for name in reversed(found):
        write(name, "x")
    files = find_documents(patterns, tmp_path)
    shown = [(file.path.relative_to(tmp_path).as_posix(), file.doc_id) for file in files]
    assert shown == list(found.items())


def test_two_stars_end_where_links_go_in_circles(write, tmp_path):
    """glob follows both links at every one of 40 levels: 2^40 paths."""
    path = write("docs/deep/a.txt", "x")
    for folder in ("docs", "docs/deep"):
        for name in ("one", "two"):
            (tmp_path / folder / name).symlink_to(".")
    (tmp_path / "docs" / "three").symlink_to(tmp_path / "docs")
    (tmp_path / "docs" / "itself").symlink_to("itself")
    assert find_documents("docs/**/*.txt", tmp_path) == [DocumentFile("a", path)]


def test_two_stars_match_what_glob_matches(write, tmp_path):
    for name in ("t.txt", "a/t.txt", "a/x/b.txt", "a/x/y/c.txt", "x/d.txt", ".h/e.txt", "a/.f.txt"):
        write(name, "x")
    patterns = "** **/* **/*.txt **/x/* a/** a/**/*.txt **/x/**/*.txt */**/b.txt a/x/* **/**/*"
    for pattern in patterns.split():
        expected = {tmp_path / name for name in glob(pattern, root_dir=tmp_path, recursive=True)}  # noqa: PTH207
        files = {path for path in expected if path.is_file()}
        assert {path for path in expand(pattern, tmp_path) if path.is_file()} == files, pattern
        whole = expand(str(tmp_path / pattern), Path())
        assert {Path(path) for path in whole if Path(path).is_file()} == files, pattern


def test_a_name_that_is_not_utf8_is_refused_before_anything_is_read(tmp_path):
    name = os.fsencode(tmp_path) + b"/caf\xe9.txt"
    os.close(os.open(name, os.O_CREAT))
    with pytest.raises(CorpusError, match=r"caf\\xe9\.txt: the file name is not UTF-8.*Rename") as raised:
        find_documents("*.txt", tmp_path)
    str(raised.value).encode("utf-8")


def test_a_file_beside_one_that_differs_in_its_ending_leaves_that_its_id(tmp_path):
    def ids(note):
        found = find_documents("**/*", tmp_path, note=note)
        return {file.path.relative_to(tmp_path).as_posix(): file.doc_id for file in found}

    (tmp_path / "a b.md").touch()
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "a b.pdf").touch()
    notes = []
    alone = ids(notes.append)
    assert alone == {"a b.md": "a_b", "old/a b.pdf": "old/a_b"}
    assert notes == []
    # what comes after it in the order of endings, though its name comes first
    (tmp_path / "a b.docx").touch()
    assert ids(notes.append) == {**alone, "a b.docx": "a_b.docx"}
    assert notes == ["a b.md is document a_b, as it would be alone; beside it there is a_b.docx."]


def test_files_of_one_name_keep_their_endings_but_for_the_first(write, tmp_path):
    for name in ("x/a.txt", "x/a.md", "x/b.txt", "y/a.txt", "y/a.md", "z/b.txt", "z/c.html", "z/c.pdf"):
        write(name, "x")
    assert {f.path.relative_to(tmp_path).as_posix(): f.doc_id for f in find_documents("**/*", tmp_path)} == {
        "x/a.md": "x/a.md",
        "x/a.txt": "x/a",
        "x/b.txt": "x/b",
        "y/a.md": "y/a.md",
        "y/a.txt": "y/a",
        "z/b.txt": "z/b",
        "z/c.html": "c.html",
        "z/c.pdf": "c",
    }


def test_two_files_with_one_id_are_refused(write, tmp_path):
    write("x/a b.txt", "x")
    write("x/a_b.txt", "x")
    with pytest.raises(CorpusError, match=r"x/a b\.txt and .*x/a_b\.txt are both 'a_b'"):
        find_documents("**/*", tmp_path)


def test_ids_do_not_depend_on_where_the_corpus_lies_or_on_links(write, tmp_path):
    for name in ("b.txt", "docs/a.txt", "docs/docs/a.txt", "docs/b.txt", "store/1.txt", "store/2.txt"):
        write(name, name)
    for number in "12":
        (tmp_path / f"y{number}").mkdir()
        (tmp_path / f"y{number}" / "r.txt").symlink_to(tmp_path / "store" / f"{number}.txt")
    found = find_documents(["b.txt", "docs/**/*.txt", "y*/r.txt"], tmp_path)
    assert {file.path.relative_to(tmp_path).as_posix(): file.doc_id for file in found} == {
        "b.txt": "b",
        "docs/a.txt": "docs/a",
        "docs/docs/a.txt": "docs/docs/a",
        "docs/b.txt": "docs/b",
        "y1/r.txt": "y1/r",
        "y2/r.txt": "y2/r",
    }


def test_files_of_questions_and_labels_are_not_documents(write, tmp_path):
    for name in ("a.txt", "labels.csv", "queries.csv"):
        write(name, "x")
    messages = []
    found = find_documents(
        "*", tmp_path, leave_out=[tmp_path / "labels.csv", tmp_path / "queries.csv"], note=messages.append
    )
    assert [file.doc_id for file in found] == ["a"]
    assert "labels.csv" in messages[0]
    assert "queries.csv" in messages[0]
    with pytest.raises(CorpusError, match="nothing but"):
        find_documents("*.csv", tmp_path, leave_out=sorted(tmp_path.glob("*.csv")))


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("*.pdf", r"pattern matches no file: '\*\.pdf', looked for in "),
        ("missing.pdf", "file is not there: 'missing.pdf'"),
        ("folder", r"is a folder.*folder/\*\.pdf"),
        ("*.odt", r"cannot read a \.odt .*Known: \.pdf, \.txt, \.md"),
        ([], "no pattern is given"),
    ],
)
def test_patterns_without_documents_are_an_error(write, tmp_path, pattern, message):
    write("a.odt", "x")
    write("folder/a.txt", "x")
    with pytest.raises(CorpusError, match=message):
        find_documents(pattern, tmp_path)


@pytest.mark.parametrize("pattern", ["docs/gone.pdf", "docs/*"])
def test_a_link_to_nothing_is_named_and_no_document_goes_missing(pattern, tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text("a")
    (tmp_path / "docs" / "gone.pdf").symlink_to("nowhere.pdf")
    with pytest.raises(CorpusError, match=r"gone\.pdf: cannot be read \(it is a link to nowhere\.pdf"):
        find_documents(pattern, tmp_path)
