"""A caveat that keeps a difference from being a finding is worded alike wherever a verdict is read."""

import json
import re

import pytest

from harness.report import read_tables
from harness.running.bench.page import statistics
from harness.values import Silent
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


def everywhere(folder, capsys, measure, *words):
    """Assert that the caveat of ``compare`` with these words is in its other forms and on the page."""
    asked = ("--measure", measure)
    told = [line["text"] for line in lines(capsys, "compare", folder, *asked)["lines"]]
    (caveat,) = [text for text in told if all(word in text for word in words)]
    for form in ("text", "markdown"):
        assert caveat in printed(capsys, "compare", folder, *asked, "--format", form)
    page = statistics(read_tables(folder), Silent())[0][measure]["verdict"]["lines"]
    assert caveat in [line["text"] for line in page]
    return caveat


def test_a_difference_that_changes_sign_with_the_labels_is_no_finding_anywhere(folder, capsys):
    sure = lines(capsys, "compare", folder, "--measure", "ndcg_text@5000")
    assert (sure["decision"], sure["leader"]) == ("best", LARGE)
    draw(folder, "ndcg_text@5000", {SMALL: (0.4, 0.6), LARGE: (0.5, 0.5)})
    words = (IN_WORDS[LARGE], IN_WORDS[SMALL], "with longer or shorter ones the other setting leads")
    caveat = everywhere(folder, capsys, "ndcg_text@5000", *words)
    for command in ("compare", "show"):
        found = lines(capsys, command, folder)
        assert (found["measure"], found["decision"]) == ("ndcg_text@5000", "open")
        assert found["margin"]["finding"] == "turns"
    assert caveat in printed(capsys, "show", folder)
    assert "depends on labels" in printed(capsys, "compare", folder)
    (row,) = statistics(read_tables(folder), Silent())[0]["ndcg_text@5000"]["pairs"]["rows"]
    assert row[6] == "depends on labels"
    # one that holds under all labels stays a finding
    draw(folder, "ndcg_text@5000", {SMALL: (0.4, 0.4), LARGE: (0.5, 0.6)})
    found = lines(capsys, "show", folder)
    assert (found["decision"], found["margin"]["finding"]) == ("best", "real")


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
    everywhere(folder, capsys, "ndcg_exp@10", "cannot be compared", "Use ndcg_text@5000 instead.")


def test_unjudged_ranks_are_reported_everywhere(folder, capsys):
    told = "Only 30% of the first 10 passages are judged under some setting (judged@10)"
    for measure in ("ndcg_text@5000", "ndcg_exp@10"):
        everywhere(folder, capsys, measure, told)
    found = lines(capsys, "compare", folder, "--measure", "ndcg_exp@10")
    mean = next(one["mean"] for one in found["settings"] if one["setting"] == found["leader"])
    bound = (f"lift {IN_WORDS[SMALL]} above the {mean:.3f} of {IN_WORDS[LARGE]}", "up to 0.950")
    everywhere(folder, capsys, "ndcg_exp@10", "bounds overlap", *bound)
    assert found["judged"]["measure"] == "judged@10"
    assert {one["setting"]: one["upper"] for one in found["judged"]["settings"]} == {
        SMALL: pytest.approx(0.95),
        LARGE: pytest.approx(0.95),
    }
    # no bound is known of a measure of text
    text = lines(capsys, "compare", folder, "--measure", "ndcg_text@5000")
    assert not [line for line in text["lines"] if "bounds overlap" in line["text"]]
    assert text["judged"]["bound"] is None


def test_lists_and_worst_queries_follow_the_verdict_and_name_no_leader_without_a_score(folder, capsys):
    rows = table(folder / "summary.csv")

    def write(mean_of):
        cells = [{**row, "mean": mean_of[row["setting"]]} for row in rows]
        write_table(folder / "summary.csv", rows[0], (row.values() for row in cells))

    # the other setting has the higher means; verdicts are made of single queries
    write({SMALL: "0.9", LARGE: "0.1"})
    assert "Use chunks of 200 characters, overlap 1" in printed(capsys, "show", folder)
    said = printed(capsys, "show", folder, "--worst", "1")
    assert said.startswith("The worst query of 200 characters, overlap 1 by ")
    assert f"{SMALL} ndcg_text@5000 0.900" in printed(capsys, "show", folder.parent)
    (folder / "verdict.json").write_text(json.dumps({"measure": MEASURES[0], "leader": LARGE}))
    assert f"{LARGE} ndcg_text@5000 0.100" in printed(capsys, "show", folder.parent)
    for mean, shown in (("", "–"), ("0.0", "0.000")):
        write({SMALL: mean, LARGE: mean})
        assert f" – ndcg_text@5000 {shown}" in printed(capsys, "show", folder.parent)
