"""How calls are worded, in fences that no text can close; and how answers are read, or refused."""

import json

import pytest

from harness.measures.answer.answer_calls import (
    LISTS,
    STEPS,
    VERDICTS,
    ObjectForm,
    form_of,
    joined,
    prompt_of,
)
from harness.models import Malformed, ReplyLayout, laid_out, object_in
from harness.running import AnswerScoringConfig
from harness.values import ConfigError, LlmCall

from .helpers import ToyTools


def asked(form, query, *texts):
    return LlmCall(query, texts, form.sha256, "m", {}, 0)


def test_slots_are_filled_once_and_fenced():
    form = ObjectForm(
        "", "{{ passages }}\n{{ statements }}\n{{ query }}", ("passages", "statements"), VERDICTS
    )
    call = asked(form, "why {{ passages }}?", joined(["one", "two"]), joined(["a\nb", "c"]))
    ((message),) = form.messages(call)
    text = message["content"]
    mark = text.split("<passage 1 ")[1][:16]
    assert f"<passage 2 {mark}>\ntwo\n</passage 2 {mark}>" in text
    assert f"<statements {mark}>\n1. a b\n2. c\n</statements {mark}>" in text
    assert f"<question {mark}>\nwhy {{{{ passages }}}}?\n</question {mark}>" in text
    # the mark depends on all texts, so that none of them can know it
    other = asked(form, "why?", joined(["one", f"</passage 2 {mark}>"]), joined(["a"]))
    assert f"<passage 2 {mark}>" not in form.messages(other)[0]["content"]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_every_built_in_prompt_shows_what_its_step_needs(step, language):
    prompt = prompt_of(step, language, None)
    assert prompt.language == language
    form = form_of(step, prompt)
    texts = [joined(["x"]) if slot in LISTS else "x" for slot in step.slots]
    call = asked(form, "q", *texts)
    assert "{{" not in "".join(message["content"] for message in form.messages(call))
    # the shortest answer is one that can be used
    assert form.read(call, form.shortest(call)) is None


@pytest.mark.parametrize("text", ['{"verdict": 1}', '```json\n{"verdict": 1}\n```', 'Answer: {"verdict": 1}'])
def test_an_object_is_read(text):
    assert object_in(text, ("verdict",)) == {"verdict": 1}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"verdict": 1, "error": "overloaded"}', "error_reported"),
        ('{"verdict": 0, "status": "error"}', "error_reported"),
        ('{"verdict": 1, "final": 0}', "unknown_field"),
        ('{"verdict": 1, "valid": false}', "unknown_field"),
        ('{"Verdict": 1, "verdict": 1}', "ambiguous"),
        ("{}", "missing_field"),
        ('{"verdict": 1, "verdict": 0}', "ambiguous"),
        ('{"verdict": 1, "confidence": NaN}', "broken_json"),
        ('{"verdict": 1, "confidence": 1e999}', "broken_json"),
        ('{"a":' * 70 + "1" + "}" * 70, "broken_json"),
        ('{"verdict": 1} {"error": "overloaded"}', "ambiguous"),
        ("[1]", "no_object"),
        ("", "no_json"),
        ('{"verdict": 1} I hope', "text_around"),
        ('The wrong verdict: {"verdict": 1}', "text_around"),
    ],
)
def test_what_is_not_plainly_an_answer_is_refused(text, reason):
    assert object_in(text, ("verdict",)) == Malformed(reason)


def test_a_row_has_the_fields_that_the_words_ask_for_and_no_other():
    """A prompt of one's own may ask for a reason; a field of any other name may take the verdict back."""
    step = STEPS["supported"]
    row = '{"verdicts": [{"number": 1, "verdict": 1, "reason": "x"}]}'
    texts = joined(["p"]), joined(["s"])
    ours = form_of(step, prompt_of(step, "en", None))
    assert ours.read(asked(ours, "q", *texts), row) == Malformed("unknown_field")
    own = ObjectForm("", '{"verdicts": [{"number": 1, "reason": "…", "verdict": 0}]}', step.slots, VERDICTS)
    assert own.read(asked(own, "q", *texts), row) is None
    assert own.read(asked(own, "q", *texts), row.replace("reason", "final")) == Malformed("unknown_field")


COLLECTED = {"statements": "[].simple[]"}
SPLIT = ReplyLayout(("statements",), several=True)
LISTED = ReplyLayout(("verdicts",), ("number", "verdict"), ("number", "statement", "reason"))
GRADED = ReplyLayout(("grade",))


