"""Untrusted text in a prompt, between fences that it cannot close."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from harness.values import encodable

_SLOT = re.compile(r"\{\{ *(\w+) *\}\}")


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
