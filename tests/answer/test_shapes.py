"""An answer is one JSON object that is plainly meant, or has a reason why it is not."""

import pytest

from harness.measures.answer.steps import read_object
from harness.models.llm.form import Malformed


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
    ],
)
def test_what_is_not_plainly_an_answer_is_refused(text, reason):
    assert read_object(text) == Malformed(reason)
