"""Serve the page on 127.0.0.1 until the program is asked to stop."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from harness.errors import LabelError
from harness.label_page.guard import Keys
from harness.label_page.service import LabelService
from harness.stopping import Stopped, on_stop

HOST = "127.0.0.1"


def serve(service: LabelService, port: int, tell: Callable[[str], None]) -> None:
    """Answer requests until a signal comes; ``tell`` gets the link once the page can be opened.

    ``port`` 0 takes a free one. Raises LabelError if the port is taken.
    """
    import uvicorn

    from harness.label_page.app import make_app

    class Server(uvicorn.Server):
        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            # the program has its own way to stop
            yield

    with _listening(port) as listening:
        keys = Keys(listening.getsockname()[1])
        config = uvicorn.Config(
            make_app(service, keys),
            log_level="error",
            access_log=False,
            lifespan="off",
            ws="none",
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
def _listening(port: int) -> Iterator[socket.socket]:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((HOST, port))
        except OSError as error:
            raise LabelError(
                f"Port {port} of this machine cannot be used ({error.strerror}). Name another: --port 8766."
            ) from error
        yield listening
    finally:
        listening.close()
