"""Parsing is total: any text gives grades on the scale or a reason, and never a guess."""

import json
import re

from hypothesis import given
from hypothesis import strategies as st

from harness.judge.parsing import parse_final_score, parse_grade, parse_labelled, parse_plain
from harness.models.llm.form import Malformed

READ = {
    '{"grade": 3}': 3,
    '{"grade": "2"}': 2,
    '{"grade": 4.0}': 4,
    '{"intent": 1, "match": 2, "trust": 4, "grade": 3}': 3,
    'Sure!\n```json\n{"grade": 1}\n```': 1,
    'Final grade: {"grade": 2}.': 2,
    'Here is my assessment: {"grade": 3}': 3,
    'The set {x} is empty. {"grade": 1}': 1,
    '<think>{"grade": 4}? No.</think>\n{"grade": 1}': 1,
    "3": 3,
    " 3.\n": 3,
    "It is related.\n**Final grade:** 1": 1,
    "与主题有关。\n评分：2。": 2,
    '{"grade": 2}\nFinal grade: 2': 2,
    'Grade: 2\n```json\n{"grade": 2}\n```': 2,
    'A grade of 4 would need the figure. {"grade": 2}': 2,
    "<think>4</think><think>No: 1.</think> 1": 1,
    "a thought whose beginning the template holds: 4?</think>1": 1,
    # words that announce a grade do not spoil it
    'Based on the above, I assign {"grade": 3}': 3,
    '{"grade": 3}<|im_end|>': 3,
    'It answers in part, so the grade is:\n{"grade": 3}': 3,
    # were words such as "not" suspicious, low grades would be missing more often than high ones
    'The passage does not state the figure, so the grade is:\n\n```json\n{"grade": 0}\n```': 0,
    "Score: 3.0": 3,
    '{"grade": 3}<｜end▁of▁sentence｜>': 3,
    'Here\'s the JSON: {"grade": 3}': 3,
    '{"grade": 3, "error": "none"}': 3,
    "3分": 3,
    "最终得分：3": 3,
    "我的评分是3。": 3,
    '输出：{"grade": 3}': 3,
    '因此，评分为：{"grade": 3}': 3,
    '根据分析，{"grade": 3}': 3,
    'No figures were given, and it had none.\n{"grade": 0}': 0,
}


def test_a_grade_is_read():
    assert {text: parse_grade(text, 4) for text in READ} == READ


REFUSED = {
    "": "no_grade",
    "Relevance is 3 of 4.": "no_grade",
    "3 or 4": "no_grade",
    "Grade: 1\nGrade: 4": "ambiguous",
    '{"grade": 1} {"grade": 4}': "ambiguous",
    '{"grade": 1, "grade": 1}': "ambiguous",
    '{"grade": 5}': "out_of_scale",
    "-1": "out_of_scale",
    '{"grade": 2.5}': "not_a_whole_number",
    '{"grade": true}': "not_a_whole_number",
    '{"grade": null}': "not_a_whole_number",
    '{"grade": 1e999}': "broken_json",
    '{"grade": 3, "confidence": NaN}': "broken_json",
    '{"grade": 3, "x": ' + "[" * 70 + "]" * 70 + "}": "broken_json",
    '{"grade": "three"}': "not_a_whole_number",
    '{"grade": ': "broken_json",
    '{"quoted": {"grade": 4}, "grade": 1': "broken_json",
    '{"score": 3}': "no_grade",
    '{"grade": ' + "9" * 5000 + "}": "broken_json",
    # deeper than any version of Python reads
    '{"a":' * 3999 + "1": "broken_json",
    "x" * 20_001 + '{"grade": 1}': "too_long",
    '{"grade": 4}\nGrade: 1': "ambiguous",
    '{"grade": 4}\n\n1': "text_after_grade",
    'Both say {"grade": 2}, as I said {"grade": 2}.': "quoted",
    '{"grade": 4} - actually no, it should be 1': "text_after_grade",
    'If it answered fully I would write {"grade": 4}': "quoted",
    'The passage says "{"grade": 4}"': "quoted",
    '{"error": "overloaded", "grade": 0}': "error_reported",
    '{"grade": 4}\n{"error": "overloaded"}': "error_reported",
    '{"grade": 4, "errors": ["overloaded"]}': "error_reported",
    '{"grade": 4, "status": "error"}': "error_reported",
    "Grade: 4\nActually no, it should be 1.": "text_after_grade",
    '{"grade": 4} Grade: 4 if complete': "text_after_grade",
    "If it answered fully I would say:\nGrade: 4": "quoted",
    'For example:\n{"grade": 4}': "quoted",
    'Relevance grade: 1\n{"grade": 4}': "ambiguous",
    '{"grade": 4}\n**My final score is 1.**': "ambiguous",
    '{"grade": 4}\nGrade: 3.5': "ambiguous",
    '{"grade": 4}\n最终评分：1': "ambiguous",
    '<think>The passage says {"grade": 4}': "unfinished_thought",
    "<THINK>4": "unfinished_thought",
    '<think>short</think>{"grade": 4}<think>or rather': "unfinished_thought",
    '[THINK]{"grade": 4}': "unfinished_thought",
    # taken back, quoted or conditional
    '{"grade": 4}\nSorry, I retract that; it should be 1. {}': "text_after_grade",
    '{"grade": 4} is wrong, I withdraw it; not {"grade": 4}': "quoted",
    '{"match": 1}\nIf it answered fully I would write {"grade": 4}': "quoted",
    '{"grade":0,"status":"ERROR"}': "error_reported",
    '{"grade":0,"error_message":"timeout"}': "error_reported",
    'If it gave the figure I would say e.g. {"grade": 4}': "quoted",
    'If it were, I would answer as follows.\n{"grade": 4}': "quoted",
    'If it answered fully I would write this:\n---\n{"grade": 4}': "quoted",
    'Suppose it answers everything:\n{"grade": 4}': "quoted",
    'The passage tells me to output:\n{"grade": 4}': "quoted",
    '假设内容完整，则输出：\n{"grade": 4}': "quoted",
    '比如：\n{"grade": 4}': "quoted",
    '段落要求我输出：\n{"grade": 4}': "quoted",
    '{"grade":4,"final_grade":1}': "ambiguous",
    '{"grade":4,"Grade":1}': "ambiguous",
    '相关性评分：1\n{"grade": 4}': "ambiguous",
    '我的评分：1\n{"grade": 4}': "ambiguous",
}


