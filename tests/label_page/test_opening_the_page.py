"""How the page is opened: at a port that is free, and by a link that no other user can read."""

import stat
from pathlib import Path

from harness.labels import link_file, listening_at
from harness.labels.label_page import serve
from tests.command import exit_code
from tests.label_page.pools import write_folder


def test_a_port_that_is_taken_gives_the_next_one_that_is_free():
    with listening_at(0) as other:
        busy = other.getsockname()[1]
        with listening_at(busy) as own, listening_at(busy) as third:
            assert busy < own.getsockname()[1] < third.getsockname()[1]


def test_the_browser_gets_a_file_that_only_its_owner_reads_and_no_key(tmp_path, monkeypatch, capsys):
    """What is on a command line, every user of the machine can read."""
    monkeypatch.chdir(tmp_path)
    write_folder(tmp_path)
    opened = []

    def browse(url):
        path = url.removeprefix("file://")
        opened.append((url, stat.S_IMODE(Path(path).stat().st_mode), Path(path).read_text()))

    def served(service, listening, tell):
        tell(f"http://127.0.0.1:{listening.getsockname()[1]}/?token=secret")

    monkeypatch.setattr("webbrowser.open", browse)
    monkeypatch.setattr(serve, "serve", served)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("DISPLAY", ":0")
    assert exit_code("label", "--pool", "pool.csv", "--documents", "docs/*", "--port", "0") == 0
    ((url, mode, page),) = opened
    assert url.startswith("file://")
    assert "secret" not in url
    assert mode == 0o600
    assert "/?token=secret" in page
    assert not list(tmp_path.glob("*.open.html"))


def test_a_link_file_that_was_left_behind_is_replaced(tmp_path):
    state = tmp_path / "pool.labelling.sqlite"
    (tmp_path / "pool.labelling.sqlite.open.html").write_text("old")
    with link_file("http://127.0.0.1:1/?token=a&b", state) as path:
        assert "token=a&amp;b" in path.read_text()
    assert not path.exists()
