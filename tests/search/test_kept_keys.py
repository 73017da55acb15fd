"""What earlier versions have kept is found again: the facts that make a key, in their order, are a promise.

Another layout of these facts makes every user compute, and pay for, everything once more.
"""

import pytest

from harness.steps import FILTERS, REWRITERS, Bm25Config
from harness.store import key_of
from harness.values import Query

from .helpers import passages_of

RulesConfig = FILTERS["rules"].config
PythonRewriterConfig = REWRITERS["python"].config
TemplateConfig = REWRITERS["template"].config

PASSAGES = passages_of(("The yard holds vehicles.", "Rain fell."))
QUERIES = [Query("q1", "vehicles?", "train"), Query("q2", "rain?", "train")]
KEPT = {"rankings": [["q1", ["d:1-2"], [9.5]], ["q2", ["d:0-1"], [8.5]]], "exact_share": None}
WORDS = Bm25Config(top_k=2)


def put(tools, *more, texts=("vehicles?", "rain?")):
    """Keep rankings as the version before steps were generators did."""
    asked = [["q1", texts[0]], ["q2", texts[1]]]
    facts = PASSAGES.key, asked, "bm25", tools.identity(WORDS), *more
    tools.session.artifacts.put("ranking", key_of(*facts), KEPT)


def scores(tools, config):
    return [ranking.scores for ranking in tools.search("", config, PASSAGES, QUERIES).rankings]


def test_rankings_that_were_kept_are_used(tools):
    put(tools)
    assert scores(tools, WORDS) == [(9.5,), (8.5,)]
    # another depth is another ranking
    assert scores(tools, Bm25Config(top_k=1)) != [(9.5,), (8.5,)]


def test_rankings_of_rewritten_queries_are_kept_by_the_texts_that_are_searched_for(tools):
    put(tools, texts=("say vehicles?", "say rain?"))
    rewrite = TemplateConfig(template="say {query}")
    assert scores(tools, WORDS.model_copy(update={"rewrite": rewrite})) == [(9.5,), (8.5,)]


def test_raised_rankings_are_kept_by_what_is_named_and_by_how_much(tools, tmp_path):
    (tmp_path / "facts.csv").write_text("document,topic\nd,rain\n", encoding="utf-8")
    rules = RulesConfig(file=tmp_path / "facts.csv", fields=("topic",), boost=2.0)
    # the second question alone names the document
    put(tools, "boost", 2.0, [None, ["d"]])
    assert scores(tools, WORDS.model_copy(update={"filter": rules})) == [(9.5,), (8.5,)]


@pytest.mark.parametrize("version", ["1", "2"])
def test_texts_of_a_rewriter_of_ones_own_are_kept_by_its_version(tools, version):
    config = PythonRewriterConfig(call="tests.search.own:polite", version=version)
    facts = "rewriting", ["python", config.call, "1", {}], ["vehicles?", "rain?"]
    tools.session.artifacts.put("answer", key_of(*facts), ["kept", "texts"])
    texts = [query.text for query in tools.rewritten(config, QUERIES)]
    assert (texts == ["kept", "texts"]) == (version == "1")
