"""Filters by a language model: over HTTP, through the ledger, with its faults."""

import json
from dataclasses import replace

import pytest

from harness.running import Session
from harness.steps import FILTERS
from harness.values import ConfigError, LlmError, Query, Silent
from tests.judge.fake_server import FakeServer, says
from tests.search.helpers import Tools, asking, fenced, tools_at

LlmFilterConfig = FILTERS["llm"].config

DOCUMENTS = ("acme_2022", "acme_2023", "bolt_2022")
QUERIES = [
    Query("q1", "What did the roadrunner's supplier earn in FY22?", "train"),
    Query("q2", "Who repairs bolts?", "validation"),
    Query("q3", "How many vehicles fit?", "validation"),
]
ANSWERS = {
    "roadrunner": {"company": ["acme"], "year": [2022]},
    "bolts": {"company": "Bolt & Sons"},
    "vehicles": {},
}


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "documents.csv"
    path.write_text(
        "document,company,year\nacme_2022,Acme,2022\nacme_2023,Acme,2023\nbolt_2022,Bolt & Sons,2022\n",
        encoding="utf-8",
    )
    return path


def config(url, table, **options):
    own = {"file": table, "fields": ["company"], "years": ["year"], **options}
    return asking(LlmFilterConfig, url, **own)


def answers(request, number):
    (found,) = (one for word, one in ANSWERS.items() if word in fenced(request))
    return says(json.dumps(found))


def one_fails(said):
    """Answers of which that about bolts is another one."""
    return lambda request, number: says(said) if "bolts" in fenced(request) else answers(request, number)


def narrowed(tmp_path, config):
    own = tools_at(tmp_path)
    return own.filtered(config, DOCUMENTS, QUERIES), own.session


def test_the_model_is_shown_the_values_and_what_it_names_is_left(tmp_path, table):
    with FakeServer(answers) as server:
        found, first = narrowed(tmp_path, config(server.url, table))
        again, second = narrowed(tmp_path, config(server.url, table))
    left = [None if one.documents is None else sorted(one.documents) for one in found]
    assert left == [["acme_2022"], ["bolt_2022"], None]
    assert found == again
    assert found[0].named == {"company": ("Acme",), "year": ("2022",)}
    system = server.requests[0]["body"]["messages"][0]["content"]
    assert '- company: ["Acme", "Bolt & Sons"]\n' in system
    assert '- year (years): ["2022", "2023"]' in system
    assert server.count == 3
    assert [(one.calls, one.from_ledger) for one in first.notes.bills.spent.values()] == [(3, 0)]
    assert [(one.calls, one.from_ledger) for one in second.notes.bills.spent.values()] == [(0, 3)]


def test_a_value_that_no_document_has_is_set_aside_and_reported(tmp_path, table):
    with FakeServer(lambda request, number: says('{"company": ["Apple"], "year": [2022]}')) as server:
        (one, *_), _ = narrowed(tmp_path, config(server.url, table))
        (strict, *_), _ = narrowed(tmp_path, config(server.url, table, on_empty="nothing"))
    assert one.named == {"company": ("Apple",), "year": ("2022",)}
    assert (one.dropped, one.documents) == (("company", "year"), None)
    assert strict.documents == frozenset()


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("I cannot say", "no_json"),
        ('["Acme"]', "no_json"),
        ('{"sector": ["Steel"]}', "unknown_field"),
        ('{"company": [{"name": "Acme"}]}', "no_values"),
    ],
)
def test_an_answer_that_cannot_be_used_ends_the_run_or_leaves_the_query_unfiltered(
    said, reason, tmp_path, table
):
    with FakeServer(one_fails(said)) as server:
        with pytest.raises(LlmError, match=rf"1 of 3 queries .*q2 \({reason}\)\. Set `filter\.on_failure"):
            narrowed(tmp_path, config(server.url, table))
        count = server.count
        found, _ = narrowed(tmp_path, config(server.url, table, on_failure="unfiltered"))
        assert server.count == count, "all answers are in the ledger, the useless one among them"
    assert [one.failed for one in found] == ["", reason, ""]
    assert found[1].documents is None


def test_a_query_that_is_asked_in_several_wordings_is_counted_once(tmp_path, table):
    with FakeServer(one_fails("I cannot say")) as server, Session.at(tmp_path / "cache", Silent()) as session:
        own = Tools(session, {query.query_id: query for query in QUERIES})
        wordings = [replace(query, text=f"{query.text} {i}") for query in QUERIES for i in range(2)]
        with pytest.raises(LlmError, match="1 of 3 queries"):
            own.filtered(config(server.url, table), DOCUMENTS, wordings)


def test_a_column_of_too_many_values_is_refused(tmp_path, table):
    with pytest.raises(ConfigError, match="column company has 2 values, too many for a prompt"):
        narrowed(tmp_path, config("http://127.0.0.1:9/v1", table, most_values=1, years=[]))
