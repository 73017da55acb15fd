"""Questions come from a model, a list, a log or people; each says where its evidence would be."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.labels import Candidate, GradeRow, Place, Question, SetState, to_csv
from harness.labels.testset.kinds import KINDS, quotas
from harness.labels.testset.propose.llm import excerpts, locate
from harness.labels.testset.propose.many import questions_in
from harness.labels.testset.propose.question_lists import read_user_questions
from harness.models import Malformed
from harness.store import Ledger
from tests.corpus.conftest import text_document as document
from tests.judge.fake_server import FakeServer, says
from tests.testset.helpers import (
    DOCUMENTS,
    GUIDE,
    REPORT,
    configure,
    model,
    passages_of,
    scripted,
    step_printed,
    step_refused,
    testset,
    written_by_hand,
)

SET = SetState(Path("set"))


ALL = [document(Path(name).stem, text) for name, text in DOCUMENTS.items()]


@given(st.integers(1, 400), st.sets(st.sampled_from(list(KINDS)), min_size=1))
def test_quotas_sum_to_the_count_and_are_within_one_of_their_share(count, kinds):
    kinds = [kind for kind in KINDS if kind in kinds]
    found = quotas(count, kinds)
    whole = sum(KINDS[kind][0] for kind in kinds)
    assert sum(found.values()) == count
    assert all(abs(found[kind] - count * KINDS[kind][0] / whole) < 1 for kind in kinds)


def test_the_usual_150_are_in_the_shares_of_the_table():
    # 150 times 0.30, 0.15, 0.12, 0.12, 0.13, 0.08, 0.10: 45, 22.5, 18, 18, 19.5, 12, 15; the first goes up
    assert list(quotas(150).values()) == [45, 23, 18, 18, 19, 12, 15]


def test_people_write_questions_about_passages_of_every_kind(folder, capsys):
    assert "into the column text" in step_printed(capsys, "propose", "--by-hand")
    rows = SET.rows(Question)
    assert {one.kind for one in rows} == set(KINDS)
    assert {one.text for one in rows} == {""}
    assert all(one.answerable == (one.kind != "unanswerable") and one.note for one in rows)
    texts = {one.doc_id: one.text for one in ALL}
    for one in rows:
        assert " ".join(texts[one.document][one.start : one.end].split()) == one.passage
        assert bool(one.document_2) == (one.kind in ("two_places", "comparison"))
    assert f"0 questions, {len(rows)} to be written" in step_printed(capsys, "status")
    assert "has no question" in step_refused(capsys, "choose")
    assert testset("undo") == 0
    written = written_by_hand()
    SET.path(Question).write_text(
        to_csv(Question, [replace(written[0], text=""), *written[1:]]), encoding="utf-8"
    )
    assert testset("choose", "--auto") == 0
    assert [one.query_id for one in SET.rows(Candidate)] == [one.query_id for one in written[1:]]


def test_long_documents_do_not_drown_short_ones():
    long, short = document("long", "A sentence of words. " * 4000), document("short", REPORT)
    assert "short" in [place.document.doc_id for place in excerpts([long, short], 7)[:12]]


def test_quotes_are_located_by_their_letters():
    whole = Place(document("g", GUIDE), 0, len(GUIDE))
    for quote in ("A full charge takes 7 hours", "a FULL charge\ntakes 7 hours"):
        place, sure = locate(quote, whole)
        assert (place.text, sure) == ("A full charge takes 7 hours", True)
    place, sure = locate("A full charge takes seven hours at a wall box", whole)
    assert place.text.startswith("A full charge takes 7 hours") if sure else place == whole
    assert locate("Nothing of the kind stands here at all", whole) == (whole, False)


def test_a_model_proposes_and_is_paid_once(folder, capsys):
    with FakeServer(scripted) as server:
        configure(model(server.url))
        output = step_printed(capsys, "propose", "--dry-run")
        assert "price likely" in output
        assert server.count == 0
        assert not SET.has(Question)
        assert testset("propose") == 0
        paid = server.count
        # two places get excerpts of two documents
        two = [shown for shown in map(passages_of, server.requests) if len(shown) == 2]
        assert two
        assert all(one not in other for one, other in two)
        assert "--again" in step_refused(capsys, "propose")
        assert testset("propose", "--again") == 0
        assert server.count == paid
    rows = SET.rows(Question)
    assert {one.kind for one in rows} == set(KINDS)
    texts = {one.doc_id: one.text for one in ALL}
    for one in rows:
        assert texts[one.document][one.start : one.end]
        assert one.by == "fake (propose v1)"
        assert one.answerable == (one.kind != "unanswerable")
        if one.kind != "unanswerable":
            assert " ".join(texts[one.document][one.start : one.end].split()) == one.passage
            assert len(one.passage) < 200


def test_answers_that_cannot_be_used_bring_no_question(folder, capsys):
    bad = [
        "no json",
        '{"question": 3}',
        '{"question": "Q?", "quotes": "x"}',
        '{"question": "", "quotes": []}',
    ]
    bad += [json.dumps({"question": "Q?", "quotes": ["made up entirely zz"]}), None]

    def script(request, number):
        answer = bad[number % 6]
        return says(answer) if answer else scripted(request, number)

    with FakeServer(script) as server:
        configure(model(server.url, "  answers_per_call: 1\n"))
        assert testset("propose") == 0
    output = capsys.readouterr().out
    assert "calls brought no question" in output
    rows = SET.rows(Question)
    assert 0 < len(rows) < 12
    noted = [one for one in rows if one.text == "Q?" and one.kind != "unanswerable"]
    assert noted
    assert all("quotes are not in the text" in one.note for one in noted)


def test_a_limit_of_money_ends_the_step_and_it_goes_on_from_there(folder, capsys):
    yaml = Path("set/testset.yaml").read_text()
    with FakeServer(scripted) as server:
        # 100 tokens in at 10 and up to 400 out at 100 per million: 0.041 at most, 0.002 in fact
        Path("set/testset.yaml").write_text(yaml + model(server.url, "  max_cost: 0.05\n"))
        assert "max_cost" in step_refused(capsys, "propose")
        assert not SET.has(Question)
        stopped = server.count
        assert stopped > 0
        Path("set/testset.yaml").write_text(yaml + model(server.url))
        assert testset("propose") == 0
        with Ledger(next(Path("cache").rglob("judgments.sqlite"))) as ledger:
            assert server.count == sum(1 for _ in ledger.entries())
    assert len(SET.rows(Question)) >= 8


LOG = [
    {"inputs": {"question": "How do I charge?"}, "run": 1},
    {"inputs": {"question": "How do I  charge?"}, "run": 2},
    {"inputs": {"question": "Where is Lyon?"}, "run": 3},
    {"inputs": {}, "run": 4},
]


@pytest.mark.parametrize(
    ("name", "content", "field", "texts"),
    [
        ("l.csv", "question,who\nHow do I charge?,a\nWhere is Lyon?,b\n", "question", [1, 1]),
        ("l.jsonl", "\n".join(map(json.dumps, LOG)), "inputs.question", [2, 1]),
        ("l.json", json.dumps(LOG), "inputs.question", [2, 1]),
    ],
)
def test_lists_and_logs_are_read(tmp_path, name, content, field, texts):
    (tmp_path / name).write_text(content)
    questions, told = read_user_questions(tmp_path / name)
    assert f" in the field {field};" in told
    assert [one.question.asked for one in questions] == texts
    assert questions[0].question.text == "How do I charge?"


def test_a_list_says_only_of_columns_that_it_has_that_they_were_kept(tmp_path):
    path = tmp_path / "plain.csv"
    path.write_text("question\nHow do I charge?\n")
    assert read_user_questions(path)[1].endswith(" Kept with them: nothing else.")
    path.write_text("question,type,answerable\nHow do I charge?,fact,no\nWhat is lost?,,yes\n")
    assert read_user_questions(path)[1].endswith(" Kept with them: 1 value of type, 2 values of answerable.")


def test_a_list_can_be_added_to_what_people_write(folder, capsys):
    Path("mine.csv").write_text("query_id,text,type,answerable\nx,Is there a plant on Mars?,trick,no\n")
    written_by_hand()
    before = len(SET.rows(Question))
    assert testset("propose", "--from", "mine.csv", "--add") == 0
    capsys.readouterr()
    assert "0 questions taken from mine.csv, as all are there." in step_printed(
        capsys, "propose", "--from", "mine.csv", "--add"
    )
    rows = SET.rows(Question)
    assert len(rows) == before + 1
    assert (rows[-1].kind, rows[-1].answerable, rows[-1].by) == ("trick", False, "mine.csv")
    assert len({one.query_id for one in rows}) == len(rows)


GOLD = [
    {
        "id": "g-7",
        "question": "Which plant was closed?",
        "answer": "Lyon",
        "quote": "The plant in Lyon was closed",
    },
    {
        "id": "g-8",
        "question": "Who founded Acme?",
        "answer": "Carla Meier",
        "evidence": [
            {"evidence_text": "Acme Motors was founded by Carla  Meier in 1961", "doc_name": "report"},
            {"evidence_text": "Carla Meier remains honorary chair."},
        ],
    },
    {
        "id": "g-9",
        "question": "What color is the car?",
        "quote": "The car of the chair is a deep shade of red",
    },
]


@pytest.mark.parametrize("name", ["gold.jsonl", "gold.csv"])
def test_gold_questions_go_into_the_test_set_with_answers_ids_and_evidence(folder, capsys, name):
    if name == "gold.jsonl":
        Path(name).write_text("\n".join(map(json.dumps, GOLD)))
    else:
        rows = "query_id,question,reference,answer,quote,document\n"
        rows += "g-7,Which plant was closed?,Lyon,Turin,The plant in Lyon was closed,report.md\n"
        rows += "g-8,Who founded Acme?,Carla Meier,,Acme Motors was founded by Carla Meier in 1961,report\n"
        rows += "g-8,Who founded Acme?,,,Carla Meier remains honorary chair.,report\n"
        rows += "g-9,What color is the car?,,,The car of the chair is a deep shade of red,\n"
        Path(name).write_text(rows)
    told = step_printed(capsys, "propose", "--from", name)
    assert "3 ids, 2 golden answers, 4 quotes" in told
    assert (
        f"3 of 4 quotes are in the documents, and graded in grades.csv as by {name}: 4 for the only" in told
    )
    assert "in none of the documents: g-9." in told
    first, second, third = SET.rows(Question)
    assert (first.query_id, first.answer, first.document, first.asked) == ("g-7", "Lyon", "report", None)
    assert REPORT[second.start : second.end] == "Acme Motors was founded by Carla Meier in 1961"
    assert REPORT[second.start_2 : second.end_2] == "Carla Meier remains honorary chair."
    assert third.note == "1 of 1 quote not in the documents"
    for step in (["choose", "--auto"], ["gather"], ["export"]):
        assert testset(*step) == 0
    queries = read_rows(Path("set/export/queries.csv"))
    assert [(row["query_id"], row["answer"]) for row in queries] == [
        ("g-7", "Lyon"),
        ("g-8", "Carla Meier"),
        ("g-9", ""),
    ]
    labels = [
        (row["query_id"], row["grade"], row["judge"]) for row in read_rows(Path("set/export/labels.csv"))
    ]
    assert labels == [("g-7", "4", name), ("g-8", "3", name), ("g-8", "3", name)]


def read_rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_file_that_grades_its_quotes_is_believed(folder, capsys):
    Path("gold.csv").write_text(
        "query_id,question,quote,grade\nq1,Which plant?,The plant in Lyon was closed in May 2023.,2\n"
        "q1,Which plant?,The plant in Turin employs 1,0\n"
    )
    assert "as by gold.csv. " in step_printed(capsys, "propose", "--from", "gold.csv")
    assert [row.grade for row in SET.rows(GradeRow)] == [2, 0]
    assert testset("undo") == 0
    assert SET.rows(GradeRow) == []


def test_an_id_of_two_questions_is_refused(folder, capsys):
    Path("gold.csv").write_text("id,question\n1,Which plant?\n1,Which car?\n")
    assert "1 is the id of several questions" in step_refused(capsys, "propose", "--from", "gold.csv")


def test_ids_that_are_taken_are_numbered(folder):
    Path("one.csv").write_text("question\nWhich plant?\n")
    Path("two.csv").write_text("id,question\nq001,Which car?\nq002,Which town?\n")
    assert testset("propose", "--from", "one.csv") == 0
    assert testset("propose", "--from", "two.csv", "--add") == 0
    assert [row.query_id for row in SET.rows(Question)] == ["q001", "q003", "q002"]


BOTH = [("Where is it?", []), ("Who made it?", [])]


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ('["Where is it?", "Who made it?"]', BOTH),
        ('```json\n{"questions": [{"question": "Where is it?"}, {"question": "Who made it?"}]}\n```', BOTH),
        ('[{"question": "Where is it?", "quotes": ["in Turin"]}]', [("Where is it?", ["in Turin"])]),
        ("Here are two:\n\n1. Where is it?\n2) **Who made it?**\n", BOTH),
        ("- Where is it?\n- Who made it?", BOTH),
        ("[1] Where is it?\n[2] Who made it?", BOTH),
        ("Question 1: Where is it?\nQuestion 2: Who made it?", BOTH),
        ("Certainly.\nWhere is it?\nWho made it?", BOTH),
        ("问题1：它在哪里？\n问题2：谁造的？", [("它在哪里？", []), ("谁造的？", [])]),
        ("I cannot do that.", "no_question"),
        ("[]", "no_question"),
        ('[{"text": "Where is it?"}]', "no_question_field"),
        ('{"a": [], "b": []}', "no_questions_list"),
        ('["Where is it?"', "broken_json"),
    ],
)
def test_many_questions_of_a_reply_are_told_apart(reply, found):
    assert questions_in(reply) == (Malformed(found) if isinstance(found, str) else found)


MANY = "user: |\n  You run a garage. Ask {{ count }} questions about:\n  {{ passages }}\n"


def test_a_prompt_without_kinds_asks_for_all_questions_at_once(folder, capsys):
    quote = "A full charge takes 7 hours"
    asked = [{"question": "How long is a charge?", "quotes": [quote, "Nothing of this kind stands there."]}]
    Path("own.yaml").write_text(MANY, encoding="utf-8")
    with FakeServer(lambda request, number: says(json.dumps([*asked, "Who?", "What?"]))) as server:
        configure(model(server.url))
        message = step_refused(capsys, "propose", "--prompt", "own.yaml", "--count", "60")
        assert (
            "60 questions in one reply take about 1,800 tokens, and llm.endpoint.max_tokens is 400" in message
        )
        assert server.count == 0
        output = step_printed(capsys, "propose", "--prompt", "own.yaml", "--count", "2")
        assert server.count == 1
    assert "1 more are left out; --count takes more." in output
    first, second = SET.rows(Question)
    assert (first.document, first.passage, first.kind) == ("guide", quote, "own")
    assert first.note == "1 of 2 quotes are not in the text"
    assert (second.text, second.document) == ("Who?", "")


def test_a_prompt_asks_for_one_question_of_a_kind_or_for_many(folder, capsys):
    kinds = "".join(f"  {kind}: words\n" for kind in KINDS)
    Path("own.yaml").write_text(f"{MANY}  {{{{ kind }}}}\nkinds:\n{kinds}", encoding="utf-8")
    configure(model("http://127.0.0.1:9/v1"))
    assert "Remove {{ count }}" in step_refused(capsys, "propose", "--prompt", "own.yaml")


def test_material_that_is_too_long_is_shown_in_part(folder, capsys):
    Path("own.yaml").write_text(MANY, encoding="utf-8")
    configure("material_tokens: 200\n" + model("http://127.0.0.1:9/v1"))
    output = step_printed(capsys, "propose", "--prompt", "own.yaml", "--count", "5", "--dry-run")
    assert "It is shown 1 of 3 excerpts, as many as material_tokens (200) allow." in output
