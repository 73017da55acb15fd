"""Length-sorted batches under a token budget, the same for the same texts on every run."""

from __future__ import annotations

from collections.abc import Sequence


def length_sorted_batches(lengths: Sequence[int], budget: int, most: int = 512) -> list[list[int]]:
    """Group item indices so that padded length × count stays within ``budget`` tokens.

    Longest first, so that the first batch is the largest and running out of memory shows at once; equal
    lengths keep their order. An item longer than the budget forms a batch of its own.
    """
    order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    batches: list[list[int]] = []
    for index in order:
        current = batches[-1] if batches else None
        if current is not None and len(current) < most and (len(current) + 1) * lengths[current[0]] <= budget:
            current.append(index)
        else:
            batches.append([index])
    return batches
