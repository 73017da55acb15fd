"""Many calls at once: workers draw items from a stream, look into the ledger, ask, and hand on."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Iterable
from typing import Any

from harness.judge.items import Item, items_of
from harness.judge.llm import Describable, LlmJudge, Result, check_unscored, note_graded
from harness.judge.records import Pair, Sink, Summary
from harness.llm.calls import Asker, Call, StoppedError
from harness.llm.client import ChatClient
from harness.progress import Reporter, Task
from harness.stopping import Stopped, on_stop

POLL = 0.2
TELL = 1.0


def run(judge: LlmJudge, pairs: Iterable[Pair], sink: Sink, reporter: Reporter, total: int | None) -> Summary:
    """Grade ``pairs`` with a judge; see LlmJudge.grade."""
    started = time.monotonic()
    with reporter.task("judging", total or 0) as task:
        summary = _finish(_Run(judge, pairs, sink, reporter, task, total).go())
    summary.seconds = time.monotonic() - started
    check_unscored(summary, judge.config.max_unscored, summary.pairs)
    return summary


class _Run:
    """The state of one run."""

    def __init__(
        self,
        judge: LlmJudge,
        pairs: Iterable[Pair],
        sink: Sink,
        reporter: Reporter,
        task: Task,
        total: int | None,
    ) -> None:
        self._judge = judge
        self._items = items_of(pairs, judge.prompt)
        self._sink = sink
        self._reporter = reporter
        self._task = task
        self._total = total
        self._summary = Summary(judge=judge.name)
        self._failure: BaseException | None = None
        self._started = time.monotonic()
        self._being_asked: dict[str, asyncio.Future[Result]] = {}
        self._our_turn = False
        self._told_of_waiting = False
        self._asker: Asker

    async def go(self) -> Summary:
        """Let the workers run dry, and let calls that are on their way come home whatever happens."""
        client = self._judge.client or ChatClient(self._judge.config.endpoint)
        self._asker = Asker(self._judge.config, self._judge.prompt, client, self._judge.ledger, self._summary)
        telling = asyncio.create_task(self._keep_telling())
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
            telling.cancel()
            if self._our_turn:
                self._judge.ledger.end_turn(self._judge.config.endpoint.model)
            await client.close()
        if self._failure is not None:
            raise self._failure
        return self._summary

    async def _work(self) -> None:
        try:
            while not self._asker.stopping.is_set():
                item = next(self._items, None)
                if item is None:
                    return
                self._hand_on(item, await self._results(item))
                # A ledger full of answers must not keep the other workers from their replies.
                await asyncio.sleep(0)
        except StoppedError:
            return
        except BaseException as error:
            self._fail(error)

    async def _results(self, item: Item) -> list[Result]:
        """All samples of an item."""
        results = []
        for sample in range(self._judge.config.samples):
            call = self._judge.call(item, sample)
            results.append(self._judge.settled(call) or await self._answer(call))
        # less those that this run has asked: _ask takes them off
        self._summary.from_ledger += len(results)
        return results

    async def _answer(self, call: Call) -> Result:
        """The answer to a call that the ledger lacks; one that another worker is asking is waited for."""
        asked = self._being_asked.get(call.key)
        if asked is not None:
            await asyncio.wait([asked])
            if asked.cancelled():
                raise StoppedError("the run is ending")
            return asked.result()
        answer = self._being_asked[call.key] = asyncio.get_running_loop().create_future()
        try:
            result = await self._ask(call)
            answer.set_result(result)
        finally:
            # without a result, whoever waits for it stops too
            answer.cancel()
            del self._being_asked[call.key]
        return result

    async def _ask(self, call: Call) -> Result:
        model = self._judge.config.endpoint.model
        while True:
            self._our_turn = self._our_turn or self._judge.ledger.take_turn(model)
            # Another run may have settled the call since it was looked up.
            result = self._judge.settled(call)
            if result is not None:
                return result
            if self._our_turn:
                break
            self._tell_of_waiting(model)
            await self._asker.wait(POLL)
        answer = await self._asker.ask(call)
        self._summary.from_ledger -= 1
        return Result(answer.grades, answer.reason, call.key, answer.said)

    def _tell_of_waiting(self, model: str) -> None:
        if not self._told_of_waiting:
            self._told_of_waiting = True
            self._reporter.note(
                f"Another run is asking {model} with this ledger. This one uses its answers and waits for "
                "its turn, so that nothing is paid twice."
            )

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
        if self._told_of_waiting and not self._our_turn:
            told.append("waits for another run")
        if self._asker.paused_for > 0:
            told.append(f"waits {self._asker.paused_for:.0f} s, as the endpoint asks")
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
