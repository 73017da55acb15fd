"""From documents to a benchmark that runs: every step, done by a model or by people, anew, and undone."""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from harness.labels import (
    AnswerRow,
    Candidate,
    DisagreementRow,
    FoundRow,
    GradeRow,
    PoolRow,
    Question,
    SearchedRow,
    SetDocument,
    SetState,
    to_csv,
)
from harness.labels.testset.finished import agreements, final_grades
from harness.store import write_text
from tests.command import one_line, refused, save_table, table
from tests.external.filled import Opensearch
from tests.external.stores_in_use import MODEL
from tests.judge.fake_server import FakeServer, says
from tests.testset.helpers import (
    configure,
    model,
    prompt_of,
    run,
    scripted,
    step_printed,
    step_refused,
    testset,
    written_by_hand,
)

SET = SetState(Path("set"))
QUESTIONS = "text,answerable\nWhat was total revenue?,yes\nWhere is the Alto built?,yes\nWho is on Mars?,no\n"


@pytest.fixture
def gathered(folder):
    """Three questions with their passages."""
    Path("mine.csv").write_text(QUESTIONS)
    assert testset("propose", "--from", "mine.csv") == 0
    assert testset("choose", "--auto") == 0
    assert testset("gather") == 0
    return folder


def set_passages(before, after):
    """Another number of passages for a question."""
    path = SET.folder / "testset.yaml"
    path.write_text(path.read_text().replace(f"passages: {before}\n", f"passages: {after}\n"))


def filled(sheet, grade):
    """Fill a sheet by ``grade(row)``; an empty grade leaves the row open."""
    rows = table(sheet)
    save_table(sheet, [{**row, "grade": grade(row)} for row in rows])
    return rows


def graded(by, grade):
    """A person grades a sheet."""
    if not Path("all.csv").exists():
        assert testset("grade", "--sheet", "all.csv") == 0
    shutil.copy("all.csv", "s.csv")
    filled("s.csv", grade)
    assert testset("grade", "--from", "s.csv", "--by", by) == 0


def worse(row):
    return 2 if "Total revenue" in row["passage"] else by_words(row)


def settled(**columns):
    """Fill in every disagreement."""
    rows = [replace(row, **columns) for row in SET.rows(DisagreementRow)]
    SET.path(DisagreementRow).write_text(to_csv(DisagreementRow, rows), encoding="utf-8")
    return rows


def exported(name):
    """The rows of an exported table."""
    return table(f"set/export/{name}.csv")


def bench_by_words():
    """Run the exported benchmark without its settings that load a model, for time; returns the exit code."""
    lines = Path("set/export/bench.yaml").read_text(encoding="utf-8").splitlines(keepends=True)
    Path("words.yaml").write_text(
        "".join(line for line in lines if "*dense" not in line and "&dense" not in line)
    )
    return run("bench", "words.yaml", "--quiet")


def by_words(row):
    return 4 if "Total revenue" in row["passage"] else 3 if "Alto is built" in row["passage"] else 0


def test_a_pool_is_of_several_retrievers_and_says_nothing_of_them(gathered):
    pool, found = SET.rows(PoolRow), SET.rows(FoundRow)
    texts = {path.stem: path.read_text(encoding="utf-8") for path in Path("docs").iterdir()}
    assert all(texts[row.doc_id][row.start : row.end] == row.text for row in pool)
    assert len({(row.query_id, row.doc_id, row.start) for row in pool}) == len(pool)
    assert {row.key for row in pool} == {row.key for row in found}
    names = {name for row in found for name in row.found_by.split("; ")}
    # two formulas over three lengths of chunks
    assert len(names) == 6
    header = SET.path(PoolRow).read_text().splitlines()[0]
    assert header == "query_id,question,doc_id,start,end,page,text"
    best = {row.key: row.best_rank for row in found}
    ranks = [best[row.key] for row in pool]
    assert ranks != sorted(ranks) or len(set(ranks)) == 1


