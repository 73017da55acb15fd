"""Pseudo-relevance feedback: what is lent, by hand, and what BM25 finds with it."""

import json
from pathlib import Path

import pytest

from harness.running.bench.flow import run_bench
from harness.running.config.load import load_config
from harness.running.context import Context
from harness.running.tools import RunTools
from harness.steps.search.feedback import KINDS as FEEDBACKS
from harness.steps.search.feedback.rm3 import Rm3Config, relevance_model
from harness.steps.search.feedback.step import FoundFirst
from harness.steps.search.retrieve.bm25 import Bm25Config
from harness.steps.search.step import Passages
from harness.values.progress import Silent
from harness.values.types import Query

ROOT = Path(__file__).parent.parent.parent
TEXTS = (
    "pump recalled seal hardened",
    "pump seal seal cold",
    "seal hardened winter",
    "yard asphalt vehicles",
    "harbour cranes vehicles",
    "paint shop council",
)
PASSAGES = Passages(tuple(f"d:{i}-{i + 1}" for i in range(6)), TEXTS, tuple(map(len, TEXTS)), key="feedback")
PUMP = Query("q1", "pump", "train")
NOTHING = Query("q2", "submarine", "validation")
LOOSE = {"max_share": 1.0}
RARE = dict.fromkeys(range(9), 0.0)
# terms by number: pump 0, recalled 1, seal 2, hardened 3, cold 4
FOUND = [FoundFirst([0, 1, 2, 3], 2.0), FoundFirst([0, 2, 2, 4], 1.0)]


@pytest.fixture
def tools(tmp_path):
    return RunTools(Context.at(tmp_path / "cache", Silent()))


def made(config):
    return FEEDBACKS.make(config)


def test_rm3_by_hand():
    # 2/4 each for the first chunk's terms, 1/4 and twice that for the second's
    model = {0: 0.75, 1: 0.5, 2: 1.0, 3: 0.5, 4: 0.25}
    assert relevance_model(FOUND) == pytest.approx(model)
    # the two likeliest are seal and pump, 1 and 3/4 of 7/4; the query is pump alone, half of it stays
    expected = {0: 0.5 + 0.5 * 0.75 / 1.75, 2: 0.5 * 1 / 1.75}
    assert made(Rm3Config(fb_terms=2)).expand([0], FOUND, RARE) == pytest.approx(expected)
    # on the scale of the query: asked for twice, everything counts twice
    twice = {term: 2 * weight for term, weight in expected.items()}
    assert made(Rm3Config(fb_terms=2)).expand([0, 0], FOUND, RARE) == pytest.approx(twice)


@pytest.mark.parametrize("kind", FEEDBACKS)
def test_common_terms_are_not_added_and_equal_ones_are_in_order(kind):
    config = FEEDBACKS[kind].config(max_share=0.5, fb_terms=1, weight=0.0)
    assert list(made(config).expand([0], FOUND, RARE | {2: 0.6, 0: 0.6})) == [1]
    # nothing to lend: the question alone, at its full weight
    assert made(config).expand([0], FOUND, dict.fromkeys(range(9), 0.9)) == {0: 1.0}


@pytest.mark.parametrize("kind", FEEDBACKS)
def test_feedback_finds_what_shares_no_word_with_the_question(kind, tools):
    plain = tools.search("retrieve", Bm25Config(), PASSAGES, [PUMP, NOTHING])
    config = Bm25Config(feedback=FEEDBACKS[kind].config(**LOOSE))
    fed = tools.search("retrieve", config, PASSAGES, [PUMP, NOTHING])
    assert PASSAGES.ids[2] not in plain.rankings[0].chunk_ids
    assert PASSAGES.ids[2] in fed.rankings[0].chunk_ids
    assert set(fed.rankings[0].chunk_ids) == set(PASSAGES.ids[:3])
    assert fed.rankings[1].chunk_ids == ()
    first, *others = fed.asked[0].text.split()
    assert (first.partition("^")[0], len(others)) == ("pump", 4)
    assert fed.asked[1].text == ""
    # from the cache, the rewritten queries are known too
    again = tools.search("retrieve", config, PASSAGES, [PUMP, NOTHING])
    assert (again.rankings, again.asked) == (fed.rankings, fed.asked)


@pytest.mark.parametrize("kind", FEEDBACKS)
@pytest.mark.parametrize("method", ["lucene", "bm25+"])
def test_without_weight_it_is_bm25(kind, method, tools):
    queries = [Query("q1", "the pump of the pump and its seal", "train"), PUMP, NOTHING]
    plain = tools.search("retrieve", Bm25Config(method=method), PASSAGES, queries)
    config = Bm25Config(method=method, feedback=FEEDBACKS[kind].config(weight=1, **LOOSE))
    assert tools.search("retrieve", config, PASSAGES, queries).rankings == plain.rankings


def test_the_identity_moves_with_every_setting_of_it(tools):
    configs = [Bm25Config()] + [
        Bm25Config(feedback=one) for one in (Rm3Config(), Rm3Config(fb_docs=3), Rm3Config(weight=0.7))
    ]
    assert len({json.dumps(tools.identity(one)) for one in configs}) == 4


@pytest.mark.slow
def test_the_figures_are_those_of_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    config = load_config(ROOT / "configs" / "meridian_feedback.yaml")
    folders = {"results": tmp_path / "results", "cache": tmp_path / "cache"}
    results, _ = run_bench(config.model_copy(update=folders), Silent())
    means = {
        (row.setting, row.measure): row.mean
        for row in results.summary
        if (row.stage, row.split) == ("retrieve", "all")
    }
    page = (ROOT / "docs" / "rewriting.md").read_text(encoding="utf-8")
    table = page.partition("<!-- feedback")[2].partition("<!-- end feedback -->")[0]
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines() if "|" in line]
    measures, rows = lines[0][1:], lines[2:]
    assert {row[0] for row in rows} == {setting.name for setting in config.settings}
    for setting, *cells in rows:
        message = [means[setting, measure] for measure in measures]
        assert [float(cell) for cell in cells] == pytest.approx(message, abs=0.0006)
    assert results.verdict["margin"]["here"] is True
