"""latency.csv: what one query takes, step by step, and that it leaves everything else alone."""

import shutil
from functools import partial

import pytest

from harness.models import EmbedConfig
from harness.report import LatencyRow, PriceRow, same_result
from harness.running import latency, loop
from harness.steps import Search
from tests.command import bench
from tests.judge.fake_server import Answer, FakeServer, completion
from tests.models import tiny
from tests.search.test_steps import with_toys

__all__ = ["with_toys"]

MODEL = 'model: "embedded:all-MiniLM-L6-v2"'
# with time enough on any machine
MEASURED = "measures: [ndcg_exp@3]\nlatency: {queries: 4, seconds: 3600}"


def run(path):
    return bench(path)[0].of(LatencyRow)


@pytest.fixture
def clock(monkeypatch):
    """A clock that moves by a millisecond whenever it is read."""
    # the time, and how often a measurement has read it
    now = [0.0, 0]

    def tick(reads):
        now[0] += 0.001
        now[1] += reads
        return now[0]

    for module, reads in ((latency, 1), (loop, 0)):
        monkeypatch.setattr(module, "perf_counter", partial(tick, reads))
    return now


TABLE = "document,topic,year\nengines,fuel pump,2024\npeople,staff,2023\nharbour,company,2024\n"


@pytest.fixture
def table(corpus):
    """Facts of the three documents: some questions name one, some two by their year, some none."""
    path = corpus / "facts.csv"
    path.write_text(TABLE, encoding="utf-8")
    return path


def test_every_step_and_route_is_measured_and_the_totals_add_up(write_config, clock, table):
    rules = f"kind: rules, file: {table}, fields: [topic]"
    said = 'rewrite: {kind: template, template: "say: {query}"}'
    own = f"{{kind: exact, {MODEL}, top_k: 5, {said}, filter: {{{rules}, years: [year], boost: 0.1}}}}"
    path = write_config(
        chunk="{kind: recursive, chunk_size: 90}",
        retrieve=f"{{kind: rrf, top_k: 5, routes: [{{kind: bm25}}, {own}]}}",
        rerank="{kind: late_interaction, top_n: 3}",
        more=f"{said}\nfilter: {{{rules}}}\nread: {{kind: window, amount: 1}}\n{MEASURED}",
        cache="fresh",
    )
    rows = run(path)
    assert {(row.queries, row.remark) for row in rows} == {(4, "")}
    own = {row.stage: row.p50 for row in rows}
    routes = ["retrieve.bm25", "retrieve.exact"]
    assert list(own) == ["rewrite", "filter", *routes, "retrieve", "rerank", "read"]
    # the second route rewrites and filters too
    assert 0 < own["retrieve.bm25"] < own["retrieve.exact"]
    assert own["retrieve"] > own["retrieve.bm25"] + own["retrieve.exact"]
    before, totals = 0.0, {}
    for stage, milliseconds in own.items():
        totals[stage] = before + milliseconds
        # what follows the routes takes the time of their fusion, which holds theirs
        before = before if stage in routes else totals[stage]
    assert {row.stage: row.total_p50 for row in rows} == pytest.approx(totals)
    assert {row.stage: row.total_p99 for row in rows} == pytest.approx(totals)
    # by this clock every read takes a millisecond: a batch reads it as often as one query, but for filters
    in_batch = {row.stage: row.total_in_batch for row in rows}
    assert all(0 < in_batch[stage] < totals[stage] for stage in totals)
    assert in_batch["rewrite"] < in_batch["retrieve"] < in_batch["rerank"] < in_batch["read"]


def test_in_a_batch_texts_of_all_queries_are_embedded_and_reranked_together(lexical, monkeypatch):
    sizes = []
    encode = EmbedConfig.make

    def make(config):
        encoder = encode(config)
        of_batch = encoder.encode
        encoder.encode = lambda texts: sizes.append(len(texts)) or of_batch(texts)
        return encoder

    monkeypatch.setattr(EmbedConfig, "make", make)
    (row,) = run(lexical(retrieve=f"{{kind: exact, {MODEL}}}", more=MEASURED, cache="fresh"))
    # three queries are asked beforehand, four alone, and the same four in one call
    assert sizes[-8:] == [*[1] * 7, 4]
    assert row.total_in_batch > 0


