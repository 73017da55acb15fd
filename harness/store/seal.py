"""Checksums of stored values, so that a flipped bit is found when a value is read."""

from __future__ import annotations

import hashlib

_SIZE = 16


def seal(key: bytes, content: bytes) -> bytes:
    """``content`` with a checksum over it and the key that it is stored under."""
    return _checksum(key, content) + content


def unseal(key: bytes, sealed: bytes) -> bytes | None:
    """The content that ``seal`` was given; None if a bit of it has changed or it belongs to another key."""
    content = sealed[_SIZE:]
    return content if sealed[:_SIZE] == _checksum(key, content) else None


def _checksum(key: bytes, content: bytes) -> bytes:
    # SHA-256 is as fast as any hash of this length where the processor has instructions for it
    return hashlib.sha256(key + content).digest()[:_SIZE]
