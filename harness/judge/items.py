"""Turn a stream of pairs into the units of work of a prompt: single passages, or lists of one query's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby, islice

from harness.errors import JudgeError
from harness.judge.prompting import Prompt
from harness.judge.records import Pair


@dataclass(frozen=True, slots=True)
class Item:
    """The pairs of one query that are graded in one call, in their own order."""

    pairs: tuple[Pair, ...]

    @property
    def query(self) -> str:
        """The text of the query."""
        return self.pairs[0].query.text

    @property
    def passages(self) -> tuple[str, ...]:
        """The texts of the passages."""
        return tuple(pair.passage.text for pair in self.pairs)


def items_of(pairs: Iterable[Pair], prompt: Prompt) -> Iterator[Item]:
    """Group pairs for a prompt, lazily; the pairs of a query must follow one another."""
    if not prompt.listwise:
        for pair in pairs:
            yield Item((pair,))
        return
    seen: set[str] = set()
    for query_id, group in groupby(pairs, key=lambda pair: pair.query.query_id):
        if query_id in seen:
            raise JudgeError(f"The pairs of query {query_id} are not consecutive, as a list prompt needs.")
        seen.add(query_id)
        while chunk := tuple(islice(group, prompt.list_size)):
            yield Item(chunk)
