"""Many calls at once: workers draw items from a stream, look into the ledger, ask, and hand on."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Iterator
from typing import Any

from harness.judge.asking import Asker, Call, StoppedError
from harness.judge.client import ChatClient
from harness.judge.items import Item, items_of
from harness.judge.llm import Describable, LlmJudge, Result, check_unscored, note_graded
from harness.judge.records import Pair, Sink, Summary
from harness.progress import Reporter, Task
from harness.stopping import Stopped, on_stop

LEASE = 60.0
POLL = 0.2
TELL = 1.0


def run(judge: LlmJudge, pairs: Iterable[Pair], sink: Sink, reporter: Reporter, total: int | None) -> Summary:
    """Grade ``pairs`` with a judge; see LlmJudge.grade."""
    started = time.monotonic()
    with reporter.task("judging", total or 0) as task:
        summary = _finish(_Run(judge, pairs, sink, task, total).go())
    summary.seconds = time.monotonic() - started
    check_unscored(summary, judge.config.max_unscored, summary.pairs)
    return summary


class _Run:
    """The state of one run."""

    def __init__(
        self, judge: LlmJudge, pairs: Iterable[Pair], sink: Sink, task: Task, total: int | None
    ) -> None:
        self._judge = judge
        self._source = _Source(items_of(pairs, judge.prompt), 4 * judge.config.endpoint.max_concurrency)
        self._sink = sink
        self._task = task
        self._total = total
        self._summary = Summary(judge=judge.name)
        self._failure: BaseException | None = None
        self._started = time.monotonic()
        self._asker: Asker

    async def go(self) -> Summary:
        """Let the workers run dry, and let calls that are on their way come home whatever happens."""
        client = self._judge.client or ChatClient(self._judge.config.endpoint)
        self._asker = Asker(self._judge.config, self._judge.prompt, client, self._judge.ledger, self._summary)
        aside = [asyncio.create_task(self._keep_claims()), asyncio.create_task(self._keep_telling())]
        workers = [
            asyncio.create_task(self._work()) for _ in range(self._judge.config.endpoint.max_concurrency)
        ]
        try:
            with on_stop(_canceller()):
                await asyncio.wait(workers)
        except (asyncio.CancelledError, Stopped):
            # Interrupted: what is on its way has been paid for, so wait for it and record it.
            self._asker.stopping.set()
            await asyncio.wait(workers)
            raise
        finally:
            for task in aside:
                task.cancel()
            await client.close()
        if self._failure is not None:
            raise self._failure
        return self._summary

    async def _work(self) -> None:
        try:
            while not self._asker.stopping.is_set():
                item = await self._source.next()
                if item is None:
                    return
                results = await self._results(item)
                if results is None:
                    self._source.defer(item)
                else:
                    self._hand_on(item, results)
                # A ledger full of answers must not keep the other workers from their replies.
                await asyncio.sleep(0)
        except StoppedError:
            return
        except BaseException as error:
            self._fail(error)

    async def _results(self, item: Item) -> list[Result] | None:
        """All samples of an item; None while another worker or process is asking one of them."""
        results = []
        for sample in range(self._judge.config.samples):
            call = self._judge.call(item, sample)
            result = self._judge.settled(call) or await self._claim_and_ask(call)
            if result is None:
                return None
            results.append(result)
        # less those that this run has asked: _claim_and_ask takes them off
        self._summary.from_ledger += len(results)
        return results

    async def _claim_and_ask(self, call: Call) -> Result | None:
        """The answer to a call; None when somebody else is asking it."""
        ledger = self._judge.ledger
        if not ledger.claim(call.key, LEASE):
            return None
        try:
            # It may have been settled between the look and the claim.
            result = self._judge.settled(call)
            if result is None:
                answer = await self._asker.ask(call)
                self._summary.from_ledger -= 1
                result = Result(answer.grades, answer.reason)
            return result
        finally:
            ledger.release(call.key)

    def _hand_on(self, item: Item, results: list[Result]) -> None:
        for graded in self._judge.graded(item, results):
            note_graded(self._summary, graded)
            self._sink(graded)
        self._task.advance(len(item.pairs))
        self._tell()
        if self._total:
            check_unscored(self._summary, self._judge.config.max_unscored, self._total)

    def _tell(self) -> None:
        if isinstance(self._task, Describable):
            self._task.describe(self._progress())

    def _progress(self) -> str:
        summary = self._summary
        rate = summary.pairs / max(1e-9, time.monotonic() - self._started)
        told = [f"{rate:.1f}/s", "cost unknown" if summary.cost is None else f"spent {summary.cost:.4f}"]
        if summary.unscored_count:
            told.append(f"{summary.unscored_count} unscored")
        told += [f"{reason} x{count}" for reason, count in summary.faults.items()]
        return ", ".join(told)

    def _fail(self, error: BaseException) -> None:
        """Keep the first failure, from which the others follow, and let everybody stop."""
        self._failure = self._failure or error
        self._asker.stopping.set()

    async def _keep_telling(self) -> None:
        """Show that something happens even where nothing is graded, as while an endpoint is down."""
        while True:
            await asyncio.sleep(TELL)
            self._tell()

    async def _keep_claims(self) -> None:
        while True:
            await asyncio.sleep(LEASE / 3)
            self._judge.ledger.renew(LEASE)


class _Source:
    """Items from a stream, then those put off; bounded, so that a long stream does not pile up."""

    def __init__(self, items: Iterator[Item], limit: int) -> None:
        self._items = items
        self._deferred: deque[tuple[float, Item]] = deque()
        self._limit = limit
        self._dry = False

    async def next(self) -> Item | None:
        """The next item; None when there is no more."""
        if not self._dry and len(self._deferred) < self._limit:
            item = next(self._items, None)
            if item is not None:
                return item
            self._dry = True
        if not self._deferred:
            return None
        ready, item = self._deferred.popleft()
        await asyncio.sleep(max(0.0, ready - time.monotonic()))
        return item

    def defer(self, item: Item) -> None:
        """Put an item off until others have had time to answer it."""
        self._deferred.append((time.monotonic() + POLL, item))


def _canceller() -> Callable[[], None]:
    """What a signal's handler calls to cancel the task that runs now."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None

    def cancel() -> None:
        # by way of the loop, which may be asleep
        loop.call_soon_threadsafe(task.cancel)

    return cancel


def _finish(work: Coroutine[Any, Any, Summary]) -> Summary:
    """Run to the end, also from within a running event loop such as a notebook's."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    outcome: list[Summary | BaseException] = []

    def target() -> None:
        try:
            outcome.append(asyncio.run(work))
        except BaseException as error:
            outcome.append(error)

    thread = threading.Thread(target=target)
    thread.start()
    thread.join()
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]
