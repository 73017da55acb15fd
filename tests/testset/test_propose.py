"""Questions come from a model, a list, a log or the rules; each says where its evidence would be."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.data.corpus.text import text_sha256
from harness.labels.testset.kinds import KINDS, quotas
from harness.labels.testset.propose.drafting import draft
from harness.labels.testset.propose.material import excerpts, locate, table_rows
from harness.labels.testset.propose.user_questions import read_user_questions
from harness.labels.testset.rows import Place, Question
from harness.labels.testset.state import SetState
from harness.store.ledger import Ledger
from harness.values.types import Document
from tests.judge.fake_server import FakeServer, says
from tests.testset.helpers import DOCUMENTS, GUIDE, REPORT, configure, model, passages_of, scripted, testset

SET = SetState(Path("set"))


def document(name, text):
    return Document(name, text, (), text_sha256(text))


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


def test_drafts_are_of_several_kinds_and_point_at_their_evidence():
    questions = draft(ALL, 40, 7)
    texts = {one.doc_id: one.text for one in ALL}
    assert {one.kind for one in questions} == set(KINDS)
    assert len({one.text for one in questions}) == len(questions)
    for one in questions:
        assert " ".join(texts[one.document][one.start : one.end].split()) == one.passage
    by_text = {one.text: one for one in questions}
    assert by_text["What is the revenue of Asia?"].passage == "Asia,32900,7400"
    assert by_text["By how much did capital spending rise?"].kind == "fact"
    assert "Is the battery covered?" in by_text
    asked = [one for one in questions if one.kind == "unanswerable"]
    # the year next to the one that the documents name most often
    (year,) = {found for one in asked for found in re.findall(r"\d{4}", one.text)}
    assert year == "2024"
    assert all(not one.answerable for one in asked)
    assert all(year not in text for text in texts.values())


def test_chinese_documents_are_asked_in_chinese():
    text = "# 年报\n\n## 业绩\n\n报告期内营业收入为96亿元。员工总数达到1200人。\n"
    table = "地区,收入,员工\n华东,412,91\n华南,329,74\n西南,226,63\n"
    questions = draft([document("年报", text), document("地区", table)], 20, 7)
    texts = [one.text for one in questions]
    assert "员工总数是多少？" in texts
    assert "华东的收入是多少？" in texts
    assert not [one for one in texts if one.startswith(("What", "How"))]


def test_documents_without_anything_to_draft_from_are_reported(folder, capsys):
    for path in Path("docs").iterdir():
        path.unlink()
    Path("docs/a.txt").write_text("nothing here")
    assert testset("propose", "--offline") == 1
    assert "Nothing can be drafted" in capsys.readouterr().err


def test_figures_below_a_line_of_years_are_rows():
    text = (
        "millions 2023 2022\nTotal revenue 96,773 81,462\nCost of sales 79,113 60,609\nProfit 17,660 20,853\n"
    )
    rows = list(table_rows(document("d", text)))
    assert (rows[0].label, rows[0].cells) == (
        "Total revenue",
        {"2023": "96,773", "2022": "81,462"},
    )
    assert all(text[row.place.start : row.place.end].startswith(row.label) for row in rows)


def test_long_documents_do_not_drown_short_ones():
    long, short = document("long", "A sentence of words. " * 4000), document("short", REPORT)
    first = excerpts([long, short], 7)[:12]
    assert Counter(place.document.doc_id for place in first)["short"] >= 1
    assert excerpts([long, short], 7) == excerpts([long, short], 7)


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("A full charge takes 7 hours", "A full charge takes 7 hours"),
        ("a FULL charge\ntakes 7 hours", "A full charge takes 7 hours"),
        ("A full charge takes seven hours at a wall box", None),
        ("Nothing of the kind stands here at all", None),
    ],
)
def test_quotes_are_located_by_their_letters(quote, found):
    whole = Place(document("g", GUIDE), 0, len(GUIDE))
    place, sure = locate(quote, whole)
    if found:
        assert sure
        assert place.text == found
    elif not sure:
        assert place == whole
    else:
        assert place.text.startswith("A full charge takes 7 hours")


def test_a_model_proposes_and_is_paid_once(folder, capsys):
    with FakeServer(scripted) as server:
        configure(model(server.url))
        assert testset("propose", "--dry-run") == 0
        output = capsys.readouterr().out
        assert "calls to make" in output
        assert "price likely" in output
        assert "Nothing was spent." in output
        assert server.count == 0
        assert not SET.has(Question)
        assert testset("propose") == 0
        paid = server.count
        assert testset("propose") == 1
        assert "--again" in capsys.readouterr().err
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


def test_two_places_get_excerpts_of_two_documents(folder):
    with FakeServer(scripted) as server:
        configure(model(server.url))
        testset("propose")
        shown = [passages_of(one) for one in server.requests]
    two = [one for one in shown if len(one) == 2]
    assert two
    assert all(one[0] not in one[1] for one in two)


def test_answers_that_cannot_be_used_bring_no_question(folder, capsys):
    bad = [
        "no json",
        '{"question": 3}',
        '{"question": "Q?", "quotes": "x"}',
        '{"question": "", "quotes": []}',
    ]

    def script(request, number):
        answer = bad[number % 5] if number % 5 < 4 else None
        return says(answer) if answer else scripted(request, number)

    with FakeServer(script) as server:
        configure(model(server.url, "  answers_per_call: 1\n"))
        assert testset("propose") == 0
    output = capsys.readouterr().out
    assert "calls brought no question" in output
    assert 0 < len(SET.rows(Question)) < 12


def test_a_quote_not_in_the_text_is_reported(folder):
    with FakeServer(
        lambda r, n: says(json.dumps({"question": f"Q{n}?", "quotes": ["made up entirely zz"]}))
    ) as s:
        configure(model(s.url))
        assert testset("propose") == 0
    noted = [one for one in SET.rows(Question) if one.kind != "unanswerable"]
    assert noted
    assert all("quotes are not in the text" in one.note for one in noted)


def test_a_limit_of_money_ends_the_step_and_it_goes_on_from_there(folder, capsys):
    yaml = Path("set/testset.yaml").read_text()
    with FakeServer(scripted) as server:
        # 100 tokens in at 10 and up to 400 out at 100 per million: 0.041 at most, 0.002 in fact
        Path("set/testset.yaml").write_text(yaml + model(server.url, "  max_cost: 0.05\n"))
        assert testset("propose") == 1
        assert "max_cost" in capsys.readouterr().err
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
TRACE = {
    "spans": [
        {"name": "retrieve", "attributes": {"input.value": "How do I charge?"}},
        {"name": "chat", "attributes": {"input.value": '{"messages": 1}'}},
    ]
}


@pytest.mark.parametrize(
    ("name", "content", "field", "texts"),
    [
        ("l.csv", "question,who\nHow do I charge?,a\nWhere is Lyon?,b\n", "question", [1, 1]),
        ("l.jsonl", "\n".join(map(json.dumps, LOG)), "inputs.question", [2, 1]),
        ("l.json", json.dumps(LOG), "inputs.question", [2, 1]),
        ("t.jsonl", json.dumps(TRACE), "attributes.input.value", [1]),
        (
            "chat.jsonl",
            json.dumps(
                {
                    "input": [
                        {"role": "system", "content": "x"},
                        {"role": "user", "content": "How do I charge?"},
                    ]
                }
            ),
            "input",
            [1],
        ),
    ],
)
def test_lists_and_logs_are_read(tmp_path, name, content, field, texts):
    (tmp_path / name).write_text(content)
    found = read_user_questions(tmp_path / name)
    assert found.where == f"the field {field}"
    assert [one.asked for one in found.questions] == texts
    assert found.questions[0].text == "How do I charge?"


def test_labels_of_tables_are_in_a_question_as_words():
    text = "In millions\t2024\t2023\nDividends paid\t12\t10\nService costs\t5\t4\nNet Sales\t9\t8\n"
    asked = {one.text for one in draft([document("table", text)], 20, 7)}
    assert "What were service costs in 2024?" in asked
    assert "How did service costs change from 2023 to 2024?" in asked
    # a label in capitals may be a name
    assert any("Net Sales" in one for one in asked)


def test_a_condition_is_no_subject():
    text = "# Help\n\nIf you are in trouble call 800 555. The warranty is 8 years. A door is red in 2 cars.\n"
    asked = {one.text for one in draft([document("help", text)], 20, 7)}
    assert "What is the warranty?" in asked
    # "What is a door?" is not what the sentence answers
    assert not any("door" in one for one in asked)
    assert not any("If you" in one for one in asked)


def test_a_list_can_be_added_to_drafts(folder, capsys):
    Path("mine.csv").write_text("query_id,text,type,answerable\nx,Is there a plant on Mars?,trick,no\n")
    assert testset("propose", "--offline") == 0
    before = len(SET.rows(Question))
    assert testset("propose", "--from", "mine.csv", "--add") == 0
    assert testset("propose", "--from", "mine.csv", "--add") == 0
    rows = SET.rows(Question)
    assert len(rows) == before + 1
    assert (rows[-1].kind, rows[-1].answerable, rows[-1].by) == ("trick", False, "mine.csv")
    assert len({one.query_id for one in rows}) == len(rows)
