"""A part of the documents and queries: all that is labelled, and a seeded share of the rest.

Parts of one seed contain each other, so that what was computed for a smaller one is there for a larger one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from harness import data
from harness.running.config.models import BenchConfig
from harness.running.config.tune_keys import PartConfig
from harness.running.passage_files import labels_by_file
from harness.values import ConfigError, Query, by_key


def place_of(seed: int, name: str) -> float:
    """A number from 0 to 1 that depends on the name and the seed alone."""
    digest = hashlib.sha256(f"{seed}:{name}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def labelled_documents(rows: Iterable[data.LabelRow], doc_ids: Collection[str]) -> set[str]:
    """The documents that a label names."""
    names = {name for row in rows for name in data.possible_ids(row.document)}
    return names & {*doc_ids}


def documents_of(part: PartConfig, doc_ids: Sequence[str], labelled: Collection[str]) -> list[str]:
    """The labelled documents, and the part's share of the others, in their order."""
    kept = {*labelled}
    kept |= {name for name in doc_ids if place_of(part.seed, name) < part.text}
    return [name for name in doc_ids if name in kept]


def queries_of(part: PartConfig, queries: data.QuerySet, rows: Iterable[data.LabelRow]) -> tuple[Query, ...]:
    """The part's share of the queries in their order, drawn from every document and type of question alike.

    The document is the cluster of the query, else that of its first label. At least one query is drawn.
    """
    document_of: dict[str, str] = {}
    for row in rows:
        document_of.setdefault(row.query_id, row.document)
    kept = [query for query in queries.queries if part.split in ("all", query.split)]
    strata = by_key(
        (
            (
                query.cluster or document_of.get(query.query_id, ""),
                queries.extras.get(query.query_id, {}).get("type", ""),
            ),
            query.query_id,
        )
        for query in kept
    )
    # the k-th of n in a stratum comes at a random place within the k-th n-th of the order
    order: dict[str, float] = {}
    for stratum, ids in strata.items():
        shift = place_of(part.seed, "\0".join(stratum))
        by_hash = sorted(ids, key=lambda name: place_of(part.seed, name))
        order |= {name: (place + shift) / len(ids) for place, name in enumerate(by_hash)}
    count = max(1, round(part.queries * len(kept)))
    drawn = {*sorted(order, key=lambda name: (order[name], name))[:count]}
    return tuple(query for query in kept if query.query_id in drawn)


def queries_in_part(
    config: BenchConfig, queries: data.QuerySet, rows: tuple[data.LabelRow, ...]
) -> tuple[data.QuerySet, tuple[data.LabelRow, ...]]:
    """The queries and label rows that a benchmark's part leaves."""
    if config.part.is_whole:
        return queries, rows
    kept = queries_of(config.part, queries, rows)
    ids = {query.query_id for query in kept}
    return replace(queries, queries=kept), tuple(row for row in rows if row.query_id in ids)


def files_in_part(
    config: BenchConfig, files: Sequence[data.DocumentFile], rows: Sequence[data.LabelRow]
) -> list[data.DocumentFile]:
    """The files that a benchmark's part leaves; raises ConfigError where no label names a document."""
    if config.part.text == 1:
        return [*files]
    ids = [file.doc_id for file in files]
    labelled = labelled_documents(labels_by_file(config, rows, files), ids)
    if not labelled:
        raise ConfigError(
            f"{config.name}: a part of the text holds all labelled documents, but no label names a document. "
            "Give labels, or leave out part.text."
        )
    kept = {*documents_of(config.part, ids, labelled)}
    return [file for file in files if file.doc_id in kept]
