"""The requests about files and batches, and the lines of the files that go up and come back.

Source: OpenAI's Batch API, platform.openai.com/docs/guides/batch.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote

from harness.models.llm.client import ChatClient, Message, Reply
from harness.models.llm.endpoint import Endpoint
from harness.models.llm.faults import BROKEN, CallError
from harness.models.llm.http_client import unblocked
from harness.models.llm.untrusted import UntrustedJsonError, read_json
from harness.values import ConfigError, LlmAnswer, SentBatch

ENDED = ("completed", "expired", "cancelled", "failed")
_NO_SUCH_PATH = {"not_found", "http_405", "http_501"}
# A file may take one more second for each of this many bytes, beyond the time of any request.
_SLOWEST = 100_000
# Batches that are looked through for one whose name did not arrive; far more than an account has at a time.
_PAGES = 20
_PAGE = 100
_OK = range(200, 300)
# Between the names of a batch and of a request in it.
_OF_BATCH = "/"
# Codes of requests that an endpoint did not process.
_NOT_REACHED = {"batch_expired", "batch_cancelled"}


@dataclass(frozen=True, slots=True)
class BatchState:
    """A batch as the endpoint describes it; ``errors`` are pairs of a code and words.

    ``seconds`` is the time from its making to its end, None while it lasts or where nothing is said.
    """

    batch_id: str
    status: str
    file_id: str
    total: int
    completed: int
    failed: int
    output_file: str
    error_file: str
    errors: tuple[tuple[str, str], ...]
    seconds: float | None

    @property
    def ended(self) -> bool:
        """Whether nothing more is to come."""
        return self.status in ENDED


@dataclass(frozen=True, slots=True)
class BatchStatus:
    """A recorded batch and its state at the endpoint; ``problem``: why that is unknown."""

    batch: SentBatch
    state: BatchState | None
    problem: str = ""


@dataclass(slots=True)
class Answers:
    """The content of the files of a batch: the answer, or why there is none, by the id of the request.

    ``broken`` counts lines that cannot be read. ``double`` are ids with two different answers, which are
    both left out: one of them belongs to somebody else.
    """

    found: dict[str, Reply | CallError] = field(default_factory=dict)
    broken: int = 0
    double: set[str] = field(default_factory=set)


def came_in_batch(answer: LlmAnswer) -> bool:
    """Whether an answer on record came in a batch, so that its time is that of the batch."""
    return _OF_BATCH in answer.request_id


class BatchClient:
    """The batches of one endpoint; every method raises CallError if it fails."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._chat = ChatClient(endpoint)
        self._endpoint = endpoint
        # Azure's batches name the path without the version.
        self._path = "/chat/completions" if endpoint.azure else "/v1/chat/completions"

    async def close(self) -> None:
        """Close the connections."""
        await self._chat.close()

    def line(
        self,
        custom_id: str,
        messages: Sequence[Message],
        response_format: Mapping[str, Any] | None,
        sample: int,
    ) -> bytes:
        """One line of a file of requests, with the body that ``ChatClient.ask`` would send.

        Lone surrogates, which JSON parsers may refuse, are escaped.
        """
        body = self._chat.body(messages, response_format, sample)
        request = {"custom_id": custom_id, "method": "POST", "url": self._path, "body": body}
        return json.dumps(request, ensure_ascii=True, separators=(",", ":")).encode("ascii") + b"\n"

    async def upload(self, data: bytes) -> str:
        """Send a file of requests; returns its name at the endpoint."""
        files = {"file": ("batch.jsonl", data, "application/jsonl")}
        with _offered(self._endpoint):
            found = await self._json("POST", "/files", len(data), files=files, data={"purpose": "batch"})
        return _name(found, "id")

    async def create(self, file_id: str) -> BatchState:
        """Have a file of requests answered within a day."""
        body = {"input_file_id": file_id, "endpoint": self._path, "completion_window": "24h"}
        with _offered(self._endpoint):
            return self._state(await self._json("POST", "/batches", json=body))

    async def state(self, batch_id: str) -> BatchState:
        """How far a batch is."""
        try:
            return self._state(await self._json("GET", f"/batches/{quote(batch_id, safe='')}"))
        except CallError as fault:
            if fault.reason != "not_found":
                raise
            raise CallError(
                "unknown_batch",
                f"the endpoint does not know batch {batch_id} ({fault.detail}). Is the key that of another "
                "account or project? If the batch is gone for good, drop it with `harness judge "
                "batches --forget`.",
                fatal=True,
            ) from None

    async def cancel(self, batch_id: str) -> BatchState:
        """Ask the endpoint to end a batch; answers given by then are kept and billed."""
        return self._state(await self._json("POST", f"/batches/{quote(batch_id, safe='')}/cancel"))

    async def find(self, file_id: str) -> BatchState | None:
        """The batch that was made of a file, where its name did not arrive."""
        after: dict[str, str] = {}
        for _ in range(_PAGES):
            with _offered(self._endpoint):
                page = await self._json("GET", "/batches", query={"limit": _PAGE, **after})
            listed = page.get("data")
            states = [self._state(batch) for batch in listed] if isinstance(listed, list) else []
            found = next((state for state in states if state.file_id == file_id), None)
            if found or not states or not page.get("has_more"):
                return found
            after = {"after": states[-1].batch_id}
        return None

    async def answers(self, state: BatchState, size: int) -> Answers:
        """The lines of a batch's files, in any order; each file is of about ``size`` bytes."""
        names = [name for name in (state.output_file, state.error_file) if name]
        urls = [self._endpoint.url(f"/files/{quote(name, safe='')}/content") for name in names]
        timeout = self._endpoint.timeout + size / _SLOWEST
        files = [(await self._chat.connection.content("GET", url, timeout))[0] for url in urls]
        return await unblocked(sum(map(len, files)), lambda: self._read(files, state))

    async def _json(
        self, method: str, path: str, size: int = 0, query: dict[str, Any] | None = None, **sent: Any
    ) -> dict[str, Any]:
        """The object in the reply to a request that sends about ``size`` bytes."""
        url = self._endpoint.url(path, **query or {})
        connection, timeout = self._chat.connection, self._endpoint.timeout + size / _SLOWEST
        found = connection.json((await connection.content(method, url, timeout, **sent))[0])
        if not isinstance(found, dict):
            raise CallError(BROKEN, "the answer is no object", again=True, billed=True)
        return found

    def _state(self, batch: Any) -> BatchState:
        """The state of a batch, any of whose fields may hold anything."""
        if not isinstance(batch, dict):
            raise CallError(BROKEN, "the answer is no batch", again=True, billed=True)
        errors = batch.get("errors")
        errors = errors.get("data") if isinstance(errors, dict) else None
        made = batch.get("created_at")
        moments = [batch.get(f"{how}_at") for how in ENDED]
        ended = next((moment for moment in moments if isinstance(moment, int)), None)
        clean = self._chat.connection.clean
        return BatchState(
            batch_id=_name(batch, "id"),
            status=_name(batch, "status"),
            file_id=clean(str(batch.get("input_file_id") or "")),
            total=_count(batch, "total"),
            completed=_count(batch, "completed"),
            failed=_count(batch, "failed"),
            output_file=str(batch.get("output_file_id") or ""),
            error_file=str(batch.get("error_file_id") or ""),
            errors=tuple(
                (str(error.get("code") or ""), clean(str(error.get("message") or "")))
                for error in (errors if isinstance(errors, list) else ())
                if isinstance(error, dict)
            ),
            seconds=float(ended - made) if isinstance(made, int) and ended and ended >= made else None,
        )

    def _read(self, files: list[bytes], state: BatchState) -> Answers:
        answers = Answers()
        seen: dict[str, object] = {}
        for line in (line for data in files for line in data.splitlines() if line.strip()):
            row = _row(line)
            if row is None:
                answers.broken += 1
                continue
            name, content = row["custom_id"], _content(row)
            if name in seen and seen[name] != content:
                answers.double.add(name)
            elif name not in seen:
                seen[name] = content
                answers.found[name] = self._outcome(row, state)
        for name in answers.double:
            words = "the batch holds two different answers to this request"
            answers.found[name] = CallError("double_answer", words, again=True, billed=True)
        return answers

    def _outcome(self, row: dict[str, Any], state: BatchState) -> Reply | CallError:
        response, error = row.get("response"), row.get("error")
        if not isinstance(response, dict):
            code = str(error.get("code") or "") if isinstance(error, dict) else ""
            if code in _NOT_REACHED:
                return CallError(code, "the batch ended before this request was answered", again=True)
            return CallError("line_failed", self._chat.failure(500, error).detail, again=True)
        status, body = response.get("status_code"), response.get("body")
        if status not in _OK:
            return self._chat.failure(status if isinstance(status, int) else 500, body)
        try:
            reply = self._chat.read(body, state.seconds or 0.0)
        except CallError as fault:
            return fault
        # What the batch is called makes the id unlike that of any other try.
        request_id = self._chat.connection.clean(str(response.get("request_id") or row.get("id") or ""))
        return replace(reply, request_id=f"{state.batch_id}{_OF_BATCH}{request_id}"[:200])


