"""Comparisons for readers: the verdict on results, and the tables of `compare`.

Of settings with one another, of a result with an earlier one, and of a ranking before and after the reranker.
"""
