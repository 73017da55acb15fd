"""A second match of what was found: the names in a question against those in each passage, as vectors."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Generic, Literal, TypeVar

import numpy as np
from pydantic import Field

from harness import models
from harness.models import ComputingConfig, EmbedConfig
from harness.steps.search.dense import Floats
from harness.steps.search.depth import DECIMALS
from harness.steps.search.rerank import ListScorer, hashed
from harness.steps.search.rerank.late_interaction import max_sim
from harness.steps.search.rewrite import entities, prompted
from harness.steps.search.rewrite.llm_entities import names_of
from harness.steps.search.step import Identity, RerankerConfig
from harness.steps.search.tools import PendingCalls, PendingCallsError, Shared

# Raised when the same names are matched differently.
_VERSION = 1
_FAILING = models.FailurePolicy(
    "texts have no usable list of names", ("rerank", "nameless"), "count as naming nothing"
)


class MatchConfig(ComputingConfig, RerankerConfig):
    """Base of the configurations of second matches: the model of the vectors, and how both orders merge."""

    model: str = Field(
        "sentence-transformers/all-MiniLM-L6-v2",
        description="The bi-encoder that embeds every name: hub id, local folder, or "
        "`embedded:all-MiniLM-L6-v2` (needs no network).",
    )
    weight: float = Field(
        1.0, ge=0, description="How much the second match counts; the order before it counts 1."
    )
    k: float = Field(60.0, ge=0, description="The constant of reciprocal rank fusion, which merges both.")

    @property
    def embed(self) -> EmbedConfig:
        """The bi-encoder."""
        return self.made(EmbedConfig)

    @property
    def encoders(self) -> tuple[EmbedConfig, ...]:
        """The bi-encoder."""
        return (self.embed,)

    @property
    def model_name(self) -> str:
        """The bi-encoder's name."""
        return self.model


Config = TypeVar("Config", bound=MatchConfig)
Named = Mapping[str, Sequence[str]]
"""The names in each text."""


class SecondMatch(ListScorer, Generic[Config]):
    """Ranks the candidates a second time by their names, and merges both orders by reciprocal ranks.

    The second match of a passage is the mean over the question's names of the highest cosine with a name of
    the passage. A passage or a question that names nothing earns nothing by it.
    """

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self._encoder = config.embed.make()

    @abstractmethod
    def identity(self) -> Identity:
        """Everything that decides which names are found, besides the text."""

    @abstractmethod
    def names(
        self, texts: Sequence[str], tools: Shared, *, passages: bool
    ) -> tuple[Named, list[float | None]]:
        """The names in distinct texts, and what naming each has cost; ``passages`` or else questions.

        Raises LlmError and PendingCallsError.
        """

    @property
    def fingerprint(self) -> str:
        """The names, the encoder, and how both orders merge."""
        c = self.config
        return hashed(c.kind, [_VERSION, self.identity(), self._encoder.fingerprint, c.weight, c.k])

    def ordered(
        self, lists: Sequence[Sequence[str]], tools: Shared
    ) -> list[tuple[Sequence[float], float | None]]:
        """The merged scores of each list, and what naming its question has cost.

        Passages are named once, as they are indexed once: that is no cost of a query.
        """
        questions = list(dict.fromkeys(query for query, *_ in lists))
        passages = list(dict.fromkeys(one for _, *own in lists for one in own))
        found: list[tuple[Named, list[float | None]]] = []
        missing: list[PendingCalls] = []
        for texts, are_passages in ((questions, False), (passages, True)):
            try:
                found.append(self.names(texts, tools, passages=are_passages))
            except PendingCallsError as error:
                missing += error.missing
        if missing:
            raise PendingCallsError(*missing)
        (asked, costs), (there, _) = found
        cost = dict(zip(questions, costs, strict=True))
        sought = self._vectors(asked, tools, stored=False)
        known = self._vectors(there, tools, stored=True)
        return [
            (self._merged(sought.get(query), [known.get(one) for one in own]), cost[query])
            for query, *own in lists
        ]

    def _vectors(self, named: Named, tools: Shared, *, stored: bool) -> dict[str, Floats]:
        """The unit vectors [names, d] of every text that names something."""
        names = list(dict.fromkeys(name for own in named.values() for name in own))
        if not names:
            return {}
        embed = self.config.embed
        rows = np.asarray(tools.vector_rows(names, embed)[:] if stored else tools.vectors(names, embed))
        rows = rows / (np.linalg.norm(rows, axis=1, keepdims=True) + 1e-12)
        place = {name: at for at, name in enumerate(names)}
        return {text: rows[[place[name] for name in own]] for text, own in named.items() if own}

    def _merged(self, sought: Floats | None, known: Sequence[Floats | None]) -> list[float]:
        """The sum of reciprocal ranks of every passage; equal matches keep the order before."""
        c = self.config
        scores = [1.0 / (c.k + rank) for rank in range(1, len(known) + 1)]
        if sought is None:
            return scores
        match = {at: round(max_sim(sought, own), DECIMALS) for at, own in enumerate(known) if own is not None}
        for rank, at in enumerate(sorted(match, key=lambda at: -match[at]), start=1):
            scores[at] += c.weight / (c.k + rank)
        return scores


