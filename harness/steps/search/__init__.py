"""Queries → rankings, step by step: context, rewrite, filter, retrieve (and fuse), rerank.

A variant of a step is one file: its frozen configuration and its class. The table of kinds of the step's
folder names it, and everything else, the configuration reference and the contract test among it, follows.
"""

from harness.steps.search.context import KINDS as CONTEXTS
from harness.steps.search.context import ContextConfig
from harness.steps.search.feedback import KINDS as FEEDBACKS
from harness.steps.search.filter import KINDS as FILTERS
from harness.steps.search.query_steps import FilterConfig, FilterResult, Phrasings, RewriterConfig
from harness.steps.search.read import KINDS as READERS
from harness.steps.search.read import ReadConfig
from harness.steps.search.rerank import KINDS as RERANKERS
from harness.steps.search.rerank import PairScorer
from harness.steps.search.retrieve import KINDS as RETRIEVERS
from harness.steps.search.rewrite import KINDS as REWRITERS
from harness.steps.search.step import (
    Effort,
    Identity,
    NotMeasuredError,
    Passages,
    RerankerConfig,
    RetrievalResult,
    RetrieverConfig,
)
from harness.steps.search.tools import PendingCalls, PendingCallsError
