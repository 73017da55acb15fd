"""The key of an endpoint, removed from everything that comes back from it."""

from __future__ import annotations

import base64
import html
import json
import re
from typing import Any
from urllib.parse import quote

MARK = "[key]"
SHORTEST = 8
"""A shorter key, such as EMPTY for one's own server, is not a secret, and its letters occur in any text."""
_PIECE = 12


class Secret:
    """A key, and the values of secret headers, which are never shown."""

    def __init__(self, *secrets: str) -> None:
        kept = [secret for secret in secrets if len(secret) >= SHORTEST]
        self._pattern = _pattern(kept) if kept else None

    def __repr__(self) -> str:
        return "Secret()"

    def cut(self, text: Any, longest: int | None = None) -> str:
        """Text, or whatever is in its place, without the key; at most ``longest`` characters of it.

        The key is found in any case, encoded for a URL, JSON, HTML, a representation in Python or in base64,
        and in part: of its letters no run of 12 is left.
        """
        cleaned = text if isinstance(text, str) else "" if text is None else str(text)
        if not cleaned.isascii():
            # half a character, which JSON may hold and no file can
            cleaned = cleaned.encode("utf-8", "replace").decode()
        if self._pattern is not None:
            cleaned = self._covered(cleaned, self._pattern)
        return cleaned if longest is None else cleaned[:longest]

    def _covered(self, text: str, pattern: re.Pattern[str]) -> str:
        parts: list[str] = []
        end = 0
        for found in pattern.finditer(text):
            # matches overlap: those of one copy of the key make one mark
            if found.start() > end or not parts:
                parts += [text[end : found.start()], MARK]
            end = max(end, found.end(1))
        return "".join([*parts, text[end:]])


def _pattern(secrets: list[str]) -> re.Pattern[str]:
    """Matches every run of letters of a secret in any of its forms, runs that overlap too, as group 1."""
    runs = {run for secret in secrets for run in _runs(secret)}
    return re.compile(f"(?=({'|'.join(map(re.escape, sorted(runs)))}))", re.IGNORECASE)


def _runs(secret: str) -> set[str]:
    forms = {
        secret,
        quote(secret, safe=""),
        json.dumps(secret)[1:-1],
        repr(secret)[1:-1],
        html.escape(secret),
        base64.b64encode(secret.encode()).decode().rstrip("="),
    }
    size = min(_PIECE, len(secret))
    return {form[at : at + size] for form in forms for at in range(len(form) - size + 1)}
