"""Nothing in the harness needs POSIX: shown by its code, and by running it without what Windows lacks."""

import ast
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from harness.values import streams
from tests.command import write_files
from tests.test_imports import HARNESS, modules
from tests.test_missing_packages import HITS
from tests.test_without_models import FILES

ROOT = Path(__file__).parent.parent

# the files that use what some systems lack, each with a branch for those
SHIMS = {
    # what libraries may read besides the root; on Windows the folder of the system stands for all of these
    "cli/agents/permits.py": {
        "'/proc'",
        "'/dev'",
        "'/sys'",
        "'/usr'",
        "'/etc/ssl'",
        "'/etc/mime.types'",
        "'/etc/resolv.conf'",
        "'/etc/hosts'",
        "'/etc/os-release'",
        "'/etc/localtime'",
        "'/etc/fonts'",
        "'~/.cache'",
    },
    "values/operating_system.py": {
        "import resource",
        "os.sched_getaffinity",
        "os.sysconf",
        "'/proc/cpuinfo'",
        "'/proc/self/statm'",
    },
    # asks with getattr, and does without
    "values/regular_file.py": {"os.O_NONBLOCK"},
    "values/streams.py": {"signal.SIGHUP"},
    # the name of the signal that ended a worker; on Windows an exit code is none
    "data/corpus/workers.py": {"signal.SIGKILL"},
    # renameat2 of Linux, or two steps
    "store/locking.py": {"ctypes.CDLL(None)"},
}
POSIX_MODULES = {
    "fcntl",
    "resource",
    "pwd",
    "grp",
    "termios",
    "tty",
    "pty",
    "syslog",
    "posix",
    "readline",
    "curses",
}
POSIX_OS = {
    "fork",
    "forkpty",
    "getuid",
    "geteuid",
    "getgid",
    "getegid",
    "getgroups",
    "setsid",
    "setpgid",
    "killpg",
    "getpgid",
    "mkfifo",
    "nice",
    "uname",
    "wait",
    "waitpid",
    "wait3",
    "wait4",
    "sched_getaffinity",
    "sched_setaffinity",
    "statvfs",
    "fstatvfs",
    "O_DIRECTORY",
    "O_NOFOLLOW",
    "O_NONBLOCK",
    "O_CLOEXEC",
    "getloadavg",
    "fchmod",
    "chown",
    "fchown",
    "lchown",
    "sysconf",
    "pread",
    "pwrite",
    "register_at_fork",
    "openpty",
    "ttyname",
    "posix_fadvise",
    "posix_fallocate",
    "pipe2",
    "memfd_create",
    "setpriority",
    "getpriority",
    "umask",
}
POSIX_SIGNALS = {
    "SIGKILL",
    "SIGHUP",
    "SIGUSR1",
    "SIGUSR2",
    "SIGALRM",
    "SIGCHLD",
    "SIGTSTP",
    "SIGPIPE",
    "SIGQUIT",
    "SIGSTOP",
    "SIGCONT",
    "SIGXCPU",
    "pthread_sigmask",
    "pthread_kill",
    "setitimer",
    "alarm",
    "sigwait",
    "siginterrupt",
    "pause",
}
PLACES = re.compile(r"(/(tmp|dev|proc|var|etc|usr|bin|sys|home|root)(/|$)|~/)")
REFUSED_IN_NAMES = re.compile(r'[<>:"|?*\\]')
OPENERS = {"open", "fdopen", "NamedTemporaryFile", "TemporaryFile", "SpooledTemporaryFile", "TextIOWrapper"}
# calls of that name that open no file
NO_FILES = {"webbrowser.open", "os.open", "book._archive.open", "edits.open"}


def words_of_docs(tree):
    """The docstrings of a module, by identity."""
    return {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}


