"""A baseline without a language model: the sentences of the passages that are most like the question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from harness.models import ComputingConfig, EmbedConfig, EncoderConfig
from harness.steps.answer import AnswerConfig, Answerer, AnswerInput, AnswerReply
from harness.steps.search.needs import Texts
from harness.values import Run, sentence_spans

REFUSAL = "I cannot answer this from the passages."


class ExtractiveConfig(ComputingConfig, AnswerConfig):
    """The sentences most like the question, word for word: a baseline, never a fallback for another kind."""

    kind: Literal["extractive"] = "extractive"
    model: str = Field(
        "embedded:all-MiniLM-L6-v2", description="The bi-encoder that compares sentences with the question."
    )
    sentences: int = Field(1, ge=1, description="How many sentences make the answer, in the order read.")
    refuse_below: float | None = Field(
        None,
        ge=-1,
        le=1,
        description="Where the best sentence has a lower cosine with the question, the answer is that the "
        "passages do not say; null: always answer.",
    )

    @property
    def encoder(self) -> EmbedConfig:
        """The encoder of questions and sentences."""
        return self.made(EmbedConfig)

    @property
    def encoders(self) -> tuple[EncoderConfig, ...]:
        """That encoder."""
        return (self.encoder,)


class ExtractiveAnswerer(Answerer[ExtractiveConfig]):
    """Chooses by cosine; of equal ones, the first that was read. Each sentence cites its passage."""

    @property
    def name(self) -> str:
        """The kind and the model."""
        return f"extractive by {self.config.model}"

    def run(self, inputs: Sequence[AnswerInput]) -> Run[list[AnswerReply]]:
        """The best sentences of every question's passages."""
        sentences = [list(_sentences(question.passages)) for question in inputs]
        texts = dict.fromkeys([question.question for question in inputs])
        texts |= dict.fromkeys(text for sentence in sentences for _, text in sentence)
        if not texts:
            return []
        vectors = _unit((yield Texts(self.config.encoder, list(texts), "queries")))
        row = {text: i for i, text in enumerate(texts)}
        return [
            self._reply(
                of_question, vectors[[row[text] for _, text in of_question]] @ vectors[row[question.question]]
            )
            for question, of_question in zip(inputs, sentences, strict=True)
        ]

    def _reply(self, sentences: Sequence[tuple[int, str]], likeness: NDArray[np.float32]) -> AnswerReply:
        if not sentences:
            return AnswerReply(None, "the passages hold no sentence")
        best = np.argsort(-likeness, kind="stable")[: self.config.sentences]
        limit = self.config.refuse_below
        if limit is not None and float(likeness[best[0]]) < limit:
            return AnswerReply(REFUSAL)
        chosen = [sentences[i] for i in sorted(best.tolist())]
        return AnswerReply(
            " ".join(text for _, text in chosen),
            cited=tuple(dict.fromkeys(place for place, _ in chosen)),
        )


def _sentences(passages: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Every different sentence once, with the place of the passage where it is read first."""
    seen: set[str] = set()
    for place, passage in enumerate(passages):
        for start, end in sentence_spans(passage):
            text = " ".join(passage[start:end].split())
            if text not in seen:
                seen.add(text)
                yield place, text


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True).astype(np.float32)
    scaled: NDArray[np.float32] = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
    return scaled
