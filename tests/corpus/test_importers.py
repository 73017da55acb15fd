"""Importers write corpus folders that the readers accept and whose labels anchor."""

import json
from urllib.parse import unquote

import pytest

from harness.data import (
    IMPORTS,
    AnchorConfig,
    PypdfConfig,
    SplitConfig,
    anchor,
    find_documents,
    parse_documents,
    read_labels,
    read_queries,
    write_text,
)
from harness.values import CorpusError

import_beir = IMPORTS["beir"].read


def load(folder, pattern):
    """Read the corpus folder back: documents, queries, judgments."""
    parsed, _ = parse_documents(find_documents(pattern, folder), PypdfConfig())
    documents = {p.document.doc_id: p.document for p in parsed}
    queries = read_queries(folder / "queries.csv", SplitConfig())
    labels = read_labels(folder / "labels.csv")
    result = anchor(labels, documents, AnchorConfig(), {query.query_id for query in queries.queries})
    return documents, queries, result


def json_lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


@pytest.fixture
def beir(write, tmp_path):
    write(
        "beir/corpus.jsonl",
        json_lines(
            {"_id": "d1", "title": "Wings", "text": "Lift.\u2028Drag."},
            {"_id": "a/b: c", "title": "", "text": "Café 👍"},
            {"_id": ".hidden", "title": "Only a title", "text": ""},
            {"_id": "empty", "title": "", "text": " "},
        ),
    )
    write("beir/queries.jsonl", json_lines({"_id": "1", "text": "lift?"}, {"_id": "2", "text": "unused"}))
    write(
        "beir/qrels/test.tsv",
        "query-id\tcorpus-id\tscore\n"
        "1\td1\t4\n1\ta/b: c\t-1\n1\t.hidden\t0\n1\tempty\t2\n1\tgone\t1\n9\td1\t1\n",
    )
    return tmp_path / "beir"


def test_beir(beir, tmp_path):
    summary = import_beir(beir, tmp_path / "out")
    documents, queries, result = load(tmp_path / "out", "documents/*.txt")
    assert {name: document.text for name, document in documents.items()} == {
        "d1": "Wings\n\nLift.\u2028Drag.",
        "a%2Fb%3A%20c": "Café 👍",
        "%2Ehidden": "Only a title",
    }
    assert [query.query_id for query in queries.queries] == ["1"]
    assert [(j.doc_id, j.start, j.end, j.grade) for j in result.judgments] == [
        ("d1", 0, 18, 4),
        ("a%2Fb%3A%20c", 0, 6, 0),
        ("%2Ehidden", 0, 12, 0),
    ]
    assert (summary.documents, summary.queries, summary.labels) == (3, 1, 3)
    assert summary.notes[1:] == (
        "Left out: 1 document without text (empty).",
        "Left out: 1 judgment of documents without text.",
        "Left out: 1 judgment of documents not in corpus.jsonl.",
        "Left out: 1 judgment of queries not in queries.jsonl.",
        "Left out: 1 query without judgments.",
        "1 negative grade became 0.",
    )


def test_beir_choice_of_qrels(beir, write, tmp_path):
    write("beir/qrels/train.tsv", "query-id\tcorpus-id\tscore\r\n1\td1\t3\r\n")
    with pytest.raises(CorpusError, match=r"several qrels: qrels/test\.tsv and qrels/train\.tsv\. Choose"):
        import_beir(beir, tmp_path / "out")
    import_beir(beir, tmp_path / "out", qrels="qrels/train.tsv")
    assert [row.grade for row in read_labels(tmp_path / "out" / "labels.csv")] == [3]


def test_beir_queries_without_text_are_left_out_and_counted(beir, write, tmp_path):
    write("beir/queries.jsonl", json_lines({"_id": "1", "text": "lift?"}, {"_id": "9", "text": ""}))
    summary = import_beir(beir, tmp_path / "out")
    assert summary.queries == 1
    assert "Left out: 1 query without text (9)." in summary.notes


def test_beir_text_that_no_file_may_hold_is_refused(beir, write, tmp_path):
    write("beir/queries.jsonl", json_lines({"_id": "1", "text": "li\0ft?"}))
    with pytest.raises(CorpusError, match=r"queries\.jsonl, line 1: text holds a NUL character"):
        import_beir(beir, tmp_path / "out")


@pytest.mark.slow
def test_cranfield(shared_corpora, tmp_path):
    summary = import_beir(shared_corpora / "cranfield", tmp_path / "out")
    documents, queries, result = load(tmp_path / "out", "documents/*.txt")
    # 1,400 documents of which 471 and 995 are empty; 1,837 judgments of which one is of an empty document.
    assert (len(documents), len(queries.queries), len(result.judgments)) == (1398, 225, 1836)
    assert "Left out: 2 documents without text (471 and 995)." in summary.notes


OUTSIDE = (
    "../../../README",
    "..",
    ".",
    "",
    "a/b",
    "..\\README",
    "C:x",
    ".hidden",
    "a\0b",
    "a\x1b[2J",
    "x" * 300,
)


def everything(folder):
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", OUTSIDE)
def test_no_name_in_a_collection_leads_out_of_the_folder(write, tmp_path, name):
    """Names of documents that a path would follow; what they would reach is there to be overwritten."""
    source = tmp_path / "a" / "b" / "source"
    for path in ("README.md", "README.pdf", "README.txt", "a/README.md", "a/b/README.md"):
        write(path, "not to be touched")
    write("a/b/source/corpus.jsonl", json_lines({"_id": name, "title": "", "text": "text"}))
    write("a/b/source/queries.jsonl", json_lines({"_id": name or "q", "text": "query"}))
    write("a/b/source/qrels.tsv", f"query-id\tcorpus-id\tscore\n{name or 'q'}\t{name}\t1\n")
    before = everything(tmp_path)
    target = tmp_path / "a" / "b" / "corpora" / "target"
    try:
        import_beir(source, target)
    except CorpusError:
        assert everything(tmp_path) == before
    else:
        # ids may be anything, and are escaped
        after = everything(tmp_path)
        assert {path: after[path] for path in before} == before
        assert all(path.startswith(f"{target}/") for path in after.keys() - before.keys())
        (written,) = (target / "documents").iterdir()
        assert unquote(written.stem) == name


def test_two_documents_never_share_a_file(write, tmp_path):
    target = write("target.md", "first")
    with pytest.raises(CorpusError, match=r"target\.md is the name of two documents"):
        write_text(target, "second")
    assert target.read_text() == "first"