def test_one_query_is_no_batch(lexical):
    (row,) = run(lexical(more="measures: [ndcg_exp@3]\nlatency: {queries: 1, seconds: 3600}", cache="fresh"))
    assert row.total_p50 is not None
    assert row.total_in_batch is None


def test_what_was_measured_is_kept_and_is_no_part_of_the_outcome(lexical, clock, tmp_path, with_toys):
    # of some questions this rewriter leaves nothing to search for
    routes = "{kind: rrf, routes: [{kind: bm25}, {kind: bm25, analyser: plain}]}"
    path = lexical(more=f"rewrite: {{kind: toy_named}}\n{MEASURED}", retrieve=routes, cache="fresh")
    rows = run(path)
    reads = clock[1]
    again, folder = bench(path)
    # prices have the times of every stage, and the routes, beside what it costs
    totals = {row.stage: (row.total_p50, row.total_p95, row.total_p99, row.total_in_batch) for row in rows}
    priced = {
        row.stage: (row.latency_p50, row.latency_p95, row.latency_p99, row.latency_in_batch)
        for row in again.of(PriceRow)
    }
    assert {*priced} > {"retrieve"}
    assert priced == {stage: totals[stage] for stage in priced}
    assert all(value > 0 for values in priced.values() for value in values)
    assert again.of(LatencyRow) == rows
    assert clock[1] == reads, "an unchanged run measures nothing"
    other = tmp_path / "other"
    shutil.copytree(folder, other)
    assert same_result(folder, other)
    (other / "latency.csv").write_text("another machine")
    prices = (other / "prices.csv").read_text(encoding="utf-8")
    shown = f"{priced['retrieve'][0]:.6f}".rstrip("0")
    assert shown in prices
    (other / "prices.csv").write_text(prices.replace(shown, "7.25"), encoding="utf-8")
    assert same_result(folder, other)
    assert not list((tmp_path / "results").glob("*@*"))


def test_a_slow_step_is_measured_on_fewer_queries(lexical, clock):
    # the clock moves whenever it is read, which is at least ten times a query
    more = "measures: [ndcg_exp@3]\nlatency: {queries: 5, seconds: 0.015}"
    rows = run(lexical(more=more, cache="fresh"))
    assert [0 < row.queries < 5 for row in rows] == [True]


MODELS = {"bm25": "", "multi_vector": ', model: "embedded:maxsim"'}


@pytest.mark.parametrize(
    "kinds",
    [
        ["chroma", "exact", "faiss", "concatenated", "bm25", "multi_vector"],
        pytest.param(["learned_sparse"], marks=pytest.mark.slow),  # loads torch
    ],
    ids="-".join,
)
def test_every_kind_is_searched_one_query_at_a_time(lexical, kinds):
    if "faiss" in kinds:
        pytest.importorskip("faiss")
    models = {kind: MODELS.get(kind, f", {MODEL}") for kind in kinds}
    if "learned_sparse" in kinds:
        models["learned_sparse"] = f", model: {tiny.a_splade()}"
    depths = ("top_k: 5", "top_chars: 200")
    steps = [f"{{kind: {kind}, {depth}{model}}}" for kind, model in models.items() for depth in depths]
    rows = run(lexical(retrieve=f"[{', '.join(steps)}]", more=MEASURED))
    assert [(row.queries, row.remark) for row in rows] == [(4, "")] * len(steps)
    assert all(0 < row.p50 <= row.p95 <= row.p99 == row.total_p99 for row in rows)


