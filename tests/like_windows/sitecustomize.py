"""Makes a process on Linux refuse what Windows refuses or lacks: put this folder first on PYTHONPATH.

Modules and functions that only POSIX has are gone; a file cannot be created under a name that Windows does
not take; a file that this or another such process has open cannot be removed, renamed or replaced, nor a
folder with one in it; a rename onto something that is there fails, and no two folders are exchanged; a text
file of ours that is opened without an encoding is an error. Paths, links and the locks themselves stay those
of Linux. "Another such process" is one whose variable LIKE_WINDOWS has the same value, so that a test and its
children are a machine of their own, beside which other tests may run.
"""

import ctypes
import errno
import importlib.abc
import os
import re
import shutil
import sys
import warnings
from pathlib import Path

MODULES = {"fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog", "readline"}
FUNCTIONS = [
    "fork",
    "forkpty",
    "geteuid",
    "getgid",
    "getegid",
    "getgroups",
    "setsid",
    "killpg",
    "getpgid",
    "getloadavg",
    "sched_getaffinity",
    "sched_setaffinity",
    "sysconf",
    "statvfs",
    "fchmod",
    "chown",
    "nice",
    "umask",
    "O_NONBLOCK",
    "O_DIRECTORY",
    "O_NOFOLLOW",
]
REFUSED = re.compile(r'[<>:"|?*\\\x00-\x1f]|[. ]$|^(con|prn|aux|nul|com\d|lpt\d)(\.|$)', re.IGNORECASE)
IMITATORS = set()
MACHINE = b"LIKE_WINDOWS=" + os.environb.get(b"LIKE_WINDOWS", b"")
DEVICES = ("/dev/", "/proc/", "/sys/")
HERE, NO_REPLACE = -100, 1


class Lacking(importlib.abc.MetaPathFinder):
    """Refuses the modules of POSIX, but to libraries that have another way on Windows, by its name."""

    def find_spec(self, name, path=None, target=None):
        if name in MODULES:
            frame = sys._getframe()
            while frame is not None:
                if frame.f_globals.get("__name__", "").startswith(("filelock", "chromadb")):
                    return
                frame = frame.f_back
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return


def imitates(process):
    """Whether a process is one of the same machine."""
    if process not in IMITATORS:
        try:
            if MACHINE not in (process / "environ").read_bytes().split(b"\0"):
                return False
        except OSError:
            return False
        IMITATORS.add(process)
    return True


def opened():
    """The paths of what this process and others of its machine have open."""
    paths = set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            of_here = process.name == str(os.getpid()) or imitates(process)
            links = list((process / "fd").iterdir()) if of_here else []
        except OSError:
            continue
        for link in links:
            try:
                paths.add(str(link.readlink()))
            except OSError:
                continue
    return paths


def refuse_opened(path):
    """Raise the error of Windows for a file that is open, and for a folder with one in it."""
    at = os.path.realpath(os.fsdecode(path))
    held = [name for name in opened() if name == at or name.startswith(at + "/")]
    if held:
        raise PermissionError(errno.EACCES, f"used by another process: {held[0]}", at)


def refuse_name(path):
    """Raise the error of Windows for a name that it does not take."""
    if isinstance(path, int):
        return
    text = os.fsdecode(path)
    name = text.rstrip("/").rpartition("/")[2]
    if not text.startswith(DEVICES) and name not in {".", ".."} and REFUSED.search(name):
        raise OSError(errno.EINVAL, "a name that Windows does not take", text)


def hook(event, words):
    if (
        (event == "open" and isinstance(words[0], str | bytes) and words[2] & os.O_CREAT)
        or event == "os.mkdir"
        or (event == "sqlite3.connect" and words[0] != ":memory:" and not str(words[0]).startswith("file:"))
    ):
        refuse_name(words[0])
    elif event in {"os.remove", "os.rmdir"}:
        refuse_opened(words[0])
    elif event == "ctypes.dlsym" and words[1] == "renameat2":
        raise AttributeError(words[1])
    elif event == "os.rename":
        refuse_name(words[1])
        refuse_opened(words[0])
        if os.path.lexists(words[1]):
            refuse_opened(words[1])


def rename(source, target, **rest):
    """`os.rename` of Windows: not onto what is there, even if another process has just made it."""
    refuse_name(target)
    refuse_opened(source)
    if renameat2(HERE, os.fsencode(source), HERE, os.fsencode(target), NO_REPLACE) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), os.fsdecode(source), None, os.fsdecode(target))


def replace(source, target, **rest):
    """`os.replace` of Windows: not a folder onto another."""
    if Path(os.fsdecode(target)).is_dir():
        raise PermissionError(errno.EACCES, "a folder is there", os.fsdecode(target))
    replace_of_linux(source, target, **rest)


for loaded in MODULES & set(sys.modules):
    del sys.modules[loaded]
sys.meta_path.insert(0, Lacking())
for function in FUNCTIONS:
    if hasattr(os, function):
        delattr(os, function)
replace_of_linux = os.replace
# taken before the hook takes it away from the code under test
renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
renameat2.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
os.rename, os.replace = rename, replace
# by paths, as on Windows, which the hook can follow
shutil._use_fd_functions = False
warnings.filterwarnings("error", category=EncodingWarning, module=r"harness\.")
sys.addaudithook(hook)
