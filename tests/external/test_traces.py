"""Traces become queries with what was read and answered: what clients wrote, and exports by an API."""

import copy
import json
import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.data import IMPORTS, TRACES, Passage, read_traces
from harness.data.external.traces.recorded import answer_in, passages_in, question_in
from harness.values import CorpusError
from tests.command import printed
from tests.external.libraries import package_at, python_with
from tests.external.traces.make import ANSWER, FAULT, FIRST, OTHER, QUESTION, SECOND

import_traces = IMPORTS["traces"].read

SAMPLES = Path(__file__).parent / "traces"
# as the API of Langfuse returns a trace
LANGFUSE = {
    "id": "lf-1",
    "timestamp": "2026-03-02T10:00:00.000Z",
    "input": {"question": QUESTION},
    "output": {"answer": ANSWER},
    "observations": [
        {
            "id": "o1",
            "traceId": "lf-1",
            "type": "SPAN",
            "name": "vector search",
            "startTime": "2026-03-02T10:00:00.100Z",
            "input": QUESTION,
            "output": [
                {"page_content": FIRST, "metadata": {"source": "docs/ferry.pdf"}},
                {"page_content": SECOND, "metadata": {"source": "docs/ferry.pdf"}},
            ],
        },
        {
            "id": "o2",
            "traceId": "lf-1",
            "type": "GENERATION",
            "name": "chat",
            "startTime": "2026-03-02T10:00:00.200Z",
            "input": [{"role": "user", "content": QUESTION}],
            "output": {"role": "assistant", "content": ANSWER},
        },
    ],
}


def export(path, *records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "tool", "document", "ids"),
    [
        ("gen_ai", "opentelemetry", "", ("ferry-1", "ferry-2")),
        ("openinference", "opentelemetry", "docs/ferry.pdf", ("ferry-1", "ferry-2")),
        ("langfuse", "opentelemetry", "docs/ferry.pdf", ("", "")),
        ("langsmith", "langsmith", "docs/ferry.pdf", ("", "")),
    ],
)
def test_what_the_clients_wrote(name, tool, document, ids):
    traces = read_traces(SAMPLES / f"{name}.jsonl")
    assert traces.tools == (tool,)
    answered, failed = traces.exchanges
    passages = tuple(map(Passage, (FIRST, SECOND), (document, document), ids))
    assert (answered.question, answered.answer, answered.read) == (QUESTION, ANSWER, passages)
    assert (failed.question, failed.answer, failed.read) == (OTHER, None, passages)
    assert FAULT in failed.reason
    assert answered.time.startswith("2026-11-29T15:35:0")
    # the warm-up, which has no question
    assert (traces.skipped.without_question, traces.skipped.without_rest) == (1, 0)


@pytest.mark.parametrize(
    "records",
    [
        [LANGFUSE],
        [{"data": [LANGFUSE], "meta": {"page": 1}}],
        [{"trace": {**LANGFUSE, "observations": None}, "observations": LANGFUSE["observations"]}],
        LANGFUSE["observations"],
    ],
    ids=["trace", "page of an API", "download", "observations"],
)
def test_exports_of_langfuse(tmp_path, records):
    traces = read_traces(export(tmp_path / "t.jsonl", *records))
    assert traces.tools == ("langfuse",)
    (exchange,) = traces.exchanges
    assert (exchange.query_id, exchange.question, exchange.answer) == ("lf-1", QUESTION, ANSWER)
    assert [passage.text for passage in exchange.read] == [FIRST, SECOND]


# the clients, and their newest releases within a major version
CLIENTS = (
    "opentelemetry-sdk>=1.45,<2",
    "opentelemetry-exporter-otlp-json-file",
    "openinference-semantic-conventions>=0.1.42,<0.2",
    "langfuse>=5,<6",
    "langsmith>=0.15,<1",
)


@pytest.fixture(scope="module")
def clients(tmp_path_factory):
    """A Python with the clients."""
    return python_with(tmp_path_factory.mktemp("clients") / "environment", *CLIENTS)


@pytest.mark.slow
def test_what_the_clients_write_today(clients, tmp_path):
    subprocess.run([clients, SAMPLES / "make.py", tmp_path], check=True, capture_output=True)
    for name in ("gen_ai", "openinference", "langfuse", "langsmith"):
        answered, failed = read_traces(tmp_path / f"{name}.jsonl").exchanges
        assert (answered.question, answered.answer, len(answered.read)) == (QUESTION, ANSWER, 2)
        assert (failed.question, failed.answer) == (OTHER, None)
        assert FAULT in failed.reason


