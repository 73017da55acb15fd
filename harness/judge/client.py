"""One call of a chat-completions endpoint through the openai library, 1.109 (make test-openai) to 3."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Protocol

from harness.judge.endpoint import Endpoint, read_key
from harness.judge.retry import CallError, classify_status
from harness.judge.secret import Secret

Message = Mapping[str, str]
# An id or a name of a model that is longer is none; what an error says is cut to a few sentences.
_LONGEST_NAME = 200
_LONGEST_ERROR = 400
_MOST_TOKENS = 10**9


@dataclass(frozen=True, slots=True)
class Reply:
    """A completion as it came: text, why it ended, tokens used, and its id in the provider's log."""

    text: str
    finish: str
    refusal: str
    prompt_tokens: int | None
    completion_tokens: int | None
    request_id: str
    served_model: str
    seconds: float


class Client(Protocol):
    """Sends one prompt and returns the reply; raises CallError."""

    async def ask(
        self,
        messages: Sequence[Message],
        response_format: Mapping[str, Any] | None,
        sample: int,
        timeout: float,
    ) -> Reply:
        """Send one prompt; ``timeout`` in seconds."""

    async def close(self) -> None:
        """Close the connections."""


class ChatClient:
    """The client of one endpoint; its key is cut out of every text that comes back."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._secret = Secret(read_key(endpoint))
        self._openai = _open(endpoint, self._secret.key)
        self._quiet = ExitStack()
        self._quiet.enter_context(self._secret.kept_from_logs())

    def __repr__(self) -> str:
        return f"ChatClient({self._endpoint.model})"

    async def ask(
        self,
        messages: Sequence[Message],
        response_format: Mapping[str, Any] | None,
        sample: int,
        timeout: float,
    ) -> Reply:
        """Send one prompt; ``timeout``, in seconds, bounds the whole call, a dripping answer included."""
        import openai

        started = time.monotonic()
        try:
            completion = await asyncio.wait_for(
                self._openai.chat.completions.create(**self._body(messages, response_format, sample)), timeout
            )
        except TimeoutError:
            raise CallError("timeout", f"no complete answer within {timeout:g} s", again=True) from None
        except openai.APITimeoutError:
            raise CallError("timeout", "the endpoint was too slow", again=True) from None
        except openai.APIStatusError as error:
            headers = {name.lower(): value for name, value in error.response.headers.items()}
            code = error.code or (error.body.get("code") if isinstance(error.body, dict) else None)
            raise classify_status(
                error.status_code, str(code or ""), self._told(error.message), headers
            ) from None
        except openai.APIConnectionError as error:
            detail = self._told(error.__cause__ or error)
            raise CallError("connection", f"no answer from the endpoint: {detail}", again=True) from None
        # Whatever a library makes of a body that is no completion: it may quote what came, key and all.
        except Exception as error:
            raise CallError("broken_reply", self._told(error), again=True) from None
        try:
            return self._read(completion, time.monotonic() - started)
        except (AttributeError, IndexError, KeyError, TypeError):
            raise CallError("broken_reply", "the answer is not a chat completion", again=True) from None

    async def close(self) -> None:
        """Close the connections."""
        try:
            await self._openai.close()
        finally:
            self._quiet.close()

    def _body(
        self, messages: Sequence[Message], response_format: Mapping[str, Any] | None, sample: int
    ) -> dict[str, Any]:
        endpoint = self._endpoint
        body: dict[str, Any] = {
            "model": endpoint.azure.deployment if endpoint.azure else endpoint.model,
            "messages": [dict(message) for message in messages],
            endpoint.max_tokens_field: endpoint.max_tokens,
        }
        if endpoint.temperature is not None:
            body["temperature"] = endpoint.temperature
        if endpoint.seed is not None:
            body["seed"] = endpoint.seed + sample
        if response_format is not None:
            body["response_format"] = dict(response_format)
        return body

    def _read(self, completion: Any, seconds: float) -> Reply:
        """The reply in a completion; the library checks no types, so fields may hold anything."""
        cut = self._secret.cut
        usage = completion.usage
        choice = completion.choices[0] if completion.choices else None
        message = choice.message if choice else None
        return Reply(
            text=cut(getattr(message, "content", None)),
            finish=cut(choice.finish_reason, _LONGEST_NAME) if choice else "no_choices",
            refusal=cut(getattr(message, "refusal", None)),
            prompt_tokens=_tokens(usage.prompt_tokens) if usage else None,
            completion_tokens=_tokens(usage.completion_tokens) if usage else None,
            request_id=cut(getattr(completion, "_request_id", None) or completion.id, _LONGEST_NAME),
            served_model=cut(completion.model, _LONGEST_NAME),
            seconds=seconds,
        )

    def _told(self, error: object) -> str:
        """What an error says, on one line."""
        return self._secret.cut(" ".join(str(error).split()), _LONGEST_ERROR)


def _tokens(count: Any) -> int | None:
    """A number of tokens; None, which is unknown, for what cannot be one."""
    return count if isinstance(count, int) and 0 <= count <= _MOST_TOKENS else None


def _open(endpoint: Endpoint, key: str) -> Any:
    import openai

    # Our own retries know the budget and the ledger; the library's would pay behind their back.
    common: dict[str, Any] = {"api_key": key, "max_retries": 0, "timeout": endpoint.timeout}
    if endpoint.azure:
        azure = endpoint.azure
        return openai.AsyncAzureOpenAI(
            azure_endpoint=azure.endpoint,
            api_version=azure.api_version,
            azure_deployment=azure.deployment,
            **common,
        )
    return openai.AsyncOpenAI(base_url=endpoint.base_url, **common)
