"""The chunks of an existing collection: what a setting has in place of a chunker."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

from harness import values
from harness.steps import RETRIEVERS, ChunkerConfig, Cuts, Documents, RetrieverConfig, Vectors

# what a search takes besides its collection
_OF_SEARCHES = ("rewrite", "filter", "context", "only")


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


def recorded_collection(setting: Mapping[str, Any]) -> RetrieverConfig | None:
    """What reads the collection that a setting of a record searched as it is; None where it cut chunks."""
    stated = setting["retrieve"]
    if not stated.get("existing"):
        return None
    config = RETRIEVERS[stated["kind"]].config
    # some keys exclude others, also where they are stated with their defaults; other versions had other keys
    fields = {key: field for key, field in config.model_fields.items() if key not in _OF_SEARCHES}
    changed = {
        key: stated[key]
        for key, field in fields.items()
        if key in stated and stated[key] != json.loads(json.dumps(field.default, default=str))
    }
    collection: RetrieverConfig = config.model_validate(changed)
    return collection


def as_existing(point: dict[str, Any]) -> dict[str, Any]:
    """A point of a sweep: where it searches a collection as it is, without what says how to cut and index."""
    retrieve = point["retrieve"]
    if not searches_existing(retrieve):
        return point
    chunk = StoredChunksConfig(collection=retrieve.collection)
    return {**point, "chunk": chunk, "context": ()}
