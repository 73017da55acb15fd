"""One call of a chat-completions endpoint through the openai library, 1.109 (make test-openai) to 3."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from harness.models.llm.endpoint import Endpoint
from harness.models.llm.faults import LONGEST_NAME, CallError, clean, failure, never_sent, read_error
from harness.models.llm.http_client import client_of_openai, unblocked
from harness.models.llm.secret import Secret
from harness.models.llm.untrusted import UntrustedJsonError, read_json, reports_error

T = TypeVar("T")
Message = Mapping[str, str]
_MOST_TOKENS = 10**9
# Finish reasons of chat-completions servers, in lower case. Some give none.
ENDED_BY_ITSELF = {"", "stop", "end_turn", "eos", "eos_token", "stop_sequence", "complete"}
_AT_THE_LIMIT = {"length", "max_tokens", "model_length", "max_output_tokens"}
_FILTERED = {"content_filter", "sensitive", "safety"}


@dataclass(frozen=True, slots=True)
class Reply:
    """A completion as it came: text, why it ended, tokens used, and its id in the provider's log.

    ``logprobs`` are the log probabilities of its tokens as the endpoint wrote them, None without any.
    """

    text: str
    finish: str
    refusal: str
    prompt_tokens: int | None
    completion_tokens: int | None
    request_id: str
    served_model: str
    seconds: float
    logprobs: list[dict[str, Any]] | None = None

    @property
    def fault(self) -> str:
        """Why it must not be used, as a short name; '' for text that ended normally.

        What was cut off may have been the answer, and what is before it a thought or a quotation.
        """
        finish = self.finish.lower()
        if finish in _FILTERED:
            return "content_filter"
        if self.refusal:
            return "refusal"
        if finish == "no_choices":
            return "empty_choices"
        if finish in _AT_THE_LIMIT:
            return "truncated"
        if finish not in ENDED_BY_ITSELF:
            return "interrupted"
        return "" if self.text.strip() else "empty_answer"


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
    """The client of one endpoint; its key and secret headers are cut out of every text that comes back.

    ``openai`` is the library's client, for other requests than those of ``ask``: see ``answer_to``.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        key, headers = endpoint.key(), endpoint.secret_headers()
        self._secret = Secret(key, *headers.values())
        self.openai = _open(endpoint, key, {**endpoint.headers, **headers})
        self._quiet = ExitStack()
        self._quiet.enter_context(self._secret.hidden_from_logs())

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
        started = time.monotonic()
        body = self.body(messages, response_format, sample)
        request = self.openai.chat.completions.with_raw_response.create(**body)
        raw = await self.answer_to(request, timeout)
        seconds = time.monotonic() - started
        content = raw.http_response.content
        await unblocked(len(content), lambda: self._check(content))
        return await unblocked(len(content), lambda: self.read(raw.parse(), seconds))

    def _check(self, content: bytes) -> None:
        """Refuse an envelope that the library would read as one of several that it could be."""
        try:
            read_json(content)
        except UntrustedJsonError as error:
            shown = self.clean(content[:300].decode("utf-8", "replace"))[:120]
            words = f"the answer is not a chat completion: {error}: {shown!r}"
            raise CallError("broken_reply", words, again=True, billed=True) from None

    async def answer_to(self, request: Awaitable[T], timeout: float) -> T:
        """The result of a request of the library within ``timeout`` seconds; raises CallError."""
        import openai

        try:
            return await asyncio.wait_for(request, timeout)
        except TimeoutError:
            raise CallError(
                "timeout", f"no complete answer within {timeout:g} s", again=True, billed=True
            ) from None
        except openai.APIStatusError as error:
            raise self.failure(error.status_code, error.body, error.response.headers) from None
        except openai.APIConnectionError as error:
            raise self._no_answer(error) from None
        # The library's error for an unexpected body may quote all of it, the key included.
        except Exception as error:
            raise CallError("broken_reply", self.clean(str(error)), again=True, billed=True) from None

    async def close(self) -> None:
        """Close the connections."""
        try:
            await self.openai.close()
        finally:
            self._quiet.close()

    def body(
        self, messages: Sequence[Message], response_format: Mapping[str, Any] | None, sample: int
    ) -> dict[str, Any]:
        """The arguments of a request of the library for one prompt."""
        endpoint = self._endpoint
        body: dict[str, Any] = {
            "model": endpoint.azure.deployment if endpoint.azure else endpoint.model,
            "messages": [dict(message) for message in messages],
            "max_completion_tokens" if endpoint.max_completion_tokens else "max_tokens": endpoint.max_tokens,
        }
        if endpoint.temperature is not None:
            body["temperature"] = endpoint.temperature
        if endpoint.seed is not None:
            body["seed"] = endpoint.seed + sample
        if endpoint.top_p is not None:
            body["top_p"] = endpoint.top_p
        if endpoint.reasoning_effort is not None:
            body["reasoning_effort"] = endpoint.reasoning_effort
        if endpoint.top_logprobs is not None:
            body |= {"logprobs": True, "top_logprobs": endpoint.top_logprobs}
        if response_format is not None:
            body["response_format"] = dict(response_format)
        if endpoint.extra_body:
            body["extra_body"] = endpoint.extra_body
        return body

    def failure(self, status: int, body: object, headers: Mapping[str, str]) -> CallError:
        """Turn an HTTP error into a CallError with the provider's own message."""
        return failure(status, read_error(body), headers, self._secret)

    def _no_answer(self, error: Any) -> CallError:
        """A connection that was not made, or that broke before the whole answer was here."""
        import openai

        cause = error.__cause__ or error
        unsent = never_sent(cause)
        if isinstance(error, openai.APITimeoutError):
            return CallError("timeout", "the endpoint was too slow", again=True, billed=not unsent)
        detail = self.clean(str(cause)) or type(cause).__name__
        if type(cause).__name__ == "DecodingError":
            return CallError("broken_reply", detail, again=True, billed=True)
        if unsent:
            return CallError("connection", f"no answer from the endpoint: {detail}", again=True)
        return CallError("cut_off", f"the connection broke: {detail}", again=True, billed=True)

    def read(self, completion: Any, seconds: float) -> Reply:
        """The reply in a completion, which took so long; raises CallError if it is none."""
        try:
            return self._read(completion, seconds)
        except (AttributeError, IndexError, KeyError, TypeError):
            raise CallError(
                "broken_reply", "the answer is not a chat completion", again=True, billed=True
            ) from None

    def _read(self, completion: Any, seconds: float) -> Reply:
        """The library checks no types, so fields may hold anything."""
        choices = getattr(completion, "choices", None)
        error = getattr(completion, "error", None)
        code = _status_in(error)
        if code and (code < 500 or not choices):
            # Gateways pass a provider's failure on as a success; its code is the status that it had.
            raise self.failure(code, error, {})
        if (reported := _error_in(completion, choices)) or not isinstance(choices, list):
            # Beside an error may stand a choice that nobody made.
            words = "the answer is not a chat completion"
            words += f": {read_error(error).words}" if error else f" ({reported})" if reported else ""
            raise CallError("broken_reply", self.clean(words), again=True, billed=True)
        cut = self._secret.cut
        usage = completion.usage
        choice = choices[0] if choices else None
        message = choice.message if choice else None
        content, refusal = getattr(message, "content", None), getattr(message, "refusal", None)
        return Reply(
            text=(text := cut(content)),
            finish=cut(choice.finish_reason, LONGEST_NAME) if choice else "no_choices",
            refusal=cut(refusal or None),
            prompt_tokens=_tokens(usage.prompt_tokens) if usage else None,
            completion_tokens=_tokens(usage.completion_tokens) if usage else None,
            request_id=cut(getattr(completion, "_request_id", None) or completion.id, LONGEST_NAME),
            served_model=cut(completion.model, LONGEST_NAME),
            seconds=seconds,
            # its tokens spell the text out, and a key in it
            logprobs=_logprobs(choice) if text == content else None,
        )

    def clean(self, text: str) -> str:
        """Words of the endpoint as one line without the key."""
        return clean(text, self._secret)


