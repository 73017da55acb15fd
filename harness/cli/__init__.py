"""The command line: parses, calls, prints; the only place that exits.

Nothing slow is imported before signals are watched: the first seconds of a command can be interrupted too.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

from harness.values import streams


def main(argv: Sequence[str] | None = None) -> None:
    """Run one command and exit.

    0: done. 1: a problem that the message explains. 2: wrong usage. 130, 143, 129: stopped by Ctrl-C,
    SIGTERM, SIGHUP. 141: the reader of the output has closed it early. ``argv`` None: as a program, with the
    arguments of the process; only then are its signals, threads and warnings watched.
    """
    program = argv is None
    if program:
        streams.watch()
        # most objects live to the end: to look for dead ones after every 700 new ones is for nothing
        gc.set_threshold(50_000, 20, 20)
    try:
        try:
            code = _run(argv, program)
            streams.flush()
        finally:
            streams.finish()
    except BaseException as error:
        code = _exit_code_of(error)
    sys.exit(code)


def _run(argv: Sequence[str] | None, program: bool) -> int:
    if not streams.open_closed_streams():
        from harness.values import HarnessError

        raise HarnessError("standard output is closed; send it to a file, or to /dev/null.")
    if program:
        streams.use_utf8()
    from harness.cli.commands.usage import START, parser

    words = sys.argv[1:] if argv is None else argv
    if not words:
        sys.stdout.write(START)
        return 2
    args, unknown = parser(words[:1]).parse_known_args(words)
    if unknown:
        # argparse itself would show the usage of the whole program
        args.wrong_usage(f"unrecognized arguments: {' '.join(unknown)}")
    os.environ.setdefault("ANONYMIZED_TELEMETRY", "False")
    if program:
        from harness.cli import internal_faults

        internal_faults.watch()
    code: int = args.run(args)
    return code


def _exit_code_of(error: BaseException) -> int:
    """Print the error that ended the command in one line, without a traceback; returns the exit code."""
    # an interrupted library may raise anything, such as an ImportError: it was the signal
    if streams.exit_code() is not None or isinstance(error, KeyboardInterrupt):
        streams.say_stopped()
        streams.flush(OSError)
        return streams.exit_code() or 130
    try:
        if isinstance(error, SystemExit):
            # of argparse, after --help or wrong usage
            streams.flush()
            return error.code if isinstance(error.code, int) else int(error.code is not None)
        return _report(error)
    except Exception as second:
        # a terminal that cannot be written to, or a fault in the report itself
        return _fault(second)


def _report(error: BaseException) -> int:
    from harness.cli.terminal import print_error
    from harness.values import HarnessError

    if isinstance(error, HarnessError):
        print_error(str(error))
    elif isinstance(error, BrokenPipeError):
        streams.give_output_up()
        return 141
    elif isinstance(error, UnicodeEncodeError) and error.encoding != "utf-8":
        print_error(
            f"the output is in {error.encoding}, which lacks {error.object[error.start]!a}. "
            "Set PYTHONIOENCODING=utf-8, or write to a file with --output where the command has it."
        )
    elif isinstance(error, OSError):
        streams.flush(OSError)
        from harness.store import os_error_line

        print_error(os_error_line(error))
    elif isinstance(error, MemoryError):
        print_error("memory ran out. Use smaller batches, fewer settings at once, or a larger machine.")
    else:
        return _fault(error)
    return 1


def _fault(error: BaseException) -> int:
    """Report a package that is missing, of the terminal too, or a fault of the program."""
    from harness.cli import internal_faults
    from harness.cli.packages import missing_package

    if (missing := missing_package(error)) is None:
        internal_faults.report(error)
    else:
        internal_faults.write_line(f"error: {missing}")
    return 1
