"""Runs and judgments of documents: TREC, BEIR, parquet and CSV files, DataFrames, dictionaries."""
