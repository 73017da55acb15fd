"""Few labels, in the order that settles the verdict: the sheet, what it says, and where it is shown."""

import csv
import json
from pathlib import Path

import pytest

from harness.report.by_labels import FILE, read_by_labels
from harness.running.bench.page import write_page
from harness.values.errors import HarnessError
from tests.command import exit_code, printed, refused, table
from tests.labelling.mines import relevant, write_results
from tests.report.test_page import payload_of


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return write_results(tmp_path)


def grade(path, grade_of):
    rows = table(path)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows({**row, "grade": grade_of(row)} for row in rows)
    return rows


def test_sheets_follow_each_other_until_it_says_stop(results, capsys):
    seen, output = set(), ""
    for round_ in range(30):
        sheet = Path(f"sheet{round_}.csv")
        capsys.readouterr()
        asked = ["labels", "next", results, "--top", 5, "--count", 20, "--output", sheet]
        output = printed(capsys, *asked)
        if "Stop:" in output:
            break
        rows = grade(sheet, relevant)
        keys = {(row["query_id"], row["document"], row["start"]) for row in rows}
        assert not keys & seen
        seen |= keys
        assert exit_code("labels", "add", sheet, "--in", "my.yaml") == 0
    assert "Stop:" in output
    assert round_ > 1
    assert Path("labels.order.json").exists()


def test_what_is_not_graded_comes_again(results):
    assert exit_code("labels", "next", results, "--top", 5, "--count", 6, "--output", "one.csv") == 0
    assert exit_code("labels", "next", results, "--top", 5, "--count", 6, "--output", "two.csv") == 0
    assert Path("one.csv").read_text() == Path("two.csv").read_text()
    assert exit_code("labels", "next", results, "--output", "two.csv") != 0


def test_what_is_skipped_does_not_come_again_and_blocks_nothing(results, capsys):
    asked = ["labels", "next", results, "--top", 5, "--count", 10]
    assert exit_code(*asked, "--output", "one.csv") == 0
    rows = grade(Path("one.csv"), lambda row: "Skip" if row["query_id"] < "q3" else relevant(row))
    skipped = {(row["query_id"], row["document"], row["start"]) for row in rows if row["query_id"] < "q3"}
    assert 0 < len(skipped) < len(rows)
    assert f"{len(skipped)} skipped, listed in labels.skipped.csv" in printed(
        capsys, "labels", "add", "one.csv", "--in", "my.yaml"
    )
    assert "skip" not in Path("labels.csv").read_text().casefold()
    # all ten count as done, so another batch is drawn, and no skipped passage is ever in one
    seen = set()
    for round_ in range(2, 40):
        sheet = Path(f"sheet{round_}.csv")
        assert exit_code(*asked, "--output", sheet) == 0
        if not sheet.exists():
            break
        rows = grade(sheet, relevant)
        seen |= {(row["query_id"], row["document"], row["start"]) for row in rows}
        assert exit_code("labels", "add", sheet, "--in", "my.yaml") == 0
    assert round_ > 2
    assert not sheet.exists()
    assert not seen & skipped
    # adding the sheet again skips nothing twice; without its row a passage is asked for again
    before = Path("labels.skipped.csv").read_text()
    assert exit_code("labels", "add", "one.csv", "--in", "my.yaml") == 0
    assert Path("labels.skipped.csv").read_text() == before
    Path("labels.skipped.csv").unlink()
    assert exit_code(*asked, "--output", "last.csv") == 0
    rows = grade(Path("last.csv"), relevant)
    assert {(row["query_id"], row["document"], row["start"]) for row in rows} == skipped


def test_a_damaged_list_of_skips_is_reported_by_its_line(results, capsys):
    Path("labels.skipped.csv").write_text("query_id,document,start,end\nq1,iron,0,\n")
    assert "labels.skipped.csv, line 2" in refused(capsys, "labels", "next", results)


def test_terminal_comparison_and_page_show_it(results, capsys):
    assert exit_code("labels", "next", results, "--top", 5, "--count", 12, "--output", "one.csv") == 0
    grade(Path("one.csv"), relevant)
    assert exit_code("labels", "add", "one.csv", "--in", "my.yaml") == 0
    assert exit_code("labels", "next", results, "--top", 5, "--count", 12) == 0
    found = read_by_labels(results)
    assert any("passages of 12 queries are labelled" in text for text in found.sentences)
    for command in ("show", "compare"):
        out = printed(capsys, command, results)
        assert "People's labels:" in out
        assert found.sentences[0] in out
        if command == "show":
            assert "What more labels would do to the interval" in out
    capsys.readouterr()
    assert exit_code("show", results, "--format", "json") == 0
    lines = json.loads(capsys.readouterr().out)["lines"]
    assert {"role": "labels", "label": "People's labels", "text": found.sentences[0]} in lines
    from harness.report.page.build import unpack

    page = write_page(results)[0].read_text()
    data = page.split('id="data"')[1].split(">", 1)[1].split("</script>")[0]
    assert found.sentences[0] in json.dumps(unpack(data), ensure_ascii=False)


@pytest.mark.parametrize(
    ("text", "what"),
    [("{", "Invalid JSON"), ("[]", "object"), ("{}", "measure: "), ('{"measure": 1}', "measure: .* string")],
)
def test_a_damaged_file_is_reported(results, text, what):
    (results / FILE).write_text(text)
    with pytest.raises(HarnessError, match=f"damaged: .*{what}"):
        read_by_labels(results)


def test_faults_are_reported(results, capsys):
    assert "--count counts from 1" in refused(capsys, "labels", "next", results, "--count", 0)
    assert exit_code("labels", "next", results) == 0
    Path("labels.order.json").write_text("{}")
    assert "labels.order.json is damaged" in refused(capsys, "labels", "next", results)


def test_people_correct_the_grades_of_a_judge(results, capsys):
    """The results as if a language model had graded them: people's grades correct its own."""
    path = results / "record.json"
    record = json.loads(path.read_text())
    record["config"]["relevance"] = {"judge": {"kind": "llm"}}
    record["judge"] = {"model": "model-2026"}
    path.write_text(json.dumps(record))
    asked = ["labels", "next", results, "--top", 5, "--count", 15, "--labels", "people.csv"]
    assert exit_code(*asked, "--output", "one.csv") == 0
    grade(Path("one.csv"), relevant)
    assert exit_code("labels", "add", "one.csv", "--in", "my.yaml", "--to", "people.csv") == 0
    out = printed(capsys, *asked)
    assert "grades of model-2026, corrected by people's" in out
    assert "The grades of model-2026 are corrected by 15 of people" in out
    assert "by the judge alone" in out
    assert "+50" in out or "+45" in out
    assert Path("people.order.json").exists()
    # what the judge has graded is not taken for a grade of people
    assert read_by_labels(results).sentences[0].startswith("15 of ")
    # what people have corrected comes first: in the verdict, in harness show, and on the page
    headline = "Corrected verdict: By the grades of model-2026, corrected by people's: "
    output = printed(capsys, "show", results)
    assert output.index(headline) < output.index("By the judge alone: ")
    assert output.index("passage NDCG@5 by grades of") < output.index("means over queries")
    payload = payload_of(write_page(results)[1].html)
    lines = payload["statistics"][payload["measures"][0]]["verdict"]["lines"]
    assert [lines[0]["role"], lines[1]["role"]] == ["corrected", "labels"]
    assert payload["by_labels"]["leads"]
    assert payload["by_labels"]["tables"][1]["columns"][0] == "more labels"
