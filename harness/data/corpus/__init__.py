"""Files become documents, queries and labels; importers bring in known collections."""

from harness.data.corpus.across_parsers import FoundLabels, anchor_in_each, one_evidence_a_row
from harness.data.corpus.anchoring import AnchorConfig, Anchoring, AnchorResult, anchor
from harness.data.corpus.documents import (
    DocumentFile,
    document_id,
    find_documents,
    possible_ids,
)
from harness.data.corpus.duplicates import credit_duplicates
from harness.data.corpus.hits import HitFile, read_hits
from harness.data.corpus.labels import LabelRow, graded_passages, read_judgments, read_labels, refuse_disputed
from harness.data.corpus.lost_text import refusal, some_pages
from harness.data.corpus.parallel import SkippedDocument, bad_document, parse_documents
from harness.data.corpus.parse import parse_document, parser_fingerprint
from harness.data.corpus.parsers import (
    PARSERS,
    ParserConfig,
    PypdfConfig,
    PythonParserConfig,
    suffixes_of,
)
from harness.data.corpus.parsing import ParsingConfig
from harness.data.corpus.placing import PlacedHit, place_hits
from harness.data.corpus.queries import QuerySet, SplitConfig, read_queries
from harness.data.corpus.text import ParsedDocument
from harness.values import refuse_special
