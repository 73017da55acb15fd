"""A caveat that keeps a difference from being a finding is worded alike wherever a verdict is read."""

import json
import re

import pytest

from harness.report.page.tables import read_tables
from harness.running.bench.page import statistics
from harness.values.progress import Silent
from tests.command import one_line, run, table, write_table

from .report.page_results import write_folder

MEASURES = ("ndcg_text@5000", "ndcg_exp@10", "ndcg_exp_upper@10", "judged@10")
SMALL, LARGE = "chunk=200/0", "chunk=200/1"
IN_WORDS = {SMALL: '"200 characters, no overlap"', LARGE: '"200 characters, overlap 1"'}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Results of two chunkings; the second one is clearly better by every measure of 60 queries."""
    monkeypatch.setenv("COLUMNS", "300")
    path = write_folder(tmp_path / "r", queries=60, measures=MEASURES)
    rows = table(path / "per_query.csv")
    for row in rows:
        if row["measure"] == "judged@10":
            row["value"] = "0.3" if row["setting"] == SMALL else "0.4"
        if row["measure"] == "ndcg_exp_upper@10":
            row["value"] = "0.95"
    write_table(path / "per_query.csv", rows[0], (row.values() for row in rows))
    return path


def draw(folder, measure, means):
    """Write what labels of other lengths come to: {setting: means}, as labelled first."""
    columns = ("setting", "stage", "measure", "labels", "label_p50", "mean", "n_queries")
    ways = (("as labelled", 83), ("padded by 700", 1483))
    rows = [
        (setting, "rerank", measure, *way, mean, 60)
        for setting, its in means.items()
        for way, mean in zip(ways, its, strict=True)
    ]
    write_table(folder / "label_sensitivity.csv", columns, rows)


def lines(capsys, *words):
    code, out, _ = run(capsys, *words, "--format", "json")
    assert code == 0
    return json.loads(out)


def printed(capsys, *words):
    return one_line(re.sub(r"[\\*`]", "", run(capsys, *words)[1]))


def everywhere(folder, capsys, measure, caveat):
    """Assert that a caveat is in every form of ``show``, ``compare`` and the page."""
    asked = ("--measure", measure)
    assert caveat in [line["text"] for line in lines(capsys, "compare", folder, *asked)["lines"]]
    for form in ("text", "markdown"):
        assert caveat in printed(capsys, "compare", folder, *asked, "--format", form)
    page = statistics(read_tables(folder), Silent())[0][measure]["verdict"]["lines"]
    assert caveat in [line["text"] for line in page]


def test_a_difference_that_changes_sign_with_the_labels_is_no_finding_anywhere(folder, capsys):
    sure = lines(capsys, "compare", folder, "--measure", "ndcg_text@5000")
    assert (sure["decision"], sure["leader"]) == ("best", LARGE)
    draw(folder, "ndcg_text@5000", {SMALL: (0.4, 0.6), LARGE: (0.5, 0.5)})
    caveat = (
        f"The difference of {IN_WORDS[LARGE]} against {IN_WORDS[SMALL]} depends on the length of the "
        "labels: it is beyond chance with the labels as given, but changes sign with labels padded by 700. "
        "Do not rely on it."
    )
    everywhere(folder, capsys, "ndcg_text@5000", caveat)
    for words in (("compare",), ("show",)):
        found = lines(capsys, *words, folder)
        assert (found["measure"], found["decision"]) == ("ndcg_text@5000", "open")
        assert found["margin"]["finding"] == "turns"
    assert caveat in printed(capsys, "show", folder)
    text = printed(capsys, "compare", folder)
    assert "depends on labels" in text
    (row,) = statistics(read_tables(folder), Silent())[0]["ndcg_text@5000"]["pairs"]["rows"]
    assert row[6] == "depends on labels"


def test_a_measure_of_chunks_finds_no_difference_between_chunkings_anywhere(folder, capsys):
    by_chunks = ("compare", folder, "--measure", "ndcg_exp@10")
    found = lines(capsys, *by_chunks)
    assert (found["decision"], found["margin"]["finding"]) == ("open", "incomparable")
    text = printed(capsys, *by_chunks)
    assert "not comparable" in text
    assert "Costs are left out: the measure compares only settings over the same chunks." in text
    page = statistics(read_tables(folder), Silent())[0]["ndcg_exp@10"]
    assert page["pairs"]["rows"][0][6] == "not comparable"
    assert page["verdict"]["comparable"] is False
    fit = statistics(read_tables(folder), Silent())[0]["ndcg_text@5000"]
    assert fit["verdict"]["comparable"] is True
    caveat = (
        "ndcg_exp@10 cannot be compared between settings that cut documents differently. "
        "Use ndcg_text@5000 instead."
    )
    everywhere(folder, capsys, "ndcg_exp@10", caveat)


def test_a_finding_that_holds_under_all_labels_stays_one(folder, capsys):
    draw(folder, "ndcg_text@5000", {SMALL: (0.4, 0.4), LARGE: (0.5, 0.6)})
    found = lines(capsys, "show", folder)
    assert (found["decision"], found["margin"]["finding"]) == ("best", "real")
    assert "keeps its sign however the labels are drawn" in printed(capsys, "compare", folder)


def test_unjudged_ranks_are_reported_everywhere(folder, capsys):
    few = (
        "Of the first 10 ranks, 30% to 40% are judged (judged@10); the rest counts as irrelevant, "
        "although its relevance "
        "is unknown."
    )
    everywhere(folder, capsys, "ndcg_text@5000", few)
    everywhere(folder, capsys, "ndcg_exp@10", few)
    found = lines(capsys, "compare", folder, "--measure", "ndcg_exp@10")
    mean = next(one["mean"] for one in found["settings"] if one["setting"] == found["leader"])
    overlap = (
        f"The bounds overlap: judging the rest could lift {IN_WORDS[SMALL]} above the {mean:.3f} of "
        f"{IN_WORDS[LARGE]}, up to 0.950 (ndcg_exp_upper@10)."
    )
    everywhere(folder, capsys, "ndcg_exp@10", overlap)
    assert found["judged"]["measure"] == "judged@10"
    assert {one["setting"]: one["upper"] for one in found["judged"]["settings"]} == {
        SMALL: pytest.approx(0.95),
        LARGE: pytest.approx(0.95),
    }
    # no bound is known of a measure of text
    text = lines(capsys, "compare", folder, "--measure", "ndcg_text@5000")
    assert not [line for line in text["lines"] if "bounds overlap" in line["text"]]
    assert text["judged"]["bound"] is None
