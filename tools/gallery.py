"""The example pages of the site: report.html of shipped benchmarks, as a run has made it or makes it here."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.rule_endpoint import ALL_QUERIES, Rules, server

ROOT = Path(__file__).parent.parent
PROXIES = ("all_proxy", "http_proxy", "https_proxy", "no_proxy")


@dataclass(frozen=True)
class Example:
    """A run whose page is shown: its configuration by name, a title, what one sees there, and its command.

    ``rules``: the endpoint that it asks at localhost:8000 is the one that answers by rules.
    """

    config: str
    title: str
    shows: str
    command: tuple[str, ...] = ("bench", "--quick")
    rules: bool = False

    @property
    def name(self) -> str:
        """The name of its results."""
        return self.config.rpartition("/")[2]


EXAMPLES = (
    Example("quickstart", "The quickstart", "two chunk sizes over reports of a made-up company, in English"),
    Example(
        "lanchuan",
        "Chinese",
        "keyword search by pairs of characters, and without, in texts of a made-up town",
    ),
    Example(
        "recipes/tune",
        "Many settings",
        "of 24 settings those that saw everything, and those that `harness tune` dropped before",
        ("tune",),
    ),
    Example(
        "recipes/answer_measures",
        "Answers",
        "answers from three and five passages by every measure of answers, and where they lose most; a "
        "program that answers by rules stands in for the language model",
        ("bench",),
        rules=True,
    ),
)
_INTRO = """\
# Example pages

Each is the `report.html` of a run of this repository, as a run wrote it: one file that works offline.
[The report page](../report.md) explains them.

"""


def write_gallery(folder: Path) -> None:
    """Write index.md and a page per example; runs, offline, those of which results/ has no page."""
    folder.mkdir(parents=True)
    lines = []
    for example in EXAMPLES:
        page, command = _page_of(example)
        shutil.copy(page, folder / f"{example.name}.html")
        lines.append(f"- [{example.title}]({example.name}.html): {example.shows}; by `{command}`.")
    (folder / "index.md").write_text(_INTRO + "\n".join(lines) + "\n", encoding="utf-8")


def _page_of(example: Example) -> tuple[Path, str]:
    """The page of a run and the command that made it."""
    config = f"configs/{example.config}.yaml"
    command, *options = example.command
    whole = ROOT / "results" / example.name / "report.html"
    if whole.is_file():
        return whole, f"harness {command} {config}"
    words = [command, config, *options]
    with environment(example.rules) as variables:
        ran = subprocess.run(
            [sys.executable, "-m", "harness", *words, "--quiet"],
            cwd=ROOT,
            env=variables,
            capture_output=True,
            text=True,
            check=False,
        )
    page = ROOT / "results" / f"{example.name}{'-quick' if '--quick' in options else ''}" / "report.html"
    if ran.returncode or not page.is_file():
        raise RuntimeError(f"harness {' '.join(words)} failed:\n{ran.stdout}{ran.stderr}")
    return page, f"harness {' '.join(words)}"


@contextmanager
def environment(rules: bool) -> Iterator[dict[str, str]]:
    """The environment of a run; with ``rules`` what it asks of localhost:8000 goes to a free port instead."""
    if not rules:
        yield dict(os.environ)
        return
    with server(0, Rules.of(*ALL_QUERIES)) as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        kept = {name: value for name, value in os.environ.items() if name.lower() not in PROXIES}
        yield {**kept, "http_proxy": f"http://127.0.0.1:{serving.server_port}"}
        serving.shutdown()
