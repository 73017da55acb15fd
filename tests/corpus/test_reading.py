"""Text files: what is opened, and what is taken for text."""

import os
import socket

import pytest

from harness.corpus import DocumentFile, PypdfConfig, SplitConfig, parse_document, read_labels, read_queries
from harness.corpus.reading import read_utf8, refuse_special
from harness.errors import CorpusError, LabelError


def test_line_ends_and_byte_order_mark_stay(write):
    assert read_utf8(write("a.txt", "\ufeffone\r\ntwo\n")) == "\ufeffone\r\ntwo\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "two words".encode("utf-16-le"),
            "9 of its 18 bytes are NUL, the first at offset 1 .*UTF-16 without",
        ),
        (
            "two words".encode("utf-16-be"),
            "9 of its 18 bytes are NUL, the first at offset 0 .*UTF-16 without a byte order mark. Save it as",
        ),
        (b"\0" * 4096, r"4,096 of its 4,096 bytes are NUL.*is not text, or is damaged"),
        (b"one\ntwo \0 three", r"1 of its 15 bytes are NUL, the first at offset 8 \(line 2\).*is not text"),
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


def test_what_is_no_regular_file_is_refused_immediately(tmp_path):
    """Opening a pipe that nobody writes to waits for ever; a device may have no end."""
    os.mkfifo(tmp_path / "pipe.csv")
    os.mkfifo(tmp_path / "pipe.pdf")
    server = socket.socket(socket.AF_UNIX)
    server.bind(os.path.relpath(tmp_path / "socket"))
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "zero.csv").symlink_to("/dev/zero")
    for name, kind in {
        "pipe.csv": "a pipe",
        "socket": "a socket",
        "folder.csv": "a folder",
        "zero.csv": "a device",
    }.items():
        with pytest.raises(CorpusError, match=f"{name}: is {kind}, not a file"):
            refuse_special(tmp_path / name)
    server.close()
    with pytest.raises(CorpusError, match="is a pipe"):
        read_queries(tmp_path / "pipe.csv", SplitConfig())
    with pytest.raises(LabelError, match="is a pipe"):
        read_labels(tmp_path / "pipe.csv")
    with pytest.raises(CorpusError, match="is a pipe"):
        parse_document(DocumentFile("pipe", tmp_path / "pipe.pdf"), PypdfConfig())
