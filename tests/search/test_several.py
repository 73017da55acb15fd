"""One query asked in several ways: each searched, all fused; and queries that ask nothing."""

from collections import Counter
from types import SimpleNamespace

import pytest

from harness.running import Chunked, search_settings
from harness.steps import RETRIEVERS, REWRITERS, Bm25Config
from harness.steps.search.rewrite.prompted import lines_of
from harness.values import LlmError, Query
from tests.judge.fake_server import FakeServer, says
from tests.search.helpers import asking, passages_of, tools_at
from tests.search.test_steps import with_toys
from tests.search.toys import NamedConfig

RrfConfig = RETRIEVERS["rrf"].config
DecompositionConfig = REWRITERS["decomposition"].config
MultiQueryConfig = REWRITERS["multi_query"].config
TemplateConfig = REWRITERS["template"].config

__all__ = ["with_toys"]

TEXTS = (
    "The storage yard of Bremerton holds 4,200 vehicles.",
    "Cars wait in a parking area that was paved with asphalt.",
    "The fuel pump was recalled in 2024.",
    "A seal of the fuel pump could harden in the cold.",
)
PASSAGES = passages_of(TEXTS)
YARD = Query("q1", "How many vehicles does the yard hold?", "train")
PUMP = Query("q2", "What about the fuel pump?", "validation")
BM25 = Bm25Config(top_k=10)


def worded(request, number):
    question = request["body"]["messages"][-1]["content"].splitlines()[1]
    return says("1. parking area for cars\n2. asphalt\n3. too many" if "yard" in question else "- seal")


def search(tools, retriever, *queries):
    return tools.search("retrieve", retriever, PASSAGES, queries)


def ids(ranking):
    return [PASSAGES.ids.index(chunk_id) for chunk_id in ranking.chunk_ids]


def test_every_wording_is_searched_and_the_rankings_are_fused_by_rank(tmp_path):
    with FakeServer(worded) as server:
        rewrite = asking(MultiQueryConfig, server.url, n=2)
        output = search(tools_at(tmp_path), BM25.model_copy(update={"rewrite": rewrite}), YARD, PUMP)
        alone = [
            search(tools_at(tmp_path), BM25, Query("q1", text, "train"))
            for text in (YARD.text, "parking area for cars", "asphalt")
        ]
    wordings = {"q1": [YARD.text, "parking area for cars", "asphalt"], "q2": [PUMP.text, "seal"]}
    asked = [(query_id, text) for query_id, own in wordings.items() for text in own]
    assert [(one.query_id, one.text) for one in output.asked] == asked
    assert [ranking.query_id for ranking in output.rankings] == ["q1", "q2"]
    # reciprocal ranks, k 60: what one wording of three found first earns 1/61, what two did 2/61
    expected = Counter()
    for one in alone:
        for rank, chunk_id in enumerate(one.rankings[0].chunk_ids, start=1):
            expected[chunk_id] += 1 / (60 + rank)
    best = output.rankings[0]
    assert best.scores == pytest.approx([expected.pop(chunk_id) for chunk_id in best.chunk_ids])
    assert not expected
    assert ids(output.rankings[0]) == [1, 0]
    assert ids(output.rankings[1]) == [3, 2]


def test_without_the_question_only_the_model_s_wordings_are_asked(tmp_path):
    with FakeServer(worded) as server:
        rewrite = asking(DecompositionConfig, server.url, n=3, with_question=False)
        output = search(tools_at(tmp_path), BM25.model_copy(update={"rewrite": rewrite}), YARD)
    assert [one.text for one in output.asked] == ["parking area for cars", "asphalt", "too many"]
    assert ids(output.rankings[0]) == [1]


def test_every_route_of_a_fusion_has_one_ranking_a_query_and_its_own_depth(tmp_path):
    with FakeServer(worded) as server:
        rewrite = asking(MultiQueryConfig, server.url, n=2)
        routes = (BM25, Bm25Config(top_k=1, stop_words="none"))
        output = search(tools_at(tmp_path), RrfConfig(routes=routes, rewrite=rewrite, top_k=3), YARD, PUMP)
        # a route rewrites each of several wordings again, and gives one ranking back for each of them
        inner = BM25.model_copy(update={"rewrite": asking(MultiQueryConfig, server.url, n=1)})
        nested = search(tools_at(tmp_path), RrfConfig(routes=(inner,), rewrite=rewrite), YARD)
    for one in (output, *output.routes):
        assert [ranking.query_id for ranking in one.rankings] == ["q1", "q2"]
    assert [len(ranking.chunk_ids) for ranking in output.routes[1].rankings] == [1, 1]
    assert len(nested.asked) == 3
    assert len(nested.routes[0].asked) == 6
    assert [len(one.rankings) for one in (nested, *nested.routes)] == [1, 1]


