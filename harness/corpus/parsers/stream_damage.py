"""Whether the compressed bytes of a PDF stream are whole; parsers read the beginning of a broken one."""

from __future__ import annotations

import base64
import zlib
from typing import Any

_STEP = 1_000_000


def is_damaged(stream: Any) -> bool:
    """Whether a Flate stream (RFC 1950) breaks off or fails its checksum; other streams are not checked."""
    filters = stream.get("/Filter", [])
    names = filters if isinstance(filters, list) else [filters]
    # As it stands in the file: get_data hands out what could be saved. pypdf has no public name for it.
    data: bytes = getattr(stream, "_data", b"")
    if names[:1] == ["/ASCII85Decode"]:
        try:
            data = base64.a85decode(data.strip().removesuffix(b"~>"))
        except ValueError:
            return True
        names = names[1:]
    return names[:1] == ["/FlateDecode"] and not _inflates(data)


def _inflates(data: bytes) -> bool:
    inflater = zlib.decompressobj()
    try:
        while data and not inflater.eof:
            inflater.decompress(data, _STEP)
            data = inflater.unconsumed_tail
    except zlib.error:
        return False
    return inflater.eof
