"""The requests about files and batches, by the package openai."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from harness.models.llm.batch_files import BatchAnswers, read_answers, request_line
from harness.models.llm.batch_options import BatchOptions
from harness.models.llm.client import ChatClient, Reply
from harness.models.llm.endpoint import Endpoint
from harness.models.llm.faults import BROKEN, LONGEST_NAME, CallError, TooLargeError, read_error
from harness.models.llm.form import Form
from harness.models.llm.untrusted import MOST_BYTES
from harness.values import LlmCall

ENDED = ("completed", "expired", "cancelled", "failed")
_NO_SUCH_PATH = {"not_found", "http_405", "http_501"}
# A file may take one more second for each of this many bytes, beyond the time of any request.
_SLOWEST = 100_000
# Far more batches than an account keeps.
_PAGES = 200
_PAGE = 100
_TAG = "harness"
# Between the names of a batch and of a request in it.
_OF_BATCH = "/"
_ID = re.compile(r"[\w.:-]{1,200}")
_FORGET = "drop it with `harness judge batches --forget`, after which its calls are made and paid for again."


@dataclass(frozen=True, slots=True)
class BatchState:
    """A batch as the endpoint describes it; ``errors`` are pairs of a code and words.

    ``seconds`` is the time from its making to its end, None while it lasts or where nothing is said.
    """

    batch_id: str
    status: str
    file_id: str
    tag: str
    total: int
    completed: int
    failed: int
    files: tuple[str, ...]
    errors: tuple[tuple[str, str], ...]
    seconds: float | None

    @property
    def ended(self) -> bool:
        """Whether nothing more is to come."""
        return self.status in ENDED


class BatchClient(ChatClient):
    """The connection to one endpoint, for batches of chat completions; every method raises CallError."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint, MOST_BYTES)
        self._options = endpoint.batch or BatchOptions()
        # Azure's batches name the path without the version.
        usual = "/chat/completions" if endpoint.azure else "/v1/chat/completions"
        self._path = self._options.path or usual

    def line(self, key: str, form: Form, call: LlmCall) -> bytes:
        """The line of a file that asks one call."""
        arguments = self.arguments(form.messages(call), form.response_format, call.sample)
        return request_line(key, self._path, arguments)

    async def upload(self, tag: str, content: bytes) -> str:
        """Send a file of requests; returns its name at the endpoint."""
        file = (f"{_TAG}-{tag}.jsonl", content, "application/jsonl")
        with self._offered():
            return _id(
                await self._object(
                    lambda client: client.files.with_raw_response.create(file=file, purpose="batch"),
                    len(content),
                )
            )

    async def create(self, tag: str, file_id: str) -> BatchState:
        """Have a file of requests answered within the window, marked with a tag."""
        with self._offered():
            return self._state(
                await self._object(
                    lambda client: client.batches.with_raw_response.create(
                        input_file_id=file_id,
                        endpoint=self._path,
                        completion_window=self._options.window,
                        metadata={_TAG: tag},
                    )
                )
            )

    async def state(self, batch_id: str) -> BatchState:
        """How far a batch is."""
        with _gone(f"the endpoint does not know batch {batch_id}"):
            return self._state(
                await self._object(lambda client: client.batches.with_raw_response.retrieve(batch_id))
            )

    async def cancel(self, batch_id: str) -> BatchState:
        """Ask the endpoint to end a batch; answers given by then are kept and billed."""
        with _gone(f"the endpoint does not know batch {batch_id}"):
            return self._state(
                await self._object(lambda client: client.batches.with_raw_response.cancel(batch_id))
            )

    async def find(self, tag: str, file_id: str) -> BatchState | None:
        """The batch that was made with a tag or of a file, where its name did not arrive."""
        after: dict[str, str] = {}
        for _ in range(_PAGES):
            page = await self._page(after)
            listed = page.get("data")
            states = [self._state(batch) for batch in listed] if isinstance(listed, list) else []
            match = next((state for state in states if _is_of(state, tag, file_id)), None)
            if match or not states or not page.get("has_more"):
                return match
            after = {"after": states[-1].batch_id}
        raise CallError(
            "too_many_batches",
            f"the endpoint lists more than {_PAGES * _PAGE:,} batches, so that it is not known whether the "
            f"one of file {file_id} was made. Look it up at the provider; if it is not there, {_FORGET}",
        )

    async def answers(self, state: BatchState, size: int) -> BatchAnswers:
        """The lines of a batch's files, each file of about ``size`` bytes."""
        contents = []
        for name in state.files:
            try:
                contents.append(await self._content(name, state.batch_id, size))
            except TooLargeError as error:
                raise CallError(
                    "file_too_large",
                    f"the answers of batch {state.batch_id} are not read: {error.detail}. They are paid for "
                    "and stay at the provider. Send fewer calls in a batch (endpoint.batch.max_requests); to "
                    f"do without these answers, {_FORGET}",
                ) from None

        def reply_of(body: Any, request_id: str) -> Reply:
            reply = self.reply(body, state.seconds or 0.0, "")
            # What the batch is called makes the id unlike that of any other try.
            named = f"{state.batch_id}{_OF_BATCH}{self.clean(request_id)}"
            return replace(reply, request_id=named[:LONGEST_NAME])

        return await asyncio.to_thread(
            read_answers, contents, reply_of, lambda status, body: self.failure(status, read_error(body), {})
        )

    async def _content(self, file: str, batch_id: str, size: int) -> bytes:
        with _gone(f"file {file} with answers of batch {batch_id} is not there any more"):
            content, _ = await self.requested(
                lambda client: client.files.with_raw_response.content(file), self._timeout(size)
            )
        return content

    def _timeout(self, size: int) -> float:
        return self._endpoint.timeout + size / _SLOWEST

    async def _page(self, after: dict[str, str]) -> dict[str, Any]:
        with self._offered():
            return await self._object(
                lambda client: client.batches.with_raw_response.list(limit=_PAGE, **after)
            )

    async def _object(self, ask: Callable[[Any], Awaitable[Any]], size: int = 0) -> dict[str, Any]:
        """The object in the reply to a request that sends about ``size`` bytes."""
        timeout = self._timeout(size)
        content, _ = await self.requested(ask, timeout)
        value = await self.json(content, lambda read: read, asyncio.get_running_loop().time() + timeout)
        if not isinstance(value, dict):
            raise _broken("the answer is no object")
        return value

    def _state(self, batch: Any) -> BatchState:
        """The state of a batch, any of whose fields may hold anything."""
        if not isinstance(batch, dict):
            raise _broken("the answer is no batch")
        status, start = batch.get("status"), batch.get("created_at")
        if not isinstance(status, str) or not status:
            raise _broken("the answer has no status")
        errors = batch.get("errors")
        errors = errors.get("data") if isinstance(errors, dict) else None
        moments = [batch.get(f"{how}_at") for how in ENDED]
        ended = next((moment for moment in moments if isinstance(moment, int)), None)
        metadata = batch.get("metadata")
        names = (batch.get("output_file_id"), batch.get("error_file_id"))
        return BatchState(
            batch_id=_id(batch),
            status=self.clean(status).lower(),
            file_id=self.clean(str(batch.get("input_file_id") or "")),
            tag=self.clean(str(metadata.get(_TAG) or "")) if isinstance(metadata, dict) else "",
            total=_count(batch, "total"),
            completed=_count(batch, "completed"),
            failed=_count(batch, "failed"),
            files=tuple(_named(name) for name in names if name),
            errors=tuple(
                (self.clean(str(error.get("code") or "")), self.clean(str(error.get("message") or "")))
                for error in (errors if isinstance(errors, list) else ())
                if isinstance(error, dict)
            ),
            seconds=float(ended - start) if isinstance(start, int) and ended and ended >= start else None,
        )

    @contextmanager
    def _offered(self) -> Iterator[None]:
        """Explains the fault of an endpoint without batches, which does not know the request."""
        try:
            yield
        except CallError as fault:
            if fault.reason not in _NO_SUCH_PATH:
                raise
            raise CallError(
                "no_batches",
                f"{self._endpoint.address} offers no batches (it says: "
                f"{fault.detail.split(' Check endpoint.')[0]}). Remove `batch` from the endpoint: each "
                "call is then made separately, at the full price.",
                fatal=True,
            ) from None


