"""Faults of the program itself: one line for the user, the traceback in a file for the developers."""

from __future__ import annotations

import logging
import os
import re
import sys
import tempfile
import threading
import traceback
import warnings

from harness.values import printable, redacted, snippet

# Environment variables whose values are secret, and the length from which a value is hidden.
_SECRET = re.compile("KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL", re.IGNORECASE)
_SHORTEST_SECRET = 8


def watch() -> None:
    """Let nothing print a traceback: threads, warnings and messages of libraries become one line."""
    threading.excepthook = _on_thread
    warnings.showwarning = _on_warning
    logging.lastResort = _OneLine(logging.WARNING)


def report(error: BaseException) -> None:
    """Report a fault of ours, or of a package of kinds, in one line that names the file of its traceback."""
    from harness.values import line_of_package

    what, package_line = _summary(error), line_of_package(error)
    whom = " to those who make the package" if package_line else ""
    try:
        where = f"The traceback is in {_save(error)}; please report it{whom} with the command that you gave."
    except OSError as problem:
        where = f"The traceback could not be saved ({problem.strerror}); set TMPDIR to a folder with room."
    culprit = f"{package_line} of a package failed" if package_line else "internal fault"
    write_line(f"error: {culprit}: {what} {where}")


def _save(error: BaseException) -> str:
    from harness import __version__

    text = "".join(traceback.format_exception(error))
    head = f"harness {__version__}, Python {sys.version.split()[0]}, {sys.platform}\n"
    file, path = tempfile.mkstemp(prefix="harness-fault-", suffix=".txt")
    with os.fdopen(file, "w", encoding="utf-8", errors="backslashreplace") as out:
        out.write(head + without_secrets(text))
    return path


def without_secrets(text: str) -> str:
    """Text without what looks like a secret, and without values of variables called a key or a password."""
    for name, value in os.environ.items():
        if _SECRET.search(name) and len(value) >= _SHORTEST_SECRET:
            text = text.replace(value, f"[{name}]")
    return redacted(text)


def _summary(error: BaseException) -> str:
    message = snippet(without_secrets(str(error)))
    return f"{type(error).__name__}: {message}." if message else f"{type(error).__name__}."


def write_line(text: str) -> None:
    """Write one line to stderr, without the libraries of the terminal."""
    try:
        sys.stderr.write(f"{printable(text)}\n")
        sys.stderr.flush()
    except (AttributeError, OSError):
        # output that nobody reads; the exit code is enough
        return


def _on_thread(args: threading.ExceptHookArgs) -> None:
    if args.exc_value is not None and not isinstance(args.exc_value, SystemExit):
        report(args.exc_value)


def _on_warning(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
    write_line(f"warning: {without_secrets(str(message))} ({category.__name__})")


class _OneLine(logging.Handler):
    """Messages that no library handles itself."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print the message without its traceback."""
        try:
            message = record.getMessage()
        except (TypeError, ValueError):
            message = str(record.msg)
        if record.exc_info and record.exc_info[1] is not None:
            message = f"{message} ({_summary(record.exc_info[1])})"
        write_line(f"{record.levelname.lower()}: {record.name}: {without_secrets(message)}")
