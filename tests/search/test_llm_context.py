"""Lines of context by a language model: over HTTP, through the ledger, with its faults."""

import re

import pytest

from harness.report import PriceRow
from harness.values import LlmError, Silent
from tests.command import bench, printed
from tests.judge.fake_server import FakeServer, says
from tests.search.helpers import chunked as indexed


def passages(request):
    """The texts of the two passages of a prompt: an excerpt of the document, and the chunk."""
    content = request["body"]["messages"][-1]["content"]
    return re.findall(r"<passage \d \w+>\n(.*?)\n</passage", content, re.DOTALL)


def about(request, number):
    return says(f"Note on\n {passages(request)[1].split()[0]}.", usage=(100, 10))


@pytest.fixture
def configured(lexical, monkeypatch):
    """A function that writes a configuration whose chunks get a line by the model at ``url``."""
    monkeypatch.setenv("FAKE_KEY", "sk-do-not-show-me-4711")

    def write(url, more=""):
        return lexical(
            more=f"""
context:
  - kind: llm
    endpoint: {{model: fake-1, base_url: '{url}', api_key_env: FAKE_KEY, timeout: 120, deadline: 300}}
    prices: {{fake-1: {{input: 10.0, output: 100.0}}}}
    beginning: 20
    window: 50
{more}
measures: [ndcg_exp@3]""",
            cache="own",
        )

    return write


def test_every_chunk_is_indexed_after_what_the_model_says_of_it(configured):
    with FakeServer(about) as server:
        chunking, first = indexed(configured(server.url))
        again, second = indexed(configured(server.url))
    for chunk, text in zip(chunking.chunks, chunking.passages.texts, strict=True):
        assert text == f"Note on {chunk.text.split()[0]}.\n{chunk.text}"
    assert again.passages == chunking.passages
    assert server.count == len({passages(one)[1] for one in server.requests}) == len(chunking.chunks)
    assert [(one.calls, one.from_ledger) for one in first.notes.bills.spent.values()] == [(server.count, 0)]
    assert [(one.calls, one.from_ledger) for one in second.notes.bills.spent.values()] == [(0, server.count)]


def test_the_model_reads_a_bounded_part_of_the_document(configured, corpus):
    text = (corpus / "docs" / "engines.txt").read_text(encoding="utf-8")
    with FakeServer(about) as server:
        chunking, _ = indexed(configured(server.url))
        shown = {chunk: excerpt for excerpt, chunk in map(passages, server.requests)}
    own = [chunk for chunk in chunking.chunks if chunk.doc_id == "engines"]
    first, middle, last = own[0], own[len(own) // 2], own[-1]
    assert shown[first.text] == text[: first.end + 50] + "\n[…]\n"
    around = text[middle.start - 50 : middle.end + 50]
    assert shown[middle.text] == f"{text[:20]}\n[…]\n{around}\n[…]\n"
    assert shown[last.text] == f"{text[:20]}\n[…]\n{text[last.start - 50 :]}"
    assert max(map(len, shown.values())) <= 20 + 50 + 90 + 50 + 10


def test_a_chunk_without_an_answer_ends_the_run_or_is_indexed_without(configured):
    def refuses_one(request, number):
        return says(None, refusal="no") if "Tamarack" in passages(request)[1] else about(request, number)

    with FakeServer(refuses_one) as server:
        with pytest.raises(LlmError, match=r"1 of \d+ chunks have no usable context by fake-1: engines:0-"):
            indexed(configured(server.url))
        count, reporter = server.count, Silent()
        chunking, _ = indexed(configured(server.url, "    on_failure: leave_out"), reporter)
        assert server.count == count, "all answers are in the ledger, the refusal among them"
    assert chunking.passages.texts[0] == chunking.chunks[0].text
    assert any("are indexed without: engines:0-" in one for one in reporter.warnings)


FILTER = """
filter:
  kind: llm
  file: {folder}/facts.csv
  fields: [topic]
  endpoint: {{model: fake-2, base_url: '{url}', api_key_env: FAKE_KEY, timeout: 120, deadline: 300}}
  prices: {{fake-2: {{input: 10.0, output: 100.0}}}}
"""


def test_contexts_and_filters_are_asked_for_once_by_a_run_alone(configured, corpus, capsys):
    (corpus / "facts.csv").write_text("document,topic\nengines,pump\npeople,company\nharbour,ships\n")

    def script(request, number):
        is_filter = request["body"]["model"] == "fake-2"
        return says('{"topic": ["company"]}', usage=(100, 10)) if is_filter else about(request, number)

    with FakeServer(script) as server:
        path = configured(server.url, FILTER.format(folder=corpus, url=server.url))
        output = printed(capsys, "validate", path)
        chunks = int(re.search(r"to write situate v1 by fake-1: (\d+) chunks", output)[1])
        assert "to filter fields v1 by fake-2: 5 queries: 5 calls" in output
        assert "has not been made yet. Nothing was spent." in printed(capsys, "bench", path, "--dry-run")
        assert server.count == 0
        results, _ = bench(path)
        assert server.count == chunks + 5
        for words in (["bench", path], ["bench", path, "--dry-run"]):
            printed(capsys, *words)
        assert server.count == chunks + 5
        # the price of the contexts is the same whichever run paid, and no part of that of the queries
        again, _ = bench(path)
        for each in (results, again):
            costs = {(round(row.context_cost, 6), row.rewrite_cost) for row in each.of(PriceRow)}
            assert costs == {(round(chunks * 0.002, 6), 0)}
        path.write_text(path.read_text().replace("model: fake-2", "model: fake-3"))
        output = printed(capsys, "bench", path, "--dry-run")
        assert "depend on a filter that has not been made yet. Nothing was spent." in output
        assert server.count == chunks + 5
    facts = results.record.counts["rewriting"].values()
    assert {(one["purpose"], one["calls"]) for one in facts} == {("context", chunks), ("filter", 5)}
    assert sum(one["cost"] for one in facts) == pytest.approx((chunks + 5) * 0.002)
