"""Questions and grades by people or models: test sets, sheets, the labelling page."""

from typing import TYPE_CHECKING

from harness.door import door

if TYPE_CHECKING:
    from harness.labels.label_page.export import RULE, merged_rows, rater_rows
    from harness.labels.label_page.opening import PassageSource, open_service
    from harness.labels.label_page.ratings import grades_of
    from harness.labels.label_page.serve import link_file, listening_at, serve
    from harness.labels.label_page.state import PageState
    from harness.labels.labelling.finding import find_evidence
    from harness.labels.labelling.grading import graded_rows, new_rows, write_sheet
    from harness.labels.labelling.passages import PassageToGrade
    from harness.labels.labelling.retrieved import documents_of, sheet_of
    from harness.labels.labelling.rows import add_rows, addable, columns_of, label_lines, write_rows
    from harness.labels.scaffold.config_text import (
        FolderSummary,
        name_of,
        refuse_start,
        summarise,
        write_start,
    )
    from harness.labels.testset.answering import answer
    from harness.labels.testset.choosing import choose
    from harness.labels.testset.config import load_testset
    from harness.labels.testset.exporting import export_testset
    from harness.labels.testset.formats import import_testset, unknown_format
    from harness.labels.testset.gathering import gather
    from harness.labels.testset.grading import grade, review
    from harness.labels.testset.proposing import propose
    from harness.labels.testset.state import Outcome, SetState, StepRecord
    from harness.labels.testset.status import status_of
else:
    __getattr__ = door(__name__, __file__)
