"""False facts: the golden answer is replaced by a false one wherever it is in what is read."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field, SerializeAsAny

from harness.steps.search.read import Alteration, AlterationConfig, QueryReading, ReadConfig, ReadPassage
from harness.values import ConfigError, Section, wording_pattern


class CounterfactualConfig(AlterationConfig):
    """A false answer in place of the golden one, wherever it is in what is read: counterfactual robustness.

    Chen et al., Benchmarking large language models in retrieval-augmented generation (RGB), AAAI 2024.
    """

    kind: Literal["counterfactual"] = "counterfactual"
    column: str = Field(
        "false_answer",
        min_length=1,
        description="The column of the query file with the false answer. For a golden answer of several "
        "parts a JSON list with one for each part. Queries with an empty cell are read as they are.",
    )
    read: Annotated[SerializeAsAny[ReadConfig] | None, Section("read")] = Field(
        None, description="How chunks are read before their facts are replaced: a section like `read`."
    )


class Counterfactual(Alteration[CounterfactualConfig]):
    """Every wording of the golden answer becomes the false answer, in any case, longer wordings first."""

    def run(self, reading: QueryReading) -> tuple[ReadPassage, ...]:
        """The passages; those that hold a wording are altered."""
        column = self.config.column
        if column not in reading.columns:
            raise ConfigError(
                f"read: the query file has no column {column!r} with false answers. Add it, or name another "
                "with `column`."
            )
        false = self._false(reading)
        if not false:
            return reading.passages
        wordings = {
            wording: text for part, text in zip(reading.parts, false, strict=True) for wording in part
        }
        return tuple(_altered(passage, wordings) for passage in reading.passages)

    def _false(self, reading: QueryReading) -> list[str]:
        """The false answer to each part; none where the cell is empty."""
        cell = reading.columns[self.config.column].strip()
        if not cell or not reading.parts:
            return []
        try:
            texts = json.loads(cell) if cell.startswith("[") else [cell]
        except ValueError:
            texts = [cell]
        if not all(isinstance(text, str) and text.strip() for text in texts):
            texts = [cell]
        if len(texts) != len(reading.parts):
            raise ConfigError(
                f"read: the column {self.config.column!r} of query {reading.query.query_id} has {len(texts)} "
                f"false answers for {len(reading.parts)} parts of its golden answer. Give a JSON list with "
                "one for each part."
            )
        return [text.strip() for text in texts]


def _altered(passage: ReadPassage, wordings: dict[str, str]) -> ReadPassage:
    pattern = wording_pattern(wordings)
    text = pattern.sub(lambda match: _false_for(match[0], wordings), passage.chunk.text)
    if text == passage.chunk.text:
        return passage
    return replace(passage, chunk=replace(passage.chunk, text=text), change="altered")


def _false_for(matched: str, wordings: dict[str, str]) -> str:
    """The false answer to the wording that was found, perhaps with other blanks or in another case."""
    return next(text for wording, text in wordings.items() if wording_pattern([wording]).fullmatch(matched))
