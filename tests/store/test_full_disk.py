"""A file system that is really full: a small one in memory, which a test may mount where it runs as root."""

import os
import re
import subprocess

import pytest

from tests.command import YARD, printed, refused, write_files


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 2 MB."""
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)]
    try:
        done = subprocess.run(mount, check=False, capture_output=True, text=True, timeout=60)
    except FileNotFoundError:
        pytest.skip("no mount here")
    if done.returncode:
        pytest.skip(f"cannot mount a file system here: {done.stderr.strip()}")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True, timeout=60)


def filled(folder, free):
    """A file that takes all space of the file system of ``folder`` but ``free`` bytes."""
    path = folder / "filler"
    with path.open("wb", buffering=0) as file:
        left = os.statvfs(folder)
        file.write(bytes(max(0, left.f_bavail * left.f_frsize - free)))
    return path


@pytest.mark.parametrize("full", ["cache", "results"])
@pytest.mark.parametrize("free", [0, 4_096, 32_768])
def test_a_run_on_a_full_disk_says_what_to_do_and_resumes_where_it_has_space(
    tmp_path, small_disk, capsys, monkeypatch, full, free
):
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path, YARD)
    places = {name: tmp_path / name for name in ("cache", "results")} | {full: small_disk / full}
    (tmp_path / "c.yaml").write_text(YARD["c.yaml"] + "".join(f"{k}: {v}\n" for k, v in places.items()))
    filler = filled(small_disk, free)
    message = refused(capsys, "bench", "c.yaml")
    assert "internal fault" not in message
    # the last is SQLite's where the space ends within memory that it shares
    why = "no space left on device|database or disk is full|disk I/O error"
    assert re.search(why, message, re.IGNORECASE)
    assert "Free some space" in message
    filler.unlink()
    printed(capsys, "bench", "c.yaml")
    assert (places["results"] / "one" / "summary.csv").stat().st_size > 0