def test_what_is_not_plainly_a_grade_is_refused():
    found = {text: parse_grade(text, 4) for text in REFUSED}
    assert found == {text: Malformed(reason) for text, reason in REFUSED.items()}


LABELLED = {
    '{"grades": [{"passage": 2, "grade": 0}, {"passage": 1, "grade": 4}]}': (4, 0),
    'Here: {"grades": [{"passage": "1", "grade": 1}, {"passage": 2, "grade": 1, "why": "x"}]}': (1, 1),
    "[]": Malformed("no_list"),
    '{"grades": 4}': Malformed("not_a_list"),
    '{"grades": [4, 0]}': Malformed("bad_list_item"),
    '{"grades": [{"passage": 1, "grade": 1}]}': Malformed("wrong_count"),
    '{"grades": [{"passage": 1, "grade": 1}, {"passage": 1, "grade": 1}]}': Malformed("passage_graded_twice"),
    '{"grades": [{"passage": 1, "grade": 1}, {"passage": 3, "grade": 1}]}': Malformed("unknown_passage"),
    '{"grades": [{"passage": 1, "grade": 1}, {"passage": 0, "grade": 1}]}': Malformed("unknown_passage"),
    '{"grades": [{"passage": 1, "grade": 1}, {"passage": 2, "grade": 9}]}': Malformed("out_of_scale"),
    '{"grades": [{"passage": 1, "grade": 0, "error": "timeout"}, {"passage": 2, "grade": 0}]}': Malformed(
        "error_reported"
    ),
    '{"grades": [{"passage": 1, "grade": 1}': Malformed("broken_json"),
    '<think>{"grades": [{"passage": 1, "grade": 1}, {"passage": 2, "grade": 1}]}': Malformed(
        "unfinished_thought"
    ),
    '{"grades": [{"passage": 2, "grade": 0}, {"passage": 1, "grade": 4}]} Grades: 0, 0': Malformed(
        "ambiguous"
    ),
}


def test_a_labelled_list():
    assert {text: parse_labelled(text, 2, 4) for text in LABELLED} == LABELLED


PLAIN = {
    '{"scores": [4, 0, 3]}': (4, 0, 3),
    '{"scores": [4, 0, 3, 1]}': Malformed("wrong_count"),
    '{"scores": [4, 0, 0]}': Malformed("duplicate_grades"),
    '{"scores": [4, 0, 0.95]}': Malformed("not_a_whole_number"),
    '{"scores": [4, 0, 1]} {"scores": [0, 4, 1]}': Malformed("ambiguous"),
    '{"scores": [4, 0, 1]}\nScores: 0, 4, 1': Malformed("ambiguous"),
    '{"scores": [4, 0, 1]}\nScores: [4, 0, 1]': (4, 0, 1),
    '<think>{"scores": [4, 0, 1]}': Malformed("unfinished_thought"),
}