def _status_in(error: Any) -> int | None:
    """The HTTP status that an error names as its code, as a number or in digits."""
    code = str(error.get("code")) if isinstance(error, dict) else ""
    return int(code) if re.fullmatch("[45][0-9]{2}", code) else None


def _error_in(completion: Any, choices: Any) -> str:
    """What says that the choice of a completion was not made, or was one of several; '' if nothing does."""
    envelope = completion.to_dict()
    if reports_error(envelope) or envelope.get("object") == "error":
        return "it reports an error"
    if not isinstance(choices, list) or not choices:
        return ""
    choice = envelope["choices"][0]
    if len(choices) > 1 or not isinstance(choice, dict) or not isinstance(choice.get("message"), dict):
        return "it has no single message"
    if reports_error(choice) or reports_error(choice["message"]):
        return "its choice reports an error"
    return "" if isinstance(choice["message"].get("content"), str | None) else "its content is no text"


def _tokens(count: Any) -> int | None:
    """A number of tokens; None (unknown) for invalid values."""
    return count if isinstance(count, int) and 0 <= count <= _MOST_TOKENS else None


def _logprobs(choice: Any) -> list[dict[str, Any]] | None:
    content = getattr(getattr(choice, "logprobs", None), "content", None)
    return [token.to_dict() for token in content] if content else None


def _open(endpoint: Endpoint, key: str, headers: Mapping[str, str]) -> Any:
    import openai

    # Our own retries respect the budget and the ledger; those of the library would pay without them.
    common: dict[str, Any] = {
        "api_key": key,
        "max_retries": 0,
        "timeout": endpoint.timeout,
        "default_headers": dict(headers),
        "http_client": client_of_openai(),
    }
    if endpoint.azure:
        azure = endpoint.azure
        return openai.AsyncAzureOpenAI(
            azure_endpoint=azure.endpoint,
            api_version=azure.api_version,
            azure_deployment=azure.deployment,
            **common,
        )
    return openai.AsyncOpenAI(base_url=endpoint.base_url, **common)
