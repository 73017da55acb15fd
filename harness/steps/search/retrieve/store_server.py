"""JSON over HTTP to a vector store, by the rules that hold for all that is called.

No redirect is followed, no compressed reply is asked for, and none is read beyond MOST_BYTES or `timeout`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from time import monotonic
from typing import Any

from harness.models import read_json

MOST_BYTES = 512_000_000
"""A larger reply is refused while it arrives."""


class StoreStatusError(RuntimeError):
    """A store has answered with a status that is no success; ``status`` is its number."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(f"HTTP {status}: {words}")
        self.status = status


class StoreServer:
    """Requests below ``root``, each with ``headers``, which may hold a secret that no message repeats."""

    def __init__(self, root: str, headers: Mapping[str, str], timeout: float) -> None:
        import httpx2

        self._secrets = [value for value in headers.values() if len(value) >= 8]
        self._timeout = timeout
        self._client = httpx2.Client(
            headers={**headers, "accept": "application/json", "accept-encoding": "identity"},
            follow_redirects=False,
            timeout=timeout,
        )
        self._root = root.rstrip("/")

    def send(self, method: str, path: str, body: Any = None) -> Any:
        """The value of the answer; ``body`` goes as JSON, a text as lines of JSON.

        Raises StoreStatusError where the status is not of success, and what httpx2 raises.
        """
        kind = "application/x-ndjson" if isinstance(body, str) else "application/json"
        content = body if isinstance(body, str) else None if body is None else json.dumps(body)
        headers = {} if content is None else {"content-type": kind}
        begun, parts, size = monotonic(), [], 0
        with self._client.stream(method, self._root + path, content=content, headers=headers) as reply:
            for part in reply.iter_raw():
                parts.append(part)
                size += len(part)
                if size > MOST_BYTES:
                    raise RuntimeError(f"the reply is larger than {MOST_BYTES:,} bytes")
                if monotonic() - begun > self._timeout:
                    raise TimeoutError(f"timeout after {self._timeout:g} s, in the middle of the reply")
        text = b"".join(parts)
        if not reply.is_success:
            raise StoreStatusError(reply.status_code, self._without_secrets(text.decode("utf-8", "replace")))
        return read_json(text) if text.strip() else None

    def _without_secrets(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "[key]").replace(secret.partition(" ")[2] or secret, "[key]")
        return " ".join(text.split())[:300]

    def close(self) -> None:
        """End the connections."""
        self._client.close()


class ReadRequests:
    """What a collection of others is asked by: GET, and requests such as ``POST /query`` that search.

    Those are what ``searches`` matches. Anything else is refused before it is sent, and the server cannot be
    reached through this.
    """

    def __init__(self, server: StoreServer, searches: str) -> None:
        pattern = re.compile(searches)

        def read(method: str, path: str, body: Any = None) -> Any:
            if method != "GET" and not pattern.fullmatch(f"{method} {path}"):
                raise PermissionError(f"{method} {path}: an existing collection is read only")
            return server.send(method, path, body)

        self.read = read
