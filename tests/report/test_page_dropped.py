"""What `harness tune` dropped, on the page and in `harness show`: apart from what is compared."""

import pytest

from harness.cli import main
from harness.report import DroppedRow, base_payload, read_tables, spec_of
from harness.running import write_page
from tests.command import refused, table, write_table
from tests.report.page_browser import MARKS
from tests.report.page_results import HOSTILE, write_folder


def dropped(name, lead, stage=1):
    """A row of tuned.csv; a lead of None is not known."""
    may = lead is None or lead > 0.02
    seen = {"mean": 0.41, "behind": 0.09, "n_queries": 7, "documents": 3, "characters": 900}
    against = {"text_share": 0.3, "against": "chunk=200/0", "lead_at_most": lead, "may_be_better": may}
    held = lead is None
    return DroppedRow(setting=name, stage=stage, measure="ndcg_exp@10", held_back=held, **seen, **against)


@pytest.fixture
def folder(tmp_path):
    folder = write_folder(tmp_path / "r", settings=4)
    spec = spec_of(DroppedRow)
    rows = [
        dropped("chunk=900", -0.05),
        dropped("chunk=500", 0.04, 2),
        *(dropped(f"chunk=50/{i} {HOSTILE}", 0.001 * i) for i in range(21)),
        dropped("chunk=700", None),
    ]
    write_table(folder / "tuned.csv", spec.names, (map(_cell, line) for line in spec.lines(rows)))
    return folder


def _cell(value):
    return {True: "yes", False: "no", None: ""}.get(value, value) if isinstance(value, bool | None) else value


def test_show_lists_what_was_dropped_and_on_what_it_was_seen(folder, capsys):
    with pytest.raises(SystemExit):
        main(["show", str(folder), "--format", "markdown"])
    printed = capsys.readouterr().out
    shown = printed[printed.index("Dropped by harness tune") :]
    assert "| chunk=700 | 1, retrieved | 30 % | 7 | 0.410 | 0.090 | – | yes |" in shown
    assert "| chunk=500 | 2 | 30 % | 7 | 0.410 | 0.090 | 0.040 | yes |" in shown
    # what nothing is known of could be the best; then what may be better by most
    assert shown.index("chunk=700") < shown.index("chunk=500") < shown.index("chunk=50/20")
    assert "4 more are in tuned.csv" in shown
    assert "chunk=900" not in shown


def test_the_page_has_them_apart_from_the_settings(folder):
    payload = base_payload(read_tables(folder), {})
    assert len(payload["settings"]) == 4
    assert {row["setting"] for row in payload["dropped"]} == {
        row["setting"] for row in table(folder / "tuned.csv")
    }
    assert not {row["setting"] for row in payload["dropped"]} & {*payload["settings"]}


def test_a_dropped_setting_that_is_compared_is_of_another_run(folder, capsys):
    spec = spec_of(DroppedRow)
    row = dropped(table(folder / "summary.csv")[0]["setting"], 0.1)
    write_table(folder / "tuned.csv", spec.names, [map(_cell, line) for line in spec.lines([row])])
    for command in ("show", "report"):
        assert "which summary.csv has too" in refused(capsys, command, str(folder))


class TestInChromium:
    pytestmark = MARKS

    @pytest.mark.parametrize("width", [390, 1280])
    def test_the_section_is_drawn_and_fits(self, chromium, folder, width):
        path, _ = write_page(folder)
        chromium.open(path.as_uri(), width, every=False)
        chromium.find("#tabs [data-view=compare]").click()
        rows = "return [...document.querySelectorAll('#dropped tbody tr')].map(r => r.cells[0].textContent)"
        assert len(chromium.run(rows)) == 15
        assert chromium.run(rows)[0] == "chunk=500"
        assert chromium.run("return document.documentElement.scrollWidth") <= width
        assert "2 of them may be better" in chromium.find("#dropped .lede").text
        board = chromium.run("return document.querySelector('#board').textContent")
        assert "chunk=500" not in board
        chromium.find("#dropped .more button").click()
        assert chromium.run(rows)[-1] == "chunk=700"
        assert len(chromium.run(rows)) == 24
