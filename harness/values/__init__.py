"""What every room may use: frozen types, kinds, errors, text as offsets, progress, printing."""

from typing import TYPE_CHECKING

from harness.door import door

if TYPE_CHECKING:
    from harness.values.columns import (
        Cells,
        Column,
        Declared,
        columns_of,
        golden_answers,
        golden_cell,
        golden_of_query,
        golden_parts,
        id_of_query,
        whole,
    )
    from harness.values.errors import (
        ConfigError,
        CorpusError,
        HarnessError,
        JudgeError,
        LabelError,
        LlmError,
        ModelError,
        StoreError,
        causes_of,
        first_line,
        guide,
    )
    from harness.values.folder_names import folder_name, unlike_a_name
    from harness.values.key_marks import (
        CHARACTERS,
        TOKENS,
        Amount,
        Inside,
        KeyMark,
        Ordered,
        Overlap,
        Quiet,
        Size,
        Telling,
        Unset,
        marks_of,
    )
    from harness.values.keys import canonical, key_of
    from harness.values.kinds import (
        LARGEST,
        At,
        Kind,
        KindAt,
        Kinds,
        OpenTable,
        Section,
        StageConfig,
        installed_version,
        kind_of,
        line_of_package,
        no_such_key,
        packages_in_use,
        unknown_key,
        version_of,
    )
    from harness.values.operating_system import (
        available_cpus,
        lift_memory_limit,
        limit_memory,
        processor_name,
    )
    from harness.values.problems import plain_problem, problem_in
    from harness.values.progress import (
        Board,
        Hidden,
        LinesTask,
        RecordingReporter,
        Reporter,
        Silent,
        Task,
        duration,
        remaining,
    )
    from harness.values.regular_file import (
        file_sha256,
        real_path,
        refuse_existing,
        refuse_special,
        text_sha256,
    )
    from harness.values.secrets import (
        LOOKS_SECRET,
        abridged,
        holds_secret,
        redacted,
        redacted_value,
        secret_in,
    )
    from harness.values.sentence import Sentence, worded
    from harness.values.step import Kept, Mention, Need, Part, Run, Step, Together, ask, under_way
    from harness.values.streams import Stopped, Unbreakable, give_output_up, on_stop
    from harness.values.text.characters import (
        WIDE,
        encodable,
        main_script,
        on_one_line,
        outside_latin,
        printable,
        printable_lines,
        quoted,
        snippet,
        suggestion,
        width,
        without_controls,
        wording_pattern,
        wrapped,
    )
    from harness.values.text.headings import Heading, HeadingStyle, markdown_headings, numbered_headings
    from harness.values.text.numbers import (
        FEWEST_FOR_INTERVAL,
        SINGLE,
        confidence,
        counted,
        finite,
        interval,
        listed,
        number,
        signed,
        signed_interval,
    )
    from harness.values.text.records import FORMULA, delimited, delimited_text, records_of
    from harness.values.text.sentence_ends import SENTENCES_VERSION, TO_GRADE, passage_spans, sentence_spans
    from harness.values.text.shared_words import longest_shared_run
    from harness.values.text.spans import Span, TokenWindows, between, merge, outside, tidy, trim
    from harness.values.text.tokenizer import (
        Tokenizer,
        check_tiktoken,
        load_tiktoken,
        text_batches,
        token_counts,
        token_offsets,
    )
    from harness.values.types import (
        ANSWER,
        BY,
        MAX_GRADE,
        NOT_SCORED,
        SPLITS,
        Chunk,
        Details,
        Document,
        Judgment,
        LlmAnswer,
        LlmCall,
        Query,
        QueryScore,
        Ranking,
        ResultWarning,
        RunRecord,
        Slot,
        Split,
        WarningKind,
        by_key,
        document_of,
        most_frequent,
        text_id,
        vote_of,
    )
else:
    __getattr__ = door(
        __name__,
        {
            "harness.values.columns": (
                "Cells Column Declared columns_of golden_answers golden_cell golden_of_query golden_parts "
                "id_of_query whole"
            ),
            "harness.values.errors": (
                "ConfigError CorpusError HarnessError JudgeError LabelError LlmError ModelError StoreError "
                "causes_of first_line guide"
            ),
            "harness.values.folder_names": "folder_name unlike_a_name",
            "harness.values.key_marks": (
                "Amount CHARACTERS Inside KeyMark Ordered Overlap Quiet Size TOKENS Telling Unset marks_of"
            ),
            "harness.values.keys": "canonical key_of",
            "harness.values.kinds": (
                "At Kind KindAt Kinds LARGEST OpenTable Section StageConfig installed_version kind_of "
                "line_of_package no_such_key packages_in_use unknown_key version_of"
            ),
            "harness.values.operating_system": "available_cpus lift_memory_limit limit_memory processor_name",
            "harness.values.problems": "plain_problem problem_in",
            "harness.values.progress": (
                "Board Hidden LinesTask RecordingReporter Reporter Silent Task duration remaining"
            ),
            "harness.values.regular_file": "file_sha256 real_path refuse_existing refuse_special text_sha256",
            "harness.values.secrets": "LOOKS_SECRET abridged holds_secret redacted redacted_value secret_in",
            "harness.values.sentence": "Sentence worded",
            "harness.values.step": "Kept Mention Need Part Run Step Together ask under_way",
            "harness.values.streams": "Stopped Unbreakable give_output_up on_stop",
            "harness.values.text.characters": (
                "WIDE encodable main_script on_one_line outside_latin printable printable_lines quoted "
                "snippet suggestion width without_controls wording_pattern wrapped"
            ),
            "harness.values.text.headings": "Heading HeadingStyle markdown_headings numbered_headings",
            "harness.values.text.numbers": (
                "FEWEST_FOR_INTERVAL SINGLE confidence counted finite interval listed number signed "
                "signed_interval"
            ),
            "harness.values.text.records": "FORMULA delimited delimited_text records_of",
            "harness.values.text.sentence_ends": "SENTENCES_VERSION TO_GRADE passage_spans sentence_spans",
            "harness.values.text.shared_words": "longest_shared_run",
            "harness.values.text.spans": "Span TokenWindows between merge outside tidy trim",
            "harness.values.text.tokenizer": (
                "Tokenizer check_tiktoken load_tiktoken text_batches token_counts token_offsets"
            ),
            "harness.values.types": (
                "ANSWER BY Chunk Details Document Judgment LlmAnswer LlmCall MAX_GRADE NOT_SCORED Query "
                "QueryScore Ranking ResultWarning RunRecord SPLITS Slot Split WarningKind by_key document_of "
                "most_frequent text_id vote_of"
            ),
        },
    )