def constants(nodes):
    return [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def opens_text(call):
    """Whether a call opens a file as text and names no encoding."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    named = {word.arg: word.value for word in call.keywords}
    if "encoding" in named or None in named or ast.unparse(call.func) in NO_FILES:
        return False
    if name in {"read_text", "write_text"} and isinstance(call.func, ast.Attribute):
        # our own `write_text(path, text)` is a function; that of a path has the encoding as its second word
        return isinstance(call.func.value, ast.Name | ast.BinOp | ast.Call | ast.Attribute) and len(
            call.args
        ) < (1 if name == "read_text" else 2)
    if name in OPENERS:
        modes = constants([*call.args[:3], *named.values()])
        binary = any(re.fullmatch(r"[rwxab+t]{1,4}", mode) and "b" in mode for mode in modes)
        temporary = "Temporary" in name and "mode" not in named and not modes
        return not binary and not temporary and bool(call.args or isinstance(call.func, ast.Attribute))
    return (
        ast.unparse(call.func).startswith("subprocess.")
        and {"text", "universal_newlines"} & set(named) != set()
    )


def assumptions(tree):
    """(line, what) of everything in a module that Windows lacks or refuses."""
    docs = words_of_docs(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Import():
                for name in node.names:
                    if name.name.partition(".")[0] in POSIX_MODULES:
                        yield node.lineno, f"import {name.name}"
            case ast.ImportFrom(module=str(module)):
                if module.partition(".")[0] in POSIX_MODULES | {"os", "signal"} and module != "os.path":
                    yield node.lineno, f"from {module} import"
            case ast.Attribute(value=ast.Name(id="os"), attr=name) if name in POSIX_OS:
                yield node.lineno, f"os.{name}"
            case ast.Attribute(value=ast.Name(id="signal"), attr=name) if name in POSIX_SIGNALS:
                yield node.lineno, f"signal.{name}"
            case ast.Constant(value=str(text)) if id(node) not in docs:
                if PLACES.match(text):
                    yield node.lineno, repr(text)
                # by getattr
                if text in POSIX_OS - {"wait", "nice"}:
                    yield node.lineno, f"os.{text}"
                if text in POSIX_SIGNALS - {"alarm", "pause"}:
                    yield node.lineno, f"signal.{text}"
            case ast.Call():
                yield from assumptions_of_call(node)
            case ast.BinOp(op=ast.Div(), right=right):
                for text in constants(ast.walk(right)):
                    if REFUSED_IN_NAMES.search(text):
                        yield node.lineno, f"the name {ast.unparse(right)}"


def assumptions_of_call(call):
    text = ast.unparse(call.func)
    if opens_text(call):
        yield call.lineno, "text without an encoding"
    if text == "ctypes.CDLL" and constants(call.args) == []:
        yield call.lineno, "ctypes.CDLL(None)"
    if text.endswith("get_context") and constants(call.args) != ["spawn"]:
        yield call.lineno, "processes that do not spawn"
    if text.rpartition(".")[2] in {"ProcessPoolExecutor", "Pool", "Process"} and text.startswith(
        ("multiprocessing.", "concurrent.futures.", "futures.", "ProcessPool")
    ):
        yield call.lineno, "processes that do not spawn"
    if text in {"os.symlink", "os.link"} or text.endswith((".symlink_to", ".hardlink_to")):
        yield call.lineno, "a link"
    if text in {"open", "os.open", "io.open", "Path"} and call.args:
        # a path is joined by Path, not by a slash in a text
        parts = call.args[0].values if isinstance(call.args[0], ast.JoinedStr) else []
        if any("/" in part for part in constants(parts)):
            yield call.lineno, f"a path joined by a slash: {ast.unparse(call.args[0])}"
    if text.startswith("subprocess.") and call.args and isinstance(call.args[0], ast.List):
        command = constants(call.args[0].elts[:1])
        if any(
            name in {"sh", "bash", "kill", "cp", "mv", "rm", "ls", "cat"} or "/" in name for name in command
        ):
            yield call.lineno, f"the command {command[0]}"
    if any(word.arg in {"preexec_fn", "start_new_session", "shell"} for word in call.keywords):
        yield call.lineno, "a process as only POSIX or a shell starts it"


BAD = {
    "import fcntl": "import fcntl",
    "from resource import getrusage": "from resource import",
    "os.fork()": "os.fork",
    "if os.geteuid() == 0: pass": "os.geteuid",
    "kill(pid, signal.SIGKILL)": "signal.SIGKILL",
    "getattr(signal, 'SIGHUP')": "signal.SIGHUP",
    "Path('/tmp/x').mkdir()": "'/tmp/x'",
    "open(path)": "text without an encoding",
    "path.open('a')": "text without an encoding",
    "path.read_text()": "text without an encoding",
    "(folder / 'x').write_text('y')": "text without an encoding",
    "subprocess.run(words, text=True)": "text without an encoding",
    "multiprocessing.get_context('fork')": "processes that do not spawn",
    "concurrent.futures.ProcessPoolExecutor()": "processes that do not spawn",
    "path.symlink_to(other)": "a link",
    "open(f'{folder}/x', encoding='utf-8')": "a path joined by a slash: f'{folder}/x'",
    "folder / f'{date}:x'": "the name f'{date}:x'",
    "subprocess.run(['rm', path])": "the command rm",
    "subprocess.run(words, shell=True)": "a process as only POSIX or a shell starts it",
    "ctypes.CDLL(None)": "ctypes.CDLL(None)",
}


@pytest.mark.parametrize(("code", "what"), BAD.items(), ids=list(BAD))
def test_what_only_some_systems_have_is_noticed(code, what):
    assert what in [what for _, what in assumptions(ast.parse(code))]


@pytest.mark.parametrize(
    "code",
    [
        "'the /tmp of a sentence'",
        "path.open('rb')",
        "path.read_text(encoding='utf-8')",
        "open(path, 'w', encoding='utf-8')",
        "multiprocessing.get_context('spawn')",
        "subprocess.run([sys.executable, '-m', 'x'], capture_output=True)",
        "folder / f'{name}@{date}'",
    ],
)
def test_what_all_systems_have_is_left_alone(code):
    assert not list(assumptions(ast.parse(code)))


def test_the_harness_assumes_no_posix():
    offenders, used = [], {name: set() for name in SHIMS}
    for path, tree in modules():
        name = path.relative_to(HARNESS).as_posix()
        for line, what in assumptions(tree):
            if what in SHIMS.get(name, ()):
                used[name].add(what)
            # patterns of documents, which every system's glob reads
            elif what != "the name '*.txt'":
                offenders.append(f"{name}:{line}: {what}")
    assert not offenders
    assert used == SHIMS


COMMANDS = (
    "score --run run.txt --qrels qrels.txt",
    "score --hits hits.jsonl --queries queries.csv --labels labels.csv --documents documents/*.txt",
    "bench bench.yaml --quiet",
    # a second time: what is there is replaced, or is the same
    "bench bench.yaml --quiet",
    "compare results/small",
    "gate results/small --baseline results/small",
    "report results/small --output page.html",
    "cache --clear",
)


def as_on_windows(folder, **more):
    """The environment of a command on Linux that lacks what Windows lacks."""
    places = os.pathsep.join([str(Path(__file__).parent / "like_windows"), str(ROOT)])
    return {
        **os.environ,
        "PYTHONPATH": places,
        "PYTHONWARNDEFAULTENCODING": "1",
        "HARNESS_CACHE": str(folder / "cache"),
        "LIKE_WINDOWS": str(folder),
        **more,
    }


def test_the_commands_run_where_what_windows_lacks_is_gone(tmp_path):
    write_files(tmp_path, {**FILES, "hits.jsonl": HITS.replace('"in Oslo"', '"net income"')})
    for command in COMMANDS:
        done = subprocess.run(
            [sys.executable, "-m", "harness", *command.split()],
            cwd=tmp_path,
            env=as_on_windows(tmp_path),
            check=False,
            capture_output=True,
            encoding="utf-8",
        )
        assert done.returncode == 0, (command, done.stderr)
    # nothing that was being written is left, locks included
    assert not list(tmp_path.rglob(".partial-*"))
    assert (tmp_path / "page.html").exists()


@pytest.mark.parametrize(("machine", "removed"), [("first", False), ("second", True)])
def test_an_open_file_cannot_be_removed_on_its_own_machine_alone(machine, removed, tmp_path):
    (tmp_path / "held").write_text("", encoding="utf-8")
    holding = "file = open('held', encoding='utf-8'); print('open', flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", holding],
        cwd=tmp_path,
        env=as_on_windows(tmp_path, LIKE_WINDOWS="first"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        assert process.stdout.readline() == "open\n"
        removing = subprocess.run(
            [sys.executable, "-c", "import os; os.remove('held')"],
            cwd=tmp_path,
            env=as_on_windows(tmp_path, LIKE_WINDOWS=machine),
            check=False,
            capture_output=True,
            encoding="utf-8",
        )
        process.communicate("\n")
    assert (removing.returncode == 0) is removed
    assert ("used by another process" in removing.stderr) is not removed
    assert (tmp_path / "held").exists() is not removed


@pytest.mark.parametrize(
    ("system", "chosen", "encoding"),
    [("nt", None, "utf-8"), ("nt", "cp1252", "cp1252"), ("posix", None, "cp1252")],
)
def test_what_windows_sends_to_a_file_is_utf8(monkeypatch, system, chosen, encoding):
    written = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
    monkeypatch.delenv("PYTHONIOENCODING", raising=False)
    if chosen:
        monkeypatch.setenv("PYTHONIOENCODING", chosen)
    with monkeypatch.context() as windows:
        windows.setattr(os, "name", system)
        windows.setattr(sys, "stdout", written)
        streams.use_utf8()
    assert written.encoding == encoding


# Rooms that take less than ten seconds, several in a run of pytest, as its start takes as long as a room.
ROOMS = tuple(
    tuple(f"tests/{room}" for room in rooms)
    for rooms in (("trec", "measures", "chunk"), ("store", "config", "text"), ("stats", "answer", "custom"))
)
# of the others, the files that write most to the disk
PARTS = (
    (
        *("tests/compare/test_trend.py", "tests/compare/test_read.py", "tests/compare/test_stored.py"),
        *("tests/external/test_answer_files.py", "tests/external/test_collection.py"),
        *("tests/models/test_damaged.py", "tests/models/test_models.py"),
    ),
    (
        *("tests/search/test_bm25.py", "tests/bench/test_new_labels.py"),
        *("tests/report/test_history.py", "tests/testset/test_formats.py", "tests/llm/test_texts.py"),
        *("tests/judge/test_ledger.py", "tests/judge/test_old_ledgers.py", "tests/judge/test_reuse.py"),
    ),
)
# what these tests set up, only Linux can: a small file system that is mounted, and a process of another user
POSED_BY_LINUX = (
    "tests/store/test_full_disk.py",
    "tests/store/test_damage.py::test_a_cache_that_cannot_be_written_is_read",
)


@pytest.mark.slow
@pytest.mark.parametrize(
    "paths", ROOMS + PARTS, ids=lambda paths: " ".join(dict.fromkeys(path.split("/")[1] for path in paths))
)
def test_rooms_pass_their_tests_where_what_windows_lacks_is_gone(paths, tmp_path):
    left_out = [f"--deselect={test}" for test in POSED_BY_LINUX]
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            f"--basetemp={tmp_path / 'rooms'}",
            *left_out,
            *paths,
        ],
        cwd=ROOT,
        env=as_on_windows(tmp_path, HARNESS_TEST_EXAMPLES="5"),
        check=False,
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stdout[-3000:]
