"""Files to documents, queries, labels and hits, and back: parsers, tables, TREC, other tools' exports."""

from typing import TYPE_CHECKING

from harness.door import door

if TYPE_CHECKING:
    from harness.data.corpus.align import Searcher, is_same_text
    from harness.data.corpus.anchoring import (
        AnchorConfig,
        Anchoring,
        AnchorResult,
        GivenPassage,
        LabelRow,
        anchor,
        answer_span,
        grade_of,
        graded_passages,
        read_labels,
        refuse_disputed,
    )
    from harness.data.corpus.documents import (
        SUFFIXES,
        DocumentFile,
        document_id,
        find_documents,
        libraries_of,
        possible_ids,
    )
    from harness.data.corpus.duplicates import anchor_in_each, credit_duplicates, one_evidence_a_row
    from harness.data.corpus.hits import GivenHit, HitFile, read_hits
    from harness.data.corpus.importers.beir import ImportSummary, new_corpus_folder, write_text
    from harness.data.corpus.inputs import INPUTS, input_table, read_rows
    from harness.data.corpus.page_picture import can_draw, draw_page
    from harness.data.corpus.parse import SkippedDocument, bad_document, parse_documents, parser_fingerprint
    from harness.data.corpus.parsers import PARSERS, ParserConfig, suffixes_of
    from harness.data.corpus.parsers.pypdf import PypdfConfig
    from harness.data.corpus.placing import PlacedHit, place_hits
    from harness.data.corpus.queries import QuerySet, SplitConfig, read_queries
    from harness.data.corpus.reading import read_json, read_utf8
    from harness.data.corpus.table import InputTable, Note, mark_of, plain_cell, read_csv, read_table
    from harness.data.corpus.text import ParsedDocument, refusal, some_pages
    from harness.data.corpus.workers import ParsingConfig
    from harness.data.external.answer_files import AnsweredQuery, Passage, read_answers, write_answers
    from harness.data.import_formats import IMPORTS, ImportFormat
    from harness.data.trec.evaluate import (
        DocScores,
        evaluate,
        evaluate_dicts,
        refuse_strangers,
        refuse_unlike_ids,
    )
    from harness.data.trec.ids import TrecError
    from harness.data.trec.layout import LAYOUTS
    from harness.data.trec.sources import (
        qrels_from_dict,
        qrels_from_frame,
        read_qrels,
        read_run,
        run_from_dict,
        run_from_frame,
    )
    from harness.data.trec.tables import Qrels
else:
    __getattr__ = door(__name__, __file__)
