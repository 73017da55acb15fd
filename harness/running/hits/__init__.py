"""Hits of other pipelines, placed in the documents and scored as settings of our own."""
