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
        first_line,
        guide,
    )
    from harness.values.kinds import (
        LARGEST,
        At,
        Kind,
        KindAt,
        Kinds,
        OpenTable,
        Section,
        StageConfig,
        Step,
        installed_version,
        kind_of,
        line_of_package,
        no_such_key,
        packages_in_use,
        problem_in,
        unknown_key,
        version_of,
    )
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
    from harness.values.regular_file import file_sha256, refuse_existing, refuse_special, text_sha256
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
    from harness.values.text.sentences import SENTENCES_VERSION, TO_GRADE, passage_spans, sentence_spans
    from harness.values.text.spans import Span, TokenWindows, between, merge, outside, tidy, trim
    from harness.values.text.tokenizer import (
        Tokenizer,
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
    __getattr__ = door(__name__, __file__)
