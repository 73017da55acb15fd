"""Questions come from a model, a list, a log or people; each says where its evidence would be."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.labels.testset.kinds import KINDS, quotas
from harness.labels.testset.propose.llm import excerpts, locate
from harness.labels.testset.proposing import read_user_questions
from harness.labels.testset.rows import Candidate, Place, Question, to_csv
from harness.labels.testset.state import SetState
from harness.store.ledger import Ledger
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
    assert [one.asked for one in questions] == texts
    assert questions[0].text == "How do I charge?"


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