def test_gathering_again_searches_only_what_is_new(gathered, capsys):
    before = SET.path(PoolRow).read_text()
    assert "0 of these were searched now" in step_printed(capsys, "gather")
    rows = SET.rows(Candidate)
    rows[0] = replace(rows[0], text="What was total revenue, in all?")
    SET.path(Candidate).write_text(to_csv(Candidate, rows), encoding="utf-8")
    assert "reworded since" in step_refused(capsys, "grade", "--sheet", "s.csv")
    assert "1 of these were searched now" in step_printed(capsys, "gather")
    assert SET.path(PoolRow).read_text() != before
    # passages are kept until a new search is asked for
    before = SET.path(PoolRow).read_text()
    Path("also.yaml").write_text(
        "name: also\ndocuments: docs/*\nqueries: q.csv\nlabels: l.csv\nsettings: [{retrieve: {kind: bm25}}]\n"
    )
    told = step_printed(capsys, "gather", "--also", "also.yaml")
    assert "3 questions keep their passages, without --also: add --again to search anew for all" in told
    assert "nope.yaml" in step_refused(capsys, "gather", "--also", "nope.yaml")
    assert SET.path(PoolRow).read_text() == before
    set_passages(5, 20)
    assert testset("gather", "--again") == 0
    assert SET.path(PoolRow).read_text() != before


def test_an_existing_collection_helps_to_gather(gathered, tmp_path):
    texts = ["Total revenue was 96,773 million in 2023.", "In no document: the total of all revenue."]
    rows = [{"text": text, "document": "report.md", "vector": [1.0, 0.0]} for text in texts]
    section = {**Opensearch(tmp_path).fill(rows), "search": "words", "top_k": 5}
    also = {"name": "also", "documents": "docs/*", "queries": "q.csv", "labels": "l.csv"}
    Path("also.yaml").write_text(json.dumps(also | {"settings": [{"retrieve": section}]}))
    assert testset("gather", "--again", "--also", "also.yaml") == 0
    found = [row for row in SET.rows(FoundRow) if "also: base" in row.found_by]
    assert {row.doc_id for row in found} == {"report"}
    assert all("In no document" not in row.text for row in SET.rows(PoolRow))


@pytest.mark.parametrize("scheme", ["passages://contracts", "Passages://contracts"])
def test_passages_of_a_collection_are_named_as_files(folder, capsys, scheme):
    path = Path("set", "testset.yaml")
    path.write_text(path.read_text().replace("docs/*", scheme))
    assert "--dry-run once: each passage is then a file" in step_refused(capsys, "gather")


@pytest.mark.parametrize("key", ["retrieve: {kind: qdrant}", "settings: []"])
def test_settings_are_named_by_the_step_that_searches(folder, capsys, key):
    configure(f"{key}\n")
    assert "harness testset set gather --also bench.yaml" in step_refused(capsys, "gather")


