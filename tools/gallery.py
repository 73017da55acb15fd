"""The example pages of the site: report.html of shipped benchmarks, as a run has made it or makes it here."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Example:
    """A benchmark whose page is shown: its configuration by name, a title, and what one sees there."""

    config: str
    title: str
    shows: str


EXAMPLES = (
    Example("quickstart", "The quickstart", "two chunk sizes over reports of a made-up company, in English"),
    Example(
        "lanchuan",
        "Chinese",
        "keyword search by pairs of characters, and without, in texts of a made-up town",
    ),
)
_INTRO = """\
# Example pages

Each is the `report.html` of a benchmark of this repository, as a run wrote it: one file that works offline.
[The report page](../report.md) explains them.

"""


def write_gallery(folder: Path) -> None:
    """Write index.md and a page per example; runs what needs no model where results/ has no page of it."""
    folder.mkdir(parents=True)
    lines = []
    for example in EXAMPLES:
        page, command = _page_of(example.config)
        shutil.copy(page, folder / f"{example.config}.html")
        lines.append(f"- [{example.title}]({example.config}.html): {example.shows}; by `{command}`.")
    (folder / "index.md").write_text(_INTRO + "\n".join(lines) + "\n", encoding="utf-8")


def _page_of(name: str) -> tuple[Path, str]:
    """The page of a benchmark and the command that made it."""
    config = f"configs/{name}.yaml"
    whole = ROOT / "results" / name / "report.html"
    if whole.is_file():
        return whole, f"harness bench {config}"
    command = ["bench", config, "--quick", "--quiet"]
    done = subprocess.run(
        [sys.executable, "-m", "harness", *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    page = ROOT / "results" / f"{name}-quick" / "report.html"
    if done.returncode or not page.is_file():
        raise RuntimeError(f"harness {' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return page, f"harness bench {config} --quick"
