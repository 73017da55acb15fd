"""Evidence is found by words alone, and its rows anchor as labels."""

import csv
import io

import pytest

from harness.data import AnchorConfig, anchor, read_labels
from harness.labels import find_evidence
from harness.labels.labelling.finding import is_heading, passage_spans
from harness.running import Running, Session, load_config, load_documents
from harness.values import CorpusError, Silent
from tests.command import printed, refused, run
from tests.corpus.conftest import text_document as document

PLANTS = (
    "Total revenues\n96,773 in 2023, after 81,462 in 2022. The plant in Lyon was closed in May.\n\n"
    "=SUM of what we sold. Our people work in four countries."
)


def find(sought, *documents, top=None, tmp_path=None):
    with Session.at(tmp_path, Silent(), may_ask=False) as session:
        return find_evidence(sought, {one.doc_id: one for one in documents}, Running(session), top)


def write(tmp_path, monkeypatch, **texts):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    for name, text in texts.items():
        (tmp_path / "docs" / f"{name}.txt").write_text(text, encoding="utf-8")
    (tmp_path / "my.yaml").write_text(
        "name: mine\ndocuments: docs/*\nqueries: docs/queries.csv\nlabels: docs/labels.csv\n"
        "chunk: {kind: page}\nretrieve: {kind: bm25}\n"
    )


def test_exact_text_comes_first_whatever_its_spaces_and_case(tmp_path):
    other = document("other", "Revenues total much. Total total revenues revenues, all of the revenues.")
    one, *rest = find("TOTAL  revenues 96,773", other, document("plants", PLANTS), tmp_path=tmp_path)
    assert (one.doc_id, one.origin) == ("plants", "exact")
    assert "96,773 in 2023" in one.text
    assert {found.origin for found in rest} == {"words"}
    assert rest[0].doc_id == "other"


def test_a_quote_over_two_passages_is_found_whole(tmp_path):
    quote = "closed in May. =SUM of what"
    (found, *_) = find(quote, document("plants", PLANTS), tmp_path=tmp_path)
    assert found.text == "closed in May.\n\n=SUM of what"


@pytest.mark.parametrize(
    ("sought", "text", "expected"),
    [
        ("2023年营业收入", "公司概况。\n\n报告期内，营业收入为96亿元。\n\n董事会成员。", "营业收入为96亿元"),
        ("売上高 増加", "会社の概要。\n\n当期の売上高は増加した。\n\n役員。", "売上高は増加"),
        ("Umsätze", "Vorwort.\n\nDie UMSÄTZE stiegen.\n\nSchluss.", "UMSÄTZE stiegen"),
        ("employed", "Nothing here.\n\nWe employ 39,717.\n\nMore of it.", "employ 39,717"),
    ],
)
def test_words_are_found_in_several_languages(sought, text, expected, tmp_path):
    assert expected in find(sought, document("d", text), tmp_path=tmp_path)[0].text


CELLS = (
    "Table 4: Total revenue 2023\n\nTotal revenue\n96,773\n81,462\n\nRevenue\n\n"
    "In 2023 the total of all revenue was higher than in any year before it, as more was sold.\n\n"
    "Revenue of Lyon\n\nRevenue of services 8,319"
)


def test_a_bare_caption_comes_behind_text_with_its_words(tmp_path):
    def shown(sought):
        return [
            passage.text.split("\n")[0] for passage in find(sought, document("d", CELLS), tmp_path=tmp_path)
        ]

    text = "In 2023 the total of all revenue was higher than in any year before it, as more was sold."
    # BM25 alone has the caption first, then the text, both with all three words. The row has `total` and
    # `revenue`, and all texts have `revenue`: so the caption comes behind the row, other headings behind all.
    order = shown("total revenue 2023?")
    assert order[:3] == [text, "Total revenue", "Table 4: Total revenue 2023"]
    assert order[3] == "Revenue of services 8,319"
    assert {*order[4:]} == {"Revenue", "Revenue of Lyon"}
    assert shown("Lyon") == ["Revenue of Lyon"]
    # what is sought verbatim is first, be it a caption
    assert shown("Table 4: Total")[0] == "Table 4: Total revenue 2023"


