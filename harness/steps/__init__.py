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
    from harness.steps.custom.sending import Message, send
    from harness.steps.custom.service import ServiceConfig
    from harness.steps.search.analyser import Analyser, Synonyms
    from harness.steps.search.context import KINDS as CONTEXTS
    from harness.steps.search.context import ContextText, Contextualizer, nested
    from harness.steps.search.depth import SearchDepth, best, cut, in_order, ranked
    from harness.steps.search.field import KINDS as FIELDS
    from harness.steps.search.filter import KINDS as FILTERS
    from harness.steps.search.filter import Filter
    from harness.steps.search.fuse import Fusion, FusionConfig
    from harness.steps.search.fuse.scores import MinMaxConfig
    from harness.steps.search.identity import identity_of
    from harness.steps.search.needs import (
        AllAtOnce,
        Answers,
        Built,
        Cells,
        CheckOnly,
        Cluster,
        Fingerprints,
        Index,
        Noted,
        OwnCode,
        PairScores,
        PriceOfIndex,
        Prompts,
        TableRows,
        Talked,
        TermsOf,
        Texts,
        Unwritten,
        Warned,
        answers_of,
    )
    from harness.steps.search.passages import ContextConfig, Contexts, Passages, context_key
    from harness.steps.search.read import KINDS as READERS
    from harness.steps.search.read import (
        Alteration,
        AlterationConfig,
        QueryReading,
        ReadConfig,
        Reader,
        ReadPassage,
    )
    from harness.steps.search.rerank import KINDS as RERANKERS
    from harness.steps.search.rerank import (
        ListScorer,
        LocalModelConfig,
        LocalModelScorer,
        Pair,
        PairScorer,
        pairs_of,
        rerank,
    )
    from harness.steps.search.rerank.cross_encoder import CrossEncoderConfig
    from harness.steps.search.rerank.int8_cross_encoder import Int8CrossEncoder
    from harness.steps.search.retrieve import KINDS as RETRIEVERS
    from harness.steps.search.retrieve.bm25 import Bm25Config, Bm25Retriever
    from harness.steps.search.retrieve.chroma_stored import ChromaCollection
    from harness.steps.search.retrieve.exact import ExactConfig
    from harness.steps.search.retrieve.lancedb import LanceTable
    from harness.steps.search.retrieve.lexical import TermIds
    from harness.steps.search.retrieve.pgvector import PgvectorTable
    from harness.steps.search.retrieve.qdrant_collection import QdrantCollection
    from harness.steps.search.retrieve.row_documents import passage_id
    from harness.steps.search.retrieve.sparse_vector import SparseVector
    from harness.steps.search.retrieve.sparse_words import FastEmbedBm25
    from harness.steps.search.retrieve.store_queries import StoreQueries
    from harness.steps.search.retrieve.stored import (
        DOCUMENT_KEYS,
        TEXT_KEYS,
        Content,
        StoredCollection,
        StoredRow,
        StoreFacts,
        at,
        first_of,
        store_faults,
    )
    from harness.steps.search.rewrite import KINDS as REWRITERS
    from harness.steps.search.searching import Search, fused, guessed
    from harness.steps.search.step import (
        Effort,
        FilterConfig,
        FilterResult,
        Fingerprint,
        Identity,
        IndexPrice,
        Phrasings,
        RerankerConfig,
        RetrievalResult,
        Retriever,
        RetrieverConfig,
        Rewriter,
        RewriterConfig,
    )
    from harness.steps.search.tools import PendingCalls, Spread, waits_for
else:
    __getattr__ = door(
        __name__,
        {
            "harness.steps.answer": "ANSWERERS AnswerConfig AnswerInput AnswerReply Answerer passages_read",
            "harness.steps.answer.citations": "words_of",
            "harness.steps.chunk": (
                "ChunkerConfig Cuts Documents KINDS=CHUNKERS SizedConfig Vectors chunk_documents "
                "chunker_fingerprint"
            ),
            "harness.steps.chunk.health": (
                "HEALTH_VERSION OUTLINE_VERSION Outline examine table_spans token_lengths"
            ),
            "harness.steps.chunk.markdown": "PageConfig",
            "harness.steps.chunk.recursive": "RecursiveConfig",
            "harness.steps.chunk.sentence": "SentenceConfig",
            "harness.steps.custom.code": "CodeConfig call_function",
            "harness.steps.custom.sending": "Message send",
            "harness.steps.custom.service": "ServiceConfig",
            "harness.steps.search.analyser": "Analyser Synonyms",
            "harness.steps.search.context": "ContextText Contextualizer KINDS=CONTEXTS nested",
            "harness.steps.search.depth": "SearchDepth best cut in_order ranked",
            "harness.steps.search.field": "KINDS=FIELDS",
            "harness.steps.search.filter": "Filter KINDS=FILTERS",
            "harness.steps.search.fuse": "Fusion FusionConfig",
            "harness.steps.search.fuse.scores": "MinMaxConfig",
            "harness.steps.search.identity": "identity_of",
            "harness.steps.search.needs": (
                "AllAtOnce Answers Built Cells CheckOnly Cluster Fingerprints Index Noted OwnCode PairScores "
                "PriceOfIndex Prompts TableRows Talked TermsOf Texts Unwritten Warned answers_of"
            ),
            "harness.steps.search.passages": "ContextConfig Contexts Passages context_key",
            "harness.steps.search.read": (
                "Alteration AlterationConfig KINDS=READERS QueryReading ReadConfig ReadPassage Reader"
            ),
            "harness.steps.search.rerank": (
                "KINDS=RERANKERS ListScorer LocalModelConfig LocalModelScorer Pair PairScorer pairs_of rerank"
            ),
            "harness.steps.search.rerank.cross_encoder": "CrossEncoderConfig",
            "harness.steps.search.rerank.int8_cross_encoder": "Int8CrossEncoder",
            "harness.steps.search.retrieve": "KINDS=RETRIEVERS",
            "harness.steps.search.retrieve.bm25": "Bm25Config Bm25Retriever",
            "harness.steps.search.retrieve.chroma_stored": "ChromaCollection",
            "harness.steps.search.retrieve.exact": "ExactConfig",
            "harness.steps.search.retrieve.lancedb": "LanceTable",
            "harness.steps.search.retrieve.lexical": "TermIds",
            "harness.steps.search.retrieve.pgvector": "PgvectorTable",
            "harness.steps.search.retrieve.qdrant_collection": "QdrantCollection",
            "harness.steps.search.retrieve.row_documents": "passage_id",
            "harness.steps.search.retrieve.sparse_vector": "SparseVector",
            "harness.steps.search.retrieve.sparse_words": "FastEmbedBm25",
            "harness.steps.search.retrieve.store_queries": "StoreQueries",
            "harness.steps.search.retrieve.stored": (
                "Content DOCUMENT_KEYS StoreFacts StoredCollection StoredRow TEXT_KEYS at first_of "
                "store_faults"
            ),
            "harness.steps.search.rewrite": "KINDS=REWRITERS",
            "harness.steps.search.searching": "Search fused guessed",
            "harness.steps.search.step": (
                "Effort FilterConfig FilterResult Fingerprint Identity IndexPrice Phrasings RerankerConfig "
                "RetrievalResult Retriever RetrieverConfig Rewriter RewriterConfig"
            ),
            "harness.steps.search.tools": "PendingCalls Spread waits_for",
        },
    )
