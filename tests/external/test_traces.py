"""Exports of OpenTelemetry, Langfuse and LangSmith become questions with what was read and answered."""

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.data.external.answer_files import Passage
from harness.data.external.traces import read_traces
from harness.data.external.traces.step import answer_in, passages_in, question_in
from harness.values.errors import CorpusError

from . import samples
from .samples import ANSWER, FIRST, QUESTION, SECOND


def export(path, *records, one_file=False):
    if one_file:
        path.write_text(json.dumps(list(records)), encoding="utf-8")
    else:
        path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


WITH_PASSAGES = {
    "gen_ai": ("opentelemetry", [samples.GEN_AI], ("ferry-1", ""), ("ferry-2", "")),
    "openinference": ("opentelemetry", [samples.OPENINFERENCE], ("ferry-1", "ferry.pdf"), ("", "")),
    "langfuse": ("langfuse", [samples.LANGFUSE], ("", "docs/ferry.pdf"), ("", "docs/ferry.pdf")),
    "langsmith": ("langsmith", samples.LANGSMITH, ("", "docs/ferry.pdf"), ("", "docs/ferry.pdf")),
}


@pytest.mark.parametrize("one_file", [False, True])
@pytest.mark.parametrize("name", WITH_PASSAGES)
def test_a_question_with_its_passages_and_answer(tmp_path, name, one_file):
    format_, records, first, second = WITH_PASSAGES[name]
    found = read_traces(export(tmp_path / "t.jsonl", *records, one_file=one_file))
    assert found.format == format_
    (one,) = found.exchanges
    assert (one.question, one.answer) == (QUESTION, ANSWER)
    assert one.read == (Passage(FIRST, first[1], first[0]), Passage(SECOND, second[1], second[0]))


@pytest.mark.parametrize("record", [samples.OPENLLMETRY, samples.EVENTS])
def test_a_model_alone(tmp_path, record):
    (one,) = read_traces(export(tmp_path / "t.json", record)).exchanges
    assert (one.question, one.answer, one.read) == (QUESTION, ANSWER, ())


def test_observations_alone_and_pages_of_an_api(tmp_path):
    page = {"data": samples.LANGFUSE["observations"], "meta": {"page": 1}}
    (one,) = read_traces(export(tmp_path / "t.json", page)).exchanges
    # without the trace around them, the retriever's input is the question
    assert (one.query_id, one.question, one.answer) == ("lf-trace-1", QUESTION, ANSWER)
    whole = {
        "trace": {**samples.LANGFUSE, "observations": None},
        "observations": samples.LANGFUSE["observations"],
    }
    (one,) = read_traces(export(tmp_path / "u.json", whole)).exchanges
    assert len(one.read) == 2


def test_nested_runs(tmp_path):
    root, *children = copy.deepcopy(samples.LANGSMITH)
    for child in children:
        del child["parent_run_id"], child["trace_id"]
    (one,) = read_traces(export(tmp_path / "t.json", {**root, "child_runs": children})).exchanges
    assert (one.question, one.answer, len(one.read)) == (QUESTION, ANSWER, 2)


def test_the_last_reranker_says_what_was_read(tmp_path):
    reranked = copy.deepcopy(samples.LANGSMITH)
    reranked.append(
        {
            **reranked[1],
            "id": "r9",
            "name": "CohereRerank",
            "run_type": "chain",
            "start_time": "2025-11-05T10:00:01.5",
            "outputs": {"output": samples.LANGCHAIN_DOCUMENTS[1:]},
        }
    )
    (one,) = read_traces(export(tmp_path / "t.jsonl", *reranked)).exchanges
    assert [passage.text for passage in one.read] == [SECOND]


def test_ids_without_texts(tmp_path):
    record = json.loads(json.dumps(samples.GEN_AI).replace("content", "left_out"))
    (one,) = read_traces(export(tmp_path / "t.json", record)).exchanges
    assert one.read == (Passage("", "", "ferry-1"), Passage("", "", "ferry-2"))


