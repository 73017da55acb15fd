"""`harness label` with a test set: golden answers are reviewed, and nothing that was saved is lost."""

import signal

import pytest

from harness.labels import Envelope, open_answers, take_reviewed
from harness.labels.label_page.answer_edits import AnswerEdits
from harness.labels.label_page.answer_service import FILE
from harness.values import LabelError, Silent
from tests.command import exit_code, printed, refused, table
from tests.label_page.served import Page
from tests.report.page_browser import MARKS, Browser

TEXT = (
    "The yard holds 4,200 vehicles. <b>Three</b> ships call.\n\nA crane failed in March. It took nine days.\n"
)


@pytest.fixture
def folder(tmp_path, monkeypatch, capsys):
    """A test set of three questions that came with their answers, two of them with a passage."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "yard.md").write_text(TEXT, encoding="utf-8")
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "testset.yaml").write_text("documents: '*.md'\ncache: cache\n", encoding="utf-8")
    (tmp_path / "gold.csv").write_text(
        "id,question,document,quote,grade,answer\n"
        'q1,How many vehicles?,yard,"The yard holds 4,200 vehicles. <b>Three</b> ships call.",4,4200.\n'
        "q2,When did the crane fail?,yard,A crane failed in March. It took nine days.,4,In March.\n"
        "q3,Who owns the yard?,,,,Nobody.\n",
        encoding="utf-8",
    )
    for words in (["propose", "--from", "gold.csv"], ["choose", "--auto"], ["answer", "--by-hand"]):
        assert exit_code("testset", "set", *words) == 0, words
    capsys.readouterr()
    return tmp_path / "set"


def answers(folder):
    return {row["query_id"]: row for row in table(folder / "answers.csv")}


def by(expert, request):
    return Envelope(expert, request.ljust(8, "."))


def test_what_the_page_has_saved_is_in_the_test_set_and_its_datasheet(folder, capsys):
    with Page("set") as page:
        first = page.post("enter", rater="Ann", request="1" * 16).json()
        assert (first["rater"], first["question"], first["total"]) == ("Ann", "How many vehicles?", 3)
        assert [one["sentences"] for one in first["contexts"]] == [
            ["The yard holds 4,200 vehicles.", " <b>Three</b> ships call."]
        ]
        body = {"rater": "Ann", "request": "2" * 16, "item": "q1", "answer": " 4,200 vehicles. "}
        saved = page.post("review", **body).json()
        assert (saved["answer"], saved["reviewed_by"], saved["reviewed"]) == ("4,200 vehicles.", "Ann", 1)
        # sent again, as no answer came, it counts once
        assert page.post("review", **body).json() == saved
        other = page.post("review", **{**body, "answer": "other"})
        assert other.status_code == 400
        assert "Nothing was saved" in other.json()["error"]
        page.post("review", rater="Ben", request="3" * 16, item="q2", answer="In March.").raise_for_status()
        output, _ = page.stop(signal.SIGINT)
    assert "2 answers reviewed by Ann, Ben, 1 of them changed." in output
    rows = answers(folder)
    assert [rows[name]["answer"] for name in rows] == ["4,200 vehicles.", "In March.", "Nobody."]
    assert [rows[name]["reviewed_by"] for name in rows] == ["Ann", "Ben", ""]
    # no model wrote it
    assert (rows["q1"]["before"], rows["q1"]["draft"]) == ("4200.", "")
    assert printed(capsys, "testset", "set", "export")
    sheet = (folder / "export" / "datasheet.md").read_text(encoding="utf-8")
    assert "A model drafted" not in sheet
    assert "People or a file gave 3 answers. Reviewed: 2. Changed by the review: 1." in sheet
    assert "export of" in printed(capsys, "testset", "set", "undo")
    # as one step, which can be taken back
    assert "answer of" in printed(capsys, "testset", "set", "undo")
    assert answers(folder)["q1"]["answer"] == "4200."


def test_what_a_killed_page_has_saved_is_taken_by_the_next(folder):
    with Page("set") as page:
        page.post("review", rater="Ann", request="1" * 16, item="q1", answer="4,200.").raise_for_status()
        page.stop(signal.SIGKILL)
    assert answers(folder)["q1"]["answer"] == "4200."
    with Page("set") as page:
        assert answers(folder)["q1"]["answer"] == "4,200."
        assert page.post("enter", rater="Ben", request="2" * 16).json()["query_id"] == "q2"
        output, _ = page.stop(signal.SIGINT)
    assert "Nothing was reviewed." in output


def test_an_answer_by_hand_afterwards_is_not_overwritten_again(folder):
    with open_answers(folder, Silent()) as (state, edits, service):
        service.review(by("Ann", "1"), "q1", "4,200.")
        take_reviewed(state, edits)
        assert take_reviewed(state, edits) == ()


def test_an_edit_of_a_question_that_was_reworded_is_named(folder):
    with AnswerEdits(folder / FILE) as edits:
        edits.save(by("Ann", "1"), "q1", "Another question?", "4200.", "4,200.")
    reporter = Silent()
    with open_answers(folder, reporter):
        pass
    assert "Not taken, as the question was reworded or left out since: q1." in reporter.notes
    assert answers(folder)["q1"]["answer"] == "4200."


@pytest.mark.parametrize(("item", "text"), [("q1", "  "), ("q1", "x" * 20_001), ("q9", "4")])
def test_an_answer_that_cannot_be_is_refused(folder, item, text):
    with open_answers(folder, Silent()) as (_, edits, service):
        with pytest.raises(LabelError):
            service.review(by("Ann", "1"), item, text)
        assert edits.open() == []


def test_options_for_passages_and_a_folder_without_answers_are_refused(folder, capsys):
    assert "--pool is for passages to grade" in refused(capsys, "label", "set", "--pool", "pool.csv")
    assert "--merge is for passages to grade" in refused(capsys, "label", "set", "--merge")
    (folder / "answers.csv").unlink()
    chosen = (folder / "chosen.csv").read_text("utf-8")
    for answer in ("4200.", "In March.", "Nobody."):
        chosen = chosen.replace(answer, "")
    (folder / "chosen.csv").write_text(chosen, encoding="utf-8")
    assert "There is no golden answer to review" in refused(capsys, "label", "set", "--port", "0")


@MARKS[0]
@MARKS[1]
def test_an_expert_edits_and_keeps_answers_in_a_browser(folder, driver):
    tab = Browser(driver)
    with Page("set") as page:
        tab.open(page.link)
        tab.until("return document.documentElement.dataset.ready === 'sign-in'")
        tab.find("#name").send_keys("Ann", "\n")
        tab.until("return document.documentElement.dataset.ready === 'q1'")
        # markup in a document is text, and the sentence with the answer's words is marked
        assert "<b>Three</b> ships call." in tab.find("#contexts").text
        tab.find("#answer").clear()
        tab.find("#answer").send_keys("It holds 4,200 vehicles.")
        marked = (
            "return [...document.querySelectorAll('.sentence.passage-range')].map((one) => one.textContent)"
        )
        assert tab.run(marked) == ["The yard holds 4,200 vehicles."]
        tab.find("#keep").click()
        tab.until("return document.documentElement.dataset.ready === 'q2'")
        assert tab.find("#progress").text == "2 / 3 · reviewed: 1"
        # a sentence is added by a click, and leaving the question saves what was edited
        tab.run("document.querySelectorAll('.sentence')[1].click()")
        tab.find("#next").click()
        tab.until("return document.documentElement.dataset.ready === 'q3'")
        assert tab.find("#progress").text == "3 / 3 · reviewed: 2"
        page.stop(signal.SIGINT)
    rows = answers(folder)
    assert rows["q1"]["answer"] == "It holds 4,200 vehicles."
    assert rows["q2"]["answer"] == "In March. It took nine days."
    assert rows["q3"]["reviewed_by"] == ""
