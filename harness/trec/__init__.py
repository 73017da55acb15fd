"""Runs and judgments of documents: TREC, BEIR, parquet and CSV files, DataFrames, dictionaries."""

from harness.trec.dicts import evaluate_dicts
from harness.trec.evaluate import DocScores, evaluate
from harness.trec.ids import DocIds, Ids, TrecError
from harness.trec.sources import (
    qrels_from_dict,
    qrels_from_frame,
    read_beir_qrels,
    read_qrels,
    read_run,
    run_from_dict,
    run_from_frame,
)
from harness.trec.tables import Qrels, Run
from harness.trec.text import read_trec_qrels, read_trec_run
