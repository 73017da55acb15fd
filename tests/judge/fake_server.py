"""A local HTTP server that speaks the chat-completions protocol, faults included, on demand."""

import asyncio
import json
import threading
import time
from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Answer:
    """A response. ``cut``: close after so many bytes; ``drip``: seconds between single bytes.

    ``delay``: seconds before it is sent; ``after``: an event without which it is not sent.
    """

    status: int = 200
    body: object = None
    headers: dict = field(default_factory=dict)
    delay: float = 0.0
    cut: int | None = None
    drip: float = 0.0
    after: threading.Event | None = None


def completion(content, *, finish="stop", refusal=None, usage=(100, 10), **extra):
    """The body of a chat completion."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "fake-1-2025",
        "choices": [
            {
                "index": 0,
                "finish_reason": finish,
                "message": {"role": "assistant", "content": content, "refusal": refusal},
            }
        ],
        "usage": usage
        and {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)},
        **extra,
    }


def says(content, **options):
    return Answer(body=completion(content, **options))


def grade(value):
    return says(json.dumps({"grade": value}))


def error(status, message="broken", code=None, **options):
    return Answer(status, {"error": {"message": message, "code": code, "type": "x"}}, **options)


class FakeServer:
    """Serves in a thread; ``script(request, number)`` gives the answer to the ``number``-th request."""

    def __init__(self, script):
        self.script = script
        self.requests = []
        self.times = []
        self.in_flight = 0
        self.most_in_flight = 0
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)

    def __enter__(self):
        self._thread.start()
        assert self._ready.wait(900)
        return self

    def __exit__(self, *exc):
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(120)

    @property
    def count(self):
        return len(self.requests)

    def prompts(self):
        """How often each user prompt was asked."""
        return Counter(request["body"]["messages"][-1]["content"] for request in self.requests)

    async def _serve(self):
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        self._ready.set()
        await self._stop.wait()
        server.close()
        me = asyncio.current_task()
        for task in asyncio.all_tasks():
            if task is not me:
                task.cancel()

    async def _connection(self, reader, writer):
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                lines = head.decode("latin-1").split("\r\n")
                headers = {
                    name.lower(): value.strip()
                    for name, _, value in (line.partition(":") for line in lines[1:])
                    if name
                }
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                method, path, _ = lines[0].split()
                is_json = headers.get("content-type", "").startswith("application/json") and body
                body = json.loads(body) if is_json else (body or None)
                request = {"method": method, "path": path, "headers": headers, "body": body}
                if not await self._answer(request, writer):
                    break
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _answer(self, request, writer):
        number = len(self.requests)
        self.requests.append(request)
        self.times.append(time.monotonic())
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            answer = self.script(request, number)
            while answer.after and not answer.after.is_set():
                await asyncio.sleep(0.005)
            await asyncio.sleep(answer.delay)
            body = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
            headers = {
                "content-type": "application/json",
                "x-request-id": f"req-{number}",
                "content-length": len(body),
                **answer.headers,
            }
            head = f"HTTP/1.1 {answer.status} X\r\n" + "".join(f"{k}: {v}\r\n" for k, v in headers.items())
            data = head.encode() + b"\r\n" + body
            if answer.cut is not None:
                writer.write(data[: answer.cut])
                await writer.drain()
                return False
            if answer.drip:
                for at in range(len(data)):
                    writer.write(data[at : at + 1])
                    await writer.drain()
                    await asyncio.sleep(answer.drip)
            writer.write(data)
            await writer.drain()
            return True
        finally:
            self.in_flight -= 1
