"""Documents of other file systems are copied once, and again when they change: by file systems of fsspec."""

from pathlib import Path

import fsspec
import pytest

from harness.running import BenchConfig, copies, document_files
from harness.running.copies import local_patterns
from harness.values import CorpusError


@pytest.fixture
def memory():
    system = fsspec.filesystem("memory")
    system.pipe({"/docs/a.txt": b"first", "/docs/deep/b.txt": b"second", "/docs/c.pdf": b"%PDF"})
    yield system
    system.store.clear()
    system.pseudo_dirs[:] = [""]


def copied(pattern, folder, notes=None):
    found = local_patterns([pattern], folder, (notes if notes is not None else []).append)
    return [folder.__class__(one).relative_to(folder).as_posix() for one in found]


def test_the_files_of_a_glob_are_copied_with_their_folders(memory, tmp_path):
    notes = []
    assert copied("memory://docs/**/*.txt", tmp_path) == ["memory/docs/a.txt", "memory/docs/deep/b.txt"]
    assert copied("memory://docs/*.txt", tmp_path) == ["memory/docs/a.txt"]
    assert (tmp_path / "memory/docs/a.txt").read_bytes() == b"first"
    assert copied("memory://docs/c.pdf", tmp_path, notes) == ["memory/docs/c.pdf"]
    assert notes[-1] == "Copying 1 document from memory://docs/c.pdf."
    # a URL of this machine is a file system too, and a local glob stays as it is
    (place,) = copied(f"file://{tmp_path}/memory/docs/*.txt", tmp_path / "copies")
    assert (tmp_path / "copies" / place).read_bytes() == b"first"
    assert local_patterns(["docs/*.pdf"], tmp_path / "none", print) == ["docs/*.pdf"]
    assert not (tmp_path / "none").exists()


def test_what_is_there_is_copied_again_only_if_it_has_changed(memory, tmp_path):
    copied("memory://docs/*.txt", tmp_path)
    again = []
    copied("memory://docs/*.txt", tmp_path, again)
    assert not again
    memory.pipe("/docs/a.txt", b"changed!")
    copied("memory://docs/*.txt", tmp_path, again)
    assert (tmp_path / "memory/docs/a.txt").read_bytes() == b"changed!"
    assert len(again) == 1
    # one that was lost here comes back
    (tmp_path / "memory/docs/a.txt").unlink()
    copied("memory://docs/*.txt", tmp_path)
    assert (tmp_path / "memory/docs/a.txt").read_bytes() == b"changed!"


def test_a_copy_that_breaks_off_leaves_nothing_behind(memory, tmp_path, monkeypatch):
    def breaks_off(self, names, places, **more):
        (tmp_path / places[0]).write_bytes(b"fi")
        raise OSError("connection reset")

    with monkeypatch.context() as patch:
        patch.setattr(type(memory), "get", breaks_off)
        with pytest.raises(CorpusError, match=r"memory://docs/\*.txt cannot be used .*connection reset"):
            copied("memory://docs/*.txt", tmp_path)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_benchmark_reads_them_like_files_of_this_machine(memory, tmp_path):
    both = ("memory://docs/*.txt", "memory://docs/deep/*.txt")
    config = BenchConfig.of_documents(both, Path("none.csv"), Path("none.csv"), cache=tmp_path)
    texts = {one.doc_id: one.path.read_text() for one in document_files(config)}
    assert texts == {"a": "first", "b": "second"}


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("memory://docs/*.docx", "names no file"),
        ("memory://docs", "names no file"),
        ("memory://docs/none.txt", "names no file"),
        ("nosuch://docs/a.txt", "nosuch"),
        ("gs://bucket/*.pdf", "gcsfs"),
    ],
)
def test_a_url_without_files_or_package_is_refused_by_name(memory, tmp_path, url, said):
    with pytest.raises(CorpusError, match=said) as caught:
        copied(url, tmp_path)
    assert url in str(caught.value)


def test_no_name_leaves_the_folder(tmp_path):
    with pytest.raises(CorpusError, match="Rename it"):
        copies._place(tmp_path, "s3://bucket/../../etc/passwd")
