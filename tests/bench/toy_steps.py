"""A step of every family, as another package would add it: this file has all that is known of each.

A rewriter, a retriever, two readers and an answerer that ask a language model, a filter, a retriever, a
reranker and a reader with a model that embeds, a fusion, and a reader. Each family has a key that a sweep
varies.
"""

from dataclasses import replace
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from harness.models import BiEncoderConfig, ModelConfig, Request, TextForm, text_of
from harness.steps import (
    Alteration,
    AlterationConfig,
    AnswerConfig,
    Answerer,
    AnswerReply,
    Filter,
    FilterConfig,
    Fusion,
    FusionConfig,
    LocalModelConfig,
    LocalModelScorer,
    ReadConfig,
    Reader,
    RetrievalResult,
    Retriever,
    RetrieverConfig,
    Rewriter,
    RewriterConfig,
    Texts,
    answers_of,
    cut,
)
from harness.values import Amount, Kind, Ordered, Ranking, Together


class AskedConfig(ModelConfig, RewriterConfig):
    """The words of a language model in place of the question."""

    kind: Literal["toy_asked"] = "toy_asked"
    tone: Annotated[Literal["plain", "formal"], Ordered(("plain", "formal"))] = Field(
        "plain", description="How the question is put."
    )


class Asked(Rewriter[AskedConfig]):
    repeatable = True

    def run(self, queries):
        form = TextForm("", f"Put this question in a {self.config.tone} way: {{{{ query }}}}")
        about = [(query.text, ()) for query in queries]
        answers = yield from answers_of(Request(self.config, form, about, "toy asked", "rewriting"))
        return [replace(query, text=text_of(answer)) for query, answer in zip(queries, answers, strict=True)]


class MentionedConfig(FilterConfig):
    """The documents whose names the question mentions."""

    kind: Literal["toy_mentioned"] = "toy_mentioned"
    letters: Annotated[int, Amount()] = Field(4, ge=1, description="Of names this many letters are compared.")


class Mentioned(Filter[MentionedConfig]):
    def named(self, queries, facts):
        return [
            {
                column: tuple(
                    value
                    for value in facts.of(column)
                    if value[: self.config.letters].lower() in query.text.lower()
                )
                for column in self.config.columns
            }
            for query in queries
        ]


class NearConfig(BiEncoderConfig, RetrieverConfig):
    """The chunks whose vectors point the same way."""

    kind: Literal["toy_near"] = "toy_near"
    sharpness: Annotated[int, Ordered((1, 3))] = Field(1, ge=1, description="The power of a likeness.")


class Near(Retriever[NearConfig]):
    one_by_one = True

    def identity(self, fingerprint):
        return [1, fingerprint(self.config.embed), self.config.model_dump(mode="json")]

    def run(self, passages, queries):
        encoder = self.config.embed
        vectors, asked = yield Together(
            [
                Texts(encoder, passages.texts, "passages", key=passages.key),
                Texts(encoder, [query.text for query in queries], "queries"),
            ]
        )
        rankings = []
        for query, own in zip(queries, asked, strict=True):
            likeness = (vectors @ own).astype(float) ** self.config.sharpness
            ranking = Ranking.by_score(query.query_id, passages.ids, likeness.tolist())
            rankings.append(cut(ranking, self.config, passages.length_of))
        return RetrievalResult(rankings)


class GuidedConfig(ModelConfig, RetrieverConfig):
    """The chunks with the words that a language model thinks of."""

    kind: Literal["toy_guided"] = "toy_guided"


class Guided(Retriever[GuidedConfig]):
    def identity(self, fingerprint):
        return [1, self.config.model_dump(mode="json")]

    def run(self, passages, queries):
        form = TextForm("", "Words for this: {{ query }}")
        about = [(query.text, ()) for query in queries]
        answers = yield from answers_of(Request(self.config, form, about, "toy guided", "rewriting"))
        rankings = []
        for query, answer in zip(queries, answers, strict=True):
            words = set(text_of(answer).lower().split())
            scores = [float(len(words & set(text.lower().split()))) for text in passages.texts]
            ranking = Ranking.by_score(query.query_id, passages.ids, scores)
            rankings.append(cut(ranking, self.config, passages.length_of))
        return RetrievalResult(rankings)


class TurnsConfig(FusionConfig):
    """The routes take turns."""

    kind: Literal["toy_turns"] = "toy_turns"
    turns: Annotated[int, Amount()] = Field(
        2, ge=1, description="Chunks that each route gives before others."
    )