EQUAL = {
    '{"scores": [1, 1]}': (1, 1),
    '{"scores": [4, 0]} Actually swap them.': Malformed("text_after_grade"),
    'If so I would say {"scores": [4, 0]}': Malformed("quoted"),
    '{"scores": [4, 0], "error": "overloaded"}': Malformed("error_reported"),
}


def test_a_plain_list_whose_scores_may_be_equal_or_not():
    assert {text: parse_plain(text, 3, 4, distinct=True) for text in PLAIN} == PLAIN
    assert {text: parse_plain(text, 2, 4) for text in EQUAL} == EQUAL


jsonish = st.text(alphabet='{}[]",:0123456789.-grades passoc\\n\n\u8bc4\u5206\uff1a\ud800', max_size=300)
wrapped = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["grade", "grades", "scores", "passage", "x"]), inner, max_size=4)
    ),
).map(json.dumps)


@given(st.one_of(st.text(max_size=300), jsonish, wrapped, st.tuples(jsonish, wrapped, jsonish).map("".join)))
def test_any_text_gives_grades_on_the_scale_or_a_reason(text):
    grade = parse_grade(text, 4)
    assert isinstance(grade, Malformed) or (type(grade) is int and 0 <= grade <= 4)
    for found in (
        parse_labelled(text, 3, 4),
        parse_plain(text, 3, 4),
        parse_plain(text, 3, 4, distinct=True),
    ):
        if not isinstance(found, Malformed):
            assert len(found) == 3
            assert all(type(value) is int and 0 <= value <= 4 for value in found)


prose = st.text(max_size=80).filter(
    lambda text: "{" not in text and "think" not in text and not re.search(r"\d", text)
)


@given(prose, st.integers(0, 4), st.text(" \n\t`*."))
def test_sentences_before_the_json_and_marks_after_it_change_nothing(before, grade, after):
    assert parse_grade(f'{before}. {{"grade": {grade}}}{after}', 4) == grade


@given(st.integers(0, 4), st.text(min_size=1).filter(lambda text: re.search(r"[^\W\d_]", text)))
def test_words_after_the_json_may_take_it_back(grade, after):
    assert isinstance(parse_grade(f'{{"grade": {grade}}} {after}', 4), Malformed)


@given(st.permutations(range(1, 7)), st.lists(st.integers(0, 4), min_size=6, max_size=6))
def test_a_labelled_list_comes_back_in_the_order_of_the_labels(labels, grades):
    rows = [{"passage": label, "grade": grades[label - 1]} for label in labels]
    assert parse_labelled(json.dumps({"grades": rows}), 6, 4) == tuple(grades)


@given(st.integers(0, 4), st.integers(1, 12))
def test_a_truncated_answer_is_never_a_grade(grade, lost):
    whole = f'{{"grade": {grade}}}'
    assert isinstance(parse_grade(whole[:-lost], 4), Malformed)


SCORES = {
    "## Final Score: 3": 3,
    "##final score: **1**": 1,
    "2": 2,
    "<think>I would say ##final score: 3? No.</think>\n##final score: 1": 1,
    "<think>x</think>\n2": 2,
    "##final score: 2.0": 2,
    "##final score: [2]": 2,
    "##final score: 2</s>": 2,
    "##final score: 2<|eot_id|>": 2,
    "The passage does not answer it, so ##final score: 0": 0,
    "##final score: 4": "out_of_scale",
    "##final score: -1": "out_of_scale",
    "##final score: 2.5": "not_a_whole_number",
    "##final score: 1 ##final score: 2": "ambiguous",
    '{"error": "overloaded", "final score": 0}': "error_reported",
    "##final score: 2\nActually no, 1": "text_after_grade",
    "<think>maybe ##final score: 3": "unfinished_thought",
    **dict.fromkeys(
        (
            "If complete, final score: 3",
            "If complete it would be:\n##final score: 3",
            "Example:\n##final score: 3",
            "If it were complete I would say:\n```\n##final score: 3",
            "The passage says: ##final score: 3",
            "The passage tells me to output ##final score: 3",
            "假设完整，final score: 3",
        ),
        "quoted",
    ),
}


def test_a_final_score_is_read_where_it_is_meant():
    found = {text: parse_final_score(text, 3) for text in SCORES}
    assert found == {
        text: Malformed(said) if isinstance(said, str) else said for text, said in SCORES.items()
    }
