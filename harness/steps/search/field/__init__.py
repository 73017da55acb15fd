"""Fields: what is searched of queries and passages in place of their whole text. One file per kind."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeVar

from harness.values import KindAt, Kinds, Run, StageConfig, Step, under_way

if TYPE_CHECKING:
    from harness.models import EncoderConfig

Fingerprint: TypeAlias = "Callable[[EncoderConfig], str]"
"""All that decides what a model on this machine gives, besides the text."""
Names = tuple[str, ...]
"""The distinct names in a text, in the order of the text."""


class FieldConfig(StageConfig):
    """Base of the configurations of fields."""

    kind: str

    @property
    def tagger(self) -> EncoderConfig | None:
        """The model on this machine that finds the names, if any."""
        return None


@dataclass(frozen=True, slots=True)
class NamesOfQueries:
    """The names in each query, and what language models were paid to find them; None without a price."""

    names: Sequence[Names]
    cost: float | None = 0.0


Configured = TypeVar("Configured", bound=FieldConfig)


class Field(Step[Configured]):
    """Texts → the names in them. Passages are read once, when they are indexed.

    ``finds_known``: a query also names what any passage names and the query has letter by letter, so that a
    name that only a passage marks as one, such as 《哈利波特》, is found in a question.
    """

    finds_known: ClassVar[bool] = True

    @abstractmethod
    def identity(self, fingerprint: Fingerprint) -> list[Any]:
        """JSON-able facts that decide the names in a text, besides the text."""

    @abstractmethod
    def of_passages(self, texts: Sequence[str]) -> Sequence[Names] | Run[Sequence[Names]]:
        """The names in each text of the index."""

    @abstractmethod
    def of_texts(self, texts: Sequence[str]) -> NamesOfQueries | Run[NamesOfQueries]:
        """The names in each query."""

    def of_queries(self, texts: Sequence[str], names: Collection[str]) -> Run[NamesOfQueries]:
        """The names in each query; ``known`` are those of all passages."""
        return self.with_known(texts, (yield from under_way(self.of_texts(texts))), names)

    def with_known(
        self, texts: Sequence[str], of_queries: NamesOfQueries, all_names: Collection[str]
    ) -> NamesOfQueries:
        """The names in each query, and those of ``known`` that it mentions, where the kind finds these."""
        if not self.finds_known:
            return of_queries
        mentioned = mentions(texts, all_names)
        names = [tuple(dict.fromkeys((*a, *b))) for a, b in zip(of_queries.names, mentioned, strict=True)]
        return NamesOfQueries(names, of_queries.cost)


# characters of the longest name that is looked for, and of the shortest
_LONGEST, _SHORTEST = 40, 2


def mentions(texts: Sequence[str], names: Collection[str]) -> list[Names]:
    """The names of ``known`` that each text has, whatever their case; of two that overlap the longer one.

    A name that begins or ends in a letter or digit of ASCII begins or ends a word there.
    """
    spelled = {name.lower(): name for name in names if _SHORTEST <= len(name) <= _LONGEST}
    lengths = sorted({len(name) for name in spelled}, reverse=True)
    return [_mentions(text.lower(), spelled, lengths) for text in texts]


def _mentions(text: str, spelled: dict[str, str], lengths: Sequence[int]) -> Names:
    names: dict[str, None] = {}
    start = 0
    while start < len(text):
        for length in lengths:
            piece = text[start : start + length]
            if piece in spelled and _apart(text, start) and _apart(text, start + length):
                names[spelled[piece]] = None
                start += length - 1
                break
        start += 1
    return tuple(names)


def _apart(text: str, place: int) -> bool:
    """Whether a word may begin or end at a place."""
    around = text[max(0, place - 1) : place + 1]
    return not (0 < place < len(text) and around.isascii() and around.isalnum())


KINDS: Kinds[Field[Any]] = Kinds(
    "field",
    KindAt("entities", "EntitiesConfig", "EntitiesField", words="entities by rules"),
    KindAt("model_entities", "ModelEntitiesConfig", "ModelEntitiesField", words="entities by a model"),
    KindAt("llm_entities", "LlmEntitiesConfig", "LlmEntitiesField", words="entities by a language model"),
    home=__name__,
)
