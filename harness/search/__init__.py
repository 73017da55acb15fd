"""Query → Ranking, step by step: retrieve, fuse, rerank."""
