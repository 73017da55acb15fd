"""What is searched: the chunks of a setting as they are indexed, with the context around each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from pydantic import SerializeAsAny

from harness.values import StageConfig


class ContextConfig(StageConfig):
    """Base of the configurations of contexts."""

    kind: str

    @property
    def files(self) -> tuple[Path, ...]:
        """The files it reads, besides the documents."""
        return ()


Contexts = tuple[SerializeAsAny[ContextConfig], ...]
"""What is indexed around chunks, the outermost first; none for an empty tuple."""


def context_key(contexts: Contexts) -> str:
    """The same text for equal contexts, and another for all others; '' for none."""
    return "\n".join(context.model_dump_json() for context in contexts)


@dataclass(frozen=True)
class Passages:
    """The chunks of a setting as steps see them.

    ``texts`` is what is indexed: the chunk, and the context around it, which is that of the setting;
    ``lengths`` are the characters that count as read, those of the chunk alone; ``key`` identifies all of
    it. ``by_context`` has the same chunks with every other context that a retriever of the setting has, by
    its `context_key`; these share it. ``guessed``: in a plan, where contexts are not written yet.
    ``sources`` are the documents of the chunks if their ids do not name them, '' for text that is in none.
    ``whole`` are the passages that these are a part of, if they are.
    """

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    lengths: tuple[int, ...]
    key: str
    by_context: Mapping[str, Passages] = field(default_factory=dict, repr=False, compare=False)
    guessed: bool = field(default=False, repr=False)
    sources: tuple[str, ...] = field(default=(), repr=False, compare=False)
    whole: Passages | None = field(default=None, repr=False, compare=False)

    def within(self, contexts: Contexts | None) -> Passages:
        """The same chunks with these contexts around them; None: as they are."""
        return self if contexts is None else self.by_context[context_key(contexts)]

    def part(self, places: Sequence[int], key: Callable[[str], str]) -> Passages:
        """The chunks at these places; ``key`` turns the key of all of them into that of the part."""
        parts: dict[str, Passages] = {}

        def of(whole: Passages) -> Passages:
            return Passages(
                tuple(whole.ids[place] for place in places),
                tuple(whole.texts[place] for place in places),
                tuple(whole.lengths[place] for place in places),
                key(whole.key),
                parts,
                whole.guessed,
                tuple(whole.sources[place] for place in places) if whole.sources else (),
                whole.whole or whole,
            )

        parts.update({contexts: of(passages) for contexts, passages in self.by_context.items()})
        return of(self)

    def beside(self, others: Sequence[tuple[str, str]]) -> Passages:
        """These as a part of more: ``others`` are document and text of passages that are not to be found."""
        documents, texts = zip(*others, strict=True)
        whole = Passages(
            (*self.ids, *(f"{name}~{place}:outside" for place, name in enumerate(documents))),
            (*self.texts, *texts),
            (*self.lengths, *map(len, texts)),
            self.key,
            sources=(*self.documents, *documents),
        )
        return replace(self, whole=whole)

    @cached_property
    def documents(self) -> tuple[str, ...]:
        """The document of each chunk, '' for text that is in none."""
        return self.sources or tuple(chunk_id.rpartition(":")[0] for chunk_id in self.ids)

    @cached_property
    def document_of(self) -> dict[str, str]:
        """The ``documents`` by the ids of the chunks."""
        return dict(zip(self.ids, self.documents, strict=True))

    @cached_property
    def length_of(self) -> dict[str, int]:
        """The ``lengths`` by the ids of the chunks."""
        return dict(zip(self.ids, self.lengths, strict=True))
