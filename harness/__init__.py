"""Retrieval ranking benchmark: NDCG over your own documents, comparable between chunkings."""

__version__ = "0.1.0"
