"""The data that a folder of results was scored from: rankings, chunks, queries and graded spans."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import cast

from harness.report.rows.ranking_rows import ChunkOffsetRow, TokenStartRow, before_cell, before_of
from harness.report.rows.score_rows import QueryRow
from harness.report.stored_tables import damaged, read_as, read_rows
from harness.report.table_spec import TABLES, spec_of
from harness.values import NOT_SCORED, Chunk, HarnessError, Judgment, Query, Ranking, Span, Split, by_key

ChunkPlaces = tuple[str, Callable[[], Iterable[tuple[str, Sequence[Span]]]]]
"""A name of a chunking, and what gives the document and the spans of each chunk, its own place the last."""
SCORED_FROM = ("chunk_offsets.csv", "queries.csv", "rankings.csv")


@dataclass(frozen=True, slots=True)
class ScoringInputs:
    """``rankings`` maps (setting, stage) to its rankings, ``chunks`` a setting to all of its chunks.

    ``tokens`` maps a setting to the offsets at which the tokens of each document that is ranked or judged
    begin and the last one ends; None where the result does not keep them.
    """

    queries: tuple[Query, ...]
    rankings: Mapping[tuple[str, str], list[Ranking]]
    chunks: Mapping[str, list[Chunk]]
    tokens: Mapping[str, Mapping[str, list[int]]] | None


def lacking_inputs(folder: Path) -> list[str]:
    """The names of the files that it was scored from and that it does not have."""
    return [name for name in SCORED_FROM if not TABLES[name.removesuffix(".csv")].path_in(folder).exists()]


def read_scoring_inputs(
    folder: Path, tokenizers: Mapping[str, str], judged: Collection[str]
) -> ScoringInputs:
    """Read it; raises HarnessError if a file is missing or damaged.

    ``tokenizers`` maps every setting to the name of its tokenizer. Where tokens begin is kept of the
    documents ``judged`` and of those that are ranked: of a large collection they are few.
    """
    missing = lacking_inputs(folder)
    if missing:
        raise HarnessError(
            f"{folder} was scored on other judgments, and cannot be rescored without "
            f"{', '.join(missing)}. Copy the whole folder of results, or run the benchmark again."
        )
    queries = tuple(
        Query(row.query_id, row.text, cast("Split", row.split), row.answerable, row.cluster)
        for row in read_as(folder, QueryRow)
    )
    rankings, chunks = _rankings(folder), read_chunk_offsets(folder)
    documents = set(judged).union(*documents_ranked(rankings, chunks).values())
    return ScoringInputs(queries, rankings, chunks, _tokens(folder, tokenizers, documents))


def documents_ranked(
    rankings: Mapping[tuple[str, str], Iterable[Ranking]], chunks: Mapping[str, Iterable[Chunk]]
) -> dict[str, set[str]]:
    """The documents with a chunk in a ranking, by setting; ``rankings`` are by setting and stage."""
    documents: dict[str, set[str]] = {}
    for setting, of_setting in chunks.items():
        ranked = {
            chunk_id
            for (name, _), of_stage in rankings.items()
            if name == setting
            for ranking in of_stage
            for chunk_id in ranking.chunk_ids
        }
        documents[setting] = {chunk.doc_id for chunk in of_setting if chunk.chunk_id in ranked}
    return documents


def read_graded_spans(folder: Path) -> list[Judgment]:
    """The spans that settings were scored on, in order; raises HarnessError for a damaged judgments.csv."""
    try:
        return [
            Judgment(
                query_id=row["query_id"],
                doc_id=row["document"],
                start=int(row["start"]),
                end=int(row["end"]),
                grade=int(row["grade"]) if row["grade"] else None,
                evidence=row["evidence"],
                judge=row["judge"],
                answer=next(iter(before_of(row["answer"])), None),
            )
            for row in read_rows(folder, "judgments")
            if row["scored_on"] == "yes"
        ]
    except ValueError as error:
        raise damaged(folder / "judgments.csv", str(error)) from None


def _rankings(folder: Path) -> dict[tuple[str, str], list[Ranking]]:
    ranked = by_key(
        (
            (row["setting"], row["stage"], row["query_id"]),
            (int(row["rank"]), row["chunk_id"], float(row["score"]) if row["score"] else NOT_SCORED),
        )
        for row in read_rows(folder, "rankings")
    )
    rankings: dict[tuple[str, str], list[Ranking]] = {}
    try:
        for (setting, stage, query), items in ranked.items():
            _, chunk_ids, scores = zip(*sorted(items), strict=True)
            rankings.setdefault((setting, stage), []).append(Ranking(query, chunk_ids, scores))
    except ValueError as error:
        raise damaged(folder / "rankings.csv", str(error)) from None
    return rankings


def _tokens(
    folder: Path, tokenizers: Mapping[str, str], documents: Collection[str]
) -> dict[str, dict[str, list[int]]] | None:
    """Where tokens of ``documents`` begin, by setting; None without such a file, or not of every setting."""
    path = TABLES[spec_of(TokenStartRow).name].path_in(folder)
    if not path.exists():
        return None
    places: dict[str, dict[str, list[int]]] = {}
    spec = spec_of(TokenStartRow)
    for cells in read_rows(folder, spec.name, {"document": documents}):
        row = spec.parsed(cells)
        edges = places.setdefault(row.tokenizer, {}).setdefault(row.document, [row.start])
        try:
            lengths = list(map(int, row.lengths.split()))
        except ValueError as error:
            raise damaged(path, str(error)) from None
        if edges[-1] != row.start or not lengths or min(lengths) < 0:
            raise damaged(path, f"the tokens of {row.document} at {row.start} do not follow one another")
        edges += list(accumulate(lengths, initial=row.start))[1:]
    if not places.keys() >= set(tokenizers.values()):
        return None
    return {setting: places[tokenizer] for setting, tokenizer in tokenizers.items()}


def offset_rows(cut: Mapping[str, ChunkPlaces]) -> Iterator[ChunkOffsetRow]:
    """The chunks of every setting, or the setting before it that has the same ones."""
    first: dict[str, str] = {}
    for setting, (key, places) in cut.items():
        if first.setdefault(key, setting) != setting:
            yield ChunkOffsetRow(setting, first[key], "", None, None)
            continue
        for document, (*before, (start, end)) in places():
            yield ChunkOffsetRow(setting, "", document, start, end, before_cell(before))


def read_chunk_offsets(folder: Path) -> dict[str, list[Chunk]]:
    """The chunks of every setting, without their text.

    Raises HarnessError if the result has no such file, or a damaged one.
    """
    chunks: dict[str, list[Chunk]] = {}
    try:
        for row in read_rows(folder, "chunk_offsets"):
            setting, document = row["setting"], row["document"]
            if row["same_as"]:
                chunks[setting] = chunks[row["same_as"]]
                continue
            start, end = int(row["start"]), int(row["end"])
            before = before_of(row["before"])
            name = "+".join(f"{first}-{last}" for first, last in (*before, (start, end)))
            chunks.setdefault(setting, []).append(
                Chunk(f"{document}:{name}", document, start, end, "", before)
            )
    except (KeyError, ValueError) as error:
        raise damaged(folder / "chunk_offsets.csv", str(error)) from None
    return chunks
