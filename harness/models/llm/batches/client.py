"""The requests about files and batches, through the openai library.

Source: OpenAI's Batch API, platform.openai.com/docs/guides/batch.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from harness.models.llm.client import ChatClient, Message
from harness.models.llm.endpoint import Endpoint
from harness.models.llm.faults import CallError

T = TypeVar("T")
ENDED = {"completed", "expired", "cancelled", "failed"}
_NO_SUCH_PATH = {"not_found", "http_405", "http_501"}
# A file may take one more second for each of this many bytes, beyond the time of any request.
_SLOWEST = 100_000
# Batches that are looked through for one whose name did not arrive; far more than an account has at a time.
_PAGES = 20
_PAGE = 100


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


class BatchClient:
    """The batches of one endpoint; every method raises CallError if it fails."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.chat = ChatClient(endpoint)
        self._endpoint = endpoint
        # Azure's batches name the path without the version.
        self.path = "/chat/completions" if endpoint.azure else "/v1/chat/completions"

    async def close(self) -> None:
        """Close the connections."""
        await self.chat.close()

    def request(
        self,
        custom_id: str,
        messages: Sequence[Message],
        response_format: Mapping[str, Any] | None,
        sample: int,
    ) -> dict[str, Any]:
        """One line of a file of requests, with the body that ``ChatClient.ask`` would send."""
        body = self.chat.body(messages, response_format, sample)
        extra = body.pop("extra_body", {})
        return {"custom_id": custom_id, "method": "POST", "url": self.path, "body": {**body, **extra}}

    async def upload(self, data: bytes) -> str:
        """Send a file of requests; returns its name at the endpoint."""
        files = self.chat.openai.files
        request = files.create(file=("batch.jsonl", data, "application/jsonl"), purpose="batch")
        found = await self._offered(request, len(data))
        return self._name(found, "id")

    async def create(self, file_id: str) -> BatchState:
        """Have a file of requests answered within a day."""
        batches = self.chat.openai.batches
        request = batches.create(input_file_id=file_id, endpoint=self.path, completion_window="24h")
        return self._state(await self._offered(request))

    async def state(self, batch_id: str) -> BatchState:
        """How far a batch is."""
        try:
            return self._state(await self._answer(self.chat.openai.batches.retrieve(batch_id)))
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
        return self._state(await self._answer(self.chat.openai.batches.cancel(batch_id)))

    async def find(self, file_id: str) -> BatchState | None:
        """The batch that was made of a file, where its name did not arrive."""
        after: dict[str, str] = {}
        for _ in range(_PAGES):
            page = await self._offered(_first(self.chat.openai.batches.list(limit=_PAGE, **after)))
            states = [self._state(one) for one in getattr(page, "data", None) or []]
            found = next((state for state in states if state.file_id == file_id), None)
            if found or not states or not getattr(page, "has_more", False):
                return found
            after = {"after": states[-1].batch_id}
        return None

    async def read(self, file_id: str, size: int = 0) -> bytes:
        """The content of a file, which is of about ``size`` bytes."""
        content = await self._answer(self.chat.openai.files.content(file_id), size)
        data: bytes = content.content
        return data

    async def _answer(self, request: Awaitable[T], size: int = 0) -> T:
        return await self.chat.answer_to(request, self._endpoint.timeout + size / _SLOWEST)

    async def _offered(self, request: Awaitable[T], size: int = 0) -> T:
        """The answer to a request that an endpoint without batches does not know."""
        try:
            return await self._answer(request, size)
        except CallError as fault:
            if fault.reason not in _NO_SUCH_PATH:
                raise
            azure = self._endpoint.azure
            raise CallError(
                "no_batches",
                f"{azure.endpoint if azure else self._endpoint.base_url} offers no batches (it says: "
                f"{fault.detail.split(' Check endpoint.')[0]}). Remove `batch` from the configuration: each "
                "call is then made separately, at the full price.",
                fatal=True,
            ) from None

    def _state(self, batch: Any) -> BatchState:
        """The state of a batch; the library checks no types, so fields may hold anything."""
        counts = getattr(batch, "request_counts", None)
        errors = getattr(getattr(batch, "errors", None), "data", None) or []
        made, ended = getattr(batch, "created_at", None), _ended_at(batch)
        return BatchState(
            batch_id=self._name(batch, "id"),
            status=self._name(batch, "status"),
            file_id=self.chat.clean(str(getattr(batch, "input_file_id", "") or "")),
            total=_count(counts, "total"),
            completed=_count(counts, "completed"),
            failed=_count(counts, "failed"),
            output_file=str(getattr(batch, "output_file_id", None) or ""),
            error_file=str(getattr(batch, "error_file_id", None) or ""),
            errors=tuple(
                (str(getattr(one, "code", "") or ""), self.chat.clean(str(getattr(one, "message", "") or "")))
                for one in errors
            ),
            seconds=float(ended - made) if isinstance(made, int) and ended and ended >= made else None,
        )

    def _name(self, found: Any, field: str) -> str:
        name = getattr(found, field, None)
        if not isinstance(name, str) or not name:
            raise CallError("broken_reply", f"the answer has no {field}", again=True, billed=True)
        return name


async def _first(listed: Any) -> Any:
    """The first page of a listing, which can be awaited and is not a coroutine."""
    return await listed


def _ended_at(batch: Any) -> int | None:
    moments = [getattr(batch, f"{how}_at", None) for how in ("completed", "expired", "cancelled", "failed")]
    return next((moment for moment in moments if isinstance(moment, int)), None)


def _count(counts: Any, name: str) -> int:
    count = getattr(counts, name, None)
    return count if isinstance(count, int) and count >= 0 else 0
