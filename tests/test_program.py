"""The program as a process: signals at any moment, closed streams, and faults that show no traceback."""

import os
import re
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.command import YARD, write_files

STOPPED = "error: stopped; what was computed or saved is kept, and the same command goes on from there.\n"

# The program, with the command `show` replaced by `run`, which the test writes.
STUB = """
import os, signal, sys, time
from harness import cli
from harness.cli.commands import show

{body}

show.show.run = run
sys.argv = ["harness", "show"]
cli.main()
"""

# The program, which gets a signal at the moment when it imports a module.
AT_IMPORT = """
import builtins, os, sys
from harness import cli

wanted, number = sys.argv[1], int(sys.argv[2])
real, sent = builtins.__import__, []

def spy(name, *rest, **more):
    if name.split(".")[0] == wanted and not sent:
        sent.append(name)
        os.kill(os.getpid(), number)
    return real(name, *rest, **more)

builtins.__import__ = spy
sys.argv = ["harness", *sys.argv[3:]]
cli.main()
"""


def defaults():
    """Signals as a shell hands them over, whatever the test's own parent ignores."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def start(code, *words, **options):
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "preexec_fn": defaults}
    return subprocess.Popen([sys.executable, "-c", code, *words], **piped | options)


def stub(body, *words, **options):
    process = start(STUB.format(body=textwrap.dedent(body)), *words, **options)
    out, err = process.communicate(timeout=900)
    return process.returncode, out, err


@pytest.mark.parametrize(
    ("module", "number"),
    [
        ("argparse", signal.SIGINT),
        ("pydantic", signal.SIGTERM),
        ("numpy", signal.SIGHUP),
        *(
            pytest.param(name, signal.SIGINT, marks=pytest.mark.slow)
            for name in ("rich", "pydantic", "numpy", "yaml")
        ),
    ],
)
def test_a_signal_during_the_imports_is_one_line(module, number, tmp_path):
    (tmp_path / "c.yaml").write_text("name: x\n")
    process = start(AT_IMPORT, module, str(int(number)), "validate", str(tmp_path / "c.yaml"))
    out, err = process.communicate(timeout=900)
    assert (process.returncode, out, err) == (128 + number, "", STOPPED)


ENDED = {
    "a library raises another exception": """
    def run(args):
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(60)
        except KeyboardInterrupt:
            raise ImportError("cannot import name 'x'")
    """,
    "python would drop the interrupt": """
    class Careless:
        def __del__(self):
            os.kill(os.getpid(), signal.SIGINT)
            for _ in range(1000): pass

    def run(args):
        Careless()
        return 0
    """,
    "the end is being reported": """
    import atexit
    atexit.register(lambda: os.kill(os.getpid(), signal.SIGINT))
    def run(args):
        return 0
    """,
    # the worker holds our pipes: were it left, this would wait for their end until it times out
    "there is a worker": """
    import multiprocessing
    def run(args):
        worker = multiprocessing.get_context("fork").Process(target=time.sleep, args=(600,))
        worker.start()
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        finally:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(60)
    """,
}


@pytest.mark.parametrize("body", ENDED.values(), ids=ENDED)
def test_a_signal_ends_the_program_in_one_line_also_where(body):
    assert stub(body) == (143 if "SIGTERM" in body else 130, "", STOPPED)


# Reading that takes for ever, as of a server that does not answer.
SLOW = """
import hashlib, pathlib, sys, time
from harness import cli

def slow(*_):
    print("reading", flush=True)
    while True:
        # a signal between the test of Python for one and a long sleep would be seen at its end alone
        time.sleep(0.05)

