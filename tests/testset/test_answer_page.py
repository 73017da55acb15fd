"""The page on which an expert reviews golden answers, in a real browser."""

from pathlib import Path

from harness.labels import AnswerRow, Place, SetState
from harness.labels.testset.answer_review import AnswerToReview, read_review, write_review
from tests.corpus.conftest import text_document
from tests.report.page_browser import MARKS
from tools.screenshots import load

pytestmark = MARKS
HOSTILE = "</script><script>window.hostile = 1</script><b>Lyon</b>"


def test_answers_are_edited_kept_and_saved_as_a_file_that_is_read_back(folder, driver):
    state = SetState(Path("set"))
    document = text_document("d", HOSTILE)
    rows = [
        AnswerRow(f"q{at}", f"Question {at}?", f"Answer {at}.", "m (answer v1)", "", f"Answer {at}.")
        for at in (1, 2, 3)
    ]
    context = Place(document, 0, len(HOSTILE))
    write_review(state, Path("answers.html"), [AnswerToReview(row, [context]) for row in rows])
    load(driver, Path("answers.html").absolute().as_uri())

    def find(name):
        return driver.find_element("id", name)

    assert HOSTILE in find("contexts").text
    assert driver.execute_script("return window.hostile") is None
    find("answer").clear()
    find("answer").send_keys('=39,717, "about"')
    find("keep").click()
    find("keep").click()
    # what was reviewed is there when the page is opened again, at the first question that is open
    driver.refresh()
    assert (find("question").text, find("progress").text) == ("Question 3?", "3 / 3 · reviewed: 2")
    driver.execute_script("URL.createObjectURL = (blob) => { window.saved = blob; return '#'; }")
    find("save").click()
    saved = driver.execute_async_script("window.saved.text().then(arguments[0])")
    Path("reviewed.csv").write_text(saved, encoding="utf-8")
    assert (
        "2 answers reviewed by Ann, 1 of them changed"
        in read_review(state, Path("reviewed.csv"), "Ann", rows).lines[0]
    )
    first, second, third = state.rows(AnswerRow)
    assert (first.answer, first.by, first.draft) == ('=39,717, "about"', "Ann", "Answer 1.")
    assert (second.answer, second.by, second.reviewed_by) == ("Answer 2.", "m (answer v1)", "Ann")
    assert third == rows[2]