@contextmanager
def _gone(words: str) -> Iterator[None]:
    """Explains the fault of an endpoint that does not know a batch or a file that was paid for."""
    try:
        yield
    except CallError as fault:
        if fault.reason != "not_found":
            raise
        raise CallError(
            "unknown_batch",
            f"{words} ({fault.detail.split(' Check endpoint.')[0]}). Is the key that of another account or "
            f"project? If it is gone for good, {_FORGET}",
            fatal=True,
        ) from None


def _is_of(state: BatchState, tag: str, file_id: str) -> bool:
    """Whether a batch is the one that was sent; servers may leave the tag or the file out."""
    return file_id == state.file_id or bool(tag and tag == state.tag)


def _broken(words: str) -> CallError:
    return CallError(BROKEN, words, again=True)


def _id(answer: dict[str, Any]) -> str:
    return _named(answer.get("id"))


def _named(name: Any) -> str:
    """A name that becomes part of an address."""
    if not isinstance(name, str) or not _ID.fullmatch(name) or set(name) <= {"."}:
        raise _broken("the answer has no id that can be part of an address")
    return name


def _count(batch: dict[str, Any], name: str) -> int:
    counts = batch.get("request_counts")
    count = counts.get(name) if isinstance(counts, dict) else None
    return count if type(count) is int and count >= 0 else 0
