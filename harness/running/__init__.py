"""The parts of a run that are computed once and cached: corpus, chunks, indexes, vectors, rankings."""

from typing import TYPE_CHECKING

from harness.door import door

if TYPE_CHECKING:
    from harness.running.answering.external import (
        MeasureScores,
        exported_answers,
        external_table,
        people_table,
        price_external,
        read_values,
        score_external,
    )
    from harness.running.bench.agreement import (
        SettingsAgreement,
        grade_agreement,
        label_pairs,
        read_pairs,
        settings_agreement,
    )
    from harness.running.bench.flow import search_all
    from harness.running.bench.job import FinalOutput, run_or_reuse
    from harness.running.bench.page import write_page
    from harness.running.bench.plan import JudgePlan, Plan, make_plan
    from harness.running.bench.pool_union import read_united
    from harness.running.config.load import load_answer_scoring, load_config
    from harness.running.config.models import BenchConfig, Setting, parsers_of
    from harness.running.config.source import read_source
    from harness.running.context import Context
    from harness.running.corpora import load_corpus
    from harness.running.corpus import Corpus, document_files, load_documents, read_texts
    from harness.running.hits.scoring import hit_setting, score_hits
    from harness.running.judging.judged import pool_judge_config
    from harness.running.judging.pool import (
        answers,
        estimate_pool,
        grade_all,
        llm_configs,
        make_judge,
        make_pool,
    )
    from harness.running.readiness import warn_of_languages
    from harness.running.search import Searched, cut_for_all, search_settings
    from harness.running.tools import RunTools
else:
    __getattr__ = door(__name__, __file__)
