"""Answers on the page: what each setting said, what it read, which claims are supported."""

import json
from urllib.parse import urlencode

import pytest

from harness.report import Axes, read_tables
from harness.report.page.detail import answers_payload, replies_detail
from harness.running import write_page
from tests.report.page_answers import LOSSES
from tests.report.page_browser import MARKS
from tests.report.page_results import rewrite, write_folder


@pytest.fixture
def folder(tmp_path):
    return write_folder(tmp_path / "r", settings=2, queries=4)


def detail(folder, characters=None):
    tables = read_tables(folder)
    return replies_detail(tables, Axes.of(tables), characters)


def payload(folder):
    tables = read_tables(folder)
    return answers_payload(tables, Axes.of(tables))


def test_an_answer_is_with_what_was_read_cited_scored_and_claimed(folder):
    found = detail(folder)
    one = found["by"][0][1]
    assert one["text"].startswith("It is 1 [1][3], not [9].")
    assert one["read"] == [[1, 1, ""], [2, 0, ""], [3, 1, ""]]
    assert one["bad"] == 1
    assert one["claims"] == [["It is 1. ", 1, 0], ["Rain.", 0, 1]]
    assert found["measures"] == ["faithfulness", "token_f1"]
    assert one["scores"] == [[0.5, ""], [0.5, ""]]
    assert found["golden"][1] == "1"
    # no answer has a reason and no value
    none = found["by"][0][2]
    assert (none["text"], none["reason"], none["scores"]) == ("", "refusal", [[None, "refusal"]] * 2)


def test_long_answers_are_cut_where_the_page_has_to_be_small(folder):
    rewrite(folder / "replies.csv", lambda row: row | {"answer": "x" * 1000})
    assert detail(folder)["by"][0][1]["text"] == "x" * 1000
    assert detail(folder, 100)["by"][0][1]["text"] == "x" * 400 + " …"


@pytest.mark.parametrize("details", ["", "no JSON", "[]", '{"statements": 3}', '{"statements": [{"a": 1}]}'])
def test_details_of_another_form_are_no_claims(folder, details):
    rewrite(folder / "answer_scores.csv", lambda row: row | {"details": details})
    assert detail(folder)["by"][0][1]["claims"] == []


def test_reasons_of_the_model_that_scores_are_beside_its_verdicts(folder):
    details = {
        "faithfulness": {"statements": [{"statement": "Rain.", "verdict": 0, "reason": "Not said."}]},
        "token_f1": {"useful": [1, 0], "reasons": ["It names it.", ""]},
    }
    rewrite(folder / "answer_scores.csv", lambda row: row | {"details": json.dumps(details[row["measure"]])})
    reply = detail(folder)["by"][0][1]
    assert reply["claims"] == [["Rain.", 0, 0, "Not said."]]
    assert reply["scores"] == [[0.5, ""], [0.5, "", [["[1]", 1, "It names it."], ["[2]", 0, ""]]]]


def test_statements_of_the_golden_answer_are_no_claims_of_the_answer(folder):
    record = json.loads((folder / "record.json").read_text())
    record["config"]["answer_measures"] = [{"kind": "context_recall", "name": "faithfulness"}]
    (folder / "record.json").write_text(json.dumps(record))
    assert detail(folder)["by"][0][1]["claims"] == []


def test_means_are_by_their_places(folder):
    found = payload(folder)
    assert found["answered"] == [[3, 4], [3, 4]]
    assert found["means"][0][1] == [0.5, 0.4, 0.6, 4, 4, "refusal x4"]


def test_the_waterfall_goes_on_to_the_answers_and_sums_exactly(folder):
    found = payload(folder)["losses"]
    assert found["measure"] == "token_f1"
    assert [one["name"] for one in found["parts"]] == list(LOSSES)
    # q2 has no answer, and so loses nothing that anybody knows
    assert [way["query"] for way in found["ways"]] == [[0, 1, 3], [0, 1, 3]]
    for way in found["ways"]:
        for k, left in enumerate(way["left"]):
            assert 1_000_000 - sum(losses[k] for losses in way["losses"]) == left == 500_000
        assert {found["parts"][k]["name"] for k in way["blame"]} == {"not found"}


def test_results_without_answers_say_nothing_of_them(tmp_path):
    bare = write_folder(tmp_path / "r", extras=False)
    assert payload(bare) is None


@pytest.mark.slow
@MARKS[1]
def test_in_the_browser_citations_lead_to_passages_and_claims_say_if_they_are_supported(chromium, tmp_path):
    folder = write_folder(tmp_path / "r", settings=2, queries=4)
    path, _ = write_page(folder)
    names = [one["name"] for one in json.loads((folder / "record.json").read_text())["config"]["settings"]]
    chosen = urlencode({"query": "q1", "setting": names[0], "beside": names[1]})
    chromium.open(f"{path.as_uri()}#{chosen}")

    def said(selector):
        return chromium.run(
            f"return [...document.querySelectorAll({json.dumps(selector)})].map((one) => one.textContent)"
        )

    assert len(said(".reply")) == 2, "two settings beside each other"
    assert said(".ranking:first-child .reply-text")[0].startswith("It is 1 [1][3], not [9].")
    assert said(".ranking:first-child .reply-text .cite") == ["1", "3"]
    assert said(".ranking:first-child .reply-text .miscited") == ["[9]"]
    assert said(".ranking:first-child .claims .supported")[0].startswith("✓ supported It is 1.")
    assert said(".ranking:first-child .claims .unsupported") == ["✗ contradicts the golden answer Rain."]
    assert said(".ranking:first-child .passage .badge.cited") == ["cited as [1]", "cited as [3]"]
    assert said(".ranking:first-child .passage .badge.read") == ["read as [2]"]
    chromium.run("document.querySelectorAll('.ranking:first-child .reply-text .cite')[1].click()")
    rank = chromium.run(
        "const all = [...document.querySelectorAll('.ranking:first-child .passage')];"
        "return all.indexOf(document.activeElement)"
    )
    assert rank == 2
