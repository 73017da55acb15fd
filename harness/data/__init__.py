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
    from harness.data.corpus.clusters import ClusterRow, read_clusters
    from harness.data.corpus.document_files import (
        SUFFIXES,
        DocumentFile,
        LackingExtras,
        document_id,
        expand,
        find_documents,
        libraries_of,
        possible_ids,
    )
    from harness.data.corpus.duplicates import anchor_in_each, credit_duplicates, one_evidence_a_row
    from harness.data.corpus.extraction import ParsedDocument, join_pages, refusal, some_pages
    from harness.data.corpus.hits import GivenHit, HitFile, read_hits
    from harness.data.corpus.importers.beir import (
        BeirDocument,
        BeirJudgment,
        BeirQuery,
        ImportSummary,
        new_corpus_folder,
        write_text,
    )
    from harness.data.corpus.input_table import InputTable, Note, mark_of, plain_cell, read_csv, read_table
    from harness.data.corpus.inputs import INPUTS, input_table, is_bare, read_rows
    from harness.data.corpus.page_picture import can_draw, draw_page
    from harness.data.corpus.parse import (
        SkippedDocument,
        bad_document,
        parse_document,
        parse_documents,
        parser_fingerprint,
    )
    from harness.data.corpus.parsers import PARSERS, ParserConfig, suffixes_of
    from harness.data.corpus.parsers.pypdf import PypdfConfig
    from harness.data.corpus.passage_labels import read_passage_labels, with_passages_named
    from harness.data.corpus.placing import PlacedHit, named_document, place_hits, placed_by_page
    from harness.data.corpus.queries import QuerySet, SplitConfig, read_queries
    from harness.data.corpus.text_file import read_json, read_utf8
    from harness.data.corpus.workers import ParsingConfig
    from harness.data.external.answer_files import (
        AnsweredQuery,
        AnsweredRow,
        Passage,
        read_answers,
        write_answers,
    )
    from harness.data.external.retrievers import Collection, hits_of, search_of
    from harness.data.external.traces import read_traces
    from harness.data.external.traces.trace_steps import TraceStep
    from harness.data.import_formats import IMPORTS, TRACES, ImportFormat, TraceFormat
    from harness.data.trec.evaluate import (
        DocScores,
        evaluate,
        evaluate_dicts,
        refuse_strangers,
        refuse_unlike_ids,
    )
    from harness.data.trec.files import (
        AnyQrels,
        AnyRun,
        qrels_from_dict,
        qrels_from_frame,
        read_qrels,
        read_run,
        run_from_dict,
        run_from_frame,
    )
    from harness.data.trec.output_formats import as_csv, as_json, as_text
    from harness.data.trec.table_faults import TrecError
else:
    __getattr__ = door(
        __name__,
        {
            "harness.data.corpus.align": "Searcher is_same_text",
            "harness.data.corpus.anchoring": (
                "AnchorConfig AnchorResult Anchoring GivenPassage LabelRow anchor answer_span grade_of "
                "graded_passages read_labels refuse_disputed"
            ),
            "harness.data.corpus.clusters": "ClusterRow read_clusters",
            "harness.data.corpus.document_files": (
                "DocumentFile LackingExtras SUFFIXES document_id expand find_documents libraries_of "
                "possible_ids"
            ),
            "harness.data.corpus.duplicates": "anchor_in_each credit_duplicates one_evidence_a_row",
            "harness.data.corpus.extraction": "ParsedDocument join_pages refusal some_pages",
            "harness.data.corpus.hits": "GivenHit HitFile read_hits",
            "harness.data.corpus.importers.beir": (
                "BeirDocument BeirJudgment BeirQuery ImportSummary new_corpus_folder write_text"
            ),
            "harness.data.corpus.input_table": "InputTable Note mark_of plain_cell read_csv read_table",
            "harness.data.corpus.inputs": "INPUTS input_table is_bare read_rows",
            "harness.data.corpus.page_picture": "can_draw draw_page",
            "harness.data.corpus.parse": (
                "SkippedDocument bad_document parse_document parse_documents parser_fingerprint"
            ),
            "harness.data.corpus.parsers": "PARSERS ParserConfig suffixes_of",
            "harness.data.corpus.parsers.pypdf": "PypdfConfig",
            "harness.data.corpus.passage_labels": "read_passage_labels with_passages_named",
            "harness.data.corpus.placing": "PlacedHit named_document place_hits placed_by_page",
            "harness.data.corpus.queries": "QuerySet SplitConfig read_queries",
            "harness.data.corpus.text_file": "read_json read_utf8",
            "harness.data.corpus.workers": "ParsingConfig",
            "harness.data.external.answer_files": (
                "AnsweredQuery AnsweredRow Passage read_answers write_answers"
            ),
            "harness.data.external.retrievers": "Collection hits_of search_of",
            "harness.data.external.traces": "read_traces",
            "harness.data.external.traces.trace_steps": "TraceStep",
            "harness.data.import_formats": "IMPORTS ImportFormat TRACES TraceFormat",
            "harness.data.trec.evaluate": (
                "DocScores evaluate evaluate_dicts refuse_strangers refuse_unlike_ids"
            ),
            "harness.data.trec.files": (
                "AnyQrels AnyRun qrels_from_dict qrels_from_frame read_qrels read_run run_from_dict "
                "run_from_frame"
            ),
            "harness.data.trec.output_formats": "as_csv as_json as_text",
            "harness.data.trec.table_faults": "TrecError",
        },
    )
