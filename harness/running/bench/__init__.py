"""Whole jobs: a benchmark, its plan, its page, agreement with people, results on one set of judgments."""