def test_labels_of_passages_of_a_collection_fit_the_benchmark_that_searches_it(folder, tmp_path):
    texts = ["Total revenue was 96,773 million.", "In Turin the Alto is built.", "Wash the car."]
    rows = [{"text": text, "document": "old.md", "vector": [1.0, 0.0]} for text in texts]
    section = {**Opensearch(tmp_path).fill(rows), "search": "words", "model": MODEL}
    bench = {"name": "stored", "documents": "passages://contracts", "cache": "cache", "retrieve": section}
    bench |= {"queries": "mine.csv", "labels": "l.csv", "chunk": {"kind": "page"}}
    Path("mine.csv").write_text("query_id,text,answerable\nr,What was total revenue?,yes\n")
    Path("l.csv").write_text("query_id,document,grade\nr,id-0,4\n")
    Path("stored.yaml").write_text(json.dumps(bench))
    assert run("bench", "stored.yaml", "--dry-run") == 0
    ((copies, files),) = [(path, [*path.iterdir()]) for path in Path("cache").rglob("passages-*")]
    assert len(files) == len(texts)
    path = Path("set", "testset.yaml")
    path.write_text(path.read_text().replace("docs/*", f"{copies}/*"))
    assert testset("propose", "--from", "mine.csv") == 0
    assert testset("choose", "--auto") == 0
    assert testset("gather", "--also", "stored.yaml") == 0
    assert any("stored: base" in row.found_by for row in SET.rows(FoundRow))
    graded("Ann", by_words)
    assert testset("export") == 0
    files = {"queries": "set/export/queries.csv", "labels": "set/export/labels.csv"}
    Path("stored.yaml").write_text(json.dumps(bench | files))
    assert run("bench", "stored.yaml", "--quiet") == 0
    (recall,) = [
        row["value"] for row in table("results/stored/per_query.csv") if row["measure"] == "recall@10"
    ]
    assert float(recall) == 1


def test_a_suggested_passage_is_in_the_pool(folder):
    written_by_hand()
    testset("choose", "--auto")
    testset("gather")
    pool = [row.key for row in SET.rows(PoolRow)]
    for one in SET.rows(Candidate):
        if one.keep == "yes" and one.start is not None:
            spans = [
                span for query, document, *span in pool if [query, document] == [one.query_id, one.document]
            ]
            assert any(start < one.end and one.start < end for start, end in spans), one


def test_people_grade_answer_review_and_export(gathered, capsys):
    assert testset("grade", "--sheet", "s.csv") == 0
    sheet = filled("s.csv", by_words)
    assert not {"settings", "best_rank", "found_by"} & sheet[0].keys()
    assert testset("grade", "--from", "s.csv", "--by", "Ann") == 0
    assert "every passage" in step_printed(capsys, "grade", "--sheet", "s.csv")
    assert testset("answer", "--by-hand") == 0
    rows = [
        replace(one, answer="96,773 million") if "revenue" in one.question else one
        for one in SET.rows(AnswerRow)
    ]
    SET.path(AnswerRow).write_text(to_csv(AnswerRow, rows), encoding="utf-8")
    assert testset("review", "--sheet", "r.csv", "--share", "1") == 0
    filled("r.csv", worse)
    output = step_printed(capsys, "review", "--from", "r.csv", "--by", "Ben")
    assert "Ann and Ben" in output
    assert "quadratic" in output
    (disagreement,) = [row for row in SET.rows(DisagreementRow) if "revenue" in row.question]
    assert (disagreement.grades, disagreement.apart, disagreement.resolved) == ("Ann 4; Ben 2", 2, None)
    assert "left unjudged: people disagree" in step_printed(capsys, "export")
    settled(resolved=3)
    assert testset("export") == 0
    labels = exported("labels")
    (label,) = [
        row for row in labels if "Total revenue" in row["quote"] and row["query_id"] == disagreement.query_id
    ]
    assert label["grade"] == "3"
    queries = {row["text"]: row for row in exported("queries")}
    assert queries["What was total revenue?"]["answer"] == "96,773 million"
    assert queries["Who is on Mars?"]["answerable"] == "no"
    datasheet = Path("set/export/datasheet.md").read_text(encoding="utf-8")
    text = Path("docs/report.md").read_text(encoding="utf-8")
    for line in ("Ann and Ben", "| questions | 3 |", "bm25 sentence 300", "export", "mine.csv 3"):
        assert line in datasheet
    assert hashlib.sha256(text.encode()).hexdigest() in datasheet
    assert bench_by_words() == 0
    assert Path("results/set/summary.csv").exists()
    # read again as the first person's: taken, but not in silence
    output = step_printed(capsys, "review", "--from", "r.csv", "--by", "Ann")
    assert f"; {len(SET.rows(GradeRow)) // 2} earlier grades by Ann replaced" in one_line(output)


