"""The requests about files and batches, by the package openai."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from harness.models.llm.batch_files import BatchAnswers, read_answers, request_line
from harness.models.llm.batch_options import BatchOptions
from harness.models.llm.client import ChatClient, Reply
from harness.models.llm.endpoint import Endpoint
from harness.models.llm.faults import BROKEN, LONGEST_NAME, CallError, TooLargeError, read_error
from harness.models.llm.form import Form
from harness.models.llm.openai_client import Ask, typed
from harness.models.llm.untrusted import MOST_BYTES
from harness.values import LlmCall

if TYPE_CHECKING:
    from openai.pagination import AsyncCursorPage
    from openai.types import Batch

M = TypeVar("M")
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
        from openai.types import FileObject

        file = (f"{_TAG}-{tag}.jsonl", content, "application/jsonl")
        with self._offered():
            sent = await self._object(
                FileObject,
                lambda client: client.files.with_raw_response.create(file=file, purpose="batch"),
                len(content),
            )
        return _named(sent.id)

    async def create(self, tag: str, file_id: str) -> BatchState:
        """Have a file of requests answered within the window, marked with a tag."""
        with self._offered():
            return await self._batch(
                lambda client: client.batches.with_raw_response.create(
                    input_file_id=file_id,
                    endpoint=self._path,
                    completion_window=self._options.window,
                    metadata={_TAG: tag},
                )
            )

    async def state(self, batch_id: str) -> BatchState:
        """How far a batch is."""
        with _gone(f"the endpoint does not know batch {batch_id}"):
            return await self._batch(lambda client: client.batches.with_raw_response.retrieve(batch_id))

    async def cancel(self, batch_id: str) -> BatchState:
        """Ask the endpoint to end a batch; answers given by then are kept and billed."""
        with _gone(f"the endpoint does not know batch {batch_id}"):
            return await self._batch(lambda client: client.batches.with_raw_response.cancel(batch_id))

    async def find(self, tag: str, file_id: str) -> BatchState | None:
        """The batch that was made with a tag or of a file, where its name did not arrive."""
        from openai.types import Batch

        after: dict[str, str] = {}
        for _ in range(_PAGES):
            page = await self._page(after)
            listed = page.data if isinstance(page.data, list) else []
            states = [self._state(_typed(Batch, batch)) for batch in listed]
            match = next((state for state in states if _is_of(state, tag, file_id)), None)
            if match or not states or not page.has_more:
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

    async def _page(self, after: dict[str, str]) -> AsyncCursorPage[Any]:
        from openai.pagination import AsyncCursorPage

        with self._offered():
            return await self._object(
                AsyncCursorPage, lambda client: client.batches.with_raw_response.list(limit=_PAGE, **after)
            )

    async def _batch(self, ask: Ask) -> BatchState:
        from openai.types import Batch

        return self._state(await self._object(Batch, ask))

    async def _object(self, kind: type[M], ask: Ask, size: int = 0) -> M:
        """The object in the reply to a request that sends about ``size`` bytes, as the package types it."""
        timeout = self._timeout(size)
        content, _ = await self.requested(ask, timeout)
        return await self.json(content, partial(_typed, kind), asyncio.get_running_loop().time() + timeout)

    def _state(self, batch: Batch) -> BatchState:
        """The state of a batch, any of whose fields may hold anything."""
        from openai.types import BatchError, BatchRequestCounts
        from openai.types.batch import Errors

        if not isinstance(batch.status, str) or not batch.status:
            raise _broken("the answer has no status")
        errors, counts = _part(Errors, batch.errors).data, _part(BatchRequestCounts, batch.request_counts)
        listed = errors if isinstance(errors, list) else ()
        faults = [typed(BatchError, error) for error in listed if isinstance(error, dict)]
        start, moments = batch.created_at, [getattr(batch, f"{how}_at") for how in ENDED]
        ended = next((moment for moment in moments if isinstance(moment, int)), None)
        tag = batch.metadata.get(_TAG) if isinstance(batch.metadata, dict) else ""
        return BatchState(
            batch_id=_named(batch.id),
            status=self.clean(batch.status).lower(),
            file_id=self.clean(str(batch.input_file_id or "")),
            tag=self.clean(str(tag or "")),
            total=_count(counts.total),
            completed=_count(counts.completed),
            failed=_count(counts.failed),
            files=tuple(_named(name) for name in (batch.output_file_id, batch.error_file_id) if name),
            errors=tuple(
                (self.clean(str(fault.code or "")), self.clean(str(fault.message or ""))) for fault in faults
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


def _typed(kind: type[M], value: Any) -> M:
    try:
        return typed(kind, value)
    except TypeError:
        raise _broken("the answer is no object") from None


def _part(kind: type[M], value: Any) -> M:
    """A part of an answer as the package types it, without a field where it is none."""
    return typed(kind, value if isinstance(value, dict) else {})


def _named(name: Any) -> str:
    """A name that becomes part of an address."""
    if not isinstance(name, str) or not _ID.fullmatch(name) or set(name) <= {"."}:
        raise _broken("the answer has no id that can be part of an address")
    return name


def _count(count: Any) -> int:
    return count if type(count) is int and count >= 0 else 0
