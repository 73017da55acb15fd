"""Searched and judged settings → scores, losses by step, prices, the verdict: rows of the result tables."""
