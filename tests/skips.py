"""What a run of the tests in CI may skip: a test that never runs anywhere guards nothing.

With CI in the environment any other skip fails the run. What was skipped, and why, is printed.
"""

import os
import re
from collections import Counter

import pytest

# what a machine of CI may lack, by the reason that the test gives
ALLOWED = {
    "data that is not part of the repository": r"HARNESS_SHARED|cl100k_base",
    "another Python with the peers": r"HARNESS_PEERS|HARNESS_RAGAS",
    "a browser or its fonts": r"chromium|fonts-wqy",
    "memory to fill": r"GB of free memory",
    "a package index": r"package index",
    "npm": r"npm|axe-core",
    "another shell": r"needs (zsh|fish|pwsh), a shell",
    "the right to make a namespace": r"unshare",
    "the right to mount a file system": r"mount",
}


def allowance(reason):
    """What a machine may lack so that a test is skipped for ``reason``; None if this is no excuse."""
    return next((lack for lack, words in ALLOWED.items() if re.search(words, reason)), None)


class Skips:
    """Notes every skip, and fails a run of CI for those that have no excuse."""

    def __init__(self):
        self.excused, self.others = Counter(), []

    def note(self, report):
        """Take in one report; a module that is skipped whole has a report of its collection alone."""
        if not report.skipped or hasattr(report, "wasxfail"):
            return
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        lack = allowance(reason)
        if lack:
            self.excused[lack] += 1
        else:
            self.others.append(f"{report.nodeid}: {reason.removeprefix('Skipped: ')}")

    pytest_runtest_logreport = pytest_collectreport = note

    def pytest_sessionfinish(self, session):
        """Fail; a run that failed otherwise keeps its own status."""
        if self.others and not hasattr(session.config, "workerinput"):
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter):
        """Print what was skipped."""
        for lack, times in self.excused.items():
            terminalreporter.write_line(f"{times} skipped for want of {lack}")
        for other in self.others:
            terminalreporter.write_line(f"ERROR skipped in CI without an excuse (tests/skips.py): {other}")


def pytest_configure(config):
    """Watch over skips where the tests must all run."""
    if os.environ.get("CI"):
        config.pluginmanager.register(Skips(), "skips")
