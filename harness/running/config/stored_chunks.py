"""The chunks of an existing collection: what a setting has in place of a chunker."""

from __future__ import annotations

from typing import Any, Literal

from harness import values
from harness.steps import ChunkerConfig, Cuts, Documents, Vectors


class StoredChunksConfig(ChunkerConfig):
    """The passages of a collection that others have filled, as they are."""

    kind: Literal["stored"] = "stored"
    collection: str

    def split(
        self, documents: Documents, tokenizer: values.Tokenizer | None, vectors: Vectors | None
    ) -> Cuts:
        """Raise ConfigError: how these passages were cut is not known."""
        raise values.ConfigError(
            f"{self.collection}: how its passages were cut is not known, so no others can be cut."
        )


def searches_existing(retrieve: Any) -> bool:
    """Whether a retriever searches an existing collection."""
    return bool(getattr(retrieve, "existing", False))


def as_existing(point: dict[str, Any]) -> dict[str, Any]:
    """A point of a sweep: where it searches a collection as it is, without what says how to cut and index."""
    retrieve = point["retrieve"]
    if not searches_existing(retrieve):
        return point
    chunk = StoredChunksConfig(collection=retrieve.collection)
    return {**point, "chunk": chunk, "context": ()}