def test_labels_of_the_page_keep_the_part_that_answers(gathered, capsys):
    """Offsets come from the text itself: the passage is the sentence, its answer the figure in it."""
    text = Path("docs/report.md").read_text(encoding="utf-8")
    start = text.index("Total revenue was")
    end = text.index("in 2023.", start) + len("in 2023.")
    Path("labels.csv").write_text(
        "query_id,document,start,end,quote,grade,evidence,answer\n"
        f'q001,report,{start},{end},"{text[start:end]}",4,revenue,"96,773 million"\n',
        encoding="utf-8",
    )
    assert testset("grade", "--from", "labels.csv", "--by", "Ann") == 0
    assert [row.answer for row in SET.rows(GradeRow)] == ["96,773 million"]
    assert testset("export") == 0
    (label,) = exported("labels")
    assert (label["evidence"], label["answer"], label["judge"]) == ("revenue", "96,773 million", "Ann")


def test_people_who_differ_are_listed_however_they_graded_and_what_was_resolved_stays(gathered, capsys):
    graded("Ann", by_words)
    assert SET.rows(DisagreementRow) == []
    graded("Ben", worse)
    rows = SET.rows(DisagreementRow)
    assert {(row.grades, row.apart) for row in rows} == {("Ann 4; Ben 2", 2)}
    resolved = settled(resolved=3)
    # a third person agrees with Ann in all: one row a passage has what all three said, and stays resolved
    graded("Cleo", by_words)
    again = SET.rows(DisagreementRow)
    assert len(again) == len(rows)
    assert {(row.grades, row.resolved) for row in again} == {("Ann 4; Ben 2; Cleo 4", 3)}
    assert testset("undo") == 0
    assert SET.rows(DisagreementRow) == resolved
    # everything is graded and disputed
    graded("Dan", lambda row: 1)
    settled(resolved=None)
    told = step_refused(capsys, "export")
    assert "no settled grade of a kept question. Fill the column resolved of set/disagreements.csv" in told


def test_a_model_proposes_grades_and_answers_and_the_export_runs(folder, capsys):
    with FakeServer(scripted) as server:
        configure(model(server.url))
        for words in (["propose"], ["choose", "--auto"], ["gather"]):
            assert testset(*words) == 0
        before = server.count
        assert "would grade" in step_printed(capsys, "grade", "--dry-run")
        assert testset("answer", "--dry-run") == 0
        assert "(its name does not end in .yaml)" in step_refused(
            capsys, "answer", "--prompt", "docs/guide.md"
        )
        assert server.count == before
        assert testset("grade") == 0
        assert server.count == before + len(SET.rows(PoolRow))
        assert testset("grade") == 0
        assert server.count == before + len(SET.rows(PoolRow))
        assert testset("answer") == 0
    graded = SET.rows(GradeRow)
    assert {row.by_model for row in graded} == {True}
    assert {row.grade for row in graded} == {0, 4}
    answered = [row for row in SET.rows(AnswerRow) if row.answer]
    assert {row.answer for row in answered} == {"96,773 million"}
    assert {row.by for row in answered} == {"fake (answer v1)"}
    assert testset("export") == 0
    assert "No person has graded anything" in Path("set/export/datasheet.md").read_text(encoding="utf-8")
    assert bench_by_words() == 0


def test_no_person_grades_under_the_name_of_a_model_or_of_two(gathered, capsys):
    testset("grade", "--sheet", "s.csv")
    filled("s.csv", by_words)
    for name in ("Ann; Ben", "Ann, Ben"):
        assert "without comma" in step_refused(capsys, "grade", "--from", "s.csv", "--by", name)
    with FakeServer(scripted) as server:
        configure(model(server.url))
        words = ("--from", "s.csv", "--by", "fake (pointwise v1)")
        # before it has graded, and after
        assert "is a language model" in step_refused(capsys, "grade", *words)
        assert testset("grade") == 0
    Path("set/testset.yaml").write_text(Path("set/testset.yaml").read_text().partition("llm:")[0])
    for step in ("grade", "review"):
        assert "is a language model" in step_refused(capsys, step, *words)
    assert {row.by_model for row in SET.rows(GradeRow)} == {True}


