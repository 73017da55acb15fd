"""`harness demo`: the quickstart from any folder, also from a wheel."""

import glob
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from harness.cli.commands import bench, common
from harness.running import load_config
from tests.command import exit_code, table

ROOT = Path(__file__).parent.parent
PLACES = {"name", "documents", "queries", "labels", "results", "cache"}


def test_the_demo_is_the_quickstart_with_other_paths(tmp_path, monkeypatch):
    quickstart = load_config(ROOT / "configs/quickstart.yaml")
    monkeypatch.chdir(tmp_path)
    config = bench._quickstart(Path("results/demo"), Path(".cache/harness"))
    assert config.model_dump(exclude=PLACES) == quickstart.model_dump(exclude=PLACES)
    assert (config.results, config.name) == (Path("results"), "demo")
    assert config.queries == ROOT / quickstart.queries
    assert config.labels == ROOT / quickstart.labels
    root = glob.escape(str(ROOT))
    assert config.documents == tuple(f"{root}/{pattern}" for pattern in quickstart.documents)


@pytest.mark.parametrize(
    ("words", "screen", "opened"), [([], True, 1), (["--no-browser"], True, 0), ([], False, 0)]
)
def test_the_page_opens_where_there_is_a_screen_and_it_is_wanted(
    words, screen, opened, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    pages = []
    monkeypatch.setattr(bench, "run_and_show", lambda config, quiet, again: 0)
    monkeypatch.setattr(bench, "can_show_pages", lambda: screen)
    monkeypatch.setattr(bench.webbrowser, "open", pages.append)
    assert exit_code("demo", "--out", "mine/first", *words) == 0
    assert pages == [(tmp_path / "mine/first/report.html").as_uri()] * opened


def test_there_is_no_screen_without_a_display_or_a_terminal(monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.delenv("DISPLAY", raising=False)
    assert not common.can_show_pages()
    monkeypatch.setenv("DISPLAY", ":0")
    assert common.can_show_pages()
    monkeypatch.setattr(sys.stdout, "isatty", lambda: False, raising=False)
    assert not common.can_show_pages()


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_wheel_in_a_fresh_environment_shows_the_demo(tmp_path, computed):
    """Only the libraries are those that are installed here; the package and its files come from the wheel."""
    pip = [sys.executable, "-m", "pip"]
    if subprocess.run([*pip, "--version"], capture_output=True, check=False).returncode:
        pytest.skip("pip is not installed")
    # built from a copy, so that nothing of an earlier build comes along
    source = tmp_path / "source"
    hidden = shutil.ignore_patterns("build", "*.egg-info", "__pycache__")
    for folder in ("harness", "tools", "configs", "corpora/meridian", "docs"):
        shutil.copytree(ROOT / folder, source / folder, ignore=hidden)
    for file in ("pyproject.toml", "README.md", "LICENSE", "llms.txt"):
        shutil.copy(ROOT / file, source)
    build = [*pip, "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(tmp_path), str(source)]
    subprocess.run(build, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    packed = zipfile.ZipFile(wheel).namelist()
    assert {path.relative_to(ROOT).as_posix() for path in (ROOT / "harness").rglob("*.yaml")} <= {*packed}
    fresh = tmp_path / "fresh"
    venv.create(fresh)
    python = fresh / "bin/python"
    subprocess.run([*pip, "--python", python, "install", "-q", "--no-deps", wheel], check=True)
    shutil.rmtree(source)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    libraries = [
        sysconfig.get_path("purelib"),
        *(path for path in sys.path if path.endswith("site-packages")),
    ]
    (fresh / "lib" / version / "site-packages/libraries.pth").write_text("\n".join(dict.fromkeys(libraries)))
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / ".cache").mkdir(parents=True)
    (elsewhere / ".cache" / "harness").symlink_to(computed)
    # no other copy of the package is on its path
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [fresh / "bin/harness", "demo"], cwd=elsewhere, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "results/demo" in done.stdout
    assert "500 characters" in done.stdout
    results = elsewhere / "results/demo"
    assert (results / "report.html").stat().st_size > 100_000
    assert str(fresh) in (results / "record.json").read_text(encoding="utf-8")
    assert len({row["setting"] for row in table(results / "summary.csv")}) == 8
    # a page that a message names is there
    (elsewhere / "bad.yaml").write_text("name: bad\n", encoding="utf-8")
    done = subprocess.run(
        [fresh / "bin/harness", "validate", "bad.yaml"],
        cwd=elsewhere,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    (page,) = re.findall(r"\S+configuration\.md", " ".join(done.stderr.split()))
    assert Path(page).is_file()
    assert str(fresh) in page
