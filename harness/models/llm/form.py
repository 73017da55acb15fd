"""How a call is worded, untrusted text between fences that it cannot close; how answers are read; JSON."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

from harness.values import LlmAnswer, LlmCall, encodable

MOST_BYTES = 512_000_000
"""A larger reply is refused while it arrives."""
MOST_BYTES_OF_CHAT = 16_000_000
"""One completion, with the probabilities of all its tokens."""
DEEPEST = 64
# Only a number that looks like one of these may be too large for a float.
_BEYOND = re.compile(r"[eE]\+?\d{3}|\d{200}")


class UntrustedJsonError(ValueError):
    """Text that is no JSON, or JSON that is too large, too deep or ambiguous; the message says which.

    ``at``: where it stops being JSON; None where it is JSON that is refused.
    """

    def __init__(self, message: str, at: int | None = None) -> None:
        super().__init__(message)
        self.at = at


class NamedTwiceError(UntrustedJsonError):
    """An object names a field twice: which of the two was meant is unknown."""


def read_json(content: bytes | str, most_bytes: int = MOST_BYTES) -> Any:
    """The value of a JSON text; raises UntrustedJsonError.

    Refuses more than ``most_bytes``, more than DEEPEST levels, NaN and numbers like 1e999, and an
    object that names a field twice (NamedTwiceError). Python's own reader keeps the last and recurses as
    deep as it can.
    """
    if len(content) > most_bytes:
        raise UntrustedJsonError(f"it is larger than {most_bytes:,} bytes")
    try:
        text = content if isinstance(content, str) else content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UntrustedJsonError(f"it is not JSON: {error}", 0) from None
    # a call of Python for every number: only where one might be too large
    decoder = _CAREFUL if _BEYOND.search(text) else _QUICK
    return _read(lambda: (decoder.decode(text), len(text)), text, 0)[0]


def read_json_at(text: str, at: int) -> tuple[Any, int]:
    """The JSON value that begins at a place of a short text, and where it ends; rules as of ``read_json``."""
    return _read(lambda: _CAREFUL.raw_decode(text, at), text, at)


def _read(decode: Callable[[], tuple[Any, int]], text: str, at: int) -> tuple[Any, int]:
    try:
        value, end = decode()
    except UntrustedJsonError:
        raise
    except RecursionError:
        raise UntrustedJsonError(_too_deep()) from None
    # also of a whole number with more digits than Python reads, which has no place
    except ValueError as error:
        raise UntrustedJsonError(f"it is not JSON: {error}", getattr(error, "pos", None)) from None
    if text.count("[", at, end) + text.count("{", at, end) > DEEPEST:
        _refuse_depth(value)
    return value, end


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise NamedTwiceError(f"it names the field {twice[:60]!r} twice")
    return fields


_NO_ERROR = {"", "none", "null", "no", "n/a", "false", "0"}


def reports_error(value: dict[str, Any]) -> bool:
    """Whether an object says that its values were not made, in one of the ways that servers and models do."""
    fields = {name.casefold(): field for name, field in value.items()}
    named = [fields.get(name) for name in ("error", "errors", "error_message")]
    if any(field and str(field).casefold() not in _NO_ERROR for field in named):
        return True
    status = str(fields.get("status", "")).casefold()
    return status in {"error", "failed", "failure"} or fields.get("success") is False


def _refuse_number(name: str) -> float:
    raise UntrustedJsonError(f"it holds {name[:40]}, no finite number")


def _finite(digits: str) -> float:
    return value if math.isfinite(value := float(digits)) else _refuse_number(digits)


_QUICK = json.JSONDecoder(object_pairs_hook=_named_once, parse_constant=_refuse_number)
_CAREFUL = json.JSONDecoder(
    object_pairs_hook=_named_once,
    parse_constant=_refuse_number,
    parse_float=_finite,
)


def _refuse_depth(value: Any) -> None:
    """Level by level rather than by recursion, so that no depth can end the process."""
    level = [value]
    for _ in range(DEEPEST):
        inner: list[Any] = []
        for value in level:
            parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
            inner += [part for part in parts if isinstance(part, dict | list)]
        if not inner:
            return
        level = inner
    raise UntrustedJsonError(_too_deep())


def _too_deep() -> str:
    return f"it is nested more than {DEEPEST} levels deep"


Messages = list[dict[str, str]]
About = tuple[str, tuple[str, ...]]
"""The content of a call: a text, which stands for ``{{ query }}``, and the passages shown with it."""
T = TypeVar("T")
Asked = TypeVar("Asked")
Talk: TypeAlias = Generator[About, LlmAnswer | None, T]
"""Calls that depend on the answers before them: yields what to ask about, returns what all answers come to.

