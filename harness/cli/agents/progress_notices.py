"""What a run says of its progress, as notifications of the protocol."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

from harness.values import Silent

Send = Callable[[float, str], None]
"""Takes how much is done in all, which only grows, and a line of text."""

_EVERY = 0.25


class ProgressNotices(Silent):
    """A reporter that sends at most four notices a second, and keeps notes and warnings."""

    def __init__(self, send: Send) -> None:
        super().__init__()
        self._send, self._lock = send, Lock()
        self._done, self._last = 0, 0.0

    @contextmanager
    def task(self, name: str, total: int) -> Iterator[NoticedTask]:
        """Send that it begins, how far it is, and that it has ended."""
        begun = NoticedTask(self, name, total)
        self.tell(f"{name}: 0 of {total:,}", 0, at_once=True)
        yield begun
        self.tell(f"{name}: done", 0, at_once=True)

    def tell(self, line: str, steps: int, at_once: bool = False) -> None:
        """Count ``steps``, and send the line where the last one is old enough."""
        with self._lock:
            # the protocol wants every notice to be further than the last
            self._done += max(steps, 1 if at_once else 0)
            now = time.monotonic()
            if at_once or now - self._last >= _EVERY:
                self._last = now
                self._send(float(self._done), line)


class NoticedTask:
    """One step of a run."""

    def __init__(self, notices: ProgressNotices, name: str, total: int) -> None:
        self._notices, self._name, self._total = notices, name, total
        self._done, self._text = 0, ""

    def advance(self, steps: int = 1) -> None:
        """Count, and say how far it is."""
        self._done += steps
        note = f" ({self._text})" if self._text else ""
        self._notices.tell(f"{self._name}: {self._done:,} of {self._total:,}{note}", steps)

    def describe(self, text: str) -> None:
        """Keep ``text`` for the next notice."""
        self._text = text
