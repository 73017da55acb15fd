"""The words of an error are found in whatever form a server gives them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.models.llm.faults import ErrorBody, classify_status, read_error

BODIES = {
    "OpenAI": (
        {"error": {"message": "Bad.", "type": "x", "param": "top_p", "code": "unsupported_value"}},
        ErrorBody("Bad.", "unsupported_value", "top_p"),
    ),
    "as the library strips it": ({"message": "Bad.", "param": None, "code": None}, ErrorBody("Bad.")),
    "a number for a code": ({"message": "Bad.", "code": 1210}, ErrorBody("Bad.", "1210")),
    "Ollama": ({"error": "model not found"}, ErrorBody("model not found")),
    "FastAPI": (
        {"detail": [{"loc": ["body", "seed"], "msg": "not a number", "type": "x"}]},
        ErrorBody("not a number", "", "seed"),
    ),
    "FastAPI, in a word": ({"detail": "Not Found"}, ErrorBody("Not Found")),
    "Gemini": ([{"error": {"code": 400, "message": "Bad.", "status": "INVALID"}}], ErrorBody("Bad.", "400")),
    "OpenRouter": (
        {"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": {"error": "no"}}}},
        ErrorBody('Provider returned error {"error": "no"}', "400"),
    ),
    "HTML": (
        "<html><head><style>b {x}</style></head><body><h1>502</h1>\n<p>Bad gateway</p></body></html>",
        ErrorBody("502 Bad gateway"),
    ),
    "no known field": ({"status": "INVALID"}, ErrorBody('{"status": "INVALID"}')),
    "nothing": (None, ErrorBody("")),
    "an empty list": ([], ErrorBody("")),
    "control characters": ("a\x1b[31m\nb", ErrorBody("a[31m b")),
}


@pytest.mark.parametrize(("body", "said"), BODIES.values(), ids=BODIES.keys())
def test_the_words_are_found(body, said):
    assert read_error(body) == said


json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["error", "message", "detail", "code", "param", "loc", "msg", "metadata", "raw"]),
            inner,
            max_size=4,
        )
    ),
)


@given(json_like, st.sampled_from([400, 401, 404, 413, 418, 422, 429, 500]))
def test_any_body_is_one_line_and_one_fault(body, status):
    reply = read_error(body)
    assert reply.words.isprintable()
    assert len(reply.words) <= 400
    fault = classify_status(status, reply, {})
    assert fault.reason
    assert fault.detail, "a fault without a word says its status"