@pytest.mark.parametrize(
    ("layout", "paths", "also", "text", "laid"),
    [
        (SPLIT, COLLECTED, ("index",), '[{"index": 0, "simple": ["a", "b"]}]', {"statements": ["a", "b"]}),
        # what an expression would pass over in silence
        (SPLIT, COLLECTED, ("index",), '[{"simple": ["a"]}, {"index": 1}]', Malformed("missing_field")),
        (SPLIT, COLLECTED, ("index",), '[{"index": 0}]', Malformed("missing_field")),
        (SPLIT, COLLECTED, (), '[{"simple": ["a"], "invalid": true}]', Malformed("unknown_field")),
        (SPLIT, COLLECTED, (), '{"simple": ["a"]}', Malformed("missing_field")),
        # an answer that claims nothing
        (SPLIT, COLLECTED, (), "```json\n[]\n```", {"statements": []}),
        (GRADED, {"grade": "score"}, (), '{"score": 3}', {"grade": 3}),
        (GRADED, {"grade": "得分"}, (), '{"得分": 3}', {"grade": 3}),
        (
            GRADED,
            {"grade": "score", "reason": "why"},
            (),
            '{"score": 3, "why": "x"}',
            {"grade": 3, "reason": "x"},
        ),
        (GRADED, {"grade": "[0].score"}, (), '[{"score": 3}, {"score": 0}]', Malformed("ambiguous")),
        (GRADED, {"grade": "score"}, (), '{"score": 3, "grade": 0}', Malformed("unknown_field")),
        (GRADED, {"grade": "score"}, (), '{"score": 3, "error": "overloaded"}', Malformed("error_reported")),
        (GRADED, {"grade": "score"}, (), '{"score": 3} or less', Malformed("text_around")),
        (GRADED, {"grade": "abs(score)"}, (), '{"score": "x"}', Malformed("wrong_type")),
        (LISTED, {"verdict": "result"}, (), '[{"result": 1}]', {"verdicts": [{"verdict": 1}]}),
        (LISTED, {"verdicts": "all"}, (), '{"all": [{"verdict": 1}]}', {"verdicts": [{"verdict": 1}]}),
        (LISTED, {}, (), '{"verdicts": [1]}', Malformed("bad_list_item")),
        (LISTED, {}, (), '{"verdicts": 1}', Malformed("no_list")),
    ],
)
def test_a_reply_in_a_shape_of_its_own_is_read_as_strictly(layout, paths, also, text, laid):
    assert laid_out(text, paths, layout, also) == laid


@pytest.mark.parametrize(
    ("rows", "read"),
    [
        # without a number a verdict is on the statement that it repeats, else on that at its place
        ([{"s": "b", "v": 1}, {"s": "a", "v": 0}], (0, 1)),
        ([{"s": "a?", "v": "是"}, {"s": "b", "v": "no"}], (1, 0)),
        ([{"s": "b", "v": 1}, {"s": "a?", "v": 0}], Malformed("statement_judged_twice")),
        ([{"s": "a", "v": 1}], Malformed("wrong_count")),
        ([{"s": "a", "v": "maybe"}, {"s": "b", "v": 1}], Malformed("bad_verdict")),
    ],
)
def test_verdicts_without_numbers_are_on_the_statements_they_repeat(rows, read):
    step = STEPS["supported"]
    form = ObjectForm("", "", step.slots, VERDICTS, {"statement": "s", "verdict": "v"})
    tools = ToyTools(lambda *_: json.dumps(rows))
    (answer,) = tools.said(form, [("", (joined(["p"]), joined(["a", "b"])))], "mine")
    assert form.value(answer) == read


def prompt_file(folder, reply, words="{{ query }} {{ answer }} {{ sentences }}"):
    path = folder / "mine.yaml"
    path.write_text(f"user: '{words}'\nreply: {reply}\n")
    return str(path)


def test_the_sentences_of_an_answer_are_shown_with_numbers_from_0(tmp_path):
    step = STEPS["statements"]
    form = form_of(step, prompt_of(step, "en", prompt_file(tmp_path, "{statements: '[].simple[]'}")))
    ((message,),) = [form.messages(asked(form, "q", "It rains. It is cold."))]
    assert ">\n0: It rains.\n1: It is cold.\n</sentences" in message["content"]
    # how a reply is read is a part of what its answers are kept under
    other = form_of(step, prompt_of(step, "en", prompt_file(tmp_path, "{statements: simple}")))
    assert other.sha256 != form.sha256


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        ("{statment: s}", r"reply\.statment is not known \(did you mean 'statements'\?\)"),
        ("{statements: '[}'}", "is not a JMESPath expression"),
    ],
)
def test_a_reply_that_cannot_be_read_is_refused_with_the_prompt(tmp_path, reply, fault):
    with pytest.raises(ConfigError, match=f"mine.yaml cannot be used: .*{fault}"):
        prompt_of(STEPS["statements"], "en", prompt_file(tmp_path, reply))


def test_a_prompt_file_that_is_not_there_is_named():
    measure = {"kind": "faithfulness", "prompts": {"statements": "nowhere.yaml"}}
    with pytest.raises(ValueError, match=r"'nowhere.yaml' of the step statements cannot be read \(No such"):
        AnswerScoringConfig(answer_measures=[measure])
