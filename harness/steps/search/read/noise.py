"""Noise: passages without the answer in place of some of those that were read."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from itertools import islice
from typing import Annotated, Literal

from pydantic import Field, SerializeAsAny

from harness.steps.search.read import Alteration, AlterationConfig, QueryReading, ReadConfig, ReadPassage
from harness.values import Chunk, Section

# 0.6 of 5 is 3, though 0.6 * 5 may be a little more
_DIGITS = 9


class NoiseConfig(AlterationConfig):
    """Similar passages without the answer in place of some that hold it: noise robustness, and rejection.

    Chen et al., Benchmarking large language models in retrieval-augmented generation (RGB), AAAI 2024.
    """

    kind: Literal["noise"] = "noise"
    ratio: float = Field(
        ge=0,
        le=1,
        description="The share of the passages read that hold no answer, rounded up to whole passages. Those "
        "that hold none as they were found count; 0 changes nothing, 1 leaves no answer. A list is a sweep.",
    )
    among: int = Field(
        10,
        ge=1,
        description="Noise is drawn from so many passages: the best ranked ones for the query that were not "
        "read and hold no answer, then those of other queries that share most with its words.",
    )
    seed: int = Field(
        7, ge=0, description="The seed of what is drawn; a larger ratio draws more of the same."
    )
    read: Annotated[SerializeAsAny[ReadConfig] | None, Section("read")] = Field(
        None, description="How chunks are read before some are replaced: a section like `read`."
    )


class Noise(Alteration[NoiseConfig]):
    """Replaces the passages that hold the answer, the lowest ranked first, until the share is reached.

    So the best ranked ones stay, as RGB keeps its first positive passages. Where there is too little noise, a
    passage is left out instead, so that a ratio of 1 never shows the answer.
    """

    def run(self, reading: QueryReading) -> tuple[ReadPassage, ...]:
        """Noise takes the place of what it replaces."""
        count = len(reading.passages)
        holding = [at for at, passage in enumerate(reading.passages) if reading.holds_answer(passage.chunk)]
        wanted = math.ceil(round(count * self.config.ratio, _DIGITS)) - (count - len(holding))
        if wanted <= 0:
            return reading.passages
        by_rank = sorted(holding, key=lambda at: reading.passages[at].rank or 0)
        replaced = by_rank[-wanted:]
        noise = self._noise(reading)
        passages: dict[int, ReadPassage] = dict(enumerate(reading.passages))
        # the lowest ranked first, so that a larger ratio adds to what a smaller one has replaced
        for at in reversed(replaced):
            chunk = next(noise, None)
            if chunk is None:
                del passages[at]
            else:
                passages[at] = ReadPassage(None, chunk, "noise")
        return tuple(passages.values())

    def _noise(self, reading: QueryReading) -> Iterator[Chunk]:
        """Passages to draw from, in an order that depends on the seed and the query alone."""
        texts = {passage.chunk.text for passage in reading.passages}
        fresh: dict[str, Chunk] = {}
        for chunk in reading.similar():
            if chunk.text not in texts and chunk.text not in fresh and not reading.holds_answer(chunk):
                fresh[chunk.text] = chunk
                if len(fresh) == self.config.among:
                    break
        chunks = list(islice(fresh.values(), self.config.among))
        random.Random(f"{self.config.seed}:{reading.query.query_id}").shuffle(chunks)
        return iter(chunks)
