"""Ten thousand judgments take little more memory than three hundred: the judge alone, and a whole run."""

import asyncio
import itertools
import random
import tracemalloc

import pytest

from harness.judge import LlmJudge
from harness.models import Reply
from harness.running import Searched, load_config, run_bench
from harness.values import Ranking, Silent
from tests.judge.helpers import config, pairs

pytestmark = pytest.mark.slow

MANY = [1200, 10_000]


class Stub:
    """A client that answers at once, where the network would only slow the test down."""

    def __init__(self, endpoint):
        pass

    async def ask(self, messages, response_format, sample, timeout):
        await asyncio.sleep(0)
        return Reply('{"grade": 1}', "stop", "", 100, 10, "r", "stub", 0.0)

    async def aclose(self):
        pass


@pytest.fixture(autouse=True)
def stubbed(monkeypatch):
    monkeypatch.setattr("harness.models.llm.calls.ChatClient", Stub)


def peak_of_judge(count, ledger, prefix):
    tracemalloc.start()
    seen = itertools.count()
    judge = LlmJudge(config("http://unused/v1"), ledger)
    judge.grade(pairs(count, prefix=prefix), lambda graded: next(seen), reporter=Silent(), total=count)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert next(seen) == count
    return peak


@pytest.mark.parametrize("many", MANY)
def test_the_judge_needs_no_more_memory_for_many_judgments_than_for_few(many, ledger):
    peak_of_judge(50, ledger, "warm-up ")
    base = peak_of_judge(300, ledger, "few ")
    assert peak_of_judge(many, ledger, "many ") < 1.3 * base + 200_000


QUERIES = 100


@pytest.fixture
def peak_of_bench(tmp_path, monkeypatch):
    """Runs a benchmark over a pool; gives its peak after retrieval, and how many judgments it made."""
    words = random.Random(0)
    (tmp_path / "docs").mkdir()
    for name in "abcd":
        sentences = (" ".join(f"w{words.randrange(999)}" for _ in range(22)) + "." for _ in range(150))
        (tmp_path / "docs" / f"{name}.txt").write_text("\n\n".join(sentences))
    rows = "".join(f"q{n},What is w{n}?\n" for n in range(QUERIES))
    (tmp_path / "queries.csv").write_text(f"query_id,text\n{rows}")

    def search_settings(points, queries, context, found):
        (point,) = points
        setting, chunking = point.setting, point.chunking
        depth, order = setting.retrieve.top_k, random.Random(1)
        ids = [chunk.chunk_id for chunk in chunking.chunks]
        scores = tuple(map(float, range(depth, 0, -1)))
        rankings = [Ranking(query.query_id, tuple(order.sample(ids, depth)), scores) for query in queries]
        tracemalloc.start()
        return [Searched(setting, chunking, {"retrieve": rankings}, {"exact_share": None})]

    monkeypatch.setattr("harness.running.search.search_settings", search_settings)

    def peak(judgments, unit):
        path = tmp_path / "bench.yaml"
        depth = judgments // QUERIES
        path.write_text(
            f"name: many\ndocuments: {tmp_path}/docs/*.txt\nqueries: {tmp_path}/queries.csv\n"
            f"cache: {tmp_path}/cache\nresults: {tmp_path}/results\n"
            "chunk: {kind: recursive, chunk_size: 150}\n"
            f"retrieve: {{kind: chroma, model: 'embedded:all-MiniLM-L6-v2', top_k: {depth}}}\n"
            "relevance:\n"
            "  judge: llm\n"
            "  endpoint: {model: stub, api_key_env: null, max_concurrency: 4}\n"
            f"  pool: {{unit: {unit}, depth: {depth}, passage_chars: 130}}\n"
            "measures: [ndcg_exp@10]\nbootstrap: {resamples: 100}\n"
        )
        results, _ = run_bench(load_config(path), Silent())
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most, results.record.counts["judgments"]

    yield peak
    tracemalloc.stop()


@pytest.mark.parametrize("unit", ["chunk", "passage"])
@pytest.mark.parametrize("many", MANY)
def test_a_whole_run_grows_by_little_for_each_judgment(many, unit, peak_of_bench):
    peak_of_bench(100, unit)
    base, few = peak_of_bench(200, unit)
    peak, count = peak_of_bench(many, unit)
    assert few >= 200
    assert count >= many
    # All rows of a judgment are about 400 bytes: ids and offsets, a rank, a score, a grade, a source; and
    # while the losses of a setting are worked out, its orders and their scores take as much again. The texts
    # would come to 150 more for each copy, the objects that hold them to several hundred.
    assert (peak - base) / (count - few) < 1000
