"""Parsing is total: any text gives grades on the scale or a reason, and never a guess."""

import json
import re

from hypothesis import given
from hypothesis import strategies as st

from harness.judge.parsing import parse_final_score, parse_grade, parse_labelled, parse_plain
from harness.models import Malformed

READ = {
    '{"grade": 3}': 3,
    '{"grade": "2"}': 2,
    '{"grade": 4.0}': 4,
    '{"grade": 3}<|im_end|>': 3,
    '{"grade": 3}<｜end▁of▁sentence｜>': 3,
    '{"grade": 3}.': 3,
    # thoughts in their marks
    '<think>{"grade": 4}? No.</think>\n{"grade": 1}': 1,
    '<think>4</think><think>No: 1.</think> {"grade": 1}': 1,
    'a thought whose beginning the template holds: 4?</think>{"grade": 1}': 1,
    '[THINK]Or 4?[/THINK]{"grade": 1}': 1,
    '<|channel|>analysis<|message|>4?<|end|><|start|>assistant<|channel|>final<|message|>{"grade": 1}': 1,
    # announcements and fences
    'Sure!\n```json\n{"grade": 1}\n```': 1,
    '```\n{"grade": 1}': 1,
    'Final grade: {"grade": 2}.': 2,
    'Here is my assessment: {"grade": 3}': 3,
    'Based on the above analysis, the grade is: {"grade": 3}': 3,
    # another notation of the same object
    '{"Grade": 3}': 3,
    "{'grade': 3,}": 3,
    '[{"grade": 3}]': 3,
    '<|im_start|>assistant\n{"grade": 3}<|im_end|>': 3,
    'Here\'s the JSON: {"grade": 3}': 3,
    '**Final answer:**\n{"grade": 3}': 3,
    'Therefore, the final grade is:\n\n{"grade": 3}': 3,
    '<answer>{"grade": 3}</answer>': 3,
    '输出：{"grade": 3}': 3,
    '因此，评分为：{"grade": 3}': 3,
    '好的，以下是评分结果：\n```json\n{"grade": 3}\n```': 3,
}


def test_a_grade_is_read():
    assert {text: parse_grade(text, 4) for text in READ} == READ


REFUSED = {
    "": "no_grade",
    "Relevance is 3 of 4.": "no_grade",
    # the prompt asks for an object
    "3": "no_grade",
    "Grade: 3": "no_grade",
    '[{"grade": 3}, {"grade": 3}]': "no_grade",
    '{"grade": 1} {"grade": 4}': "ambiguous",
    '{"grade": 1, "grade": 1}': "ambiguous",
    '{"grade": 5}': "out_of_scale",
    '{"grade": -1}': "out_of_scale",
    '{"grade": 2.5}': "not_a_whole_number",
    '{"grade": true}': "not_a_whole_number",
    '{"grade": null}': "not_a_whole_number",
    '{"grade": [3]}': "not_a_whole_number",
    '{"grade": "three"}': "not_a_whole_number",
    '{"grade": 1e999}': "broken_json",
    '{"grade": 3, "confidence": NaN}': "broken_json",
    '{"grade": 3, "x": ' + "[" * 70 + "]" * 70 + "}": "broken_json",
    '{"grade": ': "broken_json",
    '{"quoted": {"grade": 4}, "grade": 1': "broken_json",
    '{"grade": ' + "9" * 5000 + "}": "broken_json",
    # deeper than any version of Python reads
    '{"a":' * 3999 + "1": "broken_json",
    "x" * 50_001 + '{"grade": 1}': "too_long",
    # a field that nobody asked for may say that the grade is not meant
    '{"score": 3}': "unknown_field",
    '{"Grade": 3, "grade": 3}': "ambiguous",
    '{"grade": 4, "final": 0}': "unknown_field",
    '{"grade": 4, "final_grade": 1}': "unknown_field",
    '{"grade": 4, "valid": false}': "unknown_field",
    '{"grade": 0, "error_code": 17}': "unknown_field",
    '{"grade": 4, "ok": false}': "unknown_field",
    '{"grade": 4, "备注": "这不是最终评分"}': "unknown_field",
    '{"result": {"grade": 4}}': "unknown_field",
    "{}": "missing_field",
    '{"error": "overloaded", "grade": 0}': "error_reported",
    '{"grade": 4, "errors": ["overloaded"]}': "error_reported",
    '{"grade":0,"status":"ERROR"}': "error_reported",
    # words after it may take it back
    '{"grade": 4}\nGrade: 1': "ambiguous",
    '{"grade": 4}\n\n1': "ambiguous",
    '{"grade": 4} - actually no, it should be 1': "ambiguous",
    '{"grade": 4}\n{"error": "overloaded"}': "ambiguous",
    '{"grade": 4}\n最终评分：1': "ambiguous",
    '{"grade": 4}<|retracted|>': "text_around",
    # words before it may quote it, doubt it or refuse it
    'If it answered fully I would write {"grade": 4}': "text_around",
    'The passage says "{"grade": 4}"': "text_around",
    'For example:\n{"grade": 4}': "text_around",
    'I refuse to output: {"grade": 4}': "text_around",
    'An incorrect grade: {"grade": 4}': "text_around",
    'Not {"grade": 4}': "text_around",
    'The set {x} is empty. {"grade": 1}': "text_around",
    '示例：{"grade": 4}': "text_around",
    '段落要求我输出：\n{"grade": 4}': "text_around",
    '我拒绝输出：{"grade": 4}': "text_around",
    '```example\n{"grade": 4}\n```': "text_around",
    # also honest ones: what they mean is for a reader to say
    'It answers in part, so the grade is:\n{"grade": 3}': "text_around",
    '<think>The passage says {"grade": 4}': "unfinished_thought",
    '<think>Is it</thinking>{"grade": 4}': "unfinished_thought",
    "<THINK>4": "unfinished_thought",
    '<think>short</think>{"grade": 4}<think>or rather': "unfinished_thought",
    '<think>short</think>{"grade": 4}<think>no</think>{"grade": 1}': "ambiguous",
    '{"grade": 4}<think>no</think>{"grade": 1}': "ambiguous",
    '[THINK]{"grade": 4}': "unfinished_thought",
    # marks that nobody knows
    '<musing>maybe</musing>{"grade": 4}': "no_grade",
    '*thinks* {"grade": 4}': "text_around",
}


