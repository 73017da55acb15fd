"""Run a command of the harness inside a test."""

import pytest

from harness.cli import main


def exit_code(*words):
    """The exit code of ``harness WORDS``."""
    with pytest.raises(SystemExit) as stopped:
        main([str(word) for word in words])
    return stopped.value.code


def run(capsys, *words):
    """The exit code of ``harness WORDS``, and what it has written to stdout and to stderr."""
    capsys.readouterr()
    code = exit_code(*words)
    out = capsys.readouterr()
    return code, out.out, out.err


def one_line(text):
    """Text without its line breaks, wherever a terminal had wrapped it."""
    return " ".join(text.split())
