"""A step of every family that nobody but its file knows: planned, priced, capped, timed, resumed, named.

The toys are in `toy_steps.py`. Nothing in the harness, and no other test, is written for one of them.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import yaml

from harness import comparison, steps
from harness.models import EXACT, SentenceEncoder, Way, ways
from harness.report import PriceRow
from harness.running import load_config, make_plan
from harness.values import Silent
from tests.bench import toy_steps
from tests.bench.conftest import QUERIES
from tests.command import bench, printed, refused, save_table, table, write_files
from tests.judge.fake_server import FakeServer, says
from tests.report.page_results import unpack

ROOT = Path(__file__).parent.parent.parent
KINDS = {
    "REWRITERS": ["ASKED"],
    "FILTERS": ["MENTIONED"],
    "RETRIEVERS": ["NEAR", "GUIDED", "TURNS"],
    "RERANKERS": ["COSINE"],
    "READERS": ["BESIDE", "MEASURED", "RETOLD"],
    "ANSWERERS": ["REPEATING"],
}
FAMILIES = ("rewrite", "filter", "retrieve", "fuse", "rerank", "read", "answer")
# a call reads 100 tokens and writes 10, which cost 1 and 2
CALL = 100 + 2 * 10
NOWHERE = "http://localhost:1/v1"
HALF = Way("bfloat16")
MODEL = 'model: "embedded:all-MiniLM-L6-v2"'


@pytest.fixture
def installed(monkeypatch):
    """The toys in the tables of this process, as entry points put them there."""
    for name, kinds in KINDS.items():
        table = getattr(steps, name)
        made = {kind.name: kind for kind in (getattr(toy_steps, name) for name in kinds)}
        monkeypatch.setattr(table, "_items", {**table._items, **made})


@pytest.fixture
def golden(corpus):
    """Golden answers, and a table of the documents whose names some questions mention."""
    answers = {"q1": "39,717", "q3": "Bremerton"}
    rows = table(corpus / "queries.csv")
    save_table(corpus / "queries.csv", [{**row, "answer": answers.get(row["query_id"], "")} for row in rows])
    topics = "document,topic\nengines,fuel pump\npeople,company\nharbour,loading\n"
    (corpus / "facts.csv").write_text(topics, encoding="utf-8")
    return corpus


def asking(url, endpoint=""):
    """The keys of a step that asks the model of a server: a token of the prompt costs 1, of the answer 2."""
    address = f"model: fake-1, base_url: '{url}', api_key_env: null, timeout: 120, deadline: 300"
    prices = "{fake-1: {input: 1000000.0, output: 2000000.0}}"
    return f"endpoint: {{{address}{endpoint}}}, prices: {prices}"


def pipeline(folder, url, more="", endpoint="", guided="", reader="", **varied):
    """A benchmark of one setting with a toy at every step, or a sweep of the keys of a family.

    ``guided`` are the keys of a retriever that asks a language model, in place of the other one; ``reader``
    is the kind of a reader that does.
    """
    keys = dict.fromkeys(FAMILIES, "") | {family: f", {key}" for family, key in varied.items()}
    asks = asking(url, endpoint)
    near = f"{{kind: toy_guided, {guided}, top_k: 6}}" if guided else f"{{kind: toy_near, {MODEL}, top_k: 6}}"
    turns = f"{{kind: toy_turns, top_k: 6, routes: [{near}, {{kind: bm25, top_k: 6}}]{keys['fuse']}}}"
    alone = f"{{kind: toy_near, {MODEL}, top_k: 6{keys['retrieve']}}}"
    return {
        "chunk": "{kind: recursive, chunk_size: 90}",
        "retrieve": alone if "retrieve" in varied else turns,
        "rerank": f"{{kind: toy_cosine, top_n: 4{keys['rerank']}}}",
        "more": f"rewrite: {{kind: toy_asked, {asks}{keys['rewrite']}}}\n"
        f"filter: {{kind: toy_mentioned, file: {folder}/facts.csv, fields: [topic]{keys['filter']}}}\n"
        f"read: {{kind: {f'{reader}, {asks}' if reader else 'toy_beside'}{keys['read']}}}\n"
        f"answer: {{kind: toy_repeating, top_n: 2, {asks}{keys['answer']}}}\n"
        "answer_measures: [token_f1]\nmeasures: [ndcg_exp@3]\nbootstrap: {resamples: 200}\n" + more,
    }


def shown(request):
    return request["body"]["messages"][-1]["content"]


def replies(request, number):
    """The question again, the first line of the first passage, or a number; 100 tokens read, 10 written."""
    lines = shown(request).splitlines()
    if lines[0].startswith("How many letters"):
        return says("30")
    if lines[0].startswith("Retell"):
        return says(f"{' '.join(lines[2:])} So it is said.")
    if lines[0].startswith("Answer"):
        return says(next(line for line in lines if line and line[0] not in "<A"))
    return says(f"{lines[1]} Again.")


@pytest.fixture
def write(installed, golden, write_config):
    """Write a benchmark with a toy at every step."""
    return lambda url=NOWHERE, more="", cache="own", **varied: write_config(
        cache=cache, **pipeline(golden, url, more, **varied)
    )


SWEPT = {
    # the family: a key with its values, the column of the page, and the settings in words
    "rewrite": ("tone: [plain, formal]", "query tone", "query asked again, tone {}"),
    "filter": ("letters: [4, 2]", "filter letters", "filter by mention, letters {}"),
    "retrieve": ("sharpness: [1, 3]", "search sharpness", "near search, sharpness {}"),
    "fuse": ("turns: [2, 1]", "search turns", "keyword + near search, turns {}"),
    "rerank": ("effort: [low, high]", "reranker effort", "reranked, effort {}"),
    "read": ("letters: [20, 40]", "text read letters", "text read with what is beside, letters {}"),
    "answer": ("manner: [short, long]", "answerer manner", "answerer repeating, manner {}"),
}
ORDERED = {"rewrite", "retrieve", "rerank", "answer"}


@pytest.mark.parametrize("family", SWEPT)
def test_a_toy_is_a_factor_and_named_in_words_on_terminal_and_page(family, write, capsys):
    key, column, words = SWEPT[family]
    levels = yaml.safe_load(f"{{{key}}}")[key.partition(":")[0]]
    with FakeServer(replies) as server:
        path = write(server.url, cache="", **{family: key})
        told_at_once = printed(capsys, "bench", path)
    folder = path.parent / "results" / "tiny"
    (factor,) = comparison.design_in(json.loads((folder / "record.json").read_text("utf-8"))).factors
    assert len(factor.distinct) == 2
    # where the kind says so, in their order; and what is more costs more
    assert list(factor.weight) == list(factor.distinct)
    lighter = sorted(factor.weight, key=factor.weight.get)
    assert lighter[0].endswith(str(levels[0] if family in ORDERED or family == "read" else levels[1]))
    settings = [words.format(level) for level in levels]
    shown_again = printed(capsys, "show", folder)
    page = unpack(re.search(r'id="data">([^<]*)<', (folder / "report.html").read_text("utf-8"))[1])
    for setting in settings:
        assert setting in told_at_once
        assert setting in shown_again
        assert setting in json.dumps(page, ensure_ascii=False)
    (on_page,) = (own for own in page["factors"] if own["name"] == column)
    assert on_page["values"] == levels
    assert on_page.get("levels") == (levels if family in ORDERED else None)


def test_a_plan_has_what_the_run_then_asks_and_computes_and_what_is_stored_is_not_planned_again(write):
    with FakeServer(replies) as server:
        path = write(server.url)
        plan = make_plan(load_config(path), Silent(), search=True)
        assert server.count == 0
        calls = [one.estimate.missing for one in (*plan.rewriting, *plan.answers.missing)]
        most = [one.estimate.price for one in (*plan.rewriting, *plan.answers.missing)]
        results, _ = bench(path)
        assert calls == [5, 5]
        assert server.count == 10
        counts = results.record.counts
        (planned,) = plan.settings
        # the queries are embedded besides, as they are put in the end
        assert counts["vectors_computed"] == planned.to_embed + 5 > 5
        assert counts["pairs_computed"] == planned.pairs == 20
        # what a call may cost at most holds
        assert min(most) >= 5 * CALL
        again = make_plan(load_config(path), Silent(), search=True)
        assert not again.rewriting
        assert not again.answers.missing
        assert [(one.to_embed, one.pairs) for one in again.settings] == [(0, 0)]
        bench(path)
        assert server.count == 10


def test_toys_that_are_paid_are_priced_whoever_paid(write):
    with FakeServer(replies) as server:
        path = write(server.url)
        for _ in range(2):
            folder = bench(path)[1]
            for row in table(folder / "prices.csv"):
                assert float(row["rewrite_cost"]) == 5 * CALL
                assert float(row["cost_per_1000"]) == 1000 * CALL
            assert {float(row["price"]) for row in table(folder / "replies.csv")} == {CALL}


def test_a_retriever_that_asks_a_language_model_is_planned_and_priced_by_itself(write):
    """One of two routes is guided: its price is its own, and that of the fusion, not that of the other."""
    with FakeServer(replies) as server:
        path = write(server.url, guided=asking(server.url))
        plan = make_plan(load_config(path), Silent(), search=True)
        folder = bench(path)[1]
        # who rewrites and who guides, then who answers
        assert [one.name.partition(" by")[0] for one in plan.rewriting] == ["toy asked", "toy guided"]
        assert server.count == sum(one.estimate.missing for one in (*plan.rewriting, *plan.answers.missing))
        asked = server.count
        prices = [{row["stage"]: float(row["cost_per_1000"]) for row in table(folder / "prices.csv")}]
        folder = bench(path)[1]
        assert server.count == asked
        prices += [{row["stage"]: float(row["cost_per_1000"]) for row in table(folder / "prices.csv")}]
    one, both = 1000 * CALL, 2 * 1000 * CALL
    assert prices[0] == {
        "retrieve.toy_guided": both,
        "retrieve.bm25": one,
        "retrieve": both,
        "rerank": both,
    }
    assert prices[1] == prices[0]


def calls_of(calls):
    return sum(call.estimate.missing for call in calls)


def test_a_reader_that_asks_a_language_model_is_planned_with_what_then_rests_on_it(write):
    with FakeServer(replies) as server:
        path = write(server.url, reader="toy_measured")
        plan = make_plan(load_config(path), Silent(), search=True)
        longer = {"reader": "toy_measured", "answer": "manner: long"}
        (at_most,) = make_plan(
            load_config(write(server.url, **longer)), Silent(), search=True
        ).answers.answering
        assert server.count == 0
        write(server.url, reader="toy_measured")
        reading, rewriting = plan.rewriting
        assert (reading.name, reading.purpose) == ("toy measured by fake-1", "reading")
        assert reading.estimate.missing == plan.settings[0].chunks > 5
        # what is read is not known, so that the prompts of answers are as long as they may be
        assert all(call.at_most for call in plan.answers.missing)
        results, folder = bench(path)
        assert server.count == calls_of([reading, rewriting]) + 5
        paid = results.record.counts["rewriting"][reading.name]
        assert (paid["calls"], paid["cost"]) == (reading.estimate.missing, reading.estimate.missing * CALL)
        assert paid["cost"] <= reading.estimate.price
        assert {row.read_cost for row in results.of(PriceRow)} == {paid["cost"]}
        again = make_plan(load_config(path), Silent(), search=True)
        assert (again.rewriting, again.answers.missing) == ((), ())
        before = server.count
        results, _ = bench(path)
        # it was paid earlier, and is the same price
        assert {row.read_cost for row in results.of(PriceRow)} == {paid["cost"]}
        cost = results.record.counts["rewriting"][reading.name]
        assert (cost["calls"], cost["from_ledger"]) == (0, reading.estimate.missing)
        assert server.count == before
        # other answers about the same passages: what they take is known now, and was bounded
        (exact,) = make_plan(
            load_config(write(server.url, **longer)), Silent(), search=True
        ).answers.answering
    assert at_most.at_most
    assert not exact.at_most
    assert exact.estimate.missing == at_most.estimate.missing == 5
    assert 0 < exact.estimate.prompt_tokens < at_most.estimate.prompt_tokens
    # the model said 30 letters on each side of the chunks of at most 90
    places = [row["chunk_id"].rpartition(":")[2].split("-") for row in table(folder / "reply_passages.csv")]
    assert 90 < max(int(end) - int(start) for start, end in places) <= 150


@pytest.mark.parametrize("reader", ["", "toy_measured"])
def test_before_it_is_known_what_is_read_judging_is_bounded_by_the_longest_text(reader, write):
    with FakeServer(replies) as server:
        judge = f"relevance: {{judge: llm, {asking(server.url)}, pool: {{depth: 3, unit: chunk}}}}\n"
        keys = {"reader": reader, "read": "" if reader else "letters: 200"}
        bounded = make_plan(load_config(write(server.url, judge, **keys)), Silent(), search=True).judge
        bench(write(server.url, **keys))
        exact = make_plan(load_config(write(server.url, judge, **keys)), Silent(), search=True).judge
    assert bounded.pairs is None
    assert 0 < exact.pairs <= bounded.ranked
    # a pair by itself too
    each = [plan.estimate.prompt_tokens / plan.estimate.items for plan in (exact, bounded)]
    assert each[0] < each[1]
    assert exact.estimate.prompt_tokens < bounded.estimate.prompt_tokens


def test_an_alteration_that_asks_a_language_model_is_planned_and_paid_once(write):
    with FakeServer(replies) as server:
        path = write(server.url, reader="toy_retold")
        assert calls_of(make_plan(load_config(path), Silent(), search=True).rewriting) == 5
        bench(path)
        rows = table(path.parent / "results" / "tiny" / "reply_passages.csv")
        assert {row["change"] for row in rows} == {"altered"}
        assert all(row["text"].endswith("So it is said.") for row in rows)
        retold = [request for request in server.requests if shown(request).startswith("Retell")]
        assert len(retold) == len({shown(request) for request in retold}) <= len(rows)
        assert server.count == len(retold) + 10
        again = make_plan(load_config(path), Silent(), search=True)
        assert not again.answers.missing


@pytest.mark.parametrize("limit", ["max_calls: 2", "max_cost: 300"])
@pytest.mark.parametrize(
    ("family", "reader", "before"),
    [("rewrite", "", 0), ("answer", "", 5), ("read", "toy_measured", 0), ("read", "toy_retold", 5)],
)
def test_a_paid_toy_stops_at_its_limit_and_goes_on_from_there(family, reader, before, limit, write, capsys):
    with FakeServer(replies) as server:
        message = refused(capsys, "bench", write(server.url, reader=reader, **{family: limit}))
        assert f"stopped at {limit.partition(':')[0]}" in message
        assert "Everything paid for is kept" in message
        assert before <= server.count <= before + 2
        bench(write(server.url, reader=reader))
        # nothing is paid twice
        assert set(Counter(map(shown, server.requests)).values()) == {1}
        kinds = Counter(shown(request).split()[0] for request in server.requests)
        assert (kinds["Put"], kinds["Answer"]) == (5, 5)


@pytest.mark.parametrize("reader", ["", "toy_measured"])
def test_the_time_of_one_query_is_measured_at_every_toy(reader, write):
    with FakeServer(replies) as server:
        path = write(server.url, more="latency: {queries: 3, seconds: 3600}\n", reader=reader)
        rows = table(bench(path)[1] / "latency.csv")
        assert set(Counter(map(shown, server.requests)).values()) == {1}
    routes = ["retrieve.toy_near", "retrieve.bm25"]
    assert [row["stage"] for row in rows] == ["rewrite", "filter", *routes, "retrieve", "rerank", "read"]
    assert {(row["queries"], row["remark"]) for row in rows} == {("3", "")}
    assert all(float(row["p50"]) > 0 for row in rows)


@pytest.mark.parametrize("turned", ["search", "rerank"])
def test_the_models_of_toys_are_checked_for_precision(turned, write, monkeypatch):
    """In bfloat16 the vectors of questions, or the scores, point the other way: nearly all places change."""
    monkeypatch.setattr(ways, "ways_of", lambda kind, device: [EXACT, HALF])
    monkeypatch.setattr(ways, "seconds_of", lambda model, clock: {EXACT: 0.4, HALF: 0.1}[model.config.way])
    encode, score = SentenceEncoder.encode, toy_steps.Cosine.score
    questions = {question for _, question, *_ in QUERIES}

    def encoded(self, texts):
        signs = [-1 if self.config.way == HALF and text in questions else 1 for text in texts]
        return encode(self, texts) * np.array(signs, dtype=np.float32)[:, None]

    def scored(self, pairs):
        return score(self, pairs) * (-1 if self.config.way == HALF else 1)

    if turned == "search":
        monkeypatch.setattr(SentenceEncoder, "encode", encoded)
    else:
        monkeypatch.setattr(toy_steps.Cosine, "score", scored)
    with FakeServer(replies) as server:
        facts = bench(write(server.url, more="precision: fast\n"))[0].record.counts["precision"]
    (own,) = facts.values()
    assert own["way"] == "bfloat16 by torch"
    assert own["changed"] > 0.5


class Brake:
    """Replies to a number of requests, and to no more."""

    def __init__(self, until):
        self.until, self.never = until, threading.Event()

    def __call__(self, request, number):
        answer = replies(request, number)
        answer.after = None if number < self.until else self.never
        return answer


ENTRIES = """\
[harness.kinds]
rewrite.toy_asked = toy_steps:ASKED
filter.toy_mentioned = toy_steps:MENTIONED
retrieve.toy_near = toy_steps:NEAR
retrieve.toy_guided = toy_steps:GUIDED
retrieve.toy_turns = toy_steps:TURNS
rerank.toy_cosine = toy_steps:COSINE
read.toy_beside = toy_steps:BESIDE
read.toy_measured = toy_steps:MEASURED
read.toy_retold = toy_steps:RETOLD
answer.toy_repeating = toy_steps:REPEATING
"""


def start(folder):
    """The benchmark as a process of its own, in which the toys are those of an installed package."""
    info = "site/toy_steps-1.0.dist-info"
    files = {
        "site/toy_steps.py": Path(toy_steps.__file__).read_text(encoding="utf-8"),
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: toy-steps\nVersion: 1.0\n",
        f"{info}/entry_points.txt": ENTRIES,
    }
    write_files(folder, files)
    paths = os.pathsep.join([str(folder / "site"), str(ROOT), *sys.path])
    return subprocess.Popen(
        [sys.executable, "-m", "harness", "bench", "bench.yaml", "--quiet"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": paths},
        stderr=subprocess.PIPE,
        text=True,
    )


# they hold times, and the page the record
TIMED = {"record.json", "report.html", "replies.csv"}


def content(folder):
    """The tables of results, without the seconds of replies."""
    tables = {path.name: path.read_bytes() for path in folder.glob("*.csv") if path.name not in TIMED}
    replied = [{**row, "seconds": ""} for row in table(folder / "replies.csv")]
    return tables | {"replies.csv": replied}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("moment", "reader"),
    [(3, ""), (8, ""), (2, "toy_measured")],
    ids=["while it rewrites", "while it answers", "while it reads"],
)
def test_killed_in_the_middle_it_pays_nothing_twice_and_its_results_are_equal(
    moment, reader, golden, write_config
):
    brake, results = Brake(moment), []
    with FakeServer(brake) as server:
        # one call at a time, so that one alone may be under way
        keys = pipeline(golden, server.url, endpoint=", max_concurrency: 1", reader=reader)
        path = write_config(cache="own", **keys)
        path.write_text(path.read_text("utf-8").replace(f"{golden}/", ""), encoding="utf-8")
        run = start(golden)
        deadline = time.monotonic() + 900
        while server.count <= moment:
            assert run.poll() is None, run.stderr.read()
            assert time.monotonic() < deadline
            time.sleep(0.005)
        os.kill(run.pid, signal.SIGKILL)
        run.communicate()
        answered = set(map(shown, server.requests[:moment]))
        for _ in range(2):
            brake.until = float("inf")
            before = server.count
            run = start(golden)
            _, errors = run.communicate(timeout=900)
            assert run.returncode == 0, errors
            assert not answered & set(map(shown, server.requests[before:]))
            results.append(content(golden / "results" / "tiny"))
            # the second time all is asked anew, as if nobody had disturbed it
            shutil.rmtree(golden / "own")
            answered = set()
        assert set(Counter(map(shown, server.requests)).values()) <= {2, 3}
    assert results[0] == results[1]
