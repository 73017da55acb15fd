"""`harness label` as a process of its own."""

import os
import re
import signal
import subprocess
import sys
import threading

import httpx


class Page:
    """The command as a user runs it: a process of its own, and the link that it prints.

    ``python`` is another environment's, where nothing of this one is found.
    """

    def __init__(self, *words, python=None, cwd=None):
        environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        if python is not None:
            environment.pop("PYTHONPATH", None)
        self.process = subprocess.Popen(
            [python or sys.executable, "-m", "harness", "label", *words, "--no-browser", "--port", "0"],
            cwd=cwd,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
            # a shell that runs the tests in the background lets its children ignore Ctrl-C
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
        )
        # a process that never prints its link must not hold the tests for ever
        timer = threading.Timer(120, self.process.kill)
        timer.start()
        lines = []
        for line in self.process.stdout:
            lines.append(line)
            if found := re.search(r"http://127\.0\.0\.1:(\d+)/\?token=\S+", line):
                break
        else:
            raise AssertionError("".join(lines) + self.process.stderr.read())
        timer.cancel()
        self.home = f"http://127.0.0.1:{found[1]}"
        self.link = found[0]
        self.client = httpx.Client(base_url=self.home, headers={"origin": self.home}, timeout=900)
        self.client.get(self.link, follow_redirects=True).raise_for_status()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop(signal.SIGKILL)

    def post(self, path, **body):
        return self.client.post(f"/api/{path}", json=body)

    def stop(self, number):
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=900)
        self.client.close()
        return out, err
