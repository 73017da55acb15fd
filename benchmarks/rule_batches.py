"""Files and batches of the local endpoint by rules, kept in memory: a batch ends as soon as it is made."""

import itertools
import json
import re
import time
from urllib.parse import urlsplit

_FILE = re.compile(rb'filename="[^"]*".*?\r\n\r\n(.*)\r\n--', re.DOTALL)


class Batches:
    """Answers requests about files and batches; ``complete`` gives the completion to the body of a call."""

    def __init__(self, complete):
        self._complete = complete
        self._files, self._batches = {}, {}
        self._numbers = itertools.count(1)

    def answer(self, method, target, body):
        """The answer to a request, bytes for a file, or None for one about something else."""
        parts = urlsplit(target).path.removeprefix("/v1/").split("/")
        if parts[0] == "files" and method == "POST":
            return {"id": self._keep(_FILE.search(body)[1]), "object": "file", "purpose": "batch"}
        if parts[0] == "files" and len(parts) == 3:
            return self._files.get(parts[1])
        if parts[0] == "batches" and method == "POST" and len(parts) == 1:
            return self._made(json.loads(body))
        if parts[0] == "batches" and len(parts) == 1:
            return {"object": "list", "data": list(reversed(self._batches.values())), "has_more": False}
        return self._batches.get(parts[1]) if parts[0] == "batches" else None

    def _keep(self, content):
        name = f"file-{next(self._numbers)}"
        self._files[name] = content
        return name

    def _made(self, asked):
        rows = []
        for line in map(json.loads, self._files[asked["input_file_id"]].splitlines()):
            response = {"status_code": 200, "request_id": "", "body": self._complete(line["body"])}
            rows.append({"custom_id": line["custom_id"], "response": response, "error": None})
        now, count = int(time.time()), len(rows)
        batch = {
            "id": f"batch_{next(self._numbers)}",
            "object": "batch",
            "status": "completed",
            "created_at": now,
            "completed_at": now,
            "request_counts": {"total": count, "completed": count, "failed": 0},
            "output_file_id": self._keep("\n".join(map(json.dumps, rows)).encode()),
            **asked,
        }
        self._batches[batch["id"]] = batch
        return batch
