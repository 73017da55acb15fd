"""Odd documents of a run: the answer key, copies of a fact, text that steers a terminal."""

import json

from harness.report import read_table
from harness.running import write_page
from tests.command import bench, table, told, write_files

FACTS = {
    "pump": "The pump is primed with oil.",
    "valve": "The valve opens at 3 bar.",
    "motor": "The motor runs.",
}
QUESTIONS = [f"What of the {name} then, number {i}?" for i, name in enumerate([*FACTS, *FACTS])]


def test_labels_and_queries_next_to_documents_are_not_searched_and_documents_of_questions_warned_of(
    tmp_path, monkeypatch
):
    labels = [f"q{i},{name},{text},4\n" for i, (name, text) in enumerate([*FACTS.items()] * 2)]
    files = {f"docs/{name}.txt": text for name, text in FACTS.items()} | {
        "docs/queries.csv": "query_id,text\n"
        + "".join(f'q{i},"{text}"\n' for i, text in enumerate(QUESTIONS)),
        "docs/labels.csv": "query_id,document,quote,grade\n" + "".join(labels),
        "c.yaml": "name: key\ndocuments: docs/*\nqueries: docs/queries.csv\nlabels: docs/labels.csv\n"
        "chunk: {kind: page}\nretrieve: {kind: bm25, top_k: 5}\n",
    }
    write_files(tmp_path, files)
    monkeypatch.chdir(tmp_path)
    config = tmp_path / "c.yaml"
    _, folder, reporter = told(config)
    documents = (folder / "documents.csv").read_text()
    assert "pump" in documents
    assert "labels" not in documents
    assert any("Not read as documents" in note and "labels.csv" in note for note in reporter.notes)
    assert json.loads((folder / "record.json").read_text())["counts"]["documents"] == 3
    assert not [w for w in reporter.warnings if "word for word" in w]
    (tmp_path / "docs" / "faq.txt").write_text("\n".join(QUESTIONS[:4]).replace(" ", "  ").upper())
    (message,) = [w for w in told(config)[2].warnings if "word for word" in w]
    assert message.startswith("faq holds 4 of the 6 queries")


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
    (shown,) = [row["text"] for row in table(folder / "passages.csv") if row["document"] == "crane"]
    assert shown == (
        r"The \x1b[31mred\x07 crane\x9b1m stands in Bremerton, and the manual says '\\x1b[0m' twice."
    )
    passages = read_table(folder, "passages")
    assert passages.text[passages.document == "crane"].tolist() == [STEERING]
    _, page = write_page(folder)
    assert page.size > 10_000
    assert json.loads((folder / "record.json").read_text(encoding="utf-8"))["config"]["name"] == "tiny"
