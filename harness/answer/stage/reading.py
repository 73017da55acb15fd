"""Which passages of a ranking are read to answer, and in which order."""

from __future__ import annotations

from collections.abc import Sequence

from harness.answer.stage.step import AnswerConfig, Order


def passages_read(config: AnswerConfig, lengths: Sequence[int]) -> list[int]:
    """The ranks, from 0, of the passages that are read, in the order in which they are read.

    ``lengths`` are the tokens of the ranked passages, best first.
    """
    ranks = list(range(len(lengths)))[: config.top_n]
    if config.max_tokens is not None:
        ranks = ranks[: _fitting([lengths[rank] for rank in ranks], config.max_tokens)]
    return in_order(ranks, config.order)


def _fitting(lengths: Sequence[int], budget: int) -> int:
    """How many of the first passages have at most ``budget`` tokens together."""
    spent = 0
    for count, length in enumerate(lengths):
        spent += length
        if spent > budget:
            return count
    return len(lengths)


def in_order(ranks: Sequence[int], order: Order) -> list[int]:
    """Ranks, best first, in another order.

    ``edges`` puts ranks 1, 3, 5 … first and … 6, 4, 2 after them (Liu et al., Lost in the middle, TACL 2024:
    what stands in the middle is used least).
    """
    if order == "reverse":
        return list(reversed(ranks))
    if order == "edges":
        return [*ranks[::2], *reversed(ranks[1::2])]
    return list(ranks)