def test_a_failed_grade_is_no_grade(gathered, capsys):
    def script(request, number):
        return says("no grade") if "Total revenue" in prompt_of(request) else says('{"grade": 2}')

    with FakeServer(script) as server:
        endpoint = model(server.url).removeprefix("llm:\n")
        configure(f"judge:\n  max_unscored: 1.0\n  answers_per_call: 1\n{endpoint}")
        assert testset("grade") == 0
    failed = [row for row in SET.rows(GradeRow) if row.grade is None]
    assert failed
    assert all(row.reason for row in failed)
    testset("export")
    labels = Path("set/export/labels.csv").read_text(encoding="utf-8")
    assert "Total revenue" not in labels
    sheet = Path("set/export/datasheet.md").read_text(encoding="utf-8")
    assert f"{len(failed)} passages could not be graded" in sheet


def test_an_unanswerable_reply_and_a_fault_are_no_answers(gathered, capsys):
    graded("Ann", by_words)

    def script(request, number):
        return says("UNANSWERABLE") if "revenue?" in prompt_of(request) else says("", finish="content_filter")

    with FakeServer(script) as server:
        configure(model(server.url))
        assert testset("answer") == 0
    rows = {row.question: row for row in SET.rows(AnswerRow)}
    assert not any(row.answer for row in rows.values())
    assert rows["What was total revenue?"].note == "the model finds no answer in the passages"
    assert "content_filter" in rows["Where is the Alto built?"].note
    # of a question that is marked as unanswerable nothing is asked
    assert rows["Who is on Mars?"].note == ""