It is sent None where an answer is not known, as in a plan, and then asks as much as it ever could.
"""
Structured = Literal["json_schema", "json_object", "none"]

# Asking again would give the same: the endpoint has decided.
FINAL_REASONS = {"refusal", "content_filter"}

# A name that a template shows.
_SLOT = re.compile(r"\{\{ *(\w+) *\}\}")
_FENCE = re.compile(r"^```\w*\s*|\s*```$")
# The marks between which reasoning models put their thoughts.
_THOUGHT_BEGIN = re.compile(r"(?i)<(?:think|thinking|thought|reasoning)>|\[THINK\]|◁think▷")
_THOUGHT_END = re.compile(r"(?i)</(?:think|thinking|thought|reasoning)>|\[/THINK\]|◁/think▷")


@dataclass(frozen=True, slots=True)
class Malformed:
    """An answer that cannot be used, and the short name of its fault."""

    reason: str


class Form(Protocol):
    """The wording of a call and the reading of its answer. One form has one hash, which ledger keys hold."""

    @property
    def sha256(self) -> str:
        """The hash of the prompt."""

    def sha_of(self, query: str) -> str:
        """The hash of all that is shown besides a query and its passages; part of the ledger's key."""

    @property
    def structured(self) -> Structured:
        """How the endpoint is asked for the form of the answer; part of the ledger's key."""

    @property
    def response_format(self) -> Mapping[str, Any] | None:
        """The ``response_format`` of the request; None asks by words alone."""

    def messages(self, call: LlmCall) -> Messages:
        """The messages of a call."""

    def read(self, call: LlmCall, text: str) -> tuple[int, ...] | Malformed | None:
        """The grades in an answer, one per passage; None: the text is the answer; Malformed: ask again."""

    def shortest(self, call: LlmCall) -> str:
        """The shortest usable answer, for estimates where no answer is known yet."""


@dataclass(frozen=True, slots=True)
class TextForm:
    """A prompt in words that is answered in words.

    In ``system`` (may be empty) and ``user`` a call's query stands for ``{{ query }}`` and its passages for
    ``{{ passages }}``, both between fences that their text cannot close.
    """

    system: str
    user: str

    @property
    def sha256(self) -> str:
        """The hash of both templates."""
        return hashlib.sha256(json.dumps([self.system, self.user]).encode()).hexdigest()

    def sha_of(self, query: str) -> str:
        """The hash of both templates, whatever the query."""
        return self.sha256

    @property
    def structured(self) -> Structured:
        """Words alone."""
        return "none"

    @property
    def response_format(self) -> None:
        """Words alone."""

    def messages(self, call: LlmCall) -> Messages:
        """The messages of a call."""
        return render(self.system, self.user, call.query, call.passages, self.sha256)

    def read(self, call: LlmCall, text: str) -> Malformed | None:
        """Malformed where no words are left after a reasoning model's thoughts."""
        answer = after_thoughts(text)
        return answer if isinstance(answer, Malformed) else None if answer else Malformed("empty_answer")

    def shortest(self, call: LlmCall) -> str:
        """As long as the query, since nothing better is known."""
        return call.query or "word"


def heard(talk: Generator[Asked, LlmAnswer | None, Any], answer: LlmAnswer | None) -> Asked | None:
    """What is asked after an answer, None at the end; a talk begins with None."""
    try:
        return talk.send(answer)
    except StopIteration:
        return None


def outcome(talk: Talk[T], answers: Iterable[LlmAnswer]) -> T:
    """What a talk that has not begun comes to by all its answers; ValueError if it asks for more."""
    try:
        for answer in (None, *answers):
            talk.send(answer)
    except StopIteration as end:
        found: T = end.value
        return found
    raise ValueError("a talk is not over with these answers")


def after_thoughts(text: str) -> str | Malformed:
    """The text after a reasoning model's thoughts; a thought that does not end has no answer after it."""
    ends = [mark.end() for mark in _THOUGHT_END.finditer(text)]
    answer = text[ends[-1] if ends else 0 :]
    return Malformed("unfinished_thought") if _THOUGHT_BEGIN.search(answer) else answer.strip()


def json_in(text: str) -> Any | Malformed:
    """The JSON that an answer is, in a code fence or not, after a reasoning model's thoughts."""
    answer = after_thoughts(text)
    if isinstance(answer, Malformed):
        return answer
    try:
        return read_json(_FENCE.sub("", answer))
    except UntrustedJsonError:
        return Malformed("no_json")


def text_of(answer: LlmAnswer) -> str | None:
    """The words of a usable answer, a reasoning model's thoughts left out; None for any other."""
    text = after_thoughts(answer.raw)
    return None if not answer.usable or isinstance(text, Malformed) else text


def render(
    system: str, user: str, query: str, passages: Sequence[str], sha256: str, *, fenced: bool = True
) -> list[dict[str, str]]:
    """The messages of one call: ``{{ query }}``, ``{{ passages }}`` and ``{{ count }}`` filled in.

    The fence around each text carries a mark derived from the whole content of the call and the prompt's
    ``sha256``. A passage would have to contain a hash of itself to close its own fence, and the same call
    always renders the same, which keeps it reproducible and cacheable. ``fenced=False`` shows the query and
    a single passage bare. An empty ``system`` sends no such message.
    """
    query, passages = encodable(query), [encodable(passage) for passage in passages]
    mark = mark_of([sha256, query, *passages])
    between = "\n".join(
        f"<passage {number} {mark}>\n{text}\n</passage {number} {mark}>"
        for number, text in enumerate(passages, start=1)
    )
    values = {
        "query": f"<query {mark}>\n{query}\n</query {mark}>" if fenced else query,
        "passages": between if fenced else passages[0],
        "count": str(len(passages)),
    }

    def fill(template: str) -> str:
        # One pass, so that a slot's name inside a passage stays text.
        return _SLOT.sub(lambda slot: values.get(slot[1], slot[0]), template)

    parts = {"system": system, "user": user}
    return [{"role": role, "content": fill(text)} for role, text in parts.items() if text]


def mark_of(parts: Sequence[str]) -> str:
    """A hash of texts, each counted with its length, as 16 hexadecimal digits."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()[:16]