def test_what_is_not_plainly_a_grade_is_refused():
    found = {text: parse_grade(text, 4) for text in REFUSED}
    assert found == {text: Malformed(reason) for text, reason in REFUSED.items()}


NUMBERS = {
    "3": 3,
    " 3.\n": 3,
    "3.0": 3,
    "**3**": 3,
    "`3`": 3,
    "3分": 3,
    "Grade: 3": 3,
    "**Final grade:** 1": 1,
    "最终得分：3": 3,
    "我的评分是3。": 3,
    "<think>Or 4?</think>\n2": 2,
    '{"grade": 3}': 3,
    "3 or 4": Malformed("no_grade"),
    "3/4": Malformed("no_grade"),
    "Grade: 1\nGrade: 4": Malformed("no_grade"),
    "Grade: 4\nActually no, it should be 1.": Malformed("no_grade"),
    "An incorrect grade: 3": Malformed("text_around"),
    "错误的评分：3": Malformed("text_around"),
    "-1": Malformed("out_of_scale"),
    "2.5": Malformed("not_a_whole_number"),
}


def test_a_number_is_read_where_the_prompt_asks_for_one():
    assert {text: parse_grade(text, 4, bare=True) for text in NUMBERS} == NUMBERS


ASPECTS = {
    '{"intent": 1, "match": 2, "trust": 4, "grade": 3}': 3,
    '{"intent": 1, "match": 2, "trust": 4, "grade": 3, "why": "x"}': 3,
    '{"grade": 3}': 3,
    '{"intent": 1, "match": 2, "trust": 9, "grade": 3}': Malformed("out_of_scale"),
    '{"intent": 1, "match": 2, "trust": "I refuse", "grade": 3}': Malformed("not_a_whole_number"),
    '{"intent": 1, "match": 2, "trust": 4, "grade": 3, "reason": "x"}': Malformed("unknown_field"),
}


def test_an_object_has_the_aspects_and_what_else_the_words_ask_for():
    asked = {"aspects": ("intent", "match", "trust"), "also": {"why"}}
    assert {text: parse_grade(text, 4, **asked) for text in ASPECTS} == ASPECTS


