"""One question as several tools record it. Invented, in the forms of their public documentation."""

import json

QUESTION = "How long is the Halden ferry crossing?"
ANSWER = "The crossing takes 35 minutes."
FIRST = "The Halden ferry crosses in 35 minutes."
SECOND = "The ferry was built in 1961."


def attributes(**values):
    def wrapped(value):
        kind = {str: "stringValue", int: "intValue", float: "doubleValue"}[type(value)]
        return {kind: str(value) if kind == "intValue" else value}

    return [{"key": key.replace("__", "."), "value": wrapped(value)} for key, value in values.items()]


def otlp(*spans):
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": attributes(service__name="rag")},
                "scopeSpans": [{"scope": {"name": "app"}, "spans": list(spans)}],
            }
        ]
    }


def span(span_id, parent, start, values, **more):
    return {
        "traceId": "5b8efff798038103d269b633813fc60c",
        "spanId": span_id,
        "parentSpanId": parent,
        "name": "x",
        "kind": 1,
        "startTimeUnixNano": str(1_700_000_000_000_000_000 + start),
        "endTimeUnixNano": str(1_700_000_000_000_000_000 + start + 5),
        "attributes": attributes(**values),
        "status": {},
        **more,
    }


def messages(role, text):
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])


# by the conventions for generative AI: messages and documents as JSON in attributes
GEN_AI = otlp(
    span("a1", "", 0, {"gen_ai__operation__name": "invoke_workflow"}),
    span(
        "a2",
        "a1",
        1,
        {
            "gen_ai__operation__name": "retrieval",
            "gen_ai__retrieval__query__text": QUESTION,
            "gen_ai__retrieval__documents": json.dumps(
                [
                    {"id": "ferry-1", "score": 0.95, "content": FIRST},
                    {"id": "ferry-2", "score": 0.5, "content": SECOND},
                ]
            ),
        },
    ),
    # a model that the retriever asks rewrites the question; it does not answer
    span(
        "a4",
        "a2",
        2,
        {
            "gen_ai__operation__name": "chat",
            "gen_ai__input__messages": messages("user", "Rewrite"),
            "gen_ai__output__messages": messages("assistant", "halden ferry duration"),
        },
    ),
    span(
        "a3",
        "a1",
        3,
        {
            "gen_ai__operation__name": "chat",
            "gen_ai__input__messages": messages("user", QUESTION),
            "gen_ai__output__messages": messages("assistant", ANSWER),
        },
    ),
)

# as OpenInference flattens it
OPENINFERENCE = otlp(
    span(
        "b1", "", 0, {"openinference__span__kind": "CHAIN", "input__value": QUESTION, "output__value": ANSWER}
    ),
    span(
        "b2",
        "b1",
        1,
        {
            "openinference__span__kind": "RETRIEVER",
            "input__value": QUESTION,
            "retrieval__documents__0__document__content": FIRST,
            "retrieval__documents__0__document__id": "ferry-1",
            "retrieval__documents__0__document__metadata": json.dumps({"source": "ferry.pdf"}),
            "retrieval__documents__1__document__content": SECOND,
            "retrieval__documents__1__document__score": 0.5,
        },
    ),
)

# as OpenLLMetry had it, and events of the conventions up to 1.36
OPENLLMETRY = otlp(
    span(
        "c2",
        "",
        1,
        {
            "llm__request__type": "chat",
            "gen_ai__prompt__0__role": "system",
            "gen_ai__prompt__0__content": "Answer from the passages.",
            "gen_ai__prompt__1__role": "user",
            "gen_ai__prompt__1__content": QUESTION,
            "gen_ai__completion__0__role": "assistant",
            "gen_ai__completion__0__content": ANSWER,
        },
    )
)
EVENTS = otlp(
    span(
        "d1",
        "",
        1,
        {"gen_ai__operation__name": "chat"},
        events=[
            {"name": "gen_ai.user.message", "attributes": attributes(content=QUESTION)},
            {
                "name": "gen_ai.choice",
                "attributes": attributes(message=json.dumps({"role": "assistant", "content": ANSWER})),
            },
        ],
    )
)

LANGCHAIN_DOCUMENTS = [
    {"page_content": FIRST, "metadata": {"source": "docs/ferry.pdf", "page": 3}, "type": "Document"},
    {"page_content": SECOND, "metadata": {"source": "docs/ferry.pdf", "page": 4}, "type": "Document"},
]

LANGFUSE = {
    "id": "lf-trace-1",
    "timestamp": "2025-11-05T10:00:00.000Z",
    "name": "rag",
    "sessionId": "s",
    "input": {"question": QUESTION},
    "output": {"answer": ANSWER},
    "observations": [
        {
            "id": "o2",
            "traceId": "lf-trace-1",
            "type": "GENERATION",
            "name": "answer",
            "startTime": "2025-11-05T10:00:02.000Z",
            "parentObservationId": None,
            "input": [{"role": "user", "content": "…"}],
            "output": {"role": "assistant", "content": ANSWER},
            "level": "DEFAULT",
        },
        {
            "id": "o1",
            "traceId": "lf-trace-1",
            "type": "RETRIEVER",
            "name": "VectorStoreRetriever",
            "startTime": "2025-11-05T10:00:01.000Z",
            "parentObservationId": None,
            "input": QUESTION,
            "output": LANGCHAIN_DOCUMENTS,
            "level": "DEFAULT",
        },
    ],
}

LANGSMITH = [
    {
        "id": "r1",
        "trace_id": "r1",
        "parent_run_id": None,
        "name": "rag",
        "run_type": "chain",
        "start_time": "2025-11-05T10:00:00",
        "dotted_order": "20251105T100000000000Zr1",
        "inputs": {"input": QUESTION, "chat_history": []},
        "outputs": {"answer": ANSWER, "context": LANGCHAIN_DOCUMENTS},
        "error": None,
    },
    {
        "id": "r2",
        "trace_id": "r1",
        "parent_run_id": "r1",
        "name": "VectorStoreRetriever",
        "run_type": "retriever",
        "start_time": "2025-11-05T10:00:01",
        "dotted_order": "20251105T100000000000Zr1.20251105T100001000000Zr2",
        "inputs": {"query": QUESTION},
        "outputs": {"documents": LANGCHAIN_DOCUMENTS},
        "error": None,
    },
    {
        "id": "r3",
        "trace_id": "r1",
        "parent_run_id": "r1",
        "name": "ChatOpenAI",
        "run_type": "llm",
        "start_time": "2025-11-05T10:00:02",
        "dotted_order": "20251105T100000000000Zr1.20251105T100002000000Zr3",
        "inputs": {
            "messages": [
                [
                    {
                        "lc": 1,
                        "type": "constructor",
                        "id": ["langchain", "schema", "messages", "HumanMessage"],
                        "kwargs": {"content": QUESTION, "type": "human"},
                    }
                ]
            ]
        },
        "outputs": {
            "generations": [
                [
                    {
                        "text": ANSWER,
                        "type": "ChatGeneration",
                        "message": {
                            "lc": 1,
                            "type": "constructor",
                            "id": ["langchain", "schema", "messages", "AIMessage"],
                            "kwargs": {"content": ANSWER, "type": "ai"},
                        },
                    }
                ]
            ]
        },
        "error": None,
    },
]
