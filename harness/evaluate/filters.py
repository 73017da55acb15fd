"""What filters found in the queries, held against the labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from harness.report import FilterRow
from harness.running.corpus import Corpus
from harness.running.search import Searched
from harness.search import Narrowed
from harness.types import Judgment


def filter_rows(
    searched: Iterable[Searched], judgments: Sequence[Judgment], corpus: Corpus
) -> Iterator[FilterRow]:
    """One row a query of every filter: what it named, what was left, what labelled documents were not."""
    for one in searched:
        if not one.filtered:
            continue
        labelled: dict[str, dict[str, None]] = {}
        for judgment in corpus.judged_for(one.setting.name, judgments)[0]:
            if judgment.grade:
                labelled.setdefault(judgment.query_id, {})[judgment.doc_id] = None
        for step, narrowed in one.filtered.items():
            for query in narrowed:
                yield _row(one.setting.name, step, query, list(labelled.get(query.query_id, ())))


def _row(setting: str, step: str, one: Narrowed, labelled: Sequence[str]) -> FilterRow:
    excluded = [] if one.documents is None else [doc for doc in labelled if doc not in one.documents]
    return FilterRow(
        setting=setting,
        step=step,
        query_id=one.query_id,
        mode=one.mode,
        named=_written(one.named),
        dropped=" ".join(one.dropped),
        documents=one.total if one.documents is None else len(one.documents),
        of=one.total,
        labelled=len(labelled),
        excluded=" ".join(excluded),
        failed=one.failed,
    )


def _written(named: Mapping[str, Sequence[str]]) -> str:
    return "; ".join(f"{column}={'|'.join(values)}" for column, values in named.items())