def test_the_rewriter_of_a_setting_is_fused_like_that_of_a_retriever(tmp_path):
    with FakeServer(worded) as server:
        own, rewrite = tools_at(tmp_path), asking(MultiQueryConfig, server.url, n=2)
        setting = SimpleNamespace(name="s", rewrite=rewrite, retrieve=BM25, finder=BM25, rerank=())
        chunking = SimpleNamespace(passages=PASSAGES, reading=None, chunks=())
        (found,) = search_settings([Chunked(setting, chunking)], [YARD, PUMP], own.session)
        within = search(own, BM25.model_copy(update={"rewrite": rewrite}), YARD, PUMP)
    assert found.rankings["retrieve"] == within.rankings
    assert found.asked["retrieve"] == within.asked


def test_an_answer_without_lines_ends_the_run_unless_told_otherwise(tmp_path):
    with FakeServer(lambda request, number: says("```\n```")) as server:
        rewrite = asking(MultiQueryConfig, server.url)
        with pytest.raises(LlmError, match=r"2 of 2 queries have no usable rewriting .*: q1 \(no words\)"):
            search(tools_at(tmp_path), BM25.model_copy(update={"rewrite": rewrite}), YARD, PUMP)
        kept = rewrite.model_copy(update={"on_failure": "as_asked"})
        output = search(tools_at(tmp_path), BM25.model_copy(update={"rewrite": kept}), YARD, PUMP)
    assert [one.text for one in output.asked] == [YARD.text, PUMP.text]
    assert ids(output.rankings[0]) == [0]


def test_the_number_asked_for_is_in_the_prompt_and_in_the_identity(tmp_path):
    with FakeServer(worded) as server:
        two, five = (asking(MultiQueryConfig, server.url, n=n, prompt="multi_query_zh") for n in (2, 5))
        own = tools_at(tmp_path)
        own.rewritten(two, [YARD])
        own.rewritten(five, [YARD])
    reply = [request["body"]["messages"][-1]["content"] for request in server.requests]
    assert ["2 行" in reply[0], "5 行" in reply[1]] == [True, True]
    identities = [own.identity(BM25.model_copy(update={"rewrite": one})) for one in (two, five)]
    assert identities[0] != identities[1]


def test_a_route_finds_nothing_for_a_question_of_which_its_rewriter_makes_none(tools, with_toys):
    asks = Query("q3", "Does Bremerton have a yard, and was a pump recalled in 2024?", "train")
    route = BM25.model_copy(update={"rewrite": NamedConfig()})
    output = search(tools, RrfConfig(routes=(BM25, route)), YARD, asks)
    assert [one.text for one in output.routes[1].asked] == ["Bremerton 2024?"]
    assert [ids(ranking) for ranking in output.routes[1].rankings] == [[], [2, 0]]
    assert ids(output.rankings[0]) == ids(output.routes[0].rankings[0])


def test_scores_of_a_query_that_is_asked_in_one_text_stay_those_of_the_retriever(tools):
    bare = search(tools, BM25.model_copy(update={"rewrite": TemplateConfig(template="{query}")}), YARD)
    assert bare.rankings == search(tools, BM25, YARD).rankings


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("1. one\n2) two\n\n- three", ["one", "two", "three"]),
        ('"quoted"\n“also”\n* bullet', ["quoted", "also", "bullet"]),
        ("3M revenue\n2.5 GHz\n2024 sales", ["3M revenue", "2.5 GHz", "2024 sales"]),
        ("1、第一\n（2）第二", ["第一", "第二"]),
        ("same\nsame", ["same"]),
        ("```\nfenced\n```", ["fenced"]),
        ("  \n", []),
    ],
)
def test_the_lines_of_an_answer(text, lines):
    assert lines_of(text) == lines
