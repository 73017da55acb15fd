"""Runs pytest in processes that need not start from nothing.

Where the system can fork, each is forked from one process that has loaded the libraries that most tests need,
and nothing of the harness or its tests, so that a run can change a module before it is loaded. Elsewhere each
is a process of its own.
"""

import multiprocessing
import os
import signal
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIBRARIES = ["hypothesis", "numpy", "pandas", "pydantic", "pytest", "rapidfuzz", "scipy.stats", "yaml"]
OPTIONS = ["-x", "-q", "-n0", "-pno:cacheprovider", "--hypothesis-seed=1", "--tb=no"]
# else pytest itself loads the modules of packages that have a plugin for it, ours among them, as they are
OPTIONS.append("--assert=plain")
TIMED_OUT = "no end"


@cache
def processes(way=None):
    """What starts the processes: by fork from a warm one where the system can, or in the ``way`` named."""
    if way is None:
        way = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
    context = multiprocessing.get_context(way)
    if way == "forkserver":
        context.set_forkserver_preload(LIBRARIES)
    return context


def first_failure(files, folder, seconds, *, hook="", way=None):
    """The first test of some files that fails; '' if all pass, and ``TIMED_OUT`` if they take longer.

    ``hook`` is code that runs before anything of the harness is loaded, also in the processes that the tests
    start. ``folder`` takes what the run writes.
    """
    folder = Path(folder)
    if hook:
        folder.joinpath("sitecustomize.py").write_text(hook, encoding="utf-8")
    for name in ("code", "output"):
        folder.joinpath(name).unlink(missing_ok=True)
    process = processes(way).Process(target=run_tests, args=(list(map(str, files)), str(folder), hook))
    process.start()
    process.join(seconds)
    if process.exitcode is None:
        stop(process)
        return TIMED_OUT
    # a file, as the exit codes of processes that several threads wait for are not reliable
    code = read(folder / "code")
    if code == "0":
        return ""
    lines = read(folder / "output").splitlines()
    failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
    return failed[0].split(" - ")[0] if failed else f"exit {code or process.exitcode}"


def read(path):
    """What a file holds; '' if there is none."""
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


def stop(process):
    """End a run, and the processes that its tests started where they can be told."""
    if hasattr(os, "killpg"):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            process.kill()
    else:
        process.kill()
    process.join()


def run_tests(files, folder, hook):
    """In a process of its own: run pytest, and leave in the folder what it printed and its exit code."""
    if hasattr(os, "setsid"):
        os.setsid()
    output = Path(folder, "output").open("w", encoding="utf-8")  # noqa: SIM115 - until the process ends
    for number in (1, 2):
        os.dup2(output.fileno(), number)
    sys.stdout = sys.stderr = output
    os.chdir(ROOT)
    os.environ.update(
        PYTHONPATH=os.pathsep.join([folder, str(ROOT)]),
        PYTHONDONTWRITEBYTECODE="1",
        OMP_NUM_THREADS="1",
        HYPOTHESIS_STORAGE_DIRECTORY=folder,
    )
    sys.path[:0] = [folder, str(ROOT)]
    sys.argv = ["pytest"]
    sys.dont_write_bytecode = True
    exec(hook, {})

    import pytest

    # the end of these processes runs nothing that removes the folders of tests
    code = pytest.main([*OPTIONS, f"--basetemp={Path(folder, 'tests')}", *files])
    output.flush()
    Path(folder, "code").write_text(str(int(code)), encoding="utf-8")
