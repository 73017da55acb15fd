"""Attacks by a judge's endpoint: redirects to another host, and JSON that is no answer."""

from __future__ import annotations

import csv
import json
import random
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tools.soak.attack import Outcome, harness, mutate
from tools.soak.corpus import write_benchmark

_SECRET = "soak-secret-of-this-run"
_DEEP = 100_000
_LONG = 20_000_000


@dataclass(slots=True)
class _Reply:
    name: str
    body: bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


def redirects(folder: Path, dice: random.Random, count: int) -> Outcome:
    """Redirect a judge to another host that grades: it gets no request, and no grade is taken."""
    outcome = Outcome()
    good = _Reply("a grade", _completion('{"grade": 4}'))
    with _served(good) as (other, stolen):
        for number in range(count):
            status = dice.choice([301, 302, 303, 307, 308])
            place = {"Location": f"{other}/chat/completions"}
            _judge(folder, _Reply(f"redirect {number} by {status}", b"", status, place), outcome)
            if stolen:
                outcome.faults.append(f"redirect {number} by {status}: the other host was sent {stolen[0]}")
                stolen.clear()
    return outcome


def hostile_json(folder: Path, dice: random.Random, count: int) -> Outcome:
    """Answer a judge with JSON that is nested, contradicts itself, is no number or huge: no grade is taken.

    Every second answer is a good one with random damage, of which a grade may be left.
    """
    outcome = Outcome()
    good = _completion('{"grade": 4}')
    known = list(_hostile())
    dice.shuffle(known)
    _judge(folder, _Reply("a good answer", good), outcome, True)
    for number in range(count):
        if number % 2:
            _judge(folder, _Reply(f"damaged answer {number}", mutate(good, dice)), outcome, None)
        else:
            _judge(folder, known[number // 2 % len(known)], outcome)
    return outcome


def _hostile() -> Iterator[_Reply]:
    good = _completion('{"grade": 4}').decode()
    contents = {
        "nested": '{"grade": ' + "[" * _DEEP,
        "a field twice": '{"grade": 0, "grade": 4}',
        "NaN": '{"grade": NaN}',
        "infinite": '{"grade": 1e999}',
        "many digits": '{"grade": ' + "4" * 10_000 + "}",
        "long": '{"grade": "' + "4" * _LONG + '"}',
        "an error too": '{"error": "overloaded", "grade": 4}',
    }
    for name, content in contents.items():
        yield _Reply(f"a grade that is {name}", _completion(content))
    envelopes = {
        "nested lists": "[" * _DEEP,
        "nested objects": '{"choices":' * _DEEP,
        "a field twice": good.replace('"finish', '"finish_reason": "length", "finish', 1),
        "NaN": good.replace('"index": 0', '"index": NaN'),
        "an error too": '{"error": {"message": "overloaded"}, ' + good[1:],
        "cut": good[:-20],
        "spaces": " " * _LONG,
        "a page": "<html><body>Sign in</body></html>",
        "nothing": "",
    }
    for name, text in envelopes.items():
        yield _Reply(f"a reply of {name}", text.encode())
    yield _Reply("a reply that says it is gzip", good.encode(), headers={"Content-Encoding": "gzip"})


def _completion(content: str) -> bytes:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}
    body = {"id": "1", "object": "chat.completion", "created": 1, "model": "judge-1", "choices": [choice]}
    return json.dumps(body).encode()


def _judge(folder: Path, reply: _Reply, outcome: Outcome, may_grade: bool | None = False) -> None:
    """Run a benchmark judged by an endpoint that replies so; ``may_grade`` None: it may or may not."""
    shutil.rmtree(folder / "cache", ignore_errors=True)
    shutil.rmtree(folder / "results", ignore_errors=True)
    config = write_benchmark(folder, retrieve="{kind: bm25, top_k: 5}")
    with _served(reply) as (url, _):
        endpoint = f'model: judge-1, base_url: "{url}", api_key_env: null, timeout: 10, deadline: 20'
        secret = "headers_env: {X-Key: SOAK_KEY}"
        config.write_text(
            config.read_text(encoding="utf-8")
            + f"relevance: {{judge: llm, pool: {{depth: 1}}, endpoint: {{{endpoint}, {secret}}}}}\n",
            encoding="utf-8",
        )
        ended = harness("bench", config, "--quiet", more={"SOAK_KEY": _SECRET})
    outcome.tried += 1
    outcome.check(ended, reply.name)
    if _SECRET in ended.out + ended.err:
        outcome.faults.append(f"{reply.name}: the secret was printed")
    grades = _grades(folder / "results" / "soak" / "judgments.csv")
    if may_grade is not None and bool(grades) != may_grade:
        outcome.faults.append(f"{reply.name}: {len(grades)} grades were taken; {ended.err.strip()[-200:]}")


def _grades(path: Path) -> list[str]:
    """The judge's grades among the judgments of a result, if there is one."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [row["grade"] for row in csv.DictReader(file) if row["judge"] != "human" and row["grade"]]


@contextmanager
def _served(reply: _Reply) -> Iterator[tuple[str, list[str]]]:
    """A server with one reply to everything; its address, and the requests that it has got."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            asked.append("the secret" if _SECRET in str(self.headers) else "a request")
            self.send_response(reply.status)
            for name, value in {"Content-Type": "application/json", **reply.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)

        def do_GET(self) -> None:
            self.do_POST()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", asked
    finally:
        server.shutdown()
        server.server_close()
