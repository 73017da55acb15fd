"""The cost of a thousand queries: their own vectors and rewritings, not those of the chunks."""

import pytest

from harness.report import LatencyRow, PriceRow
from tests.command import bench
from tests.judge.fake_server import FakeServer
from tests.search.test_endpoints import embed

from .conftest import QUERIES


def test_the_vectors_of_queries_are_paid_for_each_time_and_those_of_chunks_once(lexical):
    with FakeServer(embed) as server:
        endpoint = (
            f"{{model: fake-embed, base_url: '{server.url}', api_key_env: null, timeout: 100, "
            "price: 1000000, texts_per_request: 1}"
        )
        path = lexical(
            retrieve=f"[{{kind: exact, top_k: 5, endpoint: {endpoint}}}, {{kind: bm25}}]",
            more="measures: [ndcg_exp@3]\nlatency: {queries: 2}",
            cache="fresh",
        )
        results, _ = bench(path)
        asked = server.count
        again, _ = bench(path)
        assert server.count == asked, "a second run buys nothing, and nothing is bought to measure it"
    # the server counts a token a word, and each is worth 1
    words = sum(len(query[1].split()) for query in QUERIES)
    for one in (results, again):
        dense, words_only = one.of(PriceRow)
        assert dense.cost_per_1000 == pytest.approx(1000 * words / len(QUERIES))
        assert dense.endpoint_cost > words
        assert (dense.rewrite_cost, words_only.cost_per_1000, words_only.endpoint_cost) == (0, 0, None)
        remarks = [row.remark for row in one.of(LatencyRow)]
        assert remarks == ["fake-embed is not a model on this machine", ""]
