"""Few-shot: passages that people have graded, shown to a judge before the one it is to grade."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from harness.values import MAX_GRADE, Document, JudgeError, Judgment, Query

# A longer passage would crowd out the one that is to be graded.
LONGEST = 1500


@dataclass(frozen=True, slots=True)
class Example:
    """A passage with the grade that people gave it for a query."""

    query: str
    passage: str
    grade: int


class Examples:
    """Chooses ``count`` examples for every query, none of them about that query.

    The order of the candidates follows from their content alone. They are taken grade by grade in turn, the
    ends of the scale first, each from a query of its own; so most queries are shown the same ones, and which
    ones does not depend on what else is judged.
    """

    def __init__(self, candidates: Iterable[Example], count: int) -> None:
        self.count = count
        self._by_grade: dict[int, list[Example]] = defaultdict(list)
        for one in sorted(set(candidates), key=_digest):
            self._by_grade[one.grade].append(one)
        self.shown_for = cache(self._chosen)

    @property
    def sha256(self) -> str:
        """The hash of all candidates and of how many are shown."""
        digest = hashlib.sha256(str(self.count).encode())
        for grade in sorted(self._by_grade):
            for one in self._by_grade[grade]:
                digest.update(_digest(one))
        return digest.hexdigest()

    def _chosen(self, query: str) -> tuple[Example, ...]:
        """The examples for a query, in the order shown; raises JudgeError if there are too few."""
        taken = {_same(query)}
        queues = [iter(self._by_grade[grade]) for grade in _ends_first() if grade in self._by_grade]
        chosen: list[Example] = []
        while queues and len(chosen) < self.count:
            for queue in list(queues):
                found = next((one for one in queue if _same(one.query) not in taken), None)
                if found is None:
                    queues.remove(queue)
                elif len(chosen) < self.count:
                    taken.add(_same(found.query))
                    chosen.append(found)
        if len(chosen) < self.count:
            raise JudgeError(
                f"examples: {self.count} asks for more than people have graded: {len(chosen)} passages of "
                f"different train queries, of at most {LONGEST:,} characters, are left for the query "
                f"{query!r}. Grade more, or show fewer."
            )
        return tuple(chosen)


def candidates_of(
    labels: Iterable[Judgment], queries: Sequence[Query], documents: Mapping[str, Document]
) -> tuple[Example, ...]:
    """All possible examples: human grades for train queries; validation is left untouched."""
    texts = {query.query_id: query.text for query in queries if query.split == "train"}
    return tuple(
        Example(texts[one.query_id], documents[one.doc_id].text[one.start : one.end], one.grade)
        for one in labels
        if one.query_id in texts and one.grade is not None and one.end - one.start <= LONGEST
    )


def _ends_first() -> list[int]:
    """4, 0, 2, 3, 1: with few examples the ends of the scale are shown."""
    middle = [grade for grade in range(MAX_GRADE - 1, 0, -1) if grade != MAX_GRADE // 2]
    return [MAX_GRADE, 0, MAX_GRADE // 2, *middle]


def _same(query: str) -> str:
    return " ".join(query.casefold().split())


def _digest(one: Example) -> bytes:
    parts = (one.query, one.passage, str(one.grade))
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).digest()
