"""A language model that always gives the same answer to the same prompt, served on one fixed port.

The port is fixed because addresses are written to records, which are compared; ``GUARD_PORT`` names another
one where two guards run at once.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT = int(os.environ.get("GUARD_PORT", "18743"))
URL = f"http://127.0.0.1:{PORT}/v1"
KEY = "GUARD_KEY"
_WORD = re.compile(r"[A-Za-z]{4,}")
_FILTERS = ("{}", '{"period": ["2025"]}', '{"form": ["FAQ"]}')
# what prompts of rerankers and filters ask for, and an answer to it that a hash decides
_NUMBERS: dict[str, Callable[[int], str]] = {
    "Answer with one whole number": lambda drawn: str(drawn % 5),
    "[2] > [1] > [3]": lambda drawn: " > ".join(f"[{1 + (drawn + at) % 5}]" for at in range(5)),
    "Answer with its number alone": lambda drawn: f"[{1 + drawn % 2}]",
    "Answer with one JSON object": lambda drawn: ("{}", '{"period": ["2025"]}', '{"form": ["FAQ"]}')[
        drawn % 3
    ],
}


def reply(messages: list[dict[str, str]]) -> str:
    """A grade where one is asked for, else the words of the prompt that a hash points at."""
    prompt = "\n".join(str(message["content"]) for message in messages)
    drawn = int(hashlib.sha256(prompt.encode()).hexdigest(), 16)
    if '"grade"' in prompt:
        return json.dumps({"grade": drawn % 5})
    for asked, answer in _NUMBERS.items():
        if asked in prompt:
            return answer(drawn)
    words = _WORD.findall(str(messages[-1]["content"])) or ["nothing"]
    start = drawn % len(words)
    return " ".join(words[start : start + 8]) + " [1]."


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        message = {"role": "assistant", "content": reply(body["messages"])}
        done = {
            "id": "guard",
            "object": "chat.completion",
            "created": 1,
            "model": body["model"],
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
        }
        data = json.dumps(done).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def serving() -> Iterator[None]:
    """Serve as long as the block lasts."""
    server = ThreadingHTTPServer(("127.0.0.1", PORT), _Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
