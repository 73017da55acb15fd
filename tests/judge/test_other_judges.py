"""The table of judges, and human labels among them."""

import pytest

from harness.judge import JUDGES
from harness.judge.records import JudgeTools

ENDPOINTS = [{"endpoint": {"model": name, "api_key_env": None}} for name in ("a", "b")]


@pytest.mark.parametrize(
    ("fields", "asked"),
    [({"kind": "llm", **ENDPOINTS[0]}, ["a"]), ({"kind": "panel", "members": ENDPOINTS}, ["a", "b"])],
    ids=["llm", "panel"],
)
def test_every_kind_that_grades_a_pool_builds_itself_and_knows_its_name(fields, asked, ledger):
    config = JUDGES[fields["kind"]].config(**fields)
    judge = JUDGES.make(config, JudgeTools(ledger, tuple))
    assert judge.name == config.title
    assert [one.endpoint.model for one in config.asked] == asked
    assert [name for name, _ in judge.estimates([])] == [one.title for one in config.asked]
