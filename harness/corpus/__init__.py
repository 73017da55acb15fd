"""Files become documents, queries and labels; importers bring in known collections."""

from harness.corpus.across_parsers import FoundLabels, anchor_in_each, one_evidence_a_row
from harness.corpus.anchoring import AnchorConfig, Anchoring, AnchorResult, anchor
from harness.corpus.documents import (
    DocumentFile,
    document_id,
    find_documents,
    possible_ids,
)
from harness.corpus.duplicates import credit_duplicates
from harness.corpus.hits import HitFile, read_hits
from harness.corpus.labels import LabelRow, graded_passages, read_judgments, read_labels, refuse_disputed
from harness.corpus.lost_text import refusal, some_pages
from harness.corpus.parallel import SkippedDocument, bad_document, parse_documents
from harness.corpus.parse import parse_document, parser_fingerprint
from harness.corpus.parsers import (
    PARSERS,
    ParserConfig,
    PypdfConfig,
    PythonParserConfig,
    suffixes_of,
)
from harness.corpus.parsing import ParsingConfig
from harness.corpus.placing import PlacedHit, place_hits
from harness.corpus.queries import QuerySet, SplitConfig, read_queries
from harness.corpus.text import ParsedDocument
from harness.regular_file import refuse_special
