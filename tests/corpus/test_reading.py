"""Text files: what is opened, and what is taken for text."""

import os

import pytest

from harness.data import (
    DocumentFile,
    PypdfConfig,
    SplitConfig,
    parse_document,
    read_hits,
    read_labels,
    read_queries,
    read_utf8,
)
from harness.data.trec.text import open_unpacked
from harness.judge import load_prompt
from harness.running.document_reader import file_hashes
from harness.steps import Bm25Config
from harness.values import CorpusError, HarnessError, file_sha256
from harness.values.regular_file import MOST_BYTES


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("two words".encode("utf-16-le"), "9 of its 18 bytes are NUL, the first at offset 1 .*UTF-16"),
        (b"one\ntwo \0 three", r"1 of its 15 bytes are NUL, the first at offset 8 \(line 2\).*not text"),
    ],
)
def test_files_with_nul_characters_are_no_text(write, content, message):
    path = write("a.txt", content)
    with pytest.raises(CorpusError, match=rf"a\.txt: {message}"):
        read_utf8(path)
    with pytest.raises(CorpusError, match=message):
        parse_document(DocumentFile("a", path), PypdfConfig())
    with pytest.raises(CorpusError, match=message):
        read_queries(write("q.csv", content), SplitConfig())


SPECIAL = {
    "pipe": "is a pipe or a device, not a file",
    "folder": "is a folder, not a file",
    "device": "is a pipe or a device, not a file",
    "link": r"cannot be read \(it is a link to nowhere, which is not there",
}
READERS = {
    "queries": lambda path: read_queries(path, SplitConfig()),
    "labels": read_labels,
    "hits": read_hits,
    "a document": lambda path: parse_document(DocumentFile("a", path), PypdfConfig()),
    "a hash": lambda path: file_hashes([path]),
}


@pytest.mark.parametrize("reader", READERS)
def test_what_is_no_regular_file_is_refused_immediately(tmp_path, reader):
    """Opening a pipe that nobody writes to waits for ever; a device may have no end."""
    os.mkfifo(tmp_path / "pipe.pdf")
    (tmp_path / "folder.pdf").mkdir()
    (tmp_path / "device.pdf").symlink_to("/dev/zero")
    (tmp_path / "link.pdf").symlink_to("nowhere")
    for kind, said in SPECIAL.items():
        with pytest.raises((HarnessError, ValueError), match=rf"{kind}\.pdf: {said}"):
            READERS[reader](tmp_path / f"{kind}.pdf")


@pytest.mark.parametrize(
    "read",
    [
        lambda path: load_prompt(str(path)),
        lambda path: open_unpacked(path).__enter__(),
        lambda path: Bm25Config(synonyms=path),
    ],
)
def test_a_device_without_an_end_is_refused(tmp_path, read):
    (tmp_path / "zero.yaml").symlink_to("/dev/zero")
    with pytest.raises((HarnessError, ValueError), match=r"zero\.yaml: is a.* device, not a file"):
        read(tmp_path / "zero.yaml")


def test_a_file_that_is_too_large_is_refused(tmp_path):
    with (tmp_path / "large.csv").open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    with pytest.raises(CorpusError, match=r"large.csv: has 4,294,967,297 bytes; at most 4,294,967,296"):
        file_sha256(tmp_path / "large.csv")
