"""Write what is generated in the docs: configuration, measures, tables of results, the worked example.

`make docs` writes; with --check nothing is written and the exit code says whether something would change.
docs/reading-a-run.md holds the numbers of configs/quickstart.yaml, rounded, which is run for it. The table
of CONTRIBUTING.md counts the files on each walk (tools/walks.py).
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from pathlib import Path

import walks
from reference.answer_measures import answer_measures_reference
from reference.configuration import reference
from reference.measures import measures_reference
from reference.python_api import api_reference
from reference.reading import reading
from reference.tables import import_formats, input_columns, tables_reference

import harness
from harness.cli.api import read_results
from harness.running.bench.flow import run_bench
from harness.running.config.load import load_config
from harness.values.progress import Silent

ROOT = Path(__file__).parent.parent
TABLES = ("<!-- tables: made by make docs from harness/report/rows -->", "<!-- end of tables -->")
if not ROOT.samefile(Path(harness.__file__).parent.parent):
    sys.exit(f"The harness is imported from {harness.__file__}, not from {ROOT}: install this checkout.")
FORMATS = ("<!-- formats: made by make docs -->", "<!-- end of formats -->")
COLUMNS = re.compile("<!-- columns of (.+): made by make docs -->")
WALKS = ("<!-- walks: made by make docs -->", "<!-- end of walks -->")
# Figures of a model move in their last digits between processors; a page is stale beyond this.
TOLERANCE = 0.015
NUMBER = re.compile(r"\d+\.\d+")


def quickstart() -> str:
    """Run the quickstart and explain its results."""
    config = load_config(ROOT / "configs" / "quickstart.yaml")
    with tempfile.TemporaryDirectory() as folder:
        run_bench(config.model_copy(update={"results": Path(folder)}), Silent())
        return reading(read_results(Path(folder) / config.name))


def pages(table: bool = True) -> dict[Path, str]:
    """Every generated page with its content; without ``table`` none whose numbers take a run."""
    results = ROOT / "docs" / "results.md"
    contributing = ROOT / "CONTRIBUTING.md"
    written = {
        ROOT / "docs" / "api.md": api_reference(),
        ROOT / "docs" / "configuration.md": reference(),
        ROOT / "docs" / "measures.md": measures_reference(),
        ROOT / "docs" / "answer-measures.md": answer_measures_reference(),
        results: _between(results, TABLES, tables_reference()),
    }
    for page in (ROOT / "docs").glob("*.md"):
        for name in COLUMNS.findall(page.read_text(encoding="utf-8")):
            marks = f"<!-- columns of {name}: made by make docs -->", "<!-- end of columns -->"
            written[page] = _between(page, marks, input_columns(name), written.get(page))
    corpora = ROOT / "docs" / "corpora.md"
    written[corpora] = _between(corpora, FORMATS, import_formats(), written[corpora])
    if table:
        written[ROOT / "docs" / "reading-a-run.md"] = quickstart()
        written[contributing] = _between(contributing, WALKS, walks.table(walks.walks()))
    return written


def _between(path: Path, marks: tuple[str, str], content: str, text: str | None = None) -> str:
    """A page, or its new ``text``, with ``content`` between its marks."""
    begin, end = marks
    before, rest = (text or path.read_text(encoding="utf-8")).split(begin, 1)
    return f"{before}{begin}\n{content}\n{end}{rest.split(end, 1)[1]}"


def same(old: str, new: str) -> bool:
    """Whether two pages agree: the same words, and figures that differ by no more than the tolerance."""
    if NUMBER.sub("#", old) != NUMBER.sub("#", new):
        return False
    pairs = zip(NUMBER.findall(old), NUMBER.findall(new), strict=True)
    return all(abs(float(a) - float(b)) <= TOLERANCE for a, b in pairs)


def main() -> None:
    """Write the pages, or check them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; fail if a page is out of date")
    parser.add_argument("--no-run", action="store_true", help="leave out the tables that take a run")
    args = parser.parse_args()
    check, stale = args.check, []
    for path, content in pages(not args.no_run).items():
        if not path.exists() or not same(path.read_text(encoding="utf-8"), content):
            stale.append(str(path.relative_to(ROOT)))
            if not check:
                path.write_text(content, encoding="utf-8")
    if check and stale:
        sys.exit(f"out of date: {', '.join(stale)}; run `make docs` and commit")
    sys.stdout.write(f"{'fresh' if not stale else 'written: ' + ', '.join(stale)}\n")


if __name__ == "__main__":
    main()
