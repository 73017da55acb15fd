"""Text that would steer a terminal goes through a whole run as text."""

import csv
import json

from harness.report import read_table
from harness.running.bench.page import write_page
from tests.command import bench

STEERING = "The \x1b[31mred\x07 crane\x9b1m stands in Bremerton, and the manual says '\\x1b[0m' twice."


def test_control_characters_of_a_document_are_escaped_in_every_table_and_whole_again_when_read(
    write_config, corpus
):
    (corpus / "docs" / "crane.txt").write_text(STEERING, encoding="utf-8")
    with (corpus / "queries.csv").open("a", encoding="utf-8") as file:
        file.write("q6,Where does the \x1b[31mred crane stand?,train,yes\n")
    with (corpus / "labels.csv").open("a", encoding="utf-8") as file:
        file.write("q6,crane,stands in Bremerton,4\n")
    _, folder = bench(write_config(rerank="null"))
    for path in folder.rglob("*.csv"):
        content = path.read_bytes()
        assert not set(content) & {*range(9), 11, 12, *range(14, 32), 127}, path.name
        assert b"\xc2\x9b" not in content, path.name
    with (folder / "passages.csv").open(newline="", encoding="utf-8") as file:
        (shown,) = [row["text"] for row in csv.DictReader(file) if row["document"] == "crane"]
    assert shown == (
        r"The \x1b[31mred\x07 crane\x9b1m stands in Bremerton, and the manual says '\\x1b[0m' twice."
    )
    passages = read_table(folder, "passages")
    assert passages.text[passages.document == "crane"].tolist() == [STEERING]
    _, page = write_page(folder)
    assert page.size > 10_000
    assert json.loads((folder / "record.json").read_text(encoding="utf-8"))["config"]["name"] == "tiny"
