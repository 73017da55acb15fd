"""Write the samples beside this file with the real clients: what they record of one small pipeline.

    python -m venv /tmp/clients
    /tmp/clients/bin/pip install opentelemetry-sdk==1.45.2 opentelemetry-exporter-otlp-json-file==0.66b1 \\
        openinference-semantic-conventions==0.1.42 langfuse==5.0.4 langsmith==0.15.1
    /tmp/clients/bin/python tests/external/traces/make.py FOLDER

OpenTelemetry writes by its file exporter. Langfuse and LangSmith send to a server in this process, which
keeps the body of every request: Langfuse's spans are protobuf and are written as OTLP JSON, LangSmith's
batches of runs are kept as they are. Every file has three traces: answered, failed, without a question.
Folders of this machine in stack traces are cut.
"""

import base64
import contextlib
import gzip
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

QUESTION = "How long is the Halden ferry crossing?"
ANSWER = "The crossing takes 35 minutes."
FIRST = "The Halden ferry crosses in 35 minutes."
SECOND = "The ferry was built in 1961."
OTHER = "Who built the ferry?"
FAULT = "The model did not reply in time."


class Receiver(ThreadingHTTPServer):
    """Keeps what is posted to it, as (path, headers, body)."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.bodies = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        if self.headers.get("Transfer-Encoding") == "chunked":
            parts = []
            while size := int(self.rfile.readline(), 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            body = b"".join(parts)
        else:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        self.server.bodies.append((self.path, dict(self.headers), body))
        self.reply(b"{}")

    def do_GET(self):
        # LangSmith asks what the server takes before it sends
        limits = {
            "use_multipart_endpoint": False,
            "scale_up_qsize_trigger": 1000,
            "scale_up_nthreads_limit": 1,
        }
        limits |= {"scale_down_nempty_trigger": 4, "size_limit": 100, "size_limit_bytes": 20_000_000}
        self.reply(json.dumps({"version": "0.10", "batch_ingest_config": limits}).encode())

    def reply(self, body):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


def tracer_to(path):
    from opentelemetry.exporter.otlp.json.file import FileSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor

    provider = TracerProvider(resource=Resource({"service.name": "ferries"}))
    provider.add_span_processor(SimpleSpanProcessor(FileSpanExporter(str(path))))
    return provider.get_tracer("ferries")


def gen_ai(path):
    from opentelemetry.semconv._incubating.attributes import gen_ai_attributes as names

    def messages(role, text):
        return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])

    documents = [{"id": "ferry-1", "score": 0.95, "content": FIRST}, {"id": "ferry-2", "content": SECOND}]
    tracer = tracer_to(path)
    for question in (QUESTION, OTHER):
        with tracer.start_as_current_span("ask"), contextlib.suppress(TimeoutError):
            with tracer.start_as_current_span("retrieval ferries") as span:
                span.set_attribute(names.GEN_AI_OPERATION_NAME, "retrieval")
                span.set_attribute(names.GEN_AI_RETRIEVAL_QUERY_TEXT, question)
                span.set_attribute(names.GEN_AI_RETRIEVAL_DOCUMENTS, json.dumps(documents))
            with tracer.start_as_current_span("chat small") as span:
                span.set_attribute(names.GEN_AI_OPERATION_NAME, "chat")
                span.set_attribute(names.GEN_AI_REQUEST_MODEL, "small")
                span.set_attribute(names.GEN_AI_INPUT_MESSAGES, messages("user", question))
                if question == OTHER:
                    raise TimeoutError(FAULT)
                span.set_attribute(names.GEN_AI_OUTPUT_MESSAGES, messages("assistant", ANSWER))
                span.set_attribute(names.GEN_AI_USAGE_INPUT_TOKENS, 93)
    with tracer.start_as_current_span("warm up"):
        pass


def openinference(path):
    from openinference.semconv.trace import (
        DocumentAttributes,
        MessageAttributes,
        OpenInferenceSpanKindValues,
        SpanAttributes,
    )

    tracer = tracer_to(path)

    @contextlib.contextmanager
    def span_of(kind, name, sent):
        with tracer.start_as_current_span(name) as span:
            span.set_attribute(SpanAttributes.OPENINFERENCE_SPAN_KIND, kind.value)
            span.set_attribute(SpanAttributes.INPUT_VALUE, sent)
            yield span

    kinds = OpenInferenceSpanKindValues
    for question in (QUESTION, OTHER):
        with contextlib.suppress(TimeoutError), span_of(kinds.CHAIN, "ask", question) as root:
            with span_of(kinds.RETRIEVER, "ferries", question) as span:
                for place, text in enumerate((FIRST, SECOND)):
                    prefix = f"{SpanAttributes.RETRIEVAL_DOCUMENTS}.{place}"
                    span.set_attribute(f"{prefix}.{DocumentAttributes.DOCUMENT_ID}", f"ferry-{place + 1}")
                    span.set_attribute(f"{prefix}.{DocumentAttributes.DOCUMENT_CONTENT}", text)
                    source = json.dumps({"source": "docs/ferry.pdf"})
                    span.set_attribute(f"{prefix}.{DocumentAttributes.DOCUMENT_METADATA}", source)
            with span_of(kinds.LLM, "chat", question) as span:
                sent = f"{SpanAttributes.LLM_INPUT_MESSAGES}.0"
                span.set_attribute(f"{sent}.{MessageAttributes.MESSAGE_ROLE}", "user")
                span.set_attribute(f"{sent}.{MessageAttributes.MESSAGE_CONTENT}", question)
                if question == OTHER:
                    raise TimeoutError(FAULT)
                received = f"{SpanAttributes.LLM_OUTPUT_MESSAGES}.0"
                span.set_attribute(f"{received}.{MessageAttributes.MESSAGE_ROLE}", "assistant")
                span.set_attribute(f"{received}.{MessageAttributes.MESSAGE_CONTENT}", ANSWER)
            root.set_attribute(SpanAttributes.OUTPUT_VALUE, ANSWER)
    with tracer.start_as_current_span("warm up"):
        pass


def spans_of(request):
    return [
        span
        for resource in request["resourceSpans"]
        for scope in resource["scopeSpans"]
        for span in scope["spans"]
    ]


def langfuse(path):
    from google.protobuf.json_format import MessageToDict
    from langfuse import Langfuse
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    server = Receiver()
    client = Langfuse(public_key="pk-test", secret_key="sk-test", base_url=server.address)
    documents = [{"page_content": text, "metadata": {"source": "docs/ferry.pdf"}} for text in (FIRST, SECOND)]
    for question in (QUESTION, OTHER):
        with (
            contextlib.suppress(TimeoutError),
            client.start_as_current_observation(
                name="ask", as_type="chain", input={"question": question}
            ) as root,
        ):
            with client.start_as_current_observation(
                name="ferries", as_type="retriever", input=question
            ) as step:
                step.update(output=documents)
            prompt = [{"role": "user", "content": question}]
            with client.start_as_current_observation(
                name="chat", as_type="generation", model="small", input=prompt
            ) as step:
                if question == OTHER:
                    step.update(level="ERROR", status_message=FAULT)
                    raise TimeoutError(FAULT)
                step.update(output={"role": "assistant", "content": ANSWER})
            root.update(output={"answer": ANSWER})
    with client.start_as_current_observation(name="warm up"):
        pass
    client.shutdown()
    with path.open("w", encoding="utf-8") as file:
        for where, _, body in server.bodies:
            if where.endswith("/v1/traces"):
                request = MessageToDict(ExportTraceServiceRequest.FromString(body))
                for span in spans_of(request):
                    for name in {"traceId", "spanId", "parentSpanId"} & span.keys():
                        # OTLP JSON has ids in hexadecimal digits, JSON of protobuf in base64
                        span[name] = base64.b64decode(span[name]).hex()
                file.write(json.dumps(request, ensure_ascii=False) + "\n")


def langsmith(path):
    # batches in JSON rather than forms by zstd, which need one more package to be read
    os.environ |= {"LANGSMITH_TRACING": "true", "LANGSMITH_DISABLE_RUN_COMPRESSION": "true"}
    from langsmith import Client, traceable

    server = Receiver()
    client = Client(api_url=server.address, api_key="test", omit_traced_runtime_info=True)

    @traceable(run_type="retriever", client=client)
    def ferries(question):
        return [
            {"page_content": text, "type": "Document", "metadata": {"source": "docs/ferry.pdf"}}
            for text in (FIRST, SECOND)
        ]

    @traceable(run_type="llm", client=client)
    def chat(messages):
        if messages[0]["content"] == OTHER:
            raise TimeoutError(FAULT)
        return {"choices": [{"message": {"role": "assistant", "content": ANSWER}}]}

    @traceable(client=client)
    def ask(question):
        ferries(question)
        return {"answer": chat([{"role": "user", "content": question}])["choices"][0]["message"]["content"]}

    @traceable(client=client)
    def warm_up():
        return None

    ask(QUESTION)
    with contextlib.suppress(TimeoutError):
        ask(OTHER)
    warm_up()
    client.flush()
    client.cleanup()
    with path.open("w", encoding="utf-8") as file:
        for where, _, body in server.bodies:
            if where.endswith("/batch"):
                file.write(body.decode() + "\n")


SAMPLES = {
    "gen_ai.jsonl": gen_ai,
    "openinference.jsonl": openinference,
    "langfuse.jsonl": langfuse,
    "langsmith.jsonl": langsmith,
}

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, write in SAMPLES.items():
        (folder / name).unlink(missing_ok=True)
        write(folder / name)
        content = (folder / name).read_text(encoding="utf-8")
        for place in (str(Path(__file__).resolve().parent), sys.prefix):
            content = content.replace(f"{place}/", "")
        (folder / name).write_text(content, encoding="utf-8")
