"""What decides the rankings of a retriever, and so the key under which they are kept."""

from __future__ import annotations

from harness.steps.search.field import KINDS as FIELDS
from harness.steps.search.filter import KINDS as FILTERS
from harness.steps.search.retrieve import KINDS as RETRIEVERS
from harness.steps.search.rewrite import KINDS as REWRITERS
from harness.steps.search.step import Fingerprint, Identity, RetrieverConfig


def identity_of(retriever: RetrieverConfig, fingerprint: Fingerprint) -> Identity:
    """All that decides the rankings of a retriever besides passages and queries."""
    identity = bare_identity_of(retriever, fingerprint)
    if retriever.filter is not None:
        identity = [identity, FILTERS.make(retriever.filter).identity()]
    if retriever.rewrite is not None:
        identity = [identity, REWRITERS.make(retriever.rewrite).identity()]
    return identity


def bare_identity_of(retriever: RetrieverConfig, fingerprint: Fingerprint) -> Identity:
    """The same, whatever filter and rewriter it has."""
    identity = RETRIEVERS.make(retriever).identity(fingerprint)
    if retriever.field is None:
        return identity
    return [identity, "field", FIELDS.make(retriever.field).identity(fingerprint)]
