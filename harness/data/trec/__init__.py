"""Runs and judgments of documents: TREC, BEIR, parquet and CSV files, DataFrames, dictionaries."""

from harness.data.trec.dicts import evaluate_dicts
from harness.data.trec.evaluate import evaluate
from harness.data.trec.ids import TrecError
from harness.data.trec.sources import (
    qrels_from_dict,
    qrels_from_frame,
    read_qrels,
    read_run,
    run_from_dict,
    run_from_frame,
)
