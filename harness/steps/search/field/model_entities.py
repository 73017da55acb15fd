"""A token-classification model on this machine finds the names, such as a BERT trained for entities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field as Key

from harness.models import ComputingConfig, TaggerConfig, tagged
from harness.steps.search.field import Field, FieldConfig, Fingerprint, Names, NamesOfQueries
from harness.steps.search.needs import Texts, Whose
from harness.values import Run


class ModelEntitiesConfig(ComputingConfig, FieldConfig):
    """The names that a token-classification model finds in queries and passages, on this machine."""

    kind: Literal["model_entities"] = "model_entities"
    model: str = Key(
        description="A token-classification model: hub id or local folder, such as a BERT that labels "
        "tokens `B-PER`, `I-PER`, `O`."
    )
    labels: tuple[str, ...] = Key(
        (),
        description="The labels that count, without `B-` and `I-`, such as `[PER, ORG]`; empty: all.",
    )

    @property
    def tagger(self) -> TaggerConfig:
        """The model."""
        return self.made(TaggerConfig)


class ModelEntitiesField(Field[ModelEntitiesConfig]):
    """What the model has found is kept by text, as vectors are."""

    def identity(self, fingerprint: Fingerprint) -> list[Any]:
        """The model and the labels."""
        c = self.config
        return [c.kind, fingerprint(c.tagger), c.labels]

    def of_passages(self, texts: Sequence[str]) -> Run[Sequence[Names]]:
        """The names that the model finds."""
        return (yield from self._names(texts, "passages"))

    def of_texts(self, texts: Sequence[str]) -> Run[NamesOfQueries]:
        """The names that the model finds."""
        return NamesOfQueries((yield from self._names(texts, "queries")))

    def _names(self, texts: Sequence[str], whose: Whose) -> Run[Sequence[Names]]:
        wanted, names = set(self.config.labels), []
        encoded = yield Texts(self.config.tagger, texts, whose, "encodings")
        for text, value in zip(texts, encoded, strict=True):
            spans = (span for span in tagged(value) if not wanted or span.label in wanted)
            names.append(tuple(dict.fromkeys(text[span.start : span.end] for span in spans)))
        return names