{slow} = slow
sys.argv = ["harness", *sys.argv[1:]]
cli.main()
"""


@pytest.mark.parametrize("slow", ["hashlib.file_digest", "pathlib.Path.read_bytes"])
def test_one_signal_ends_the_hashing_and_the_reading_of_inputs(slow, tmp_path):
    write_files(tmp_path, YARD)
    process = start(SLOW.format(slow=slow), "bench", "c.yaml", cwd=tmp_path)
    assert process.stdout.readline() == "reading\n"
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=900)
    assert (process.returncode, out, err) == (128 + signal.SIGTERM, "", STOPPED)


@pytest.mark.parametrize("first", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_ends_immediately(first):
    body = f"""
    def run(args):
        try:
            os.kill(os.getpid(), {int(first)})
        finally:
            print("cleaning", flush=True)
            while True:
                time.sleep(0.01)
    """
    process = start(STUB.format(body=textwrap.dedent(body)))
    assert process.stdout.readline() == "cleaning\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=900)
    assert (process.returncode, err) == (128 + first, STOPPED)


def test_a_signal_that_was_switched_off_stays_off():
    body = """
    def run(args):
        os.kill(os.getpid(), signal.SIGHUP)
        return 0
    """

    def as_nohup():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    assert stub(body, preexec_fn=as_nohup) == (0, "", "")


def test_main_called_from_python_leaves_the_signals_alone():
    before = signal.getsignal(signal.SIGTERM)
    from harness.cli import main

    with pytest.raises(SystemExit):
        main(["show", "there-is-no-such-folder"])
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_fault_is_one_line_and_the_traceback_is_in_the_file_that_it_names(tmp_path):
    body = r"""
    def run(args):
        raise RuntimeError("\x1b[31m broken\n::error::by sk-very-secret-0123")
    """
    env = {**os.environ, "TMPDIR": str(tmp_path), "SOME_API_KEY": "sk-very-secret-0123"}
    code, out, err = stub(body, env=env)
    assert (code, out, err.count("\n")) == (1, "", 1)
    said = r"error: internal fault: RuntimeError: \x1b[31m broken \x3a:error::by [SOME_API_KEY]."
    assert err.startswith(said)
    (path,) = tmp_path.glob("harness-fault-*.txt")
    assert str(path) in err
    saved = path.read_text(encoding="utf-8")
    assert "Traceback (most recent call last)" in saved
    assert "in run" in saved
    assert "secret" not in saved + err
    # one that cannot be saved is still one line
    code, _, err = stub(f"import tempfile\ntempfile.tempdir = '/nowhere'\n{textwrap.dedent(body)}")
    assert (code, err.count("\n")) == (1, 1)
    assert "could not be saved" in err


def test_no_exception_shows_a_traceback(tmp_path):
    said = {
        "recursive()": "internal fault: RecursionError",
        "raise MemoryError": "memory ran out",
        "raise OSError(28, 'No space left on device', '/data/x')": "/data/x cannot be written: No space left",
        "'\\ud800'.encode()": "internal fault: UnicodeEncodeError",
        "raise ExceptionGroup('two', [ValueError('a')])": "internal fault: ExceptionGroup",
    }
    # one process for all: each but the last ends the program, which is then started again within it
    body = f"""
    statements = {list(said)!r}
    def recursive():
        recursive()
    def run(args):
        exec(statements.pop(0))
    show.show.run = run
    sys.argv = ["harness", "show"]
    while len(statements) > 1:
        try:
            cli.main()
        except SystemExit as ended:
            assert ended.code == 1
    """
    code, out, err = stub(body, env={**os.environ, "TMPDIR": str(tmp_path)})
    assert (code, out, err.count("\n")) == (1, "", len(said)), err
    for line, message in zip(err.splitlines(), said.values(), strict=True):
        assert message in line


def test_threads_warnings_and_logs_are_lines_without_tracebacks(tmp_path):
    body = r"""
    import logging, threading, warnings
    def broken():
        raise ValueError("in a thread")
    def run(args):
        thread = threading.Thread(target=broken)
        thread.start()
        thread.join()
        warnings.warn("old \x1b[31m")
        try:
            broken()
        except ValueError:
            logging.getLogger("library").exception("odd\n\x1b[31m %s", "font")
        return 0
    """
    code, out, err = stub(body, env={**os.environ, "TMPDIR": str(tmp_path)})
    assert (code, out) == (0, "")
    fault, warning, log = err.splitlines()
    assert fault.startswith("error: internal fault: ValueError: in a thread.")
    assert warning == r"warning: old \x1b[31m (UserWarning)"
    assert log == r"error: library: odd \x1b[31m font (ValueError: in a thread.)"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (
            "harness cache --cache c --clear >&-",
            "error: standard output is closed; send it to a file, or to /dev/null.\n",
        ),
        ("harness show nothing <&- 2>&-", ""),
        (
            "harness cache > /dev/full",
            "error: No space left on device. Free some space (harness cache shows what the cache contains) "
            "and run the same command again: it resumes from what is stored.\n",
        ),
    ],
)
def test_closed_and_full_streams_are_reported_where_they_matter(command, said, tmp_path):
    line = command.replace("harness", f"{sys.executable} -m harness")
    words = ["sh", "-c", line]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=900, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", said)
    assert not (tmp_path / "c").exists(), "refused before anything is done"


@pytest.mark.parametrize(
    ("lines", "returned", "code"),
    # a gate that fails must not pass because somebody looked at its first line alone
    [(3, 1, 1), (100_000, 0, 141)],
)
def test_a_reader_that_has_left_does_not_change_what_the_command_found(lines, returned, code):
    body = f"""
    def run(args):
        from harness.cli.terminal import print_line, write_out
        for _ in range({lines}):
            {"print_line('FAILED')" if lines < 9 else "write_out('x' * 100)"}
        return {returned}
    """
    reader, writer = os.pipe()
    os.close(reader)
    done = stub(body, stdout=writer)
    os.close(writer)
    assert done == (code, None, "")


def test_wrong_usage_is_reported_without_what_steers_a_terminal():
    words = [sys.executable, "-m", "harness", "show", "--format", "\x1b[31m\n::error::x"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 2
    assert "\x1b" not in done.stderr
    assert not re.search("^::", done.stderr, re.MULTILINE)


SCRIPT = Path(__file__).parent.parent / "tools" / "concurrent_sessions.py"


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_sessions_at_once_do_not_disturb_each_other():
    words = ["--sessions", "12", "--at-once", "6", "--killed", "0.2"]
    done = subprocess.run([sys.executable, str(SCRIPT), *words], capture_output=True, text=True, check=False)
    assert done.stdout.endswith(", 0 problems\n"), done.stdout + done.stderr
    assert done.returncode == 0
