"""The steps of a setting, a variant a file: chunk, rewrite, filter, retrieve, fuse, rerank, read, answer."""

from typing import TYPE_CHECKING

from harness.door import door

if TYPE_CHECKING:
    from harness.steps.answer import (
        ANSWERERS,
        AnswerConfig,
        Answerer,
        AnswerInput,
        AnswerReply,
        passages_read,
    )
    from harness.steps.answer.citations import words_of
    from harness.steps.chunk import KINDS as CHUNKERS
    from harness.steps.chunk import (
        ChunkerConfig,
        Cuts,
        Documents,
        SizedConfig,
        Vectors,
        chunk_documents,
        chunker_fingerprint,
    )
    from harness.steps.chunk.health import (
        HEALTH_VERSION,
        OUTLINE_VERSION,
        Outline,
        examine,
        table_spans,
        token_lengths,
    )
    from harness.steps.chunk.markdown import PageConfig
    from harness.steps.chunk.recursive import RecursiveConfig
    from harness.steps.chunk.sentence import SentenceConfig
    from harness.steps.custom.code import CodeConfig, call_function
    from harness.steps.custom.service import ServiceConfig
    from harness.steps.search.analyser import Analyser
    from harness.steps.search.context import KINDS as CONTEXTS
    from harness.steps.search.context import ContextConfig, ContextText, Contextualizer, nested
    from harness.steps.search.depth import cut
    from harness.steps.search.filter import KINDS as FILTERS
    from harness.steps.search.filter import Filter
    from harness.steps.search.fuse import Fusion, FusionConfig, fuse_phrasings
    from harness.steps.search.fuse.scores import MinMaxConfig
    from harness.steps.search.read import KINDS as READERS
    from harness.steps.search.read import ReadConfig, Reader
    from harness.steps.search.rerank import KINDS as RERANKERS
    from harness.steps.search.rerank import ListScorer, LocalModelScorer, Pair, PairScorer, pairs_of, rerank
    from harness.steps.search.retrieve import KINDS as RETRIEVERS
    from harness.steps.search.retrieve.bm25 import Bm25Config, Bm25Retriever
    from harness.steps.search.retrieve.exact import ExactConfig
    from harness.steps.search.rewrite import KINDS as REWRITERS
    from harness.steps.search.step import (
        Effort,
        FilterConfig,
        FilterResult,
        Identity,
        NotMeasuredError,
        Passages,
        Phrasings,
        RerankerConfig,
        RetrievalResult,
        Retriever,
        RetrieverConfig,
        Rewriter,
        RewriterConfig,
        SearchOne,
    )
    from harness.steps.search.tools import PendingCalls, PendingCallsError, Spread, Talked, Tools
else:
    __getattr__ = door(__name__, __file__)
