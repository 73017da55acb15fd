"""Runs and judgments from files, DataFrames and dictionaries: in columns of arrow, or plain without pyarrow.

Columns hold ten million rows in little memory and are read many times faster. Without pyarrow, which a plain
installation does not have, Parquet cannot be read, and everything else gives the same values.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from harness.data.trec import plain
from harness.data.trec.plain import PlainQrels, PlainRun

if TYPE_CHECKING:
    import pandas as pd

    from harness.data.trec.pair_rows import Qrels, Run

# in quotes: what holds columns loads pyarrow
AnyRun: TypeAlias = "Run | PlainRun"
AnyQrels: TypeAlias = "Qrels | PlainQrels"


def _readers() -> Any:
    """The module that reads: both have the same functions."""
    if find_spec("pyarrow") is None:
        return plain
    from harness.data.trec import sources

    return sources


def read_run(path: Path) -> AnyRun:
    """Read a run by its suffix: parquet, CSV or TSV with named columns, anything else as a TREC run.

    CSV, TSV and TREC files may be gzipped. Raises TrecError with the place of what cannot be read.
    """
    run: AnyRun = _readers().read_run(path)
    return run


def read_qrels(path: Path) -> AnyQrels:
    """Read judgments by suffix, as ``read_run``; a folder is taken for a BEIR one (``qrels/test.tsv``)."""
    qrels: AnyQrels = _readers().read_qrels(path)
    return qrels


def run_from_frame(frame: pd.DataFrame, source: str = "DataFrame") -> AnyRun:
    """A run from columns such as query_id, doc_id, score and possibly rank."""
    run: AnyRun = _readers().run_from_frame(frame, source)
    return run


def qrels_from_frame(frame: pd.DataFrame, source: str = "DataFrame") -> AnyQrels:
    """Judgments from columns such as query_id, doc_id and grade (or relevance)."""
    qrels: AnyQrels = _readers().qrels_from_frame(frame, source)
    return qrels


def run_from_dict(run: Mapping[str, Mapping[str, float]]) -> AnyRun:
    """A run from ``{query: {document: score}}``; ties keep the order of the dictionary."""
    made: AnyRun = _readers().run_from_dict(run)
    return made


def qrels_from_dict(qrels: Mapping[str, Mapping[str, int]]) -> AnyQrels:
    """Judgments from ``{query: {document: grade}}``."""
    made: AnyQrels = _readers().qrels_from_dict(qrels)
    return made
