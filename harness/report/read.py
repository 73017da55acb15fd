"""Read the results of a benchmark: results to compare, rows, and tables for pandas."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.report.rows.score_rows import SEED_RATIO, ScoreRow, SummaryRow
from harness.report.scoring_inputs import read_chunk_offsets
from harness.report.stored_tables import RECORD, NoResultError, Row, damaged, read_as, read_record, read_rows
from harness.report.table_spec import TABLES, R, spec_of
from harness.values import SPLITS, Chunk, Declared, HarnessError, by_key, document_of, suggestion, text_sha256

SUMMARY = spec_of(SummaryRow).file

if TYPE_CHECKING:
    import pandas as pd

# blanks between chunks are in none of them
_WHOLE = 0.995
_JUDGED = ("query_id", "document", "start", "end", "grade", "scored_on")


@dataclass(frozen=True, slots=True)
class StoredResult:
    """One folder of results, or a run before it is written to one: ``per_query`` are all values.

    ``texts`` maps documents to the hash of their extracted text; ``judged`` is a hash of the graded spans
    that the settings were scored on.
    """

    name: str
    per_query: list[ScoreRow]
    record: dict[str, Any]
    texts: dict[str, str]
    judged: str

    @property
    def documents(self) -> frozenset[str]:
        """The names of the documents, and those of their texts where several parsers have read them."""
        return frozenset(document for name in self.texts for document in (name, document_of(name)))


def read_result(folder: Path) -> StoredResult:
    """Read a folder of results; raises HarnessError if it is none, damaged, or of two runs.

    One of scored answers alone has no rankings: ``per_query`` is empty, and there are no texts and judgments.
    """
    if TABLES["answer_scores"].path_in(folder).exists() and not TABLES["per_query"].path_in(folder).exists():
        return StoredResult(folder.name, [], read_record(folder), {}, "")
    cells = read_rows(folder, "per_query")
    record = read_record(folder)
    documents = read_rows(folder, "documents")
    judgments = read_rows(folder, "judgments")
    refuse_foreign(folder, "per_query", cells)
    scored = spec_of(ScoreRow)
    texts = {row["document"]: row["text_sha256"] for row in documents if row["status"] == "read"}
    # only a fact with copies has a name that matters
    spans = sorted(
        [row[column] for column in _JUDGED]
        + [row[column] for column in ("evidence", "answer") if row[column]]
        for row in judgments
    )
    return StoredResult(
        name=folder.name,
        per_query=[scored.parsed(row) for row in cells],
        record=record,
        texts=texts,
        judged=text_sha256(json.dumps(spans)),
    )


def read_summary(folder: Path) -> tuple[list[SummaryRow], dict[str, Any]]:
    """The summary and the record of a finished result; raises HarnessError for none or a damaged one.

    The record says what the result is called and the level of its intervals. Every setting and stage has
    every measure for both splits and for all queries; the seed ratio is of the reranker's stage alone.
    """
    try:
        rows = read_as(folder, SummaryRow)
        record = read_record(folder)
    except NoResultError:
        if TABLES["answer_scores"].path_in(folder).exists():
            raise HarnessError(
                f"{folder} holds scored answers alone, which have no summary. Use harness compare, gate or "
                "trend."
            ) from None
        names = sorted(p.parent.name for p in folder.parent.glob(f"*/{SUMMARY}"))
        hint = f" There are results for: {', '.join(names)}." if names else " Run a benchmark first."
        raise HarnessError(f"{folder} holds no results.{hint}") from None
    there = {(row.setting, row.stage, row.split, row.measure) for row in rows}
    points = {(row.setting, row.stage) for row in rows}
    ratios = {(row.setting, row.stage, row.measure) for row in rows if row.measure.startswith(SEED_RATIO)}
    everywhere = {row.measure for row in rows} - {measure for *_, measure in ratios}
    expected = ratios | {(*point, measure) for point in points for measure in everywhere}
    for (*point, measure), split in product(sorted(expected), (*SPLITS, "all")):
        if (*point, split, measure) not in there:
            raise damaged(folder / SUMMARY, f"{measure} of {' '.join(point)} is missing for {split}")
    config = record["config"]
    if "name" not in config or "level" not in config.get("bootstrap", {}):
        raise damaged(folder / RECORD, "config has no name or no bootstrap.level")
    return rows, record


def read_any(folder: Path, row: type[R]) -> list[R]:
    """The rows of the table that ``row`` declares, as of `cells_of`."""
    spec = spec_of(row)
    return [spec.parsed(cells) for cells in cells_of(folder, spec.name)]


def cells_of(folder: Path, table: str) -> list[Row]:
    """The rows of a table as text; none if the result has no such file.

    Raises HarnessError for a row on a setting that summary.csv does not have: the files are not of one run.
    """
    try:
        rows = read_rows(folder, table)
    except NoResultError:
        return []
    refuse_foreign(folder, table, rows)
    return rows


def refuse_foreign(
    folder: Path, table: str, rows: Sequence[Row], summary: Sequence[Row] | None = None
) -> None:
    """Raises HarnessError for a setting that a table names and the summary lacks: two runs wrote them.

    Of a table whose settings are in no other one, for a setting that the summary has. ``summary`` is read
    where it is not given; a folder without one tells nothing.
    """
    named = {row["setting"] for row in rows if "setting" in row}
    if named and summary is None and (folder / SUMMARY).is_file():
        summary = read_rows(folder, "summary")
    if summary is None:
        return
    spec, scored = TABLES[table], {row["setting"] for row in summary}
    if wrong := sorted(named & scored if spec.foreign else named - scored):
        has = "has too" if spec.foreign else "lacks"
        raise damaged(spec.path_in(folder), f"it has the setting {wrong[0]!r}, which {SUMMARY} {has}")


def read_first_passages(folder: Path, setting: str) -> dict[str, str]:
    """For every query of a setting the beginning of the passage that its last stage ranked first."""
    return {query_id: rows[0]["snippet"] for query_id, rows in _last_ranking(folder, setting).items()}


def read_table(folder: Path | str, name: str) -> pd.DataFrame:
    """A table of a result with the types that it is declared with, such as ``read_table(folder, "summary")``.

    Whole numbers are int64, or Int64 where a cell may be empty; numbers float64 with NaN for an empty cell;
    yes and no are bool; text is as it was before it was made safe for spreadsheets, '' where it is empty.
    docs/results.md has every table and column. Raises HarnessError for an unknown name, a folder without
    results, a table that this result does not have, and a damaged one.
    """
    import pandas as pd

    folder, table_name = Path(folder), str(name).removesuffix(".csv")
    if table_name not in TABLES:
        near = suggestion(table_name, TABLES)
        raise HarnessError(f"There is no table {name!r}{near}. Tables: {', '.join(TABLES)}.")
    spec = TABLES[table_name]
    try:
        rows = read_rows(folder, table_name)
    except NoResultError:
        if not (folder / RECORD).exists():
            raise
        when = f"it is written {spec.when}" if spec.when else "run the benchmark again"
        raise HarnessError(f"{folder} has no {spec.file}: {when}.") from None
    names = list(rows[0]) if rows else list(spec.names)
    return pd.DataFrame(
        {name: _column([row[name] for row in rows], spec.by_name.get(name)) for name in names}
    )


def _column(cells: list[str], column: Declared | None) -> pd.Series:
    """One column; without a declaration it is text."""
    import pandas as pd

    if column is None or column.kind is str:
        try:
            return pd.Series(cells, dtype="str")
        except UnicodeEncodeError:
            # half a character, as damaged documents hold, has no place in Arrow
            return pd.Series(cells, dtype="object")
    values = [column.value(cell) for cell in cells]
    dtypes = {int: "Int64" if column.empty else "int64", float: "float64", bool: "bool"}
    return pd.Series(values, dtype=dtypes[column.kind])


def read_expected(folder: Path, setting: str) -> dict[str, str]:
    """For every query its best evidence in a line: passage, place, and the first rank that shows it."""
    relevant = by_key(
        (row["query_id"], row)
        for row in cells_of(folder, "judgments")
        if row["grade"] not in ("", "0") and row["scored_on"] == "yes"
    )
    ranked = _last_ranking(folder, setting)
    chunks = {chunk.chunk_id: chunk for chunk in read_chunk_offsets(folder).get(setting, [])}
    lines = {}
    searched = {chunk.doc_id for chunk in chunks.values()}
    for query_id, spans in relevant.items():
        highest = max(int(span["grade"]) for span in spans)
        spans = [span for span in spans if int(span["grade"]) == highest]
        # what another pipeline returned twice has no offsets of its own, but takes a rank
        ranking = [chunks.get(row["chunk_id"]) for row in ranked.get(query_id, [])]
        # of the texts of several parsers, the one that the setting searches
        spans = [span for span in spans if span["document"] in searched] or spans
        hits = [(*first, span) for span in spans if (first := _first_of(span, ranking)) is not None]
        rank, share, span = min(hits, key=lambda hit: hit[0]) if hits else (None, 0.0, spans[0])
        place = f"{span['document']}" + (f", page {span['page']}" if span["page"] else "")
        where = f"not in the {len(ranking)} retrieved" if rank is None else f"at rank {rank}"
        if hits and share < _WHOLE:
            where += f" (partly, {100 * share:.0f} %)"
        lines[query_id] = f"[{where}; {place}; grade {span['grade']}] {span['snippet']}"
    return lines


def _last_ranking(folder: Path, setting: str) -> dict[str, list[Row]]:
    """The rows of the last stage of a setting by query, in rank order."""
    by_stage = by_key(
        (row["stage"], row) for row in cells_of(folder, "rankings") if row["setting"] == setting
    )
    # rows are in the order of the stages
    last = [*by_stage.values()][-1] if by_stage else []
    return by_key((row["query_id"], row) for row in last)


def _first_of(span: dict[str, str], ranking: list[Chunk | None]) -> tuple[int, float] | None:
    """The first rank, from 1, whose chunk shares text with a span, and the share of it that is there."""
    start, end = int(span["start"]), int(span["end"])
    for rank, chunk in enumerate(ranking, 1):
        if chunk is None or chunk.doc_id != span["document"]:
            continue
        shared = sum(max(0, min(b, end) - max(a, start)) for a, b in chunk.spans)
        if shared:
            return rank, shared / (end - start)
    return None
