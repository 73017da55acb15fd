"""`harness demo`: the quickstart on the collection that is shipped, from any folder."""

from __future__ import annotations

import argparse
import glob
import webbrowser
from pathlib import Path

import harness
from harness import report, running
from harness.cli.commands.bench import run_and_show
from harness.cli.commands.declaring import AGAIN, CACHE, QUIET, command, flag, path
from harness.cli.commands.shared import can_show_pages

_QUICKSTART = "configs/quickstart.yaml"


@command(
    "Run the quickstart on the shipped collection, documents of a made-up company and labelled queries: "
    "two chunk sizes, each searched in four ways. Prints what is best and opens the page that shows it. "
    "Takes a few minutes the first time; needs no network.",
    path("--out", "the folder of the results; default results/demo", "DIR", default=Path("results/demo")),
    flag("--no-browser", "do not open the page; it is never opened where there is no screen"),
    AGAIN,
    CACHE,
    QUIET,
)
def demo(args: argparse.Namespace) -> int:
    """Run it, print the ending, and open the page."""
    # `.` and `..` have no name of their own
    out = args.out if args.out.name not in ("", "..") else args.out.resolve()
    code = run_and_show(_config(out, args.cache), args.quiet, args.again)
    if not args.no_browser and can_show_pages():
        webbrowser.open((out / report.REPORT).resolve().as_uri())
    return code


def _config(out: Path, cache: Path) -> running.BenchConfig:
    """The quickstart with the paths of the shipped files, and results in the folder ``out``."""
    here = Path(harness.__file__).parent
    # a wheel has the files in the package (tools/shipped.py), a checkout beside it
    root = next(one for one in (here / "shipped", here.parent) if (one / _QUICKSTART).is_file())
    data = running.read_source(root / _QUICKSTART).data
    return running.load_config(
        {
            **data,
            "name": out.name,
            # a folder may have a name that looks like a pattern
            "documents": [f"{glob.escape(str(root))}/{pattern}" for pattern in data["documents"]],
            "queries": root / data["queries"],
            "labels": root / data["labels"],
            "results": out.parent,
            "cache": cache,
        }
    )