def test_a_failed_answer_is_none_with_its_reason(tmp_path):
    runs = copy.deepcopy(samples.LANGSMITH)
    runs[0]["outputs"], runs[2]["outputs"] = None, None
    runs[2]["error"] = "RateLimitError('busy')\nTraceback"
    (one,) = read_traces(export(tmp_path / "t.jsonl", *runs)).exchanges
    assert (one.answer, one.reason) == (None, "failed: RateLimitError('busy')")


def test_traces_that_are_left_out_are_counted(tmp_path):
    empty = {**samples.LANGFUSE, "id": "e", "input": None, "output": None, "observations": []}
    silent = {**samples.LANGFUSE, "id": "s", "output": None, "observations": []}
    found = read_traces(export(tmp_path / "t.jsonl", samples.LANGFUSE, empty, silent))
    assert len(found.exchanges) == 1
    assert (found.left.without_question, found.left.without_rest) == (1, 1)
    with pytest.raises(CorpusError, match="1 without a question, 1 that neither"):
        read_traces(export(tmp_path / "u.jsonl", empty, silent))


def test_a_record_in_a_list_keeps_its_own_lists(tmp_path):
    path = tmp_path / "t.json"
    records = [{**samples.LANGFUSE, "results": [{"score": 1}]}]
    path.write_text(json.dumps(records))
    assert len(read_traces(path).exchanges) == 1
    # the answer of a web interface, which holds the list
    path.write_text(json.dumps({"data": records}))
    assert len(read_traces(path).exchanges) == 1


def test_a_format_may_be_named(tmp_path):
    path = export(tmp_path / "t.json", samples.LANGFUSE)
    assert read_traces(path, "langfuse").format == "langfuse"
    with pytest.raises(CorpusError, match="no format of traces 'otel'"):
        read_traces(path, "otel")


@pytest.mark.parametrize(
    "value",
    [
        ANSWER,
        {"output": ANSWER},
        {"choices": [{"index": 0, "message": {"role": "assistant", "content": ANSWER}}]},
        [
            {"role": "user", "content": QUESTION},
            {"role": "assistant", "content": [{"type": "text", "text": ANSWER}]},
        ],
        {"messages": [["human", QUESTION], ["ai", ANSWER]]},
        [
            {
                "role": "assistant",
                "parts": [{"type": "reasoning", "content": "hm"}, {"type": "text", "content": ANSWER}],
            }
        ],
        json.dumps({"answer": ANSWER, "sources": []}),
    ],
)
def test_answers_are_found_in_every_wrapping(value):
    assert answer_in(value) == ANSWER


@pytest.mark.parametrize(
    "value",
    [
        {"question": QUESTION, "chat_history": [{"role": "user", "content": "Hello"}]},
        [
            {"role": "user", "content": "Hello"},
            {"role": "assistant", "content": "Hi"},
            {"role": "user", "content": QUESTION},
        ],
        {"input": {"messages": [{"type": "human", "content": QUESTION}]}},
    ],
)
def test_questions_are_found_in_every_wrapping(value):
    assert question_in(value) == QUESTION


def test_documents_of_other_frameworks():
    node = {"node": {"id_": "n1", "text": FIRST, "metadata": {"file_name": "ferry.pdf"}}, "score": 0.9}
    assert passages_in([node, FIRST, 3, {"metadata": {}}]) == (
        Passage(FIRST, "ferry.pdf", "n1"),
        Passage(FIRST),
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["role", "content", "parts", "messages", "type", "kwargs", "id", "text", "documents"]
            ),
            inner,
        )
    ),
    max_leaves=20,
)


@given(JSON)
def test_whatever_was_recorded_is_read_without_a_fault(value):
    assert isinstance(question_in(value), str)
    assert isinstance(answer_in(value), str)
    assert all(passage.text or passage.passage_id for passage in passages_in(value))
