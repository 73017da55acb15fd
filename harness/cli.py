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
        # what is still held back fails here, where it can be told, and not when Python exits
        sys.stdout.flush()
    except HarnessError as error:
        print_error(str(error))
        code = 1
    except KeyboardInterrupt:
        print_error(
            "stopped; what a benchmark has computed is kept, and the same command goes on from there."
        )
        code = 130
    except BrokenPipeError:
        # the reader of a pipe has left
        _give_output_up()
        code = 0
    except UnicodeEncodeError as error:
        print_error(
            f"the output is in {error.encoding}, which lacks {error.object[error.start]!a}. "
            "Set PYTHONIOENCODING=utf-8, or write to a file with --output where the command has it."
        )
        code = 1
    except OSError as error:
        _give_output_up()
        print_error(f"{error.filename}: {error.strerror}" if error.filename else str(error))
        code = 1
    sys.exit(code)


def _give_output_up() -> None:
    """Keep Python from complaining at exit of what it could not write."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


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
