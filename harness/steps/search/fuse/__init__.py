"""Fusions: several rankings → one; each is a retriever whose routes are retrievers."""
