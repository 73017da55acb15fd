"""One call of a chat-completions endpoint."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.models.llm.completion import choice_in, content_of, extra, failure_in, was_filtered
from harness.models.llm.endpoint import Endpoint
from harness.models.llm.faults import BROKEN, LONGEST_NAME, CallError, read_error
from harness.models.llm.http_client import due
from harness.models.llm.money import known_tokens
from harness.models.llm.openai_client import OpenAIConnection, typed
from harness.models.llm.untrusted import MOST_BYTES_OF_CHAT

if TYPE_CHECKING:
    from openai.types.chat.chat_completion import Choice

Message = Mapping[str, str]
# Finish reasons of chat-completions servers, in lower case. Some give none.
ENDED_BY_ITSELF = {"", "stop", "end_turn", "eos", "eos_token", "stop_sequence", "complete"}
_AT_THE_LIMIT = {"length", "max_tokens", "model_length", "max_output_tokens"}
_FILTERED = {"content_filter", "sensitive", "safety"}


@dataclass(frozen=True, slots=True)
class Reply:
    """A completion as it came: text, why it ended, tokens used, and its id in the provider's log.

    ``finish`` is None where none came. ``logprobs`` are the log probabilities of its tokens as the endpoint
    wrote them, None without any.
    """

    text: str
    finish: str | None
    refusal: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    request_id: str = ""
    served_model: str = ""
    seconds: float = 0.0
    logprobs: list[dict[str, Any]] | None = None

    @property
    def fault(self) -> str:
        """Why it must not be used, as a short name; '' for text that ended normally.

        What was cut off may have been the answer, and what is before it a thought or a quotation.
        """
        finish = (self.finish or "").lower()
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


class ChatClient(OpenAIConnection):
    """The connection to one endpoint, for chat completions."""

    def __init__(self, endpoint: Endpoint, most: int = MOST_BYTES_OF_CHAT) -> None:
        super().__init__(endpoint, most)
        self._endpoint = endpoint

    async def ask(
        self,
        messages: Sequence[Message],
        response_format: Mapping[str, Any] | None,
        sample: int,
        timeout: float,
    ) -> Reply:
        """Send one prompt and return the reply; raises CallError.

        ``timeout``, in seconds, bounds the whole call, a dripping answer included.
        """
        started, until = time.monotonic(), due(timeout)
        content, headers = await self.chat(timeout, **self.arguments(messages, response_format, sample))
        seconds = time.monotonic() - started
        request_id = headers.get("x-request-id", "")
        return await self.json(content, lambda read: self.reply(read, seconds, request_id), until)

    def arguments(
        self, messages: Sequence[Message], response_format: Mapping[str, Any] | None, sample: int
    ) -> dict[str, Any]:
        """The arguments of ``chat.completions.create`` for one prompt."""
        e = self._endpoint
        optional = {
            "temperature": e.temperature,
            "seed": None if e.seed is None else e.seed + sample,
            "top_p": e.top_p,
            "reasoning_effort": e.reasoning_effort,
            "logprobs": None if e.top_logprobs is None else True,
            "top_logprobs": e.top_logprobs,
            "response_format": response_format,
        }
        return {
            "model": e.sent_model,
            "messages": [dict(message) for message in messages],
            "max_completion_tokens" if e.max_completion_tokens else "max_tokens": e.max_tokens,
            **{name: value for name, value in optional.items() if value is not None},
            "extra_body": e.extra_body,
        }

    def reply(self, body: Any, seconds: float, request_id: str) -> Reply:
        """The reply in the body of a completion, which took so long; raises CallError if it is none."""
        from openai.types import CompletionUsage
        from openai.types.chat import ChatCompletion

        try:
            completion = typed(ChatCompletion, body)
            choices, error = completion.choices, extra(completion, "error")
            code = _status_in(error)
            if code and (code < 500 or not choices):
                # Gateways pass a provider's failure on as a success; its code is the status that it had.
                raise self.failure(code, read_error(error), {})
            if (reported := failure_in(completion)) or not isinstance(choices, list):
                # Beside an error may stand a choice that nobody made.
                words = self.clean(read_error(error).words if error else reported)
                raise _no_completion(f": {words}" if words else "")
            cut = self.secret.cut
            usage = typed(CompletionUsage, completion.usage or {})
            choice = choice_in(choices)
            content = content_of(choice.message)
            finish = "content_filter" if was_filtered(choice) else choice.finish_reason
            return Reply(
                text=(text := cut(content)),
                finish=cut(finish, LONGEST_NAME) if choices else "no_choices",
                refusal=cut(choice.message.refusal or None),
                prompt_tokens=known_tokens(usage.prompt_tokens),
                completion_tokens=known_tokens(usage.completion_tokens),
                request_id=cut(request_id or completion.id, LONGEST_NAME),
                served_model=cut(completion.model, LONGEST_NAME),
                seconds=seconds,
                # its tokens spell the text out, and a key in it
                logprobs=_logprobs(choice) if text == content else None,
            )
        except (AttributeError, TypeError):
            raise _no_completion() from None


def _no_completion(words: str = "") -> CallError:
    return CallError(BROKEN, f"the answer is not a chat completion{words}", again=True, billed=True)


def _status_in(error: Any) -> int | None:
    """The HTTP status that an error names as its code, as a number or in digits."""
    code = str(error.get("code")) if isinstance(error, dict) else ""
    return int(code) if re.fullmatch("[45][0-9]{2}", code) else None


def _logprobs(choice: Choice) -> list[dict[str, Any]] | None:
    """The tokens of a choice with their log probabilities, which the ledger keeps as they came.

    None where none came, or not as a list of objects; raises TypeError for a section that is no object.
    """
    from openai.types.chat.chat_completion import ChoiceLogprobs

    content: Any = typed(ChoiceLogprobs, choice.logprobs or {}).content
    well_formed = isinstance(content, list) and all(isinstance(token, dict) for token in content)
    return content or None if well_formed else None
