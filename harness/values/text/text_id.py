"""The id of a text if several parsers have read one document: ``report@pypdf``."""

from __future__ import annotations

BY = "@"


def text_id(doc_id: str, parser: str) -> str:
    """The id of the text that ``parser``, a name without ``@``, has made of a document."""
    return f"{doc_id}{BY}{parser}"


def document_of(text: str) -> str:
    """The document of such a text; of an id without a parser the id itself."""
    return text.rpartition(BY)[0] or text
