"""A panel of judges: every member's answers in the ledger, one grade, and how far they agree."""

import json
import math

import numpy as np
import pytest

from harness.judge import PanelConfig, PanelJudge, panel_agreement, panel_sentence, together
from harness.values import JudgeError, Silent
from tests.judge.fake_server import FakeServer, says
from tests.judge.fake_server import grade as graded
from tests.judge.helpers import config, pairs

MODELS = ("kind", "fair", "stern")


def panel(url, ledger, combine="median", prices=None, **options):
    members = [
        config(url, endpoint={"model": name}, prices=prices or {}, max_unscored=1.0).model_dump(
            exclude={"pool"}
        )
        for name in options.pop("models", MODELS)
    ]
    return PanelJudge(PanelConfig(members=members, combine=combine, **options), ledger)


def run(judge, items):
    found = []
    summary = judge.grade(items, found.append, reporter=Silent(), total=len(items))
    return found, summary


def answering(**grades):
    """A script: the grades of each model by the number of the passage."""

    def script(request, number):
        text = request["body"]["messages"][-1]["content"]
        passage = int(text.split("\npassage ")[1].split()[0])
        value = grades[request["body"]["model"]][passage]
        return graded(value) if value is not None else says("no idea")

    return script


@pytest.mark.parametrize(
    ("combine", "expected"),
    [("median", [3, 1, 0, 2]), ("majority", [0, 1, 0, 2])],
    ids=["median", "majority"],
)
def test_grades_are_combined_and_each_answer_is_kept(combine, expected, ledger):
    # of 4, 3, 0 the middle is 3, and of equals the majority takes the lowest; 4 and 2: of two the lower
    script = answering(kind=[4, 1, 0, 4], fair=[3, 1, 0, 2], stern=[0, 1, 4, None])
    items = list(pairs(4))
    with FakeServer(script) as server:
        found, summary = run(panel(server.url, ledger, combine), items)
        again, second = run(panel(server.url, ledger, combine), items)
    assert [one.judgment.grade for one in found] == expected
    assert [one.samples for one in found] == [(4, 3, 0), (1, 1, 1), (0, 0, 4), (4, 2)]
    assert [one.spread for one in found] == [4, 0, 4, 2]
    assert len({(entry.model, entry.query) for entry in ledger.entries()}) == 12
    assert [one.judgment for one in again] == [one.judgment for one in found]
    assert (summary.calls, second.calls) == (13, 0)  # the unreadable one was asked twice
    # pairs in which all three say the same: one of four, the pair with a missing grade counts as no agreement
    assert summary.panel["all_agree"] == 0.25
    assert -1 <= summary.panel["alpha_ordinal"] < 0.8
    # the medians are 3, 1, 0 and, as in the grade, 2
    above = list(summary.panel["above_the_median"].values())
    assert above == [pytest.approx(0.75), pytest.approx(0.0), pytest.approx(1 / 3)]


def test_agreement_is_set_against_the_grade_that_is_used_and_of_what_several_have_graded():
    found = panel_agreement(["a", "b"], np.array([[4.0, 1.0], [2.0, 1.0]]))
    assert found["above_the_median"] == {"a": 1.0, "b": 0.0}
    assert "of two in the middle, the lower" in panel_sentence(found, "pairs", "grades")
    table = np.array([[0, 4, np.nan, 2], [1, 4, np.nan, np.nan], [1, 3, np.nan, np.nan]])
    found = panel_agreement(["a", "b", "c"], table)
    # medians 1, 4 and 2; of the two items that several have graded all agree on none
    assert found["above_the_median"] == {"a": pytest.approx(-1 / 3), "b": 0.0, "c": -0.5}
    assert found["all_agree"] == 0
    alone = panel_agreement(["a", "b"], table[:2, 2:])
    assert alone["all_agree"] is None
    assert panel_sentence(alone, "pairs", "grades").startswith("None of the pairs")


def test_less_than_half_of_the_members_make_no_grade(ledger):
    script = answering(kind=[4], fair=[None], stern=[None])
    with FakeServer(script) as server:
        (only,), summary = run(panel(server.url, ledger, max_unscored=1.0), list(pairs(1)))
        with pytest.raises(JudgeError, match="1 of 1 pairs have no grade"):
            run(panel(server.url, ledger), list(pairs(1)))
    assert (only.judgment.grade, only.reason) == (None, "no_grade")
    assert summary.unscored == {"no_grade": 1}


def test_what_a_panel_costs_is_the_sum_of_its_members(ledger):
    prices = {name: {"input": 1.0, "output": 1.0} for name in MODELS}
    items = list(pairs(5))

    def estimated(judge):
        return together([one for _, one in judge.estimates(items)])

    judge = panel("http://127.0.0.1:9/v1", ledger, prices=prices)
    estimate = estimated(judge)
    assert (estimate.items, estimate.calls) == (5, 15)
    assert estimate.price == pytest.approx(3 * judge.members[0].estimate(items).price)
    dear = panel("http://127.0.0.1:9/v1", ledger, prices={"kind": prices["kind"]})
    assert estimated(dear).price is None
    with FakeServer(answering(kind=[1], fair=[1] * 5, stern=[1] * 5)) as server:
        (only,), summary = run(panel(server.url, ledger, prices=prices), list(pairs(1)))
        run(panel(server.url, ledger, models=MODELS[1:]), items)
    assert only.cost == pytest.approx(3 * 110 / 1e6) == summary.cost
    # what is answered already needs no price
    left = estimated(dear)
    assert (left.calls, left.already_answered, left.model) == (4, 11, "kind")
    assert left.price == pytest.approx(dear.members[0].estimate(items).price)


def test_the_record_of_a_panel_is_plain_json(ledger):
    with FakeServer(answering(kind=[2, 2], fair=[2, 2], stern=[2, 2])) as server:
        judge = panel(server.url, ledger)
        _, summary = run(judge, list(pairs(2)))
    shown = json.loads(json.dumps({"judge": judge.fingerprint, "panel": summary.panel}))
    assert [member["model"] for member in shown["judge"]["members"]] == list(MODELS)
    # all grades are one and the same: alpha is undefined, not 1
    assert shown["panel"]["alpha_ordinal"] is None
    assert not math.isnan(shown["panel"]["all_agree"])