class EntitiesMatchConfig(MatchConfig):
    """Names, figures and quotations of questions and passages by rules, matched again as vectors."""

    kind: Literal["entities"] = "entities"


class EntitiesMatch(SecondMatch[EntitiesMatchConfig]):
    """By the rules of the rewriter `entities`; no model names anything."""

    def __init__(self, config: EntitiesMatchConfig) -> None:
        super().__init__(config)
        # those of passages are kept, as an index keeps them
        self._kept = lru_cache(1 << 17)(entities.names_in)

    def describe(self) -> dict[str, str]:
        """The bi-encoder."""
        return self._encoder.describe()

    def identity(self) -> Identity:
        """The rules."""
        return [entities.NAMES_VERSION]

    def names(
        self, texts: Sequence[str], tools: Shared, *, passages: bool
    ) -> tuple[Named, list[float | None]]:
        """The names that the rules find, which cost nothing."""
        find = self._kept if passages else entities.names_in
        return {text: find(text) for text in texts}, [0.0] * len(texts)


class LlmMatchConfig(models.LlmStepConfig, MatchConfig):
    """A language model says what questions and passages name and what they are for, matched as vectors."""

    load = models.prompts_of(prompted.FOLDER, prompted.RewritePrompt, "a second match", ("query",))
    kind: Literal["llm_entities"] = "llm_entities"
    prompt: prompted.RewritePrompt = Field(
        "names_and_intent",
        validate_default=True,
        description="`names_and_intent`, `names_and_intent_zh`, or the path of your own file: it shows the "
        "question or passage as `{{ query }}`; the model answers with one name per line, or `none`.",
    )
    on_failure: Literal["fail", "nameless"] = Field(
        "fail",
        description="A text without a usable answer ends the run or counts as naming nothing (`nameless`), "
        "and the run lists them.",
    )

    @property
    def model_name(self) -> str:
        """The language model's name."""
        return self.endpoint.model


class LlmMatch(SecondMatch[LlmMatchConfig]):
    """By a prompt about every question and every passage that may be matched; answers are in the ledger."""

    def identity(self) -> Identity:
        """The prompt, the model and its parameters, and the handling of an answer that cannot be used."""
        c = self.config
        return [c.prompt.form.sha256, [c.endpoint.model, c.endpoint.parameters()], c.on_failure]

    def names(
        self, texts: Sequence[str], tools: Shared, *, passages: bool
    ) -> tuple[Named, list[float | None]]:
        """The lines of the model's answers; raises LlmError for one that cannot be used."""
        c, about = self.config, [(text, ()) for text in texts]
        title = f"{c.prompt.name} of {'passages' if passages else 'questions'}"
        request = models.Request(c, c.prompt.form, about, title, "naming", beforehand=passages)
        talks = tools.talks(request)
        answers = [talk.answers[0] for talk in talks]
        shown = (repr(text[:60]) for text in texts)
        lines = _FAILING.usable(c, shown, answers, names_of, tools.reporter)
        found = {text: own or [] for text, own in zip(texts, lines, strict=True)}
        return found, [talk.cost for talk in talks]