def fault_in(trace):
    """The same trace where the model has failed, under a step that is no root."""
    failed = copy.deepcopy(trace)
    failed |= {"id": "lf-2", "output": None}
    retrieved, chat = failed["observations"]
    retrieved |= {"id": "o3", "traceId": "lf-2"}
    chat |= {"id": "o4", "traceId": "lf-2", "parentObservationId": "o3", "output": None}
    chat |= {"level": "ERROR", "statusMessage": FAULT}
    return failed


@pytest.mark.slow
def test_exports_as_the_package_of_langfuse_declares_them(clients, tmp_path):
    # the last version that declares a trace with its observations; the newest has observations alone
    four = package_at(clients, tmp_path / "four", "langfuse>=4,<5")
    traces = [LANGFUSE, fault_in(LANGFUSE)]
    of_steps = {name for trace in traces for row in trace["observations"] for name in row}
    names = {
        "TraceWithFullDetails": {name for trace in traces for name in trace},
        "ObservationsView": of_steps,
        "ObservationV2": of_steps,
    }
    shapes = []
    for folder in ("", four):
        done = subprocess.run(
            [clients, SAMPLES / "vendor_exports.py"],
            input=json.dumps(traces),
            env={**os.environ, "PYTHONPATH": str(folder)},
            capture_output=True,
            text=True,
            check=True,
        )
        vendor = json.loads(done.stdout)
        for model, declared in vendor["declared"].items():
            # every name that is written by hand on this page is one of theirs
            assert names[model] <= set(declared), model
        for shape, records in vendor["written"].items():
            shapes.append(shape)
            answered, failed = read_traces(export(tmp_path / f"{shape}.jsonl", *records)).exchanges
            assert (answered.question, answered.answer) == (QUESTION, ANSWER)
            assert [passage.text for passage in answered.read] == [FIRST, SECOND]
            assert (failed.question, failed.answer) == (QUESTION, None)
            assert FAULT in failed.reason
    assert sorted(shapes) == ["observations", "observations", "trace"]


def runs():
    """The runs of the first trace of LangSmith's sample: the root, the retriever, the model."""
    return json.loads((SAMPLES / "langsmith.jsonl").read_text("utf-8"))["post"][:3]


def test_runs_that_hold_their_children_and_runs_in_parts(tmp_path):
    root, *children = runs()
    for child in children:
        del child["parent_run_id"], child["trace_id"]
    # what a run ended with may come in a later part
    posted = {**root, "outputs": None}
    patched = {"id": root["id"], "trace_id": root["trace_id"], "outputs": root["outputs"]}
    for records in (
        [{**root, "child_runs": children}],
        [{"post": [posted, *runs()[1:]], "patch": [patched]}],
    ):
        (exchange,) = read_traces(export(tmp_path / "t.json", *records)).exchanges
        assert (exchange.question, exchange.answer, len(exchange.read)) == (QUESTION, ANSWER, 2)


def test_the_last_reranker_says_what_was_read(tmp_path):
    root, retriever, model = runs()
    documents = retriever["outputs"]["output"][1:]
    reranker = {
        **retriever,
        "id": "r9",
        "name": "Reranker",
        "run_type": "chain",
        "outputs": {"docs": documents},
    }
    (exchange,) = read_traces(export(tmp_path / "t.jsonl", root, retriever, reranker, model)).exchanges
    assert [passage.text for passage in exchange.read] == [SECOND]


def test_a_pipeline_that_only_retrieves_has_no_answer(tmp_path):
    root, retriever, _ = runs()
    root["outputs"] = retriever["outputs"]
    (exchange,) = read_traces(export(tmp_path / "t.jsonl", root, retriever)).exchanges
    assert (exchange.answer, exchange.reason, len(exchange.read)) == (None, "the trace has no answer", 2)


@pytest.mark.parametrize("name", ["gen_ai", "openinference", "langfuse", "langsmith"])
def test_any_field_may_be_missing_or_of_another_type(tmp_path, name):
    records = [json.loads(line) for line in (SAMPLES / f"{name}.jsonl").read_text("utf-8").splitlines()]

    def places(value, path=()):
        yield path
        entries = (
            value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        )
        for key, inner in entries:
            yield from places(inner, (*path, key))

    others = (None, 7, "x", [], {}, [None], {"a": 1})
    for number, path in enumerate(path for path in places(copy.deepcopy(records)) if len(path) > 1):
        damaged = copy.deepcopy(records)
        holder = damaged
        for key in path[:-1]:
            holder = holder[key]
        holder[path[-1]] = others[number % len(others)]
        try:
            traces = read_traces(export(tmp_path / "t.jsonl", *damaged))
        except CorpusError:
            continue
        assert all(exchange.question and exchange.query_id for exchange in traces.exchanges)