@pytest.mark.parametrize(
    ("kind", "boost"), [("exact", ""), ("bm25", ", boost: 5"), ("fused", ""), ("fused", ", boost: 5")]
)
def test_what_is_measured_under_a_filter_is_the_search_that_was_run(lexical, monkeypatch, table, kind, boost):
    seen = []
    search = Search.run

    def keep(self, name, retriever, passages, queries):
        found = yield from search(self, name, retriever, passages, queries)
        if len(self.questions) == 1 and name == "" and retriever.filter is not None:
            seen.append(found)
        return found

    monkeypatch.setattr(Search, "run", keep)
    plain = {"exact": f"{{kind: exact, {MODEL}, top_k: 4}}", "bm25": "{kind: bm25, top_k: 4}"}
    fused = f"{{kind: minmax, top_k: 4, routes: [{plain['exact']}, {plain['bm25']}]}}"
    path = lexical(
        retrieve=plain.get(kind, fused),
        more=f"filter: {{kind: rules, file: {table}, fields: [topic], years: [year]{boost}}}\n{MEASURED}",
        cache="fresh",
    )
    results, _ = bench(path)
    ranked = {one.query_id: one.chunk_ids for one in results.runs["base", "retrieve"]}
    assert {one.documents for found in seen for one in found.filtered} >= {None, frozenset({"engines"})}
    every = {one.query_id: one.chunk_ids for found in seen for one in found.rankings}
    measured = {query_id: chunk_ids for query_id, chunk_ids in every.items() if query_id in ranked}
    assert len(measured) == 4
    assert measured == {query_id: ranked[query_id] for query_id in measured}


def test_code_of_the_user_is_not_called_to_measure_it_unless_that_is_allowed(lexical):
    def remarks(allowed):
        call = 'kind: python, version: "1", call: "tests.search.own'
        one = f'{{{call}:LangChainLike", returns: retriever}}'
        path = lexical(
            retrieve=f'{{kind: rrf, routes: [{{kind: bm25}}, {one}, {{{call}:shared_words"}}]}}',
            rerank=f'{{{call}:lengths"}}',
            more=f'rewrite: {{{call}:polite"}}\nmeasures: [ndcg_exp@3]\n'
            f"latency: {{queries: 4, seconds: 3600, own_code: {allowed}}}",
        )
        return {row.stage: (row.p50 is not None, row.remark) for row in run(path)}

    stages = "rewrite", "retrieve.bm25", "retrieve.python", "retrieve.python2", "retrieve", "rerank"
    found = remarks("false")
    assert {stage for stage, (measured, _) in found.items() if measured} == {"retrieve.bm25"}
    assert found.keys() == {*stages}
    assert all("latency: {own_code: true} allows it" in remark for _, remark in found.values())
    found = remarks("true")
    # it is given all queries at once, so that its index is built in the same call
    at_once = "tests.search.own:shared_words is given all queries at once"
    assert [found[stage][0] for stage in stages] == [True, True, True, False, False, True]
    assert [found[stage][1].partition(",")[0] for stage in stages] == ["", "", "", at_once, at_once, at_once]


def test_an_answer_of_a_model_takes_what_it_took_when_it_was_paid_for(lexical, monkeypatch):
    monkeypatch.setenv("FAKE_KEY", "sk-do-not-show-me-4711")
    with FakeServer(lambda request, number: Answer(body=completion("words"), delay=0.15)) as server:
        endpoint = f"{{model: fake-1, base_url: '{server.url}', api_key_env: FAKE_KEY, timeout: 120}}"
        path = lexical(
            more=f"rewrite: {{kind: multi_query, endpoint: {endpoint}}}\n{MEASURED}", cache="fresh"
        )
        results, _ = bench(path)
        assert server.count == 5, "nothing is asked again to measure it"
    rows = {row.stage: row for row in results.of(LatencyRow)}
    assert rows["rewrite"].p50 >= 150
    # four answers, as many at a time as the endpoint takes, are those of one query where it takes four
    assert rows["rewrite"].total_in_batch >= 150 / 4
    assert rows["retrieve"].total_p50 >= rows["rewrite"].p50
    # no price table: what it costs is not known
    assert {row.cost_per_1000 for row in results.of(PriceRow)} == {None}
    # its answers are counted once
    (facts,) = results.record.counts["rewriting"].values()
    assert (facts["calls"], facts["from_ledger"]) == (5, 0)
