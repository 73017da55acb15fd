"""The answer key takes no part in the search, and a list of the questions is warned of."""

import json

from harness.values.progress import Silent
from tests.command import bench

LEXICAL = "retrieve: {kind: bm25, top_k: 5}\n"


def write_corpus(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    facts = {
        "pump": "The pump is primed with oil.",
        "valve": "The valve opens at 3 bar.",
        "motor": "The motor runs.",
    }
    for name, text in facts.items():
        (tmp_path / "docs" / f"{name}.txt").write_text(text)
    questions = [f"What of the {name} then, number {i}?" for i, name in enumerate([*facts, *facts])]
    (tmp_path / "docs" / "queries.csv").write_text(
        "query_id,text\n" + "".join(f'q{i},"{text}"\n' for i, text in enumerate(questions))
    )
    labels = "".join(
        f"q{i},{name},{text},4\n" for i, (name, text) in enumerate([*facts.items(), *facts.items()])
    )
    (tmp_path / "docs" / "labels.csv").write_text("query_id,document,quote,grade\n" + labels)
    config = tmp_path / "c.yaml"
    config.write_text(
        "name: key\ndocuments: docs/*\nqueries: docs/queries.csv\nlabels: docs/labels.csv\n"
        "chunk: {kind: page}\n" + LEXICAL
    )
    return config, questions


def run(config):

    reporter = Silent()
    results, folder = bench(config, reporter)
    return results, folder, reporter


def test_labels_and_queries_next_to_the_documents_are_not_searched(tmp_path, monkeypatch):
    config, _ = write_corpus(tmp_path, monkeypatch)
    _, folder, reporter = run(config)
    documents = (folder / "documents.csv").read_text()
    assert "pump" in documents
    assert "labels" not in documents
    assert any("Not read as documents" in note and "labels.csv" in note for note in reporter.notes)
    assert json.loads((folder / "record.json").read_text())["counts"]["documents"] == 3


def test_a_document_that_holds_the_questions_is_warned_of(tmp_path, monkeypatch):
    config, questions = write_corpus(tmp_path, monkeypatch)
    assert not [w for w in run(config)[2].warnings if "word for word" in w]
    (tmp_path / "docs" / "faq.txt").write_text("\n".join(questions[:4]).replace(" ", "  ").upper())
    messages = [w for w in run(config)[2].warnings if "word for word" in w]
    assert messages == [w for w in messages if w.startswith("faq holds 4 of the 6 questions")]
    assert messages
