"""Makes a process on Linux refuse what Windows refuses or lacks: put this folder first on PYTHONPATH.

Modules and functions that only POSIX has are gone; a file cannot be created under a name that Windows does
not take; a file that is open cannot be removed, renamed or replaced, nor a folder with one in it; a rename
onto something that is there fails; a text file of ours that is opened without an encoding is an error. Paths,
links and the locks themselves stay those of Linux.
"""

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
DEVICES = ("/dev/", "/proc/", "/sys/")


class Lacking(importlib.abc.MetaPathFinder):
    """Refuses the modules of POSIX, but to the library of locks, which has another way on Windows."""

    def find_spec(self, name, path=None, target=None):
        if name in MODULES:
            frame = sys._getframe()
            while frame is not None:
                if frame.f_globals.get("__name__", "").startswith("filelock"):
                    return
                frame = frame.f_back
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return


def opened():
    """The paths of the files that this process has open."""
    paths = set()
    for link in Path("/proc/self/fd").iterdir():
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
    elif event == "os.rename":
        refuse_name(words[1])
        refuse_opened(words[0])
        if os.path.lexists(words[1]):
            refuse_opened(words[1])


def rename(source, target, **rest):
    """`os.rename` of Windows: not onto what is there."""
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, "exists already", os.fsdecode(source), None, os.fsdecode(target))
    replace(source, target, **rest)


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
os.rename, os.replace = rename, replace
# by paths, as on Windows, which the hook can follow
shutil._use_fd_functions = False
warnings.filterwarnings("error", category=EncodingWarning, module=r"harness\.")
sys.addaudithook(hook)
