"""Do findings on chunk sizes depend on the length of labels? Means with labels drawn longer and shorter."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.measures import Scorer, Text, across_chunkings, median_length, relabelled
from harness.report import LabelSensitivityRow
from harness.running.config.models import BenchConfig
from harness.running.context import Context
from harness.running.corpus import Corpus
from harness.running.search import Searched
from harness.running.sources import outlines


def label_sensitivity_rows(
    searched: Sequence[tuple[Searched, Scorer]], corpus: Corpus, config: BenchConfig, context: Context
) -> list[LabelSensitivityRow]:
    """The means of every setting and stage with the labels as they are, padded, trimmed and by sentences.

    For the measures that read a length of text, such as ``ndcg_text@5000``: those are what chunkings are
    compared by. Empty where the configuration has none, or nothing is relevant.
    """
    measures = [name for name in config.measures if across_chunkings(name)]
    if not measures or not any((scorer.spans.grade > 0).any() for _, scorer in searched):
        return []
    sentences = outlines(corpus, context)
    texts = {d.doc_id: Text(len(d.text), sentences[d.doc_id].sentences) for d in corpus.documents}
    # with one parser, once for all settings
    shared = {id(scorer.spans): scorer.spans for _, scorer in searched}
    drawn = {key: relabelled(spans, texts) for key, spans in shared.items()}
    rows = []
    for one, scorer in searched:
        ways = {way: scorer.against(spans) for way, spans in drawn[id(scorer.spans)].items()}
        for stage, rankings in one.rankings.items():
            for way, other in ways.items():
                values = other.score(rankings, measures).values
                for column, measure in enumerate(measures):
                    known = values[:, column][~np.isnan(values[:, column])]
                    rows.append(
                        LabelSensitivityRow(
                            setting=one.setting.name,
                            stage=stage,
                            measure=measure,
                            labels=way,
                            label_p50=median_length(other.spans),
                            mean=float(known.mean()) if len(known) else None,
                            n_queries=len(known),
                        )
                    )
    return rows
