"""What every room may use: frozen types, kinds, errors, text as offsets, progress, printing."""

from typing import TYPE_CHECKING

from harness.door import door

if TYPE_CHECKING:
    from harness.values.columns import Cells, Column, Declared, columns_of, id_of_query
    from harness.values.errors import (
        ConfigError,
        CorpusError,
        HarnessError,
        JudgeError,
        LabelError,
        LlmError,
        ModelError,
        StoreError,
    )
    from harness.values.finite_number import SINGLE, finite
    from harness.values.kinds import (
        LARGEST,
        Kind,
        KindAt,
        Kinds,
        Section,
        StageConfig,
        Step,
        kind_of,
        no_such_key,
        problem_in,
        unknown_key,
    )
    from harness.values.open_table import At, OpenTable, packages_in_use
    from harness.values.progress import (
        Board,
        Describable,
        HiddenBoard,
        LinesTask,
        RecordingReporter,
        Reporter,
        Silent,
        Task,
        duration,
        remaining,
    )
    from harness.values.regular_file import file_sha256, refuse_special
    from harness.values.safe_text import printable, printable_lines, quoted, without_controls
    from harness.values.stopping import Stopped, on_stop
    from harness.values.streams import Unbreakable, give_output_up
    from harness.values.text.characters import WIDE, encodable, on_one_line, snippet
    from harness.values.text.golden import golden_answers, golden_cell, golden_of_query
    from harness.values.text.headings import Heading, HeadingStyle, markdown_headings, numbered_headings
    from harness.values.text.numbers import (
        FEWEST_FOR_INTERVAL,
        counted,
        interval,
        listed,
        number,
        signed,
        signed_interval,
    )
    from harness.values.text.passages import TO_GRADE, passage_spans
    from harness.values.text.records import delimited, delimited_text, records_of
    from harness.values.text.scripts import main_script, outside_latin
    from harness.values.text.sentences import SENTENCES_VERSION, sentence_spans
    from harness.values.text.spans import Span, between, merge, outside, tidy, trim
    from harness.values.text.text_id import BY, document_of, text_id
    from harness.values.text.tokenizer import Tokenizer, load_tiktoken, token_counts, token_offsets
    from harness.values.text.windows import TokenWindows
    from harness.values.text.wrapping import wrapped
    from harness.values.types import (
        ANSWER,
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
        SentBatch,
        SentCall,
        Slot,
        Split,
        WarningKind,
    )
else:
    __getattr__ = door(__name__, __file__)
