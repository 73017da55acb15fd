"""Requests to stores: what is refused before it is sent, and what an answer may do."""

import json
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from harness.steps import store_faults
from harness.steps.search.retrieve import store_server
from harness.steps.search.retrieve.store_server import ReadRequests, StoreServer, StoreStatusError
from harness.values import HarnessError

SECRET = "k-1234567890abcdef"


@pytest.fixture
def served():
    """A server that answers by path; ``requests`` are those that came in."""
    requests = []

    class Handler(BaseHTTPRequestHandler):
        def _answer(self):
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            requests.append((self.command, self.path, dict(self.headers), body))
            status, text, headers = 200, json.dumps({"answer": 1}), {}
            if self.path == "/moved":
                status, headers = 302, {"location": "/elsewhere"}
            elif self.path == "/refused":
                status, text = 403, f"no rights for {self.headers['authorization']}"
            elif self.path == "/large":
                text = json.dumps("x" * 5000)
            elif self.path == "/broken":
                text = '{"answer": '
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            size = len(text) + (600 if self.path == "/drips" else 0)
            self.send_header("content-length", str(size))
            self.end_headers()
            if self.path == "/drips":
                # for a minute, or until nobody listens any more
                with suppress(OSError):
                    for _ in range(600):
                        self.wfile.write(b" ")
                        self.wfile.flush()
                        time.sleep(0.1)
                    self.wfile.write(text.encode())
            else:
                self.wfile.write(text.encode())

        do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = _answer  # noqa: N815

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    client = StoreServer(address, {"authorization": f"Bearer {SECRET}"}, 60)
    yield client, requests, address
    client.close()
    server.shutdown()
    server.server_close()


def test_the_header_goes_with_every_request_and_the_secret_into_no_message(served):
    client, requests, _ = served
    assert client.send("GET", "/") == {"answer": 1}
    assert client.send("POST", "/rows", {"a": [1]}) == {"answer": 1}
    assert [headers["authorization"] for _, _, headers, _ in requests] == [f"Bearer {SECRET}"] * 2
    assert json.loads(requests[1][3]) == {"a": [1]}
    with pytest.raises(StoreStatusError, match="HTTP 403: no rights") as refused:
        client.send("GET", "/refused")
    assert refused.value.status == 403
    assert SECRET not in str(refused.value)


def test_no_redirect_is_followed_and_no_answer_read_that_is_none(served, monkeypatch):
    client, requests, _ = served
    with pytest.raises(StoreStatusError, match="HTTP 302"):
        client.send("GET", "/moved")
    assert [path for _, path, _, _ in requests] == ["/moved"]
    with pytest.raises(ValueError, match="JSON"):
        client.send("GET", "/broken")
    monkeypatch.setattr(store_server, "MOST_BYTES", 1000)
    with pytest.raises(RuntimeError, match="larger than 1,000 bytes"):
        client.send("GET", "/large")


def test_an_answer_that_drips_ends_in_time(served):
    client = StoreServer(served[2], {}, 1)
    with pytest.raises(HarnessError, match=r"raise retrieve\.timeout"), store_faults("It", 1):
        client.send("GET", "/drips")
    client.close()


def test_what_only_reads_sends_nothing_else(served):
    client, requests, _ = served
    reading = ReadRequests(client, "POST /rows/(get|query)")
    assert not [name for name in vars(reading) if name != "read"]
    for method, path in (
        *(("PUT", "/rows"), ("DELETE", "/rows"), ("PATCH", "/rows"), ("POST", "/rows")),
        *(("POST", "/rows/add"), ("POST", "/rows/get/../add"), ("POST", "/rows/query?x=/add")),
        *(("PUT", "/rows/get"), ("get", "/rows/add"), ("POST", "/rows/get\n")),
    ):
        with pytest.raises(PermissionError, match="read only"):
            reading.read(method, path, {})
    assert requests == []
    assert reading.read("POST", "/rows/query", {}) == {"answer": 1}
    assert reading.read("GET", "/rows") == {"answer": 1}
