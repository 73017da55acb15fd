"""Do rankings hold as much text as a measure reads?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from harness.config import BenchConfig
from harness.measures import FAMILIES, parse_measure
from harness.progress import Reporter
from harness.running.search import RETRIEVE, Searched


def text_ranked(searched: Searched, unit: str) -> NDArray[np.int64]:
    """The text of every whole ranking [Q], in ``characters`` or ``tokens``; what overlaps is read twice."""
    chunks = searched.chunking.chunks
    lengths = searched.chunking.tokens.tolist() if unit == "tokens" else [len(c.text) for c in chunks]
    length = {chunk.chunk_id: one for chunk, one in zip(chunks, lengths, strict=True)}
    # a reranker reorders: every stage of a setting ranks the same text
    rankings = searched.rankings[RETRIEVE]
    return np.array([sum(length[i] for i in ranking.chunk_ids) for ranking in rankings], dtype=np.int64)


def warn_of_unfilled_budgets(
    searched: Sequence[Searched], config: BenchConfig, reporter: Reporter, remedy: str = ""
) -> None:
    """Say where rankings end before the text that a measure reads: what lies beyond is lost to depth alone.

    ``remedy`` says what to do about it, by default in the configuration of a benchmark; with one, the depth
    of the search is not known. Documents that hold less text than the budget cannot fill it, nor can a
    retriever that finds no more, such as BM25 where no word matches: they are not warned of.
    """
    for name in text_budgets(config.measures):
        measure = parse_measure(name)
        unit, budget = FAMILIES[measure.family].reads, measure.cutoff or 0
        short = []
        for one in searched:
            read = text_ranked(one, unit)
            ends = (read < budget) & _cut_by_depth(one, bool(remedy))
            if ends.any():
                told = f"{ends.sum()} of {len(read)} queries, median {np.median(read):,.0f}"
                short.append(f"{one.setting.name} ({told})")
        if short:
            reporter.warn(
                f"rankings end before the {budget:,} {unit} that {name} reads: {'; '.join(short)}. Text "
                "beyond that is lost to the depth of the search. "
                + (
                    remedy
                    or f"Raise retrieve.top_k, or set retrieve.top_chars to {budget:,} or more instead."
                )
            )


def _cut_by_depth(searched: Searched, unknown: bool) -> NDArray[np.bool_]:
    """For which queries the search was as deep as asked for and left chunks out, [Q].

    Where the depth that was asked for is ``unknown``, all that left chunks out.
    """
    by_chunks = searched.over_chunks or searched
    ranks = np.array([len(ranking.chunk_ids) for ranking in by_chunks.rankings[RETRIEVE]])
    left: NDArray[np.bool_] = ranks < len(by_chunks.chunking.chunks)
    asked = searched.setting.retrieve
    if unknown:
        return left
    if asked.top_chars is None:
        return left & (ranks >= asked.top_k)
    return left & (text_ranked(by_chunks, "characters") >= asked.top_chars)


def text_budgets(measures: Sequence[str]) -> list[str]:
    """Of the measures that read so much text, the one with the largest budget in each unit."""
    deepest: dict[str, tuple[int, str]] = {}
    for name in measures:
        measure = parse_measure(name)
        family = FAMILIES[measure.family]
        if family.cut_in_text and measure.cutoff is not None:
            deepest[family.reads] = max(deepest.get(family.reads, (0, "")), (measure.cutoff, name))
    return [name for _, name in deepest.values()]
