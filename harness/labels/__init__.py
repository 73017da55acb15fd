"""Questions and grades by people or models: test sets, sheets, the labelling page."""

from typing import TYPE_CHECKING

from harness.door import door

if TYPE_CHECKING:
    from harness.labels.label_page.answer_service import open_answers, take_reviewed
    from harness.labels.label_page.document_store import DocumentStore
    from harness.labels.label_page.export import RULE, merged_rows, rater_rows
    from harness.labels.label_page.opening import PassageSource, open_service
    from harness.labels.label_page.page_state import Envelope, PageState
    from harness.labels.label_page.ratings import Rating, grades_of
    from harness.labels.label_page.serve import link_file, listening_at, serve
    from harness.labels.labelling.finding import find_evidence
    from harness.labels.labelling.grading_sheet import (
        SheetRow,
        UngradedRow,
        graded_rows,
        new_rows,
        sheet_rows,
        write_sheet,
    )
    from harness.labels.labelling.label_rows import add_rows, addable, columns_of, label_lines, write_rows
    from harness.labels.labelling.passages import PassageToGrade
    from harness.labels.labelling.retrieved import documents_of, sheet_of
    from harness.labels.scaffold.config_text import (
        FolderSummary,
        name_of,
        refuse_start,
        searches_by_meaning,
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
    from harness.labels.testset.set_state import Outcome, SetState, StepRecord
    from harness.labels.testset.status import status_of
    from harness.labels.testset.testset_rows import (
        AnswerRow,
        Candidate,
        DisagreementRow,
        FoundRow,
        GradeRow,
        Place,
        PoolRow,
        Question,
        ReviewedAnswer,
        SearchedRow,
        SetDocument,
        to_csv,
    )
else:
    __getattr__ = door(
        __name__,
        {
            "harness.labels.label_page.answer_service": "open_answers take_reviewed",
            "harness.labels.label_page.document_store": "DocumentStore",
            "harness.labels.label_page.export": "RULE merged_rows rater_rows",
            "harness.labels.label_page.opening": "PassageSource open_service",
            "harness.labels.label_page.page_state": "Envelope PageState",
            "harness.labels.label_page.ratings": "Rating grades_of",
            "harness.labels.label_page.serve": "link_file listening_at serve",
            "harness.labels.labelling.finding": "find_evidence",
            "harness.labels.labelling.grading_sheet": (
                "SheetRow UngradedRow graded_rows new_rows sheet_rows write_sheet"
            ),
            "harness.labels.labelling.label_rows": "add_rows addable columns_of label_lines write_rows",
            "harness.labels.labelling.passages": "PassageToGrade",
            "harness.labels.labelling.retrieved": "documents_of sheet_of",
            "harness.labels.scaffold.config_text": (
                "FolderSummary name_of refuse_start searches_by_meaning summarise write_start"
            ),
            "harness.labels.testset.answering": "answer",
            "harness.labels.testset.choosing": "choose",
            "harness.labels.testset.config": "load_testset",
            "harness.labels.testset.exporting": "export_testset",
            "harness.labels.testset.formats": "import_testset unknown_format",
            "harness.labels.testset.gathering": "gather",
            "harness.labels.testset.grading": "grade review",
            "harness.labels.testset.proposing": "propose",
            "harness.labels.testset.set_state": "Outcome SetState StepRecord",
            "harness.labels.testset.status": "status_of",
            "harness.labels.testset.testset_rows": (
                "AnswerRow Candidate DisagreementRow FoundRow GradeRow Place PoolRow Question ReviewedAnswer "
                "SearchedRow SetDocument to_csv"
            ),
        },
    )