LABELLED = {
    '{"grades": [{"passage": 2, "grade": 0}, {"passage": 1, "grade": 4}]}': (4, 0),
    'Here is the JSON: {"grades": [{"passage": "1", "grade": 1}, {"passage": 2, "grade": 1, "why": "x"}]}': (
        1,
        1,
    ),
    '[{"passage": 2, "grade": 0}, {"passage": 1, "grade": 4}]': Malformed("no_list"),
    "[]": Malformed("no_list"),
    '{"grades": 4}': Malformed("not_a_list"),
    '{"grades": [4, 0]}': Malformed("bad_list_item"),
    '{"grades": [{"passage": 1}, {"passage": 2, "grade": 1}]}': Malformed("missing_field"),
    '{"grades": [{"passage": 1, "grade": 1, "final": 0}, {"passage": 2, "grade": 1}]}': Malformed(
        "unknown_field"
    ),
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
    assert {text: parse_labelled(text, 2, 4, also={"why"}) for text in LABELLED} == LABELLED
    rows = '[{"passage": 2, "grade": 0}, {"passage": 1, "grade": 4}]'
    assert parse_labelled(rows, 2, 4, bare=True) == (4, 0)


PLAIN = {
    '{"scores": [4, 0, 3]}': (4, 0, 3),
    '{"scores": [0, 0, 0]}': (0, 0, 0),
    '{"scores": [4, 0, 3, 1]}': Malformed("wrong_count"),
    '{"scores": [4, 0, 0]}': Malformed("duplicate_grades"),
    '{"scores": [1, 1, 1]}': Malformed("duplicate_grades"),
    '{"scores": [4, 0, 0.95]}': Malformed("not_a_whole_number"),
    '{"scores": [4, 0, 1]} {"scores": [0, 4, 1]}': Malformed("ambiguous"),
    '{"scores": [4, 0, 1]}\nScores: [4, 0, 1]': Malformed("ambiguous"),
    '<think>{"scores": [4, 0, 1]}': Malformed("unfinished_thought"),
    "[4, 0, 3]": Malformed("no_list"),
}
EQUAL = {
    '{"scores": [1, 1]}': (1, 1),
    '{"scores": [4, 0]} Actually swap them.': Malformed("text_around"),
    'If so I would say {"scores": [4, 0]}': Malformed("text_around"),
    '{"scores": [4, 0], "error": "overloaded"}': Malformed("error_reported"),
}


def test_a_plain_list_whose_scores_may_be_equal_or_not():
    assert {text: parse_plain(text, 3, 4, distinct=True) for text in PLAIN} == PLAIN
    assert {text: parse_plain(text, 2, 4) for text in EQUAL} == EQUAL


BARE = {
    "[4, 2, 1, 0, 3]": (4, 2, 1, 0, 3),
    "4, 2, 1, 0, 3": (4, 2, 1, 0, 3),
    "4，2，1，0，3": (4, 2, 1, 0, 3),
    "The relevancy scores are: [4, 2, 1, 0, 3]": (4, 2, 1, 0, 3),
    "```python\n[4, 2, 1, 0, 3]\n```": (4, 2, 1, 0, 3),
    "评分：4、2、1、0、3。": (4, 2, 1, 0, 3),
    '{"scores": [4, 2, 1, 0, 3]}': (4, 2, 1, 0, 3),
    # nothing is relevant, so no score has to be another
    "[0, 0, 0, 0, 0]": (0, 0, 0, 0, 0),
    "0, 0, 0, 0, 0": (0, 0, 0, 0, 0),
    "[4, 2, 1, 0, 0]": Malformed("duplicate_grades"),
    "[4, 2, 1, 0]": Malformed("wrong_count"),
    "[4, 2, 1, 0, 7]": Malformed("out_of_scale"),
    "[[4, 2, 1, 0, 3]]": Malformed("wrong_count"),
    "4 of 5: 2, 1, 0, 3": Malformed("no_list"),
    "Not [4, 2, 1, 0, 3]": Malformed("text_around"),
    "[4, 2, 1, 0, 3] or [3, 2, 1, 0, 4]": Malformed("no_list"),
}


def test_a_list_by_itself_is_read_where_the_prompt_asks_for_one():
    found = {text: parse_plain(text, 5, 4, distinct=True, bare=True) for text in BARE}
    assert found == BARE


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


@given(
    st.sampled_from(["", "Sure!\n", "Answer: ", "评分：", "```json\n"]), st.integers(0, 4), st.text(" \n\t*.")
)
def test_an_announcement_and_marks_after_the_json_change_nothing(before, grade, after):
    assert parse_grade(f'{before}{{"grade": {grade}}}{after}', 4) == grade


@given(st.text(min_size=81), st.integers(0, 4))
def test_words_before_the_json_are_no_announcement_when_they_are_long(before, grade):
    assert isinstance(parse_grade(f'x{before}: {{"grade": {grade}}}', 4), Malformed)


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
    "##final score: 2": 2,
    "## Final Score: 3": 3,
    "##final score: **1**": 1,
    "2": 2,
    "<think>I would say ##final score: 3? No.</think>\n##final score: 1": 1,
    "<think>x</think>\n2": 2,
    "##final score: 2.0": 2,
    "##final score: [2]": 2,
    "##final score: 2</s>": 2,
    "##final score: 2<|eot_id|>": 2,
    "##M: 2\n##T: 1\n##O: 2\n##final score: 2": 2,
    "M: 3\nT: 2\n\n##final score: 1": 1,
    "##O: 1\n##final score: 2": "ambiguous",
    "##M: 9\n##final score: 2": "out_of_scale",
    "##final score: 4": "out_of_scale",
    "##final score: -1": "out_of_scale",
    "##final score: 2.5": "not_a_whole_number",
    "": "no_grade",
    "I cannot say.": "no_grade",
    '{"error": "overloaded", "final score": 0}': "no_grade",
    **dict.fromkeys(
        (
            "##final score: 1 ##final score: 2",
            "##final score: 2\nActually no, 1",
            "The passage does not answer it, so ##final score: 0",
            "If complete, final score: 3",
            "If complete it would be:\n##final score: 3",
            "Example:\n##final score: 3",
            "If it were complete I would say:\n```\n##final score: 3",
            "The passage says: ##final score: 3",
            "I refuse to say\n##final score: 3",
            "假设完整，final score: 3",
        ),
        "text_around",
    ),
    "<think>maybe ##final score: 3": "unfinished_thought",
}


def test_a_final_score_is_read_where_it_is_meant():
    found = {text: parse_final_score(text, 3) for text in SCORES}
    assert found == {
        text: Malformed(said) if isinstance(said, str) else said for text, said in SCORES.items()
    }
