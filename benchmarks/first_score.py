"""The stopwatch of a new user, from `pip install` of the wheel to the score of a retriever of one's own.

python -m benchmarks.first_score                # as pip does it by default
python -m benchmarks.first_score --no-compile   # modules are compiled when they are first imported

Builds the wheel, makes an empty environment, installs the light core there, and runs the ten lines below in a
folder that has 14 documents, 130 queries and their labels, as a user's folder would: the included collection
and nothing else of this repository. Prints the lines and what they print, the seconds of each part and of
what it consists of, and the packages and megabytes of the environment. Packages come from pip's index or its
cache.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from harness.values import available_cpus, processor_name
from tools.fresh_install import ROOT, Environment, build_wheel, new_environment

SCRIPT = """\
from pathlib import Path
import harness
from pypdf import PdfReader

pages = [page.extract_text() for path in Path("documents").glob("*.pdf") for page in PdfReader(path).pages]
words = [set(page.lower().split()) for page in pages]

def search(query):
    shared = [len(words_of_page & set(query.lower().split())) for words_of_page in words]
    return [pages[place] for place in sorted(range(len(pages)), key=lambda place: -shared[place])[:10]]

results = harness.evaluate(search, "queries.csv", "labels.csv", "documents/*")
print(results.verdict)
"""
MOST_LINES = 10
_LOGGED = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d,\d{3}) (.*)")
_IMPORTED = re.compile(r"import time:\s+(\d+) \|")


@dataclass
class Taken:
    """Seconds of one part, elapsed and of the CPU, and the elapsed seconds of what it consists of."""

    elapsed: float
    cpu: float
    consists_of: dict[str, float] = field(default_factory=dict)


@contextmanager
def timed(taken: dict[str, Taken], part: str) -> Iterator[None]:
    """Note how long the commands of the with block take, under the name of the part."""
    start, before = time.perf_counter(), os.times()
    yield
    after = os.times()
    cpu = after.children_user - before.children_user + after.children_system - before.children_system
    taken[part] = Taken(time.perf_counter() - start, cpu)


def write_work(folder: Path) -> None:
    """The included collection as files of a user's own, with the script beside them."""
    collection = ROOT / "corpora" / "meridian"
    (folder / "documents").mkdir(parents=True)
    for path in [*(collection / "documents").iterdir(), *(collection / "more").iterdir()]:
        shutil.copy(path, folder / "documents")
    shutil.copy(collection / "quickstart_queries.csv", folder / "queries.csv")
    shutil.copy(collection / "quickstart_judged.csv", folder / "labels.csv")
    (folder / "first.py").write_text(SCRIPT, encoding="utf-8")


def run_script(environment: Environment, folder: Path) -> tuple[str, float]:
    """What the script prints, and the seconds that its imports take; raises RuntimeError where it fails."""
    ran = environment.run(
        "first.py", cwd=folder, HARNESS_CACHE=str(folder / "cache"), PYTHONPROFILEIMPORTTIME="1"
    )
    if ran.returncode:
        raise RuntimeError(ran.stderr)
    return ran.stdout, sum(map(int, _IMPORTED.findall(ran.stderr))) / 1e6


def parts_of_pip(log: str) -> dict[str, float]:
    """Elapsed seconds of the two halves of an installation, by the times in the log of pip."""
    lines = [(datetime.fromisoformat(time), text) for time, text in _LOGGED.findall(log)]
    (unpacking,) = (time for time, text in lines if text.strip().startswith("Installing collected packages:"))
    first, last = lines[0][0], lines[-1][0]
    return {
        "finding and downloading packages": (unpacking - first).total_seconds(),
        "unpacking and compiling them": (last - unpacking).total_seconds(),
    }


def measure(wheel: Path, folder: Path, *options: str) -> tuple[dict[str, Taken], Environment, str]:
    """What each part takes, the environment, and what the script printed."""
    taken: dict[str, Taken] = {}
    write_work(folder / "work")
    log = folder / "pip.log"
    with timed(taken, "an empty environment"):
        environment = new_environment(folder / "core")
    with timed(taken, "`pip install` of the wheel"):
        environment.install(str(wheel), "--log", str(log), *options)
    taken["`pip install` of the wheel"].consists_of = parts_of_pip(log.read_text(encoding="utf-8"))
    with timed(taken, "the script, for the first time"):
        said, importing = run_script(environment, folder / "work")
    script = taken["the script, for the first time"]
    script.consists_of = {
        "importing": importing,
        "reading, searching and scoring": script.elapsed - importing,
    }
    return taken, environment, said


def report(taken: dict[str, Taken], environment: Environment, said: str) -> str:
    """The lines that are printed."""
    rows = list[str]()
    for part, part_taken in taken.items():
        rows.append(f"| {part} | {part_taken.elapsed:.1f} | {part_taken.cpu:.1f} |")
        rows += [f"| of it {name} | {seconds:.1f} | |" for name, seconds in part_taken.consists_of.items()]
    elapsed, cpu = (sum(getattr(part, name) for part in taken.values()) for name in ("elapsed", "cpu"))
    rows.append(f"| all | {elapsed:.1f} | {cpu:.1f} |")
    lines = sum(bool(line.strip()) for line in SCRIPT.splitlines())
    size = (
        f"{len(environment.packages())} packages, {environment.megabytes():.0f} MB; a script of {lines} lines"
    )
    machine = f"{processor_name()}, {available_cpus()} cores, Python {platform.python_version()}"
    return "\n".join(
        [SCRIPT, said, "| part | seconds | CPU seconds |", "|---|--:|--:|", *rows, "", size, machine]
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--no-compile", action="store_true", help="have pip compile nothing in advance")
    options = ["--no-compile"] if parser.parse_args().no_compile else []
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        wheel = build_wheel(Path(folder) / "wheel")
        sys.stdout.write(f"{report(*measure(wheel, Path(folder), *options))}; load {load:.1f} before\n")


if __name__ == "__main__":
    main()
