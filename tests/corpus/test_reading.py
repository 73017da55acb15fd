"""Text files: what is opened, and what is taken for text."""

import os
import socket
from pathlib import Path

import pytest

from harness.data.corpus.anchoring import read_labels
from harness.data.corpus.documents import DocumentFile
from harness.data.corpus.hits import read_hits
from harness.data.corpus.parse import parse_document
from harness.data.corpus.parsers.pypdf import PypdfConfig
from harness.data.corpus.queries import SplitConfig, read_queries
from harness.data.corpus.reading import read_utf8
from harness.data.trec.ids import TrecError
from harness.data.trec.text import open_unpacked
from harness.judge.prompting import load_prompt
from harness.running.bench.job import file_hashes
from harness.steps.search.retrieve.bm25 import Bm25Config
from harness.values.errors import ConfigError, CorpusError, LabelError
from harness.values.regular_file import MOST_BYTES, file_sha256, refuse_special


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


@pytest.mark.parametrize("read", [lambda path: read_queries(path, SplitConfig()), read_labels, read_hits])
def test_what_a_name_stands_for_is_said_before_its_ending(read, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("nowhere")
    for path, message in {
        Path("/dev/zero"): "/dev/zero: is a device, not a file",
        tmp_path / "folder": "folder: is a folder, not a file",
        tmp_path / "link": "link: cannot be read .it is a link to nowhere, which is not there",
    }.items():
        with pytest.raises((CorpusError, LabelError), match=message):
            read(path)


def test_files_are_checked_before_they_are_hashed(tmp_path):
    (tmp_path / "zero.csv").symlink_to("/dev/zero")
    with pytest.raises(CorpusError, match=r"zero.csv: is a device, not a file"):
        file_hashes([tmp_path / "zero.csv"])
    (tmp_path / "zero.yaml").symlink_to("/dev/zero")
    with pytest.raises(ConfigError, match=r"zero.yaml: is a device, not a file"):
        load_prompt(str(tmp_path / "zero.yaml"))
    with (
        pytest.raises(TrecError, match=r"zero.csv: is a device, not a file"),
        open_unpacked(tmp_path / "zero.csv"),
    ):
        pass
    with pytest.raises(ValueError, match=r"zero.csv: is a device, not a file"):
        Bm25Config(synonyms=tmp_path / "zero.csv")


def test_a_file_that_is_too_large_and_a_link_to_nothing_are_refused(tmp_path):
    with (tmp_path / "large.csv").open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    with pytest.raises(CorpusError, match=r"large.csv: has 4,294,967,297 bytes; at most 4,294,967,296"):
        file_sha256(tmp_path / "large.csv")
    (tmp_path / "link.csv").symlink_to(tmp_path / "gone.csv")
    with pytest.raises(CorpusError, match=r"link to .*gone.csv, which is not there"):
        file_sha256(tmp_path / "link.csv")