def batch_statuses(batches: Sequence[SentBatch], *, cancel: bool = False) -> list[BatchStatus]:
    """Ask the endpoints how far batches are or, with ``cancel``, to end them; the records stay unchanged.

    What a cancelled batch has answered is taken in by the next run.
    """

    async def each() -> list[BatchStatus]:
        return [await _status(batch, cancel=cancel) for batch in batches]

    return asyncio.run(each())


async def _status(batch: SentBatch, *, cancel: bool) -> BatchStatus:
    if not batch.file_id:
        return BatchStatus(batch, None, "was not sent: the run ended before")
    try:
        client = BatchClient(Endpoint.model_validate(batch.endpoint))
    except ConfigError as error:
        return BatchStatus(batch, None, str(error))
    try:
        state = await client.state(batch.batch_id) if batch.batch_id else await client.find(batch.file_id)
        if state is None:
            return BatchStatus(batch, None, "was not made: the run ended before")
        if cancel and not state.ended and state.status != "cancelling":
            state = await client.cancel(state.batch_id)
    except CallError as fault:
        return BatchStatus(batch, None, str(fault))
    finally:
        await client.close()
    return BatchStatus(batch, state)


@contextmanager
def _offered(endpoint: Endpoint) -> Iterator[None]:
    """Explains the fault of an endpoint without batches, which does not know the request."""
    try:
        yield
    except CallError as fault:
        if fault.reason not in _NO_SUCH_PATH:
            raise
        raise CallError(
            "no_batches",
            f"{endpoint.address} offers no batches (it says: {fault.detail.split(' Check endpoint.')[0]}). "
            "Remove `batch` from the configuration: each call is then made separately, at the full price.",
            fatal=True,
        ) from None


def _row(line: bytes) -> dict[str, Any] | None:
    try:
        row = read_json(line)
    except UntrustedJsonError:
        return None
    if not isinstance(row, dict) or not isinstance(row.get("custom_id"), str):
        return None
    return row if isinstance(row.get("response"), dict) or row.get("error") else None


def _content(row: dict[str, Any]) -> object:
    """The content in which two lines for one request must agree."""
    response = row.get("response")
    body = response.get("body") if isinstance(response, dict) else None
    return body.get("choices", body) if isinstance(body, dict) else row.get("error")


def _name(found: dict[str, Any], field: str) -> str:
    name = found.get(field)
    if not isinstance(name, str) or not name:
        raise CallError(BROKEN, f"the answer has no {field}", again=True, billed=True)
    return name


def _count(batch: dict[str, Any], name: str) -> int:
    counts = batch.get("request_counts")
    count = counts.get(name) if isinstance(counts, dict) else None
    return count if isinstance(count, int) and count >= 0 else 0