def test_what_is_of_no_tool_is_refused_with_the_remedy(tmp_path):
    with pytest.raises(CorpusError, match=r"no known tool, with a.*harness import ragas"):
        read_traces(export(tmp_path / "t.jsonl", {"a": 1}))
    with pytest.raises(CorpusError, match="no format of traces 'otel'"):
        read_traces(export(tmp_path / "t.jsonl", LANGFUSE), "otel")
    with pytest.raises(CorpusError, match="1 without a question"):
        read_traces(export(tmp_path / "t.jsonl", {**LANGFUSE, "input": None, "observations": []}))
    with pytest.raises(CorpusError, match="no object"):
        read_traces(export(tmp_path / "t.jsonl", 3))
    assert list(TRACES) == ["opentelemetry", "langsmith", "langfuse"]


def test_days_and_a_sample_bound_what_is_scored(tmp_path, capsys):
    days = [
        {**LANGFUSE, "id": f"t{day:02}", "timestamp": f"2026-03-{day:02}T10:00:00Z", "observations": []}
        for day in range(1, 29)
    ]
    path = export(tmp_path / "t.jsonl", *days)
    words = ("--since", "2026-03-03", "--until", "2026-03-22", "--sample", "5", "--to", tmp_path / "week")
    output = printed(capsys, "import", "traces", path, *words)
    assert "Traces of other days, or without a time: 8." in output
    assert "Drawn at random: 5 of 20 traces." in output
    rows = (tmp_path / "week" / "answers.jsonl").read_text("utf-8").splitlines()
    times = [json.loads(row)["time"][:10] for row in rows]
    assert len(times) == 5
    assert times == sorted(times)
    assert "2026-03-03" <= times[0] <= times[-1] <= "2026-03-22"
    # the same traces are drawn again, so that nothing is paid twice
    import_traces(path, tmp_path / "again", since="2026-03-03", until="2026-03-22", sample=5)
    again = (tmp_path / "again" / "answers.jsonl").read_text("utf-8").splitlines()
    assert again == rows
    with pytest.raises(CorpusError, match="is not a day"):
        import_traces(path, tmp_path / "x", since="March")
    with pytest.raises(CorpusError, match="none of its 28 traces"):
        import_traces(path, tmp_path / "x", since="2027-01-01")


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
        {"output": {"type": "constructor", "id": ["schema", "AIMessage"], "kwargs": {"content": ANSWER}}},
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


def nested(depth, key):
    value = QUESTION
    for _ in range(depth):
        value = {key: value}
    return value


def test_depth_has_a_limit_and_costs_no_stack():
    assert question_in(nested(10, "input")) == QUESTION
    assert question_in(nested(20_000, "input")) == ""
    assert passages_in(nested(20_000, "output")) == ()
    # each part is seen once, though two lists name its key
    wide = {"input": {"input": {"input": [{"output": {}}] * 2_000}}}
    assert question_in(wide) == ""


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "role",
                    "content",
                    "parts",
                    "messages",
                    "message",
                    "type",
                    "kwargs",
                    "id",
                    "text",
                    "documents",
                ]
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


def test_half_characters_and_times_that_are_none_stop_no_import(tmp_path, capsys):
    """Programs that cut text leave half an emoji; what is imported can be scored."""
    half, odd = copy.deepcopy(LANGFUSE), copy.deepcopy(LANGFUSE)
    half["input"]["question"] = "Which ferry \ud83d"
    half["output"]["answer"] = "The \udc00 one"
    half["observations"][0]["output"][0] = {"page_content": "A \ud83d", "metadata": {"source": "\udcff.pdf"}}
    odd["id"] = odd["observations"][0]["traceId"] = odd["observations"][1]["traceId"] = "lf-\ud83d"
    odd["timestamp"] = "9 o'clock"
    source = export(tmp_path / "traces.jsonl", half, odd)
    import_traces(source, tmp_path / "corpus")
    first, second = read_traces(source).exchanges
    assert (first.question, first.answer) == ("Which ferry \ufffd", "The \ufffd one")
    assert (second.query_id, second.time) == ("lf-\ufffd", "2026-03-02T10:00:00.100Z")
    assert "2 queries, 2 answered" in printed(capsys, "score-answers", tmp_path / "corpus/answers.jsonl")
