"""Commands as processes that are forked from one which has loaded the large packages.

Loading torch, transformers and chromadb takes most of the time of a command on a small input. Each process
begins as a new one does, but for these packages: nothing of the harness is loaded, and its directory,
variables, arguments and streams are its own. What a start by itself does is tested in tests/test_program.py.
Where there is no `os.fork` or no `/proc`, each command is started by itself.
"""

import atexit
import json
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
FORKS = hasattr(os, "fork") and Path("/proc/self/stat").exists()
LARGE = ("numpy", "pandas", "scipy.stats", "chromadb", "torch", "transformers", "sentence_transformers")
# a line of JSON asks for a process, for the end of one, or for the packages that were looked for while the
# large ones were loaded; a line of JSON answers
WARM = """
import contextlib, gc, importlib, json, os, runpy, sys
sought = set()

class Seeker:
    @staticmethod
    def find_spec(name, path=None, target=None):
        sought.add(name.partition(".")[0])

sys.meta_path.insert(0, Seeker)
for name in sys.argv[1:]:
    with contextlib.suppress(ImportError):
        importlib.import_module(name)
sys.meta_path.remove(Seeker)
gc.collect()
gc.freeze()
for line in sys.stdin:
    order = json.loads(line)
    if "pid" in order:
        answer = os.waitstatus_to_exitcode(os.waitpid(order["pid"], 0)[1])
    elif "sought" in order:
        answer = sorted(sought)
    elif not (answer := os.fork()):
        break
    print(json.dumps(answer), flush=True)
else:
    os._exit(0)
os.chdir(order["cwd"])
os.environ.clear()
os.environ.update(order["env"])
sys.stdin = open(os.devnull, encoding="utf-8")
for number, path in enumerate([os.devnull, order["stdout"], order["stderr"]]):
    opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
    os.dup2(opened, number)
    os.close(opened)
option, *words = order["words"]
sys.path[:1] = [os.getcwd(), *filter(None, order["env"].get("PYTHONPATH", "").split(os.pathsep))]
for name in [name for name in globals() if not name.startswith("__") and name not in ("option", "words")]:
    del globals()[name]
import runpy, sys
if option == "-m":
    sys.argv = words
    runpy.run_module(words[0], run_name="__main__", alter_sys=True)
elif option == "-c":
    sys.argv = ["-c", *words[1:]]
    exec(compile(words[0], "<string>", "exec"), {"__name__": "__main__"})
else:
    sys.argv = [option, *words]
    sys.path[0] = option.rpartition("/")[0] or "."
    runpy.run_path(option, run_name="__main__")
"""


class Warmed:
    """A process that has loaded large packages, and forks one for each command."""

    def __init__(self, packages):
        self.process = subprocess.Popen(
            [sys.executable, "-c", WARM, *packages],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        atexit.register(self.close)

    def close(self):
        """End the process; those that it has forked end by themselves."""
        with suppress(OSError):
            self.process.stdin.close()
        self.process.wait()

    def ask(self, **order):
        """The answer to one order."""
        try:
            self.process.stdin.write(f"{json.dumps(order)}\n")
            self.process.stdin.flush()
            return json.loads(self.process.stdout.readline())
        except BaseException:
            # a test that has run out of time would leave its answer to the next
            self.process.kill()
            warmed.cache_clear()
            raise


@cache
def warmed(packages=LARGE):
    """The process of this worker that has loaded some packages, started for the first command."""
    return Warmed(packages)


def sought(packages):
    """The packages that a process looks for, there or not, while it loads some."""
    return set(warmed(packages).ask(sought=True))


class Started:
    """A command that is started by itself, as `Forked` is from a process that is warm."""

    def __init__(self, words, cwd, env):
        self.folder = tempfile.TemporaryDirectory()
        self.paths = [Path(self.folder.name, name) for name in ("stdout", "stderr")]
        command = [sys.executable, *map(str, words)]
        # files, as a pipe that nobody reads until the end would fill and stop the command
        with self.paths[0].open("wb") as out, self.paths[1].open("wb") as err:
            self.process = subprocess.Popen(
                command, cwd=cwd, env=dict(env), stdin=subprocess.DEVNULL, stdout=out, stderr=err
            )

    def kill(self):
        """Send it SIGKILL."""
        self.process.kill()

    def ended(self):
        """Whether it has ended."""
        return self.process.poll() is not None

    def finish(self):
        """Wait for its end; returns what `subprocess.run` does, with the text that it has printed."""
        try:
            code = self.process.wait()
        except BaseException:
            self.process.kill()
            raise
        out, err = (path.read_text(encoding="utf-8") for path in self.paths)
        self.folder.cleanup()
        return subprocess.CompletedProcess([], code, out, err)


class Forked:
    """A command that runs as a process of its own; what it prints is read when it has ended."""

    def __init__(self, words, cwd, env, packages=LARGE):
        self.folder = tempfile.TemporaryDirectory()
        self.paths = [Path(self.folder.name, name) for name in ("stdout", "stderr")]
        self.packages = packages
        self.pid = warmed(packages).ask(
            words=[str(word) for word in words],
            cwd=str(cwd),
            env=dict(env),
            **{path.name: str(path) for path in self.paths},
        )

    def kill(self):
        """Send it SIGKILL; it stays until it is waited for."""
        os.kill(self.pid, signal.SIGKILL)

    def ended(self):
        """Whether it has ended, and waits for `finish`."""
        state = Path(f"/proc/{self.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
        return state == "Z"

    def finish(self):
        """Wait for its end; returns what `subprocess.run` does, with the text that it has printed."""
        try:
            code = warmed(self.packages).ask(pid=self.pid)
        except BaseException:
            # nobody waits for it any more; as a child of the process that has ended it may be gone already
            with suppress(OSError):
                self.kill()
            raise
        out, err = (path.read_text(encoding="utf-8") if path.exists() else "" for path in self.paths)
        self.folder.cleanup()
        return subprocess.CompletedProcess([], code, out, err)


def start(words, cwd, env, packages=LARGE):
    """Start ``python WORDS``, forked where this system can from a process that has loaded some packages."""
    return Forked(words, cwd, env, packages) if FORKS else Started(words, cwd, env)


def run_warm(words, cwd, env, packages=LARGE):
    """Run ``python WORDS`` to its end; returns what `subprocess.run` does."""
    return start(words, cwd, env, packages).finish()
