"""A plan says what the run then does: exactly where values are known, and else no less."""

import json
import re
from collections import Counter

import pytest

from harness.models import Estimate, ServedEstimate
from harness.running import load_config, make_plan
from harness.values import Silent
from tests.bench.conftest import QUERIES
from tests.command import bench, printed
from tests.judge.fake_server import FakeServer, grade, says
from tests.search.test_endpoints import embed, quick, rerank_script

__all__ = ["quick"]

PASSAGE = re.compile(r"<passage \d+ \w+>\n(.*?)\n</passage", re.DOTALL)


def replying(request, number):
    """Every model of the sweep, told apart by its name; no two of its answers are the same."""
    if request["path"].endswith("/embeddings"):
        return embed(request, number)
    body = request["body"]
    if "messages" not in body:
        return rerank_script(request, number)
    user = body["messages"][-1]["content"]
    match body["model"]:
        case "rewriter":
            return says(f"wording {number} of it\nwording {number} of that")
        case "writer":
            return says(f"Note {number}.")
        case "grader" | "judge":
            return says("2") if body["model"] == "grader" else grade(1)
        case "answerer":
            return says(f"It is number {number}.")
    if "<statements " in user:
        count = len(
            re.findall(r"^\d+\. ", re.search(r"<statements .*?</statements", user, re.DOTALL)[0], re.M)
        )
        return says(json.dumps({"verdicts": [{"number": n + 1, "verdict": 0} for n in range(count)]}))
    if "<question " not in user:
        return says(json.dumps({"question": f"What is number {number}?", "noncommittal": 0}))
    return says(json.dumps({"statements": [f"Statement {number}.", f"Another {number}."]}))


def sent(requests):
    """How often each model was asked, and how many texts or passages of pairs it was sent."""
    calls, items = Counter(), Counter()
    for request in requests:
        body = request["body"]
        calls[body["model"]] += 1
        items[body["model"]] += len(body.get("input", body.get("documents", [1])))
    return calls, items


def planned(plan):
    """The same of a plan."""
    calls, items = Counter(), Counter()
    every = [*plan.rewriting, *plan.endpoints, *plan.answers.missing]
    for name, estimate in [(one.name.rpartition(" by ")[2], one.estimate) for one in every]:
        calls[name] += estimate.calls
        served = isinstance(estimate, ServedEstimate)
        items[name] += estimate.items - estimate.known if served else estimate.calls
    if plan.judge is not None and isinstance(plan.judge.estimate, Estimate):
        calls["judge"] += plan.judge.estimate.calls
        items["judge"] += plan.judge.estimate.calls
    return +calls, +items


def price(plan):
    """What all of a plan may cost at most."""
    every = [*plan.rewriting, *plan.endpoints, *plan.answers.missing]
    return sum(one.estimate.price for one in every) + (plan.judge.estimate.price if plan.judge else 0)


STAGES = ("context", "rewrite", "rerank", "relevance", "answer", "measures")


@pytest.fixture
def sweep(lexical):
    """Writes a sweep with the first paid stages of ``STAGES``."""

    def write(url, stages):
        def endpoint(name, **more):
            keys = {"model": name, "base_url": url, "api_key_env": None, "timeout": 100} | more
            return json.dumps(keys)

        def llm(name, kind="llm"):
            prices = json.dumps({name: {"input": 10, "output": 100}})
            return f"kind: {kind}, endpoint: {endpoint(name)}, prices: {prices}"

        judged = llm("judge").replace("kind:", "judge:")
        sections = {
            "context": f"context: [null, {{{llm('writer')}}}]",
            "rewrite": f"rewrite: [null, {{{llm('rewriter', 'multi_query')}, n: 2}}]",
            "rerank": f"""rerank:
  - {{kind: endpoint, top_n: 3, endpoint: {endpoint("scorer", price_per_request=0.5)}}}
  - {{{llm("grader")}, top_n: 4}}""",
            "relevance": f"relevance: {{{judged}, pool: {{depth: 3}}}}",
            "answer": f"answer: {{{llm('answerer')}, top_n: 2}}\nanswer_measures: [exact_match]",
            "measures": f"answer_measures: [faithfulness, answer_relevancy]\n"
            f"answer_judge: {{endpoint: {endpoint('measurer')}, "
            "prices: {measurer: {input: 10, output: 100}}}\n"
            f"answer_embedding: {{endpoint: {endpoint('embedder', price=1)}}}",
        }
        chosen = [sections[name] for name in STAGES[:stages]]
        if stages > STAGES.index("measures"):
            chosen[STAGES.index("answer")] = chosen[STAGES.index("answer")].partition("\n")[0]
        retrieve = f"""
  - {{kind: bm25, top_k: 5}}
  - kind: rrf
    top_k: 6
    routes: [{{kind: exact, top_k: 5, endpoint: {endpoint("encoder", price=1)}}}, {{kind: bm25, top_k: 5}}]"""
        path = lexical(retrieve=retrieve, more="\n".join([*chosen, "measures: [ndcg_exp@3]"]), cache="own")
        if stages > STAGES.index("rerank"):
            path.write_text(path.read_text().replace("rerank: null\n", "", 1))
        return path

    return write


PAID = {"writer", "rewriter", "encoder", "scorer", "grader", "judge", "answerer", "measurer", "embedder"}
EXACT = {"context": "writer", "rewrite": "rewriter", "relevance": "judge", "answer": "answerer"}
"""What is known exactly where all before it is."""


@pytest.mark.slow
def test_each_stage_is_planned_exactly_once_what_is_before_it_is_known(sweep):
    with FakeServer(replying) as server:
        for stages, name in enumerate(STAGES, 1):
            before, config = server.count, sweep(server.url, stages)
            expected, texts = planned(make_plan(load_config(config), Silent(), search=True))
            assert server.count == before
            bench(config)
            calls, items = sent(server.requests[before:])
            if name in EXACT:
                assert 0 < expected[EXACT[name]] == calls[EXACT[name]], name
            for model in calls:
                assert expected[model] >= calls[model], (name, model)
                assert texts[model] >= items[model], (name, model)


@pytest.mark.slow
def test_before_anything_is_known_a_plan_is_a_bound_and_after_the_run_there_is_nothing_to_do(sweep, capsys):
    with FakeServer(replying) as server:
        path = sweep(server.url, len(STAGES))
        plan = make_plan(load_config(path), Silent(), search=True)
        output = printed(capsys, "validate", path)
        assert server.count == 0
        results, _ = bench(path)
        calls, items = sent(server.requests)
        after = make_plan(load_config(path), Silent(), search=True)
        assert planned(after) == (Counter(), Counter())
        bench(path)
        assert server.count == sum(calls.values()), "all is kept"
    bound, texts = planned(plan)
    assert calls.keys() == bound.keys() == PAID
    for model in calls:
        assert bound[model] >= calls[model], model
        assert texts[model] >= items[model], model
    assert bound["rewriter"] == calls["rewriter"] == len(QUERIES)
    assert bound["writer"] == calls["writer"]
    counts, spent = results.record.counts, results.record.cost
    paid = [*counts["rewriting"].values(), *counts["endpoints"].values(), spent]
    assert price(plan) >= sum(one["cost"] for one in paid) > 0
    for guessed in ("grade v1 by grader: at most", "scorer: at most", "encoder: at most"):
        assert guessed in output
