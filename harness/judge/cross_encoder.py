"""A judge by the score of a reranker, which reads query and passage together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from pydantic import Field, model_validator

from harness.judge.calibration import Floats
from harness.judge.pair_grades import Labelled, Pair
from harness.judge.scored import ScoredConfig, ScoredJudge
from harness.models import EMBEDDED, RerankEndpoint
from harness.values import Run


class CrossEncoderJudgeConfig(ScoredConfig):
    """A judge that grades by the score of a cross-encoder.

    Scores have the scale of the model: without labels to fit, `cuts` has to be set.
    """

    kind: Literal["cross_encoder"] = "cross_encoder"
    model: str | None = Field(
        None,
        description="Hub id or local folder of a cross-encoder, such as "
        "`cross-encoder/ms-marco-MiniLM-L-6-v2`; or `embedded:maxsim`, late interaction without network.",
    )
    endpoint: RerankEndpoint | None = Field(
        None,
        description="An endpoint instead of `model`, with the keys of `rerank: {kind: endpoint}`. It scores "
        "what people have labelled too.",
    )

    @model_validator(mode="after")
    def _names_one_model(self) -> CrossEncoderJudgeConfig:
        if (self.model is None) == (self.endpoint is None):
            raise ValueError("a cross-encoder is either a model or an endpoint: name one of them")
        if self.model in EMBEDDED and EMBEDDED[self.model][2] == "bi-encoder":
            raise ValueError(f"{self.model} is a bi-encoder: use judge: cosine, or model: embedded:maxsim")
        return self

    @property
    def title(self) -> str:
        """How it is named in every table."""
        return f"cross-encoder {self.model_names[0]}"

    @property
    def served(self) -> bool:
        """Whether an endpoint gives the scores."""
        return self.endpoint is not None

    @property
    def scorer(self) -> str | RerankEndpoint:
        """The cross-encoder, by its name or as an endpoint."""
        return self.endpoint if self.endpoint is not None else str(self.model)

    @property
    def model_names(self) -> tuple[str, ...]:
        """The cross-encoder."""
        return (self.endpoint.model if self.endpoint is not None else str(self.model),)


class CrossEncoderJudge(ScoredJudge[CrossEncoderJudgeConfig]):
    """Grades by the score of a cross-encoder."""

    def scores(self, pairs: Sequence[Pair], labels: Sequence[Labelled]) -> Run[Floats]:
        """The score of every query with its passage, on the scale of the model, float64 [pairs]."""
        texts = [(pair.query.text, pair.passage.text) for pair in pairs]
        return np.array((yield from self.tools.pair_scores(texts, self.config.scorer)), dtype=np.float64)