class Turns(Fusion[TurnsConfig]):
    def combine(self, rankings, weights):
        scores = {}
        for ranking in rankings:
            for rank, chunk_id in enumerate(ranking.chunk_ids):
                scores[chunk_id] = max(scores.get(chunk_id, 0.0), 1 / (1 + rank // self.config.turns))
        return scores


class CosineConfig(LocalModelConfig):
    """The chunks by their likeness to the question, read as one text."""

    kind: Literal["toy_cosine"] = "toy_cosine"
    model: str = Field("embedded:all-MiniLM-L6-v2", description="The bi-encoder.")
    effort: Annotated[Literal["low", "high"], Ordered(("low", "high"))] = Field(
        "low", description="Whether the question is read again with each chunk."
    )


class Cosine(LocalModelScorer[CosineConfig]):
    kind = "SentenceTransformer"

    @property
    def fingerprint(self):
        return f"{super().fingerprint}:{self.config.effort}"

    def batches(self, pairs):
        return [list(range(start, min(start + 8, len(pairs)))) for start in range(0, len(pairs), 8)]

    def score(self, pairs):
        again = self.config.effort == "high"
        read = [f"{query} {passage}" if again else passage for query, passage in pairs]
        model = self.loaded()
        both = [
            np.asarray(model.encode(texts, normalize_embeddings=True, show_progress_bar=False))
            for texts in ([query for query, _ in pairs], read)
        ]
        return (both[0] * both[1]).sum(axis=1).astype(np.float32)


class BesideConfig(ReadConfig):
    """The chunk with the letters on both sides."""

    kind: Literal["toy_beside"] = "toy_beside"
    letters: Annotated[int, Amount()] = Field(20, ge=1, description="Letters on each side.")


class Beside(Reader[BesideConfig]):
    def run(self, chunks, sources):
        letters = self.config.letters
        return [
            (
                max(0, chunk.start - letters),
                min(len(sources.document(chunk.doc_id).text), chunk.end + letters),
            )
            for chunk in chunks
        ]


class MeasuredConfig(ModelConfig, ReadConfig):
    """The chunk with as many letters on both sides as a language model says."""

    kind: Literal["toy_measured"] = "toy_measured"
    most: int = Field(60, ge=1, description="The most letters on each side.")


class Measured(Reader[MeasuredConfig]):
    def run(self, chunks, sources):
        form = TextForm("", "How many letters around this?\n{{ passages }}")
        about = [("", (chunk.text,)) for chunk in chunks]
        answers = yield from answers_of(Request(self.config, form, about, "toy measured", "reading"))
        letters = [min(self.config.most, int(text_of(answer))) for answer in answers]
        return [self._around(chunk, count, sources) for chunk, count in zip(chunks, letters, strict=True)]

    def longest(self, chunk, sources):
        return self._around(chunk, self.config.most, sources)

    def _around(self, chunk, letters, sources):
        end = len(sources.document(chunk.doc_id).text)
        return max(0, chunk.start - letters), min(end, chunk.end + letters)


class AlikeConfig(BiEncoderConfig, ReadConfig):
    """The chunk with the one after it, where their vectors point the same way."""

    kind: Literal["toy_alike"] = "toy_alike"


class Alike(Reader[AlikeConfig]):
    def run(self, chunks, sources):
        texts = [chunk.text for chunk in chunks]
        vectors = yield Texts(self.config.embed, texts, "passages", key="toy alike")
        spans = []
        for place, chunk in enumerate(chunks):
            following = min(place + 1, len(chunks) - 1)
            after = chunks[following]
            alike = after.doc_id == chunk.doc_id and vectors[place] @ vectors[following] > 0
            spans.append((chunk.start, after.end if alike else chunk.end))
        return spans

    def longest(self, chunk, sources):
        return chunk.start, len(sources.document(chunk.doc_id).text)


class RetoldConfig(ModelConfig, AlterationConfig):
    """What is read for a question in the words of a language model."""

    kind: Literal["toy_retold"] = "toy_retold"


class Retold(Alteration[RetoldConfig]):
    def run(self, reading):
        form = TextForm("", "Retell this.\n{{ passages }}")
        about = [(reading.query.text, (passage.chunk.text,)) for passage in reading.passages]
        answers = yield from answers_of(Request(self.config, form, about, "toy retold", "reading"))
        return tuple(
            replace(passage, chunk=replace(passage.chunk, text=text_of(answer)), change="altered")
            for passage, answer in zip(reading.passages, answers, strict=True)
        )


class RepeatingConfig(ModelConfig, AnswerConfig):
    """A language model says which passage answers."""

    kind: Literal["toy_repeating"] = "toy_repeating"
    manner: Annotated[Literal["short", "long"], Ordered(("short", "long"))] = Field(
        "short", description="How much is said."
    )


class Repeating(Answerer[RepeatingConfig]):
    asks = True

    @property
    def name(self):
        return f"repeating by {self.config.asked_model}"

    def run(self, asked):
        form = TextForm("", f"Answer in a {self.config.manner} way.\n{{{{ query }}}}\n{{{{ passages }}}}")
        about = [(question.question, question.passages) for question in asked]
        answers = yield from answers_of(Request(self.config, form, about, "toy repeating", "answer"))
        return [
            AnswerReply(
                text_of(answer),
                prompt_tokens=answer.prompt_tokens,
                completion_tokens=answer.completion_tokens,
                price=answer.price,
                seconds=answer.seconds,
            )
            for answer in answers
        ]


ASKED = Kind(AskedConfig, Asked, words="asked again")
MENTIONED = Kind(MentionedConfig, Mentioned, words="by mention")
NEAR = Kind(NearConfig, Near, words="near search", by=("vectors",))
GUIDED = Kind(GuidedConfig, Guided, words="guided search", by=("words",))
TURNS = Kind(TurnsConfig, Turns, words="turns")
COSINE = Kind(CosineConfig, Cosine, words="cosine reading")
BESIDE = Kind(BesideConfig, Beside, words="with what is beside")
MEASURED = Kind(MeasuredConfig, Measured, words="as far as a model says")
ALIKE = Kind(AlikeConfig, Alike, words="with the next that is alike")
RETOLD = Kind(RetoldConfig, Retold, words="retold")
REPEATING = Kind(RepeatingConfig, Repeating, words="repeating")
