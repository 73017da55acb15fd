"""Pairs, configurations and runs for the tests of this room; needs no pytest, for it also runs in a child."""

import itertools
from contextlib import nullcontext
from types import SimpleNamespace

from harness.judge import LlmConfig, LlmJudge, Pair
from harness.values import Chunk, LlmAnswer, LlmError, Query, Silent
from tests.judge.fake_server import FakeServer, error


def pairs(count, *, per_query=1, prefix=""):
    """``count`` distinct pairs, lazily."""
    for number in range(count):
        query = Query(f"q{number // per_query}", f"{prefix}question {number // per_query}", "train")
        text = f"{prefix}passage {number}"
        yield Pair(query, Chunk(f"d:{number}", "d", number * 100, number * 100 + len(text), text))


def config(url, **options):
    """The configuration of a judge at a fake server; its times are long, for machines that are busy."""
    endpoint = {
        "model": "fake",
        "base_url": url,
        "api_key_env": None,
        "timeout": 120,
        "deadline": 300,
        "max_concurrency": 4,
        "batch": options.pop("batch", False),
        **options.pop("endpoint", {}),
    }
    return LlmConfig(endpoint=endpoint, **options)


def judge_all(judge_config, ledger, items, **options):
    """Grade ``items``; returns the graded pairs in the order of the pairs, and the summary."""
    graded = []
    items = list(items)
    summary = LlmJudge(judge_config, ledger).grade(items, graded.append, reporter=Silent(), **options)
    order = {(p.query.query_id, p.passage.chunk_id): n for n, p in enumerate(items)}
    graded.sort(key=lambda g: order[g.pair.query.query_id, g.pair.passage.chunk_id])
    return graded, summary


def judged(script, ledger, count, per_query=1, total=None, **options):
    """Judge pairs by a server of its own; what they got, the summary, and the server."""
    with FakeServer(script) as server:
        items = pairs(count, per_query=per_query)
        return *judge_all(config(server.url, **options), ledger, items, total=total), server


def send_only(script, settings, ledger, items):
    """Send ``items`` in a batch to the server of ``script``, by a run that ends before it looks at it."""
    script.faults = {"GET batches": [error(401, "wrong key")]}
    ended = False
    try:
        judge_all(settings, ledger, items)
    except LlmError as fault:
        ended = "wrong key" in str(fault)
    assert ended, "the run has looked at its batch"


class Watching(Silent):
    """A reporter that hands what its bar says to ``heard``."""

    def __init__(self, heard):
        super().__init__()
        self.heard, self.tasks = heard, []

    def task(self, name, total):
        self.tasks.append((name, total))
        return nullcontext(SimpleNamespace(advance=lambda steps=1: None, describe=self.heard))


def script_of(*answers):
    """A script that gives the answers in turn and then the last one for ever."""
    queue = itertools.chain(answers, itertools.repeat(answers[-1]))
    return lambda request, number: next(queue)


def answer_of(text, passages=(), prompt_sha=""):
    """An answer of a model in words, of which nothing else is known."""
    return LlmAnswer(
        query="",
        passages=passages,
        prompt_sha=prompt_sha,
        model="fake",
        parameters={},
        sample=0,
        settled=True,
        grades=None,
        reason="",
        raw=text,
        prompt_tokens=None,
        completion_tokens=None,
        price=None,
        seconds=0.0,
        request_id="",
        served_model="",
    )
