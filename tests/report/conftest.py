"""The browser and the page that the tests of report.html share."""

from dataclasses import replace

import pytest

from harness.report import ChunkQrels, RankedRow, Results, ScoreRow, SummaryRow
from harness.running import write_page
from harness.values import Query, Ranking, RunRecord
from tests.report.page_browser import Browser, check
from tests.report.page_results import write_folder


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = write_folder(tmp_path_factory.mktemp("page") / "r", settings=6, queries=24, hostile=True)
    path, _ = write_page(folder)
    return path.as_uri()


@pytest.fixture
def chromium(driver):
    """A browser; after every test nothing may have failed, been fetched or run that should not."""
    browser = Browser(driver)
    yield browser
    check(browser)


@pytest.fixture
def results():
    """A result of one setting, one query and one ranking."""
    row = SummaryRow("a/b =x", "retrieve", "all", "ndcg_exp@10", 0.5, 0.25, 0.75, 2, 1, 0)
    none = SummaryRow("a/b =x", "retrieve", "train", "ndcg_exp@10", None, None, None, 0, 0, 0)
    ranking = Ranking("q1", ("d:0-3",), (0.9,))
    return Results(
        name="demo",
        queries=(Query("q1", "what", "train"),),
        summary=[row, none, replace(none, split="validation")],
        per_query=[
            ScoreRow(
                **{"setting": "a/b =x", "stage": "retrieve", "query_id": "q1", "split": "train"},
                **{"measure": measure, "value": value},
            )
            for measure, value in (("ndcg_exp@10", 0.5), ("map", None))
        ],
        ranked=[RankedRow("a/b =x", "retrieve", "q1", 1, "d:0-3", "d", None, 0.9, None, 0, "=2+2\nabc")],
        runs={("a/b =x", "retrieve"): [ranking]},
        qrels={"a/b =x": ChunkQrels([("q1", "d:0-3", 4)], queries=1, repeating=0)},
        record=RunRecord({"name": "demo", "bootstrap": {"level": 0.95}}, {}, {}, {}, {}, {}, {}),
    )