def test_a_folder_without_a_test_set_is_left_as_it_is(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("mine").mkdir()
    for words in (("propose", "--by-hand"), ("gather",), ("undo",), ("status",)):
        for folder in ("mine", "nowhere"):
            assert f"{folder}/testset.yaml is not there. Make it" in refused(
                capsys, "testset", folder, *words
            )
    assert [*Path().rglob("*")] == [Path("mine")]


def test_every_step_can_be_undone(gathered, capsys):
    pool, chosen = SET.path(PoolRow).read_bytes(), SET.path(Candidate).read_bytes()
    edited = chosen.replace(b"total revenue", b"all revenue")
    SET.path(Candidate).write_bytes(edited)
    told = step_printed(capsys, "undo")
    assert "Undone: gather" in told
    (kept,) = Path("set/history/undone").iterdir()
    assert f"As they were, with every edit: {kept}/." in told
    assert not SET.has(PoolRow)
    assert SET.path(Candidate).read_bytes() == edited
    assert testset("undo") == 0
    assert not SET.has(Candidate)
    assert any(path.read_bytes() == edited for path in Path("set/history/undone").rglob("chosen.csv"))
    assert any(path.read_bytes() == pool for path in Path("set/history/undone").rglob("pool.csv"))
    assert testset("choose", "--auto") == 0
    assert SET.path(Candidate).read_bytes() == chosen
    for _ in range(2):
        assert testset("undo") == 0
    assert not SET.has(Question)
    assert "nothing to undo" in step_refused(capsys, "undo")


def killed_after(files, monkeypatch, *words):
    """Do a step that is killed when it has written some of its tables."""
    written = []

    def write(path, content):
        if path.parent == SET.folder:
            if len(written) == files:
                raise KeyboardInterrupt
            written.append(path)
        write_text(path, content)

    with monkeypatch.context() as patched:
        patched.setattr("harness.labels.testset.set_state.write_text", write)
        assert testset(*words) == 130


@pytest.mark.parametrize("files", range(4))
def test_a_gathering_that_was_killed_between_its_tables_is_done_again(gathered, monkeypatch, capsys, files):
    SET.path(SetDocument).unlink()
    names = (PoolRow, FoundRow, SearchedRow)
    before = {kind: SET.path(kind).read_bytes() for kind in names}
    set_passages(5, 2)
    killed_after(files, monkeypatch, "gather", "--again")
    set_passages(2, 5)
    assert "gather was killed while it wrote: run it again" in step_printed(capsys, "status")
    assert "Undone, as it was killed while it wrote: gather" in step_printed(capsys, "gather")
    assert {kind: SET.path(kind).read_bytes() for kind in names} == before
    # also of a first one nothing stays
    assert testset("undo") == 0
    killed_after(files, monkeypatch, "gather")
    assert testset("gather") == 0
    assert {kind: SET.path(kind).read_bytes() for kind in names} == before
    assert SET.has(SetDocument)
    assert "killed" not in step_printed(capsys, "status")
    assert testset("undo") == 0
    assert not any(SET.has(kind) for kind in names)


def test_passages_of_questions_that_are_not_listed_as_searched_are_gathered_once(gathered, capsys):
    before = SET.path(PoolRow).read_bytes()
    SET.path(SearchedRow).unlink()
    assert "3 of these were searched now" in step_printed(capsys, "gather")
    assert SET.path(PoolRow).read_bytes() == before


def test_a_document_that_has_changed_stops_every_step(gathered, capsys):
    with Path("docs/report.md").open("a", encoding="utf-8") as file:
        file.write("One more sentence.\n")
    assert "report has changed since" in step_refused(capsys, "grade", "--sheet", "s.csv")


def row(grade, grader, by_model=False, start=0):
    return GradeRow("q1", "d", start, start + 5, grade, grader, by_model)


def test_the_grade_that_counts():
    key = ("q1", "d", 0, 5)
    assert final_grades([row(1, "m", True), row(2, "n", True)])[key].grade == 2
    assert final_grades([row(4, "Ann"), row(2, "n", True)])[key].grade == 4
    assert final_grades([row(4, "Ann"), row(2, "Ben")])[key].grade is None
    resolved = DisagreementRow("q1", "d", 0, 5, "?", "Ann 4; Ben 2", 2, 3, "text")
    assert final_grades([row(4, "Ann"), row(2, "Ben")], [resolved])[key].grade == 3
    assert final_grades([row(None, "m", True)]) == {}


def test_agreement_is_over_what_both_have_graded():
    rows = [row(g, "Ann", start=n) for n, g in enumerate([0, 4, 2, 1])] + [
        row(g, "Ben", start=n) for n, g in enumerate([0, 4, 3])
    ]
    (one,) = agreements(rows)
    # 0-4-2 against 0-4-3: squared differences 1, by chance (0+16+9 + 16+0+1 + 4+4+1) / 3 = 17
    assert (one.items, one.exact) == (3, pytest.approx(2 / 3))
    assert one.kappa_quadratic == pytest.approx(1 - 1 / 17)


def test_what_was_added_to_exported_labels_stays(gathered, capsys):
    graded("Ann", by_words)
    testset("export")
    before = exported("labels")
    added = {**before[0], "start": "0", "end": "7", "quote": "", "grade": "1", "judge": "Zoe", "note": "mine"}
    gone = {**added, "query_id": "q999"}
    # one row added, one regraded, one taken out, one of a question that is none
    edited = [{**before[0], "note": "", "grade": "2"}, *before[2:], added, gone]
    save_table("set/export/labels.csv", edited)
    capsys.readouterr()
    output = step_printed(capsys, "export")
    assert "1 added, 1 edited, 1 taken out" in output
    assert "1 label of questions that are no longer in the test set left out" in output
    rows = exported("labels")
    assert len(rows) == len(before)
    assert rows[0]["grade"] == "2"
    assert (rows[-1]["judge"], rows[-1]["note"]) == ("Zoe", "mine")
    # once more: nothing is lost and nothing is added twice
    testset("export")
    assert exported("labels") == rows
    # the test set changes what was edited too: nothing is written before that is settled
    graded("Ann", lambda row: 1)
    capsys.readouterr()
    assert "disagree on 1 passage (" in step_refused(capsys, "export")
    assert exported("labels") == rows
    Path("set/export/labels.csv").unlink()
    assert testset("export") == 0
    assert {row["grade"] for row in exported("labels")} == {"1"}


def test_two_commands_at_once_are_refused(gathered, capsys):
    with SET.alone():
        for words in (("export",), ("undo",), ("propose", "--by-hand", "--again")):
            assert "another harness testset command is at work" in step_refused(capsys, *words)
        assert testset("status") == 0
    assert testset("undo") == 0


@pytest.mark.slow
def test_killed_while_grading_it_goes_on_where_it_was(gathered):
    """SIGKILL in the middle: what was answered is in the ledger, and no table is half written."""
    gate = threading.Event()

    def script(request, number):
        # held back without holding up the server
        return replace(says('{"grade": 2}'), after=gate if number >= 4 else None)

    with FakeServer(script) as server:
        configure(model(server.url))
        code = "import sys; from harness.cli import main; main(['testset', 'set', 'grade'])"
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
        child = subprocess.Popen([sys.executable, "-c", code], env=environment)
        while server.count < 6 and child.poll() is None:
            threading.Event().wait(0.05)
        child.send_signal(signal.SIGKILL)
        child.wait()
        gate.set()
        assert not SET.has(GradeRow)
        before = server.count
        assert testset("grade") == 0
        total = len(SET.rows(PoolRow))
        assert len(SET.rows(GradeRow)) == total
        assert len(server.prompts()) == total
        # four run at once: of the six or more that had begun, two at least were done and are not asked again
        assert before >= 6
        assert server.count - before <= total - 2


REVIEWED = "query_id,question,answer,reviewed\n"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("q9,Who?,An answer.,\n", "there is no kept question"),
        ("q001,Another question?,An answer.,\n", "was reworded since"),
        ("q001,What was total revenue?,,yes\n", "is reviewed and has no answer"),
        (
            "q001,What was total revenue?,One.,\nq001,What was total revenue?,Two.,\n",
            "has the query_id of line 2",
        ),
    ],
)
def test_reviewed_answers_are_taken_whole_or_not_at_all(gathered, capsys, rows, message):
    assert testset("answer", "--by-hand") == 0
    before = SET.path(AnswerRow).read_bytes()
    Path("reviewed.csv").write_text(REVIEWED + rows, encoding="utf-8")
    assert message in step_refused(capsys, "answer", "--from", "reviewed.csv", "--by", "Ann")
    assert SET.path(AnswerRow).read_bytes() == before


def test_what_is_odd_about_the_text_is_told_once_and_again_of_new_documents(folder, capsys):
    odd = "Fonts without names: " + chr(0xE000) * 40 + "\n"
    (folder / "docs" / "odd.md").write_text(odd + "The pump is old.\n", encoding="utf-8")
    config = folder / "set" / "testset.yaml"
    config.write_text(config.read_text() + "on_bad_document: skip\nparsing: {max_suspect_characters: 1.0}\n")
    Path("mine.csv").write_text(QUESTIONS)
    told = []
    for words in (("propose", "--from", "mine.csv"), ("choose", "--auto"), ("gather",), ("gather",)):
        assert testset(*words) == 0
        told.append("characters are suspect" in one_line(capsys.readouterr().err))
    assert told.count(True) == 1
    (folder / "docs" / "new.md").write_text(odd + "The crane is new.\n", encoding="utf-8")
    assert testset("gather") == 0
    assert "characters are suspect" in one_line(capsys.readouterr().err)
