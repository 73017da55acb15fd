"""The parts of a run that are computed once and cached: corpus, chunks, indexes, vectors, rankings."""

from typing import TYPE_CHECKING

from harness.door import door

if TYPE_CHECKING:
    from harness.running.answering.external import (
        MeasureScores,
        PeopleRow,
        exported_answers,
        external_fault,
        external_table,
        people_table,
        price_external,
        read_values,
        score_external,
    )
    from harness.running.answering.kept import keep_scores
    from harness.running.bench.agreement import (
        SettingsAgreement,
        grade_agreement,
        label_pairs,
        read_pairs,
        settings_agreement,
    )
    from harness.running.bench.flow import run_bench, search_all
    from harness.running.bench.job import FinalOutput, run_or_reuse
    from harness.running.bench.page import write_page
    from harness.running.bench.plan import JudgePlan, Plan, make_plan
    from harness.running.bench.pool_union import read_to_compare, read_united
    from harness.running.bench.preparing import load_searched
    from harness.running.bench.quick import left_out, quick_part
    from harness.running.config.answer_measures import AnswerScoringConfig
    from harness.running.config.bootstrap import BootstrapConfig
    from harness.running.config.load import TABLES as STEP_KINDS
    from harness.running.config.load import load_answer_scoring, load_config
    from harness.running.config.models import BenchConfig, LatencyConfig, Setting, parsers_of
    from harness.running.config.relevance import RelevanceConfig
    from harness.running.config.source import read_source
    from harness.running.config.space import load_tuning
    from harness.running.config.stored_chunks import recorded_collection
    from harness.running.corpora import load_corpus, refuse_several_parsers
    from harness.running.corpus import Corpus, document_files, load_documents, read_texts
    from harness.running.document_reader import DocumentReader
    from harness.running.engine import EngineConfig
    from harness.running.evaluate.near_duplicates import same_evidence_words
    from harness.running.hits.scoring_of_hits import hit_setting, score_hits
    from harness.running.judging.judged import pool_judge_config
    from harness.running.judging.judgments import judge_pool
    from harness.running.judging.pool import (
        answers,
        estimate_pool,
        grade_all,
        llm_configs,
        make_judge,
        make_pool,
        scores_to_buy,
    )
    from harness.running.loop import Loop, Met, Visitor
    from harness.running.meeting import Running
    from harness.running.notes import RunNotes
    from harness.running.passage_files import takes_passages
    from harness.running.planning import Planning, search_unasked
    from harness.running.readiness import warn_of_languages
    from harness.running.search import Chunked, Searched, cut_for_all, run_step, search_settings
    from harness.running.session import Session
    from harness.running.stored_changes import RowChanges, digests_of
    from harness.running.tuning.course import open_course, plan_file, run_course
    from harness.running.tuning.tune_words import plan_table, promise_lines
else:
    __getattr__ = door(
        __name__,
        {
            "harness.running.answering.external": (
                "MeasureScores PeopleRow exported_answers external_fault external_table people_table "
                "price_external read_values score_external"
            ),
            "harness.running.answering.kept": "keep_scores",
            "harness.running.bench.agreement": (
                "SettingsAgreement grade_agreement label_pairs read_pairs settings_agreement"
            ),
            "harness.running.bench.flow": "run_bench search_all",
            "harness.running.bench.job": "FinalOutput run_or_reuse",
            "harness.running.bench.page": "write_page",
            "harness.running.bench.plan": "JudgePlan Plan make_plan",
            "harness.running.bench.pool_union": "read_to_compare read_united",
            "harness.running.bench.preparing": "load_searched",
            "harness.running.bench.quick": "left_out quick_part",
            "harness.running.config.answer_measures": "AnswerScoringConfig",
            "harness.running.config.bootstrap": "BootstrapConfig",
            "harness.running.config.load": "TABLES=STEP_KINDS load_answer_scoring load_config",
            "harness.running.config.models": "BenchConfig LatencyConfig Setting parsers_of",
            "harness.running.config.relevance": "RelevanceConfig",
            "harness.running.config.source": "read_source",
            "harness.running.config.space": "load_tuning",
            "harness.running.config.stored_chunks": "recorded_collection",
            "harness.running.corpora": "load_corpus refuse_several_parsers",
            "harness.running.corpus": "Corpus document_files load_documents read_texts",
            "harness.running.document_reader": "DocumentReader",
            "harness.running.engine": "EngineConfig",
            "harness.running.evaluate.near_duplicates": "same_evidence_words",
            "harness.running.hits.scoring_of_hits": "hit_setting score_hits",
            "harness.running.judging.judged": "pool_judge_config",
            "harness.running.judging.judgments": "judge_pool",
            "harness.running.judging.pool": (
                "answers estimate_pool grade_all llm_configs make_judge make_pool scores_to_buy"
            ),
            "harness.running.loop": "Loop Met Visitor",
            "harness.running.meeting": "Running",
            "harness.running.notes": "RunNotes",
            "harness.running.passage_files": "takes_passages",
            "harness.running.planning": "Planning search_unasked",
            "harness.running.readiness": "warn_of_languages",
            "harness.running.search": "Chunked Searched cut_for_all run_step search_settings",
            "harness.running.session": "Session",
            "harness.running.stored_changes": "RowChanges digests_of",
            "harness.running.tuning.course": "open_course plan_file run_course",
            "harness.running.tuning.tune_words": "plan_table promise_lines",
        },
    )
