"""Files of answered questions with the columns of ragas."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.data import AnsweredQuery, Passage, read_answers, write_answers
from harness.values import CorpusError


def lines(path, *rows):
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def test_ragas_columns_of_every_version(tmp_path):
    new = {"user_input": "Why?", "retrieved_contexts": ["a", "b"], "response": "So.", "reference": "Thus."}
    old = {"question": "Why?", "contexts": ["a", "b"], "answer": "So.", "ground_truth": "Thus."}
    for row in (new, old):
        (found,) = read_answers(lines(tmp_path / "a.jsonl", row))
        assert (found.query_id, found.question, found.answer) == ("q1", "Why?", "So.")
        assert found.references == ("Thus.",)
        assert [passage.text for passage in found.read] == ["a", "b"]


def test_csv_as_ragas_writes_it(tmp_path):
    # EvaluationDataset.to_csv writes lists as Python does
    path = tmp_path / "a.csv"
    path.write_text(
        'user_input,retrieved_contexts,response\nWhy?,"[\'it\'\'s a\', ""b""]",So.\n'.replace("''", "’")
    )
    (found,) = read_answers(path)
    assert [passage.text for passage in found.read] == ["it’s a", "b"]
    assert found.references == ()


def test_a_missing_answer_has_a_reason_and_is_not_empty(tmp_path):
    silent = {"user_input": "Why?", "response": None}
    late = {"user_input": "How?", "response": " ", "reason": "timeout"}
    found = read_answers(lines(tmp_path / "a.jsonl", silent, late))
    answers = [(one.answer, one.reason) for one in found]
    assert answers == [(None, "the file has no answer"), (None, "timeout")]
    assert found[0].as_case().answer is None


def test_our_columns(tmp_path):
    row = {
        "query_id": "x7",
        "user_input": "Why?",
        "retrieved_contexts": ["a", "b"],
        "documents": ["r.pdf", ""],
        "retrieved_context_ids": ["r:1", "r:2"],
        "cited": [2],
        "answerable": False,
        "response": "So [2].",
    }
    (found,) = read_answers(lines(tmp_path / "a.jsonl", row))
    assert found.read == (Passage("a", "r.pdf", "r:1"), Passage("b", "", "r:2"))
    assert (found.query_id, found.cited, found.answerable) == ("x7", (1,), False)
    case = found.as_case()
    assert (case.cited, case.texts, case.passages[0].doc_id) == ((1,), ("a", "b"), "r.pdf")


TEXTS = st.text("ab'\"[1]\\，\n ", min_size=1).filter(lambda text: text.strip() == text)


@given(
    st.lists(
        st.tuples(
            TEXTS, st.lists(TEXTS, max_size=3), st.none() | TEXTS, st.lists(TEXTS, max_size=3, unique=True)
        ),
        min_size=1,
    )
)
def test_what_is_written_is_read_again(tmp_path_factory, rows):
    def facts(answers):
        return [(one.query_id, one.question, one.read, one.answer, one.references) for one in answers]

    path = tmp_path_factory.mktemp("answers") / "a.jsonl"
    written = [
        AnsweredQuery(f"q{n}", asked, tuple(map(Passage, read)), text, "" if text else "none", tuple(golden))
        for n, (asked, read, text, golden) in enumerate(rows)
    ]
    assert write_answers(written, path) == len(written)
    assert facts(read_answers(path)) == facts(written)


def test_no_file_is_overwritten(tmp_path):
    write_answers([], tmp_path / "a.jsonl")
    with pytest.raises(CorpusError, match="exists already"):
        write_answers([], tmp_path / "a.jsonl")


def test_several_golden_answers_in_either_column(tmp_path):
    rows = [
        {"user_input": "q", "reference": ["a", "b"]},
        {"user_input": "q", "reference": "a", "other_references": ["b", "a"]},
        {"user_input": "q", "other_references": ["a", "b"]},
    ]
    found = read_answers(lines(tmp_path / "a.jsonl", *rows))
    assert [one.references for one in found] == [("a", "b")] * 3
    case = found[0].as_case()
    assert case.references == ("a", "b")
    with pytest.raises(CorpusError, match=r"line 1: reference golden answers .* have a blank entry"):
        read_answers(lines(tmp_path / "b.jsonl", {"user_input": "q", "reference": ["a", ""]}))


def test_what_is_cited_is_kept_apart_from_the_text(tmp_path):
    rows = [
        {"user_input": "a", "response": "It is 5 [1].", "cited": [1], "retrieved_contexts": ["5"]},
        {"user_input": "b", "response": "matrix [3] row"},
    ]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    # brackets are words where nothing is cited
    assert [one.as_case().answer for one in read_answers(tmp_path / "a.jsonl")] == [
        "It is 5.",
        "matrix [3] row",
    ]
