"""How calls are worded, in fences that no text can close; and how answers are read, or refused."""

import pytest

from harness.measures.answer.steps import STEPS, VERDICTS, ObjectForm, form_of, joined, prompt_of, read_object
from harness.models.llm.form import Malformed
from harness.values.types import LlmCall


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
    texts = [joined(["x"]) if slot in ("passages", "statements") else "x" for slot in step.slots]
    call = asked(form, "q", *texts)
    assert "{{" not in "".join(message["content"] for message in form.messages(call))
    # the shortest answer is one that can be used
    assert form.read(call, form.shortest(call)) is None


@pytest.mark.parametrize("text", ['{"verdict": 1}', '```json\n{"verdict": 1, "error": null}\n```'])
def test_an_object_is_read(text):
    assert read_object(text)["verdict"] == 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"verdict": 1, "error": "overloaded"}', "error_reported"),
        ('{"verdict": 0, "status": "error"}', "error_reported"),
        ('{"verdict": 1, "verdict": 0}', "ambiguous"),
        ('{"verdict": 1, "confidence": NaN}', "no_json"),
        ('{"verdict": 1, "confidence": 1e999}', "no_json"),
        ('{"a":' * 70 + "1" + "}" * 70, "no_json"),
        ('{"verdict": 1} {"error": "overloaded"}', "no_json"),
        ("[1]", "no_object"),
        ("", "no_json"),
        ('{"verdict": 1} I hope', "no_json"),
    ],
)
def test_what_is_not_plainly_an_answer_is_refused(text, reason):
    assert read_object(text) == Malformed(reason)
