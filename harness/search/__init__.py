"""Queries → rankings, step by step: context, rewrite, filter, retrieve (and fuse), rerank.

A variant of a step is one file: its frozen configuration and its class. The table of kinds of the step's
folder names it, and everything else, the configuration reference and the contract test among it, follows.
"""

from harness.search.context import KINDS as CONTEXTS
from harness.search.context import ContextConfig
from harness.search.feedback import KINDS as FEEDBACKS
from harness.search.filter import KINDS as FILTERS
from harness.search.query_steps import FilterConfig, FilterResult, Phrasings, RewriterConfig
from harness.search.read import KINDS as READERS
from harness.search.read import ReadConfig
from harness.search.rerank import KINDS as RERANKERS
from harness.search.rerank import PairScorer
from harness.search.retrieve import KINDS as RETRIEVERS
from harness.search.rewrite import KINDS as REWRITERS
from harness.search.step import (
    Effort,
    Identity,
    NotMeasuredError,
    Passages,
    RerankerConfig,
    RetrievalResult,
    RetrieverConfig,
)
from harness.search.tools import PendingCalls, PendingCallsError
