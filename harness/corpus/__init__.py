"""Files become documents, queries and labels; importers bring in known collections."""

from harness.corpus.anchoring import AnchorConfig, Anchoring, AnchorResult, anchor
from harness.corpus.documents import SUFFIXES, DocumentFile, document_id, find_documents, ids_meant
from harness.corpus.duplicates import credit_duplicates
from harness.corpus.hits import HitFile, HitRow, read_hits
from harness.corpus.judgments import read_judgments
from harness.corpus.labels import LabelRow, read_labels
from harness.corpus.parallel import SkippedDocument, bad_document, parse_documents
from harness.corpus.parse import parse_document, parser_fingerprint
from harness.corpus.parsers import (
    PARSERS,
    ParserConfig,
    PypdfConfig,
    Pypdfium2Config,
    PythonParserConfig,
    suffixes_of,
)
from harness.corpus.parsing import ParsingConfig
from harness.corpus.placing import Place, PlacedHit, place_hits
from harness.corpus.queries import QuerySet, SplitConfig, read_queries
from harness.corpus.reading import refuse_special
from harness.corpus.suspect import refusal, some_pages
from harness.corpus.text import ParsedDocument, TextStats

__all__ = [
    "PARSERS",
    "SUFFIXES",
    "AnchorConfig",
    "AnchorResult",
    "Anchoring",
    "DocumentFile",
    "HitFile",
    "HitRow",
    "LabelRow",
    "ParsedDocument",
    "ParserConfig",
    "ParsingConfig",
    "Place",
    "PlacedHit",
    "PypdfConfig",
    "Pypdfium2Config",
    "PythonParserConfig",
    "QuerySet",
    "SkippedDocument",
    "SplitConfig",
    "TextStats",
    "anchor",
    "bad_document",
    "credit_duplicates",
    "document_id",
    "find_documents",
    "ids_meant",
    "parse_document",
    "parse_documents",
    "parser_fingerprint",
    "place_hits",
    "read_hits",
    "read_judgments",
    "read_labels",
    "read_queries",
    "refusal",
    "refuse_special",
    "some_pages",
    "suffixes_of",
]
