"""Fusions: several rankings → one. One file per kind; each is a retriever whose routes are retrievers."""

RETIRED = dict.fromkeys(("zscore", "dbsf"), "Use `minmax`, which also fuses by rescaled scores.")
