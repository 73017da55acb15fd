"""Judge N pairs, for the test that kills it: python -m tests.judge.killed_judge URL LEDGER N."""

import signal
import sys
from pathlib import Path

from harness.judge import LlmJudge
from harness.store import Ledger
from harness.values import Silent
from tests.judge.helpers import config, pairs


class Aloud(Silent):
    def note(self, text):
        print("note:", text, flush=True)


if __name__ == "__main__":
    # a shell that runs the tests in the background has its children ignore Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)
    url, path, count = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    grades = []
    with Ledger(path) as ledger:
        judge = LlmJudge(config(url, endpoint={"max_concurrency": 8}), ledger)
        summary = judge.grade(pairs(count), grades.append, reporter=Aloud(), total=count)
    print(len(grades), summary.calls, summary.from_ledger)
