"""Does what is found of chunk sizes depend on how long the labels are? Means with labels drawn otherwise."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain

import numpy as np

from harness.config import BenchConfig
from harness.evaluate.scoring import token_boundaries
from harness.measures import (
    FAMILIES,
    ChunkTable,
    SpanQrels,
    Text,
    median_length,
    parse_measure,
    relabelled,
    score,
)
from harness.report import LabelSensitivityRow
from harness.running.context import Context
from harness.running.corpus import Corpus
from harness.running.search import Searched
from harness.running.sources import outlines
from harness.types import Judgment, Query


def label_sensitivity_rows(
    searched: Sequence[Searched],
    queries: Sequence[Query],
    judgments: Sequence[Judgment],
    corpus: Corpus,
    config: BenchConfig,
    context: Context,
) -> list[LabelSensitivityRow]:
    """The means of every setting and stage with the labels as they are, padded, trimmed and by sentences.

    For the measures that read a length of text, such as ``ndcg_text@5000``: those are what chunkings are
    compared by. Empty where the configuration has none, or nothing is relevant.
    """
    measures = [name for name in config.measures if FAMILIES[parse_measure(name).family].cut_in_text]
    spans = SpanQrels.from_judgments(judgments)
    if not measures or not (spans.grade > 0).any():
        return []
    sentences = outlines(corpus, context)
    texts = {d.doc_id: Text(len(d.text), sentences[d.doc_id].sentences) for d in corpus.documents}
    ways_of: dict[frozenset[str], Mapping[str, SpanQrels]] = {}
    for one in searched:
        # with one parser, once for all settings
        own = corpus.texts_of.get(one.setting.name, frozenset())
        if own not in ways_of:
            judged = chain(*corpus.judged_for(one.setting.name, judgments))
            ways_of[own] = relabelled(SpanQrels.from_judgments(judged) if own else spans, texts)
    boundaries = _remembered(
        {one.setting.name: token_boundaries(one, corpus.texts, context) for one in searched}
    )
    rows = []
    for one in searched:
        table = ChunkTable.of(one.chunking.chunks)
        ways = ways_of[corpus.texts_of.get(one.setting.name, frozenset())]
        for stage, rankings in one.rankings.items():
            for way, drawn in ways.items():
                values = score(
                    rankings,
                    queries,
                    drawn,
                    table,
                    measures,
                    unanswerable="zero" if config.relevance.unanswerable == "zero" else "nan",
                    token_boundaries=boundaries[one.setting.name],
                ).values
                for column, measure in enumerate(measures):
                    known = values[:, column][~np.isnan(values[:, column])]
                    rows.append(
                        LabelSensitivityRow(
                            setting=one.setting.name,
                            stage=stage,
                            measure=measure,
                            labels=way,
                            label_p50=median_length(drawn),
                            mean=float(known.mean()) if len(known) else None,
                            n_queries=len(known),
                        )
                    )
    return rows


def _remembered(
    by_setting: Mapping[str, Callable[[str], list[int]]],
) -> dict[str, Callable[[str], list[int]]]:
    """The same functions, which tokenize a document once."""

    def remembering(ask: Callable[[str], list[int]]) -> Callable[[str], list[int]]:
        known: dict[str, list[int]] = {}

        def boundaries(doc_id: str) -> list[int]:
            if doc_id not in known:
                known[doc_id] = ask(doc_id)
            return known[doc_id]

        return boundaries

    return {name: remembering(ask) for name, ask in by_setting.items()}
