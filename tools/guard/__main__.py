"""Run the jobs by one state of the code, or list how two such runs differ.

    .venv/bin/python -m tools.guard run --out build/before            # by the code of this checkout
    .venv/bin/python -m tools.guard run --code ../old --out build/old # by that of another one
    .venv/bin/python -m tools.guard run --out build/after --cache-of build/before
    .venv/bin/python -m tools.guard compare build/before build/after

Documents and configurations are always those of this checkout. ``--cache-of`` starts from the caches that
another run left. `compare` exits with 1 if anything differs. A difference that is meant stands in a file of
patterns with its reason (``--expected``), one a line: `job/file: reason`; `*` stands for anything.
"""

from __future__ import annotations

import argparse
import sys
from fnmatch import fnmatch
from pathlib import Path

from tools.guard.compare import differences
from tools.guard.jobs import JOBS, run_jobs


def main() -> int:
    """Do what the command line asks; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="tools.guard", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    steps = parser.add_subparsers(dest="step", required=True)
    run = steps.add_parser("run", help="run the jobs")
    run.add_argument("--code", type=Path, default=Path(), metavar="DIR", help="default: this checkout")
    run.add_argument("--out", type=Path, required=True, metavar="DIR", help="made anew")
    run.add_argument("--cache-of", type=Path, metavar="DIR", help="start from the caches of this run")
    run.add_argument("--only", nargs="+", choices=sorted(JOBS), metavar="JOB", help=", ".join(JOBS))
    compare = steps.add_parser("compare", help="list the differences of two runs")
    compare.add_argument("before", type=Path)
    compare.add_argument("after", type=Path)
    compare.add_argument("--expected", type=Path, metavar="FILE", help="differences that are meant")
    args = parser.parse_args()
    if args.step == "run":
        return run_jobs(args.code.resolve(), args.out, args.cache_of, tuple(args.only or JOBS))
    return report(args.before, args.after, args.expected)


def report(before: Path, after: Path, expected: Path | None) -> int:
    """Print the differences; returns 1 if any is not expected."""
    reasons = dict(_reasons(expected)) if expected else {}
    open_ = 0
    for name, what in differences(before, after):
        reason = next((why for pattern, why in reasons.items() if fnmatch(name, pattern)), None)
        open_ += reason is None
        print(f"{name}: {what}" + (f" (meant: {reason})" if reason is not None else ""))
    print(f"{open_} differences that are not meant" if open_ else "no difference that is not meant")
    return 1 if open_ else 0


def _reasons(path: Path) -> list[tuple[str, str]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    pairs = (line.partition(": ") for line in lines if line.strip() and not line.startswith("#"))
    return [(pattern.strip(), reason.strip()) for pattern, _, reason in pairs]


if __name__ == "__main__":
    sys.exit(main())
