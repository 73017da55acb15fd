"""Runs and judgments of documents: TREC, BEIR, parquet and CSV files, DataFrames, dictionaries."""

from harness.trec.dicts import evaluate_dicts
from harness.trec.evaluate import evaluate
from harness.trec.ids import TrecError
from harness.trec.sources import (
    qrels_from_dict,
    qrels_from_frame,
    read_qrels,
    read_run,
    run_from_dict,
    run_from_frame,
)
