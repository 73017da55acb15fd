"""Judge N pairs by batches, for tests that kill or interrupt it: python -m ... URL LEDGER N."""

import signal
import sys
from pathlib import Path

from harness.judge import LlmJudge
from harness.models.llm import batch_desk
from harness.store import Ledger
from tests.judge.helpers import config, pairs
from tests.judge.killed_judge import Aloud

if __name__ == "__main__":
    # a shell that runs the tests in the background has its children ignore Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # a server of the tests lists what it has made at once
    batch_desk._LISTED_WITHIN = 0.5
    url, path, count = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    grades = []
    with Ledger(path) as ledger:
        judge = LlmJudge(config(url, batch={"poll": 0.05, "max_requests": 30}), ledger)
        summary = judge.grade(pairs(count), grades.append, reporter=Aloud(), total=count)
    print(len(grades), summary.calls, summary.from_ledger)
