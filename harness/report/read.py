"""Read back what a benchmark has left behind."""

from __future__ import annotations

import csv
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.errors import HarnessError
from harness.report.cells import original
from harness.report.rows import WaterfallRow
from harness.report.write import damaged, read_record

if TYPE_CHECKING:
    import pandas as pd

_JUDGED = ("query_id", "document", "start", "end", "grade", "scored_on")


@dataclass(frozen=True, slots=True)
class StoredResult:
    """One folder of results: ``per_query`` has the columns of per_query.csv, all as text.

    ``texts`` maps documents to the hash of their extracted text; ``judged`` is a hash of the graded spans
    that the settings were scored on.
    """

    name: str
    per_query: pd.DataFrame
    record: dict[str, Any]
    texts: dict[str, str]
    judged: str


def read_result(folder: Path) -> StoredResult:
    """Read a folder of results; raises HarnessError where it is none, or damaged."""
    import pandas as pd

    try:
        per_query = pd.read_csv(folder / "per_query.csv", dtype=str, keep_default_na=False)
        per_query["setting"] = per_query["setting"].str.removeprefix("'")
        record = read_record(folder)
        documents = _rows(folder / "documents.csv")
        texts = {row["document"]: _text_hash(row) for row in documents if row["status"] == "read"}
        judgments = _rows(folder / "judgments.csv")
    except FileNotFoundError as error:
        raise HarnessError(
            f"{folder} holds no results of a benchmark ({Path(error.filename).name} is missing). "
            f"Name a folder such as results/quickstart, written by harness bench."
        ) from None
    except (KeyError, TypeError, ValueError) as error:
        raise HarnessError(
            f"{folder} is damaged: per_query.csv, documents.csv or judgments.csv cannot be read as a "
            f"benchmark wrote it ({error}). Run the benchmark again."
        ) from None
    # only a fact with copies has a name that matters; results of older versions name none
    spans = sorted(
        [row.get(column, "") for column in _JUDGED] + ([row["evidence"]] if row.get("evidence") else [])
        for row in judgments
    )
    return StoredResult(
        name=folder.name,
        per_query=per_query,
        record=record,
        texts=texts,
        judged=hashlib.sha256(json.dumps(spans).encode()).hexdigest(),
    )


def read_waterfall(folder: Path) -> list[WaterfallRow]:
    """The losses by stage of every query; empty where the result has none (or is older than they are)."""
    path = folder / "waterfall.csv"
    text = ("setting", "query_id", "split", "measure", "blame")
    try:
        return [
            WaterfallRow(
                **{key: original(value) if key in text else float(value) for key, value in row.items()}  # type: ignore[arg-type]
            )
            for row in (_rows(path) if path.exists() else [])
        ]
    except (TypeError, ValueError):
        raise damaged(path) from None


def read_table(folder: Path, name: str) -> list[dict[str, str]]:
    """The rows of a CSV file of a result, as text; empty where the result has no such file."""
    path = folder / name
    return (
        [{key: original(value) for key, value in row.items()} for row in _rows(path)] if path.exists() else []
    )


def read_first_passages(folder: Path, setting: str) -> dict[str, str]:
    """For every query of a setting the beginning of the passage that its last stage ranked first."""
    first: dict[str, str] = {}
    for row in _rows(folder / "rankings.csv"):
        # rows stand in the order of the stages, so that the last one stays
        if row["rank"] == "1" and original(row["setting"]) == setting:
            first[original(row["query_id"])] = original(row["snippet"])
    return first


def _text_hash(row: dict[str, str]) -> str:
    # results of older versions call it sha256
    return row["text_sha256"] if "text_sha256" in row else row["sha256"]


def _rows(path: Path) -> list[dict[str, str]]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    except (csv.Error, UnicodeDecodeError):
        raise damaged(path) from None
