"""Virtual time: an event loop whose clock stands still while a request is on its way, and leaps otherwise.

Requests go over real sockets and take no time; what the judge waits for (pauses, rate limits) takes no real
time, however long it is. So a test can hold an outage of minutes, and no machine is too slow for it.
"""

import asyncio
import selectors

from harness.judge import LlmJudge
from harness.models import ChatClient
from harness.values import Silent


class VirtualLoop(asyncio.SelectorEventLoop):
    """Leaps to its next timer when nothing is ``on_its_way``."""

    def __init__(self):
        self.now = 0.0
        self.on_its_way = 0
        super().__init__(_Selector(self))

    def time(self):
        return self.now


class _Selector(selectors.DefaultSelector):
    def __init__(self, loop):
        super().__init__()
        self._loop = loop

    def select(self, timeout=None):
        if timeout is None or timeout <= 0:
            return super().select(timeout)
        if self._loop.on_its_way:
            return super().select(0.01)
        ready = super().select(0)
        if not ready:
            self._loop.now += timeout
        return ready


class Watched:
    """A client over HTTP whose calls stop the clock while they are on their way."""

    def __init__(self, endpoint, loop):
        self._client = ChatClient(endpoint)
        self._loop = loop

    async def ask(self, *call):
        self._loop.on_its_way += 1
        try:
            return await self._client.ask(*call)
        finally:
            self._loop.on_its_way -= 1

    async def aclose(self):
        await self._client.aclose()


def judge_on(loop, settings, ledger, items, monkeypatch, reporter=None):
    """Grade ``items`` on a virtual loop; returns the graded pairs, as they came, and the summary."""

    def finish(work):
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            return runner.run(work)

    monkeypatch.setattr("harness.models.llm.asking.run_to_end", finish)
    monkeypatch.setattr("harness.models.llm.calls.ChatClient", lambda endpoint: Watched(endpoint, loop))
    graded = []
    judge = LlmJudge(settings, ledger)
    summary = judge.grade(items, graded.append, reporter=reporter or Silent())
    return graded, summary
