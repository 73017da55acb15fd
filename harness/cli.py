"""The command line: parses, calls, prints; the only place that exits."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

_DESCRIPTION = """\
Benchmark retrieval over your own documents: which chunking, retriever and reranker
ranks best, by how much, and is the difference real?

Start with:
  harness bench configs/quickstart.yaml     run a benchmark, write results/quickstart/
  harness validate my.yaml                  check a configuration and say what it would run
  harness show results/quickstart           print the summary of finished results
  harness report results/quickstart         make report.html, a page to look at
  harness judge --help                      language models as judges: cost, trust, ledger
  harness compare results/quickstart        which setting is best, and is it real?
  harness score --run R --qrels Q           evaluate a TREC run, as trec_eval does
"""


def main(argv: Sequence[str] | None = None) -> None:
    """Run one command and exit: 0 done, 1 a problem that the message explains, 2 wrong usage, 130 stopped."""
    args = _parser().parse_args(argv)
    os.environ.setdefault("ANONYMIZED_TELEMETRY", "False")
    from harness.errors import HarnessError
    from harness.terminal import print_error

    try:
        code = args.run(args)
    except HarnessError as error:
        print_error(str(error))
        code = 1
    except KeyboardInterrupt:
        print_error("stopped; what was computed is kept, the same command goes on from there.")
        code = 130
    except BrokenPipeError:
        # the reader of a pipe has left; keep Python from complaining at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code)


def _parser() -> argparse.ArgumentParser:
    from harness import __version__
    from harness.commands import COMMANDS

    parser = argparse.ArgumentParser(
        prog="harness", description=_DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action="version", version=f"harness {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add(commands)
    return parser
