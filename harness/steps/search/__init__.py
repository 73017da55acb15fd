"""Queries → rankings, step by step: context, rewrite, filter, retrieve (and fuse), rerank.

A variant of a step is one file: its frozen configuration and its class. The table of kinds of the step's
folder names it, and everything else, the configuration reference and the contract test among it, follows.
"""
