import pytest

from tests.judge.conftest import quick_backoff, three_tries
from tests.testset.helpers import DOCUMENTS

__all__ = ["quick_backoff", "three_tries"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with documents, in which commands are run; a test set over them is begun in ``set``."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    for name, text in DOCUMENTS.items():
        (tmp_path / "docs" / name).write_text(text, encoding="utf-8")
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "testset.yaml").write_text(
        "documents: docs/*\nquestions: 12\nchosen: 6\npassages: 5\ncache: cache\nresults: results\n"
    )
    return tmp_path