@pytest.mark.parametrize(
    ("text", "heading"),
    [
        ("Consolidated balance sheet", True),
        ("Item 7. Management's discussion", True),
        ("3.2 Revenue in 2023", True),
        ("表3 营业收入", True),
        ("Revenue 2023 96,773", False),
        ("Revenue 2,023", False),
        ("Table 4: 12.5 %", False),
        ("96,773", False),
        ("Revenue rose.", False),
        ("营业收入增加。", False),
        ("Total revenue\n96", False),
        ("a word " * 20, False),
    ],
)
def test_a_bare_heading_is_a_line_without_a_figure_or_an_end(text, heading):
    assert is_heading(text) is heading


def test_no_passage_crosses_a_page_and_together_they_hold_all_letters():
    text = "One sentence that goes on " + "and on " * 10 + "over the page. Then two.\n\nThen three.\n\nEnd"
    one = document("d", text, (0, 40))
    spans = passage_spans(one)
    assert [end for _, end in spans if end <= 40] == [len(text[:40].rstrip())]
    assert all(one.page_of(start) == one.page_of(end - 1) for start, end in spans)
    assert "".join("".join(text[a:b] for a, b in spans).split()) == "".join(text.split())


def test_the_rows_are_labels(tmp_path, monkeypatch, capsys):
    write(tmp_path, monkeypatch, plants=PLANTS)
    words = ("find", "what we sold", "--in", "my.yaml", "--format", "csv", "--query", "q1")
    rows = list(csv.DictReader(io.StringIO(run(capsys, *words)[1])))
    assert rows[0]["quote"].startswith("'=SUM")
    (tmp_path / "graded.csv").write_text(
        "query_id,document,page,start,end,quote,grade\n"
        + "".join(",".join(f'"{value}"' for value in {**row, "grade": "4"}.values()) + "\n" for row in rows)
    )
    documents = load_documents(
        load_config(tmp_path / "my.yaml"), Session.at(tmp_path, Silent()).document_reader
    )
    found = anchor(read_labels(tmp_path / "graded.csv"), documents, AnchorConfig())
    assert found.judgments[0].grade == 4
    assert PLANTS[found.judgments[0].start :].startswith("=SUM of what we sold")


def test_a_document_can_be_named_and_nothing_found_is_said(tmp_path, monkeypatch, capsys):
    write(tmp_path, monkeypatch, plants=PLANTS, rivals="Our rivals closed a plant.")
    assert "plants," not in printed(capsys, "find", "plant", "--in", "my.yaml", "--document", "rivals.txt")
    (tmp_path / "labels.csv").write_text("query_id,document,page,start,end,quote,grade,evidence,note\n")
    (tmp_path / "labelled.yaml").write_text(
        (tmp_path / "my.yaml").read_text().replace("docs/labels.csv", "labels.csv")
    )
    rows = printed(capsys, "find", "plant", "--in", "labelled.yaml", "--format", "csv")
    assert "quote,grade,evidence,note" in rows
    assert "No passage of 2 documents" in refused(capsys, "find", "zebra", "--in", "my.yaml")
    (tmp_path / "docs/queries.csv").write_text("query_id,text\nq12,plants?\n")
    words = "find", "plant", "--in", "my.yaml", "--format", "csv", "--query"
    assert "grade q12,rivals,,0," in printed(capsys, *words, "q12")
    assert f"{tmp_path} is a folder. Name a file" in refused(capsys, *words, "q12", "--output", tmp_path)
    assert "docs/plants.txt exists already" in refused(capsys, *words, "q12", "--output", "docs/plants.txt")
    assert (tmp_path / "docs/plants.txt").read_text() == PLANTS
    assert "no query 'q13' (did you mean 'q12'?)" in refused(capsys, *words, "q13")
    (tmp_path / "docs/queries.csv").write_text("query_id,text\n")
    assert "grade q1,rivals,,0," in printed(capsys, *words, "q1")
    with pytest.raises(CorpusError, match="did you mean 'rivals'"):
        load_documents(
            load_config(tmp_path / "my.yaml"), Session.at(tmp_path, Silent()).document_reader, "rival"
        )
