"""A server that stands for GitHub and GitLab, and programs that stand for those of their runners."""

import json
import os
import re
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

# who a workflow's own token writes as
ROBOT = {"id": 41898282, "type": "Bot"}
JOB_TOKEN = "token-of-the-job"


@contextmanager
def forge():
    """A server that keeps comments as GitHub and GitLab do, and notes the requests."""

    class Handler(BaseHTTPRequestHandler):
        # artifacts: what lies at an address, as GitLab keeps them, elsewhere
        comments, requests, artifacts = [], [], {}
        account = None
        writer = ROBOT

        def answered(self):
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            Handler.requests.append((self.command, self.path, dict(self.headers)))
            if self.path in Handler.artifacts and self.headers.get("JOB-TOKEN") == JOB_TOKEN:
                return self.answer(302, {}, Location=f"/storage{self.path}")
            if self.path.startswith("/storage"):
                return self.answer(200, Handler.artifacts[self.path.removeprefix("/storage")])
            token = self.headers.get("Authorization", self.headers.get("PRIVATE-TOKEN", ""))
            if not token.endswith("secret-of-the-test"):
                return self.answer(401, {})
            if self.path.endswith("/user"):
                # a workflow's own token at GitHub may not ask
                return self.answer(*((200, {"id": Handler.account}) if Handler.account else (403, {})))
            if self.command == "GET":
                page = int(re.search(r"page=(\d+)$", self.path)[1])
                return self.answer(200, Handler.comments[100 * (page - 1) : 100 * page])
            if self.command == "POST":
                Handler.comments.append(
                    {
                        "id": len(Handler.comments) + 1,
                        **body,
                        "html_url": "https://forge/1",
                        "user": Handler.writer,
                        "author": Handler.writer,
                    }
                )
                return self.answer(201, Handler.comments[-1])
            (comment,) = [c for c in Handler.comments if str(c["id"]) == self.path.split("/")[-1]]
            comment.update(body)
            return self.answer(200, comment)

        do_GET = do_POST = do_PATCH = do_PUT = answered  # noqa: N815 - as http.server calls them

        def answer(self, status, value, **headers):
            content = value if isinstance(value, bytes) else json.dumps(value).encode()
            self.send_response(status)
            for name, words in headers.items():
                self.send_header(name, words)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        Handler.url = f"http://127.0.0.1:{server.server_address[1]}"
        yield Handler
        server.shutdown()


def write_tools(folder, **scripts):
    """Programs of these names, as shell scripts; returns the PATH by which they are found first."""
    folder.mkdir()
    for name, words in scripts.items():
        (folder / name).write_text(f"#!/bin/sh\n{words}\n")
        (folder / name).chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"
