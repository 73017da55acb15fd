"""Queries as they are asked: what was made of them, for the tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.pipeline.search import Searched
from harness.report import AskedRow


def asked_rows(searched: Iterable[Searched]) -> Iterator[AskedRow]:
    """Every query as each step of each setting asked it, where that is not as it stands."""
    for one in searched:
        for step, queries in one.asked.items():
            for query in queries:
                yield AskedRow(one.setting.name, step, query.query_id, query.text)
