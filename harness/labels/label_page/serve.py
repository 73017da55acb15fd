"""Serve the page on 127.0.0.1 until the program is asked to stop, and lead a browser to it."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path

from harness.labels.label_page.guard import Keys
from harness.labels.label_page.service import LabelService
from harness.values import LabelError, Stopped, on_stop

HOST = "127.0.0.1"
_TRIED = 100

# Bytes of the headers of a request.
_LONGEST_HEAD = 65_536
_LINK = """<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0;url={link}">
<title>harness label</title>
<p><a href="{link}">Open the labelling page</a></p>
"""


def serve(service: LabelService, listening: socket.socket, tell: Callable[[str], None]) -> None:
    """Answer requests until a signal comes; ``tell`` gets the link once the page can be opened."""
    import uvicorn

    from harness.labels.label_page.app import make_app

    class Server(uvicorn.Server):
        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            # the program has its own way to stop
            yield

    keys = Keys(listening.getsockname()[1])
    config = uvicorn.Config(
        make_app(service, keys),
        log_level="error",
        access_log=False,
        lifespan="off",
        ws="none",
        # the other parser reads headers of any length into memory
        http="h11",
        h11_max_incomplete_event_size=_LONGEST_HEAD,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=3,
    )
    server = Server(config)

    def stop() -> None:
        server.should_exit = True

    try:
        with on_stop(stop):
            tell(keys.link)
            server.run(sockets=[listening])
    except Stopped:
        # that is how the page is closed: every label is on the disk
        return


@contextmanager
def listening_at(port: int) -> Iterator[socket.socket]:
    """Hold ``port`` of this machine, or the next one that is free; 0 takes any free one.

    To be taken before the documents are read, which may take long. Raises LabelError if a hundred ports from
    there on are taken.
    """
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if os.name != "nt":
            # there it would take over the port of another program
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        _bind(listening, port)
        yield listening
    finally:
        listening.close()


def _bind(listening: socket.socket, first: int) -> None:
    last = min(first + _TRIED - 1, 65535) if first else 0
    for port in range(first, last + 1):
        try:
            listening.bind((HOST, port))
            # from now on nobody else can bind it
            listening.listen()
        except OSError as error:
            if port == last:
                raise LabelError(
                    f"No port from {first} to {last} of this machine can be used ({error.strerror}). Name "
                    "another: --port 0 takes any free one."
                ) from error
        else:
            return


@contextmanager
def link_file(link: str, state: Path) -> Iterator[Path]:
    """A page beside the labels that leads to ``link``; only its owner can read it, and it is removed after.

    A command line can be read by every user of the machine. Beside the labels and not in a folder for
    temporary files, which some browsers may not read.
    """
    path = state.absolute().with_name(f"{state.name}.open.html")
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(_LINK.format(link=escape(link)))
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)
