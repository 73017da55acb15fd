"""A script for the fake server that speaks of files and batches as OpenAI does, faults included."""

import itertools
import json
import re
from urllib.parse import parse_qs, urlsplit

from tests.judge.fake_server import Answer, completion, error

_FILE = re.compile(rb'filename="[^"]*".*?\r\n\r\n(.*?)\r\n--', re.DOTALL)


class Batches:
    """Answers requests about files and batches; ``reply(request_line)`` gives the answer to each request.

    A batch ends at the ``looks``-th look at it, as ``ends_as`` says, with the lines that ``reply`` gave.
    ``faults`` holds, by ``METHOD path`` (ids left out), answers that are given first instead. ``edit`` may
    change the bytes of a file before it is downloaded.
    """

    def __init__(self, reply=None, *, looks=1, ends_as="completed", edit=None, path=None, root="/v1/"):
        self.reply = reply or (lambda line: completion('{"grade": 2}'))
        self.path, self.root = path or "/v1/chat/completions", root
        self.looks = looks
        self.ends_as = ends_as
        self.edit = edit or (lambda name, data: data)
        self.faults = {}
        self.files = {}
        self.batches = {}
        self.seen = {}
        self.direct = []
        self._numbers = itertools.count(1)

    def __call__(self, request, number):
        url = urlsplit(request["path"])
        parts = url.path.removeprefix(self.root).split("/")
        path = "/".join(part for part in parts if not part.startswith(("file-", "batch_")))
        name = f"{request['method']} {path}"
        waiting = self.faults.get(name)
        if waiting:
            fault = waiting.pop(0)
            if fault is not None:
                # a fault whose request has been heard all the same
                if getattr(fault, "heard", False):
                    self._answer(name, parts, request, url)
                return fault
        return self._answer(name, parts, request, url)

    @property
    def asked(self):
        """The custom ids of every request of every batch that was made."""
        return [line["custom_id"] for batch in self.batches.values() for line in self.lines_of(batch)]

    def lines_of(self, batch):
        return [json.loads(line) for line in self.files[batch["input_file_id"]].splitlines()]

    def _answer(self, name, parts, request, url):
        if name == "POST files":
            file_id = self._keep(_FILE.search(request["body"])[1])
            return Answer(body={"id": file_id, "object": "file", "purpose": "batch", "status": "processed"})
        if name == "GET files/content":
            return Answer(
                body=self.edit(parts[1], self.files[parts[1]]), headers={"content-type": "application/binary"}
            )
        if name == "POST batches":
            return Answer(body=self._make(request["body"]))
        if name == "GET batches" and len(parts) == 1:
            return Answer(body=self._list(parse_qs(url.query)))
        if name == "GET batches":
            if parts[1] not in self.batches:
                return error(404, "No such batch")
            return Answer(body=self._look(self.batches[parts[1]]))
        if name == "POST batches/cancel":
            batch = self.batches[parts[1]]
            if batch["status"] == "in_progress":
                batch["status"] = "cancelling"
            return Answer(body=batch)
        if name == "POST chat/completions":
            self.direct.append(request["body"])
            return Answer(body=completion('{"grade": 1}'))
        return error(404, f"Unknown request URL: {name}")

    def _keep(self, data):
        file_id = f"file-{next(self._numbers)}"
        self.files[file_id] = data
        return file_id

    def _make(self, body):
        assert body["endpoint"] == self.path
        batch = {
            "id": f"batch_{next(self._numbers)}",
            "object": "batch",
            "endpoint": body["endpoint"],
            "completion_window": body["completion_window"],
            "input_file_id": body["input_file_id"],
            "metadata": body["metadata"],
            "status": "in_progress",
            "created_at": 1000,
        }
        lines = self.lines_of(batch)
        assert len({line["custom_id"] for line in lines}) == len(lines)
        batch["request_counts"] = {"total": len(lines), "completed": 0, "failed": 0}
        self.batches[batch["id"]] = batch
        self.seen[batch["id"]] = 0
        return dict(batch)

    def _list(self, query):
        newest = list(reversed(self.batches.values()))
        after = query.get("after")
        start = 1 + [batch["id"] for batch in newest].index(after[0]) if after else 0
        page = newest[start : start + 2]
        return {"object": "list", "data": page, "has_more": start + 2 < len(newest)}

    def _look(self, batch):
        self.seen[batch["id"]] += 1
        if batch["status"] == "cancelling":
            self._end(batch, "cancelled")
        elif batch["status"] == "in_progress" and self.seen[batch["id"]] >= self.looks:
            self._end(batch, self.ends_as)
        return dict(batch)

    def _end(self, batch, status):
        batch["status"] = status
        batch[f"{status}_at"] = 1090
        if status == "failed":
            batch["errors"] = {
                "object": "list",
                "data": [{"code": "invalid_model", "message": "The model does not exist.", "line": 1}],
            }
            return
        good, bad = [], []
        for at, line in enumerate(self.lines_of(batch)):
            said = self.reply(line)
            row = {"id": f"batch_req_{batch['id']}_{at}", "custom_id": line["custom_id"], "error": None}
            if said is None:
                # not reached
                code = "batch_expired" if status == "expired" else "batch_cancelled"
                bad.append({**row, "response": None, "error": {"code": code, "message": "not reached"}})
            elif isinstance(said, Answer):
                response = {"status_code": said.status, "request_id": f"req-{at}", "body": said.body}
                bad.append({**row, "response": response})
            else:
                good.append(
                    {**row, "response": {"status_code": 200, "request_id": f"req-{at}", "body": said}}
                )
        for field, rows in (("output_file_id", good), ("error_file_id", bad)):
            if rows:
                batch[field] = self._keep(b"".join(json.dumps(row).encode() + b"\n" for row in rows))
        batch["request_counts"] = {
            "total": len(good) + len(bad),
            "completed": len(good),
            "failed": sum(row["response"] is not None for row in bad),
        }
