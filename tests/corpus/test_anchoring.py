"""Label rows land on the text they mean, or fail with all that is needed to mend them."""

import csv
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.data import AnchorConfig, LabelRow, anchor, join_pages, refuse_disputed
from harness.values import Document, Judgment, LabelError, text_sha256
from tests.corpus.conftest import document

CONFIG = AnchorConfig()
LIST = AnchorConfig(on_unanchored="list")
PAGES = (
    "Contents\nPage one says little.",
    "Total revenue was 1,234 million.\nTotal cost was 999 million. The text runs",
    "on over the break. Total revenue was 1,234 million.",
    "",
)
DOC = document(*PAGES)


def row(line=2, **fields):
    given = {"query_id": "q1", "document": "doc", "grade": 4, "source": "l.csv", **fields}
    return LabelRow(line=line, where=f"l.csv, line {line}", **given)


def land(text=DOC, config=CONFIG, **fields):
    """The one anchoring, and the text it covers."""
    (anchoring,) = anchor([row(**fields)], {text.doc_id: text}, config).anchorings
    return anchoring, text.text[anchoring.place.start : anchoring.place.end]


def test_offsets_are_used_as_given():
    result = anchor([row(start=9, end=17, evidence="e", judge="ann", grade=0)], {"doc": DOC}, CONFIG)
    assert result.judgments == (Judgment("q1", "doc", 9, 17, 0, "e", "l.csv", "ann"),)
    assert result.anchorings[0].place.method == "offsets"
    assert DOC.text[9:17] == "Page one"


def test_a_quote_is_sought_on_its_page_only():
    quote = "Total revenue was 1,234 million."
    assert land(page=2, quote=quote)[0].place.start == DOC.text.index(quote)
    anchoring, found = land(page=3, quote=quote)
    assert anchoring.place.start == DOC.text.rindex(quote)
    assert (anchoring.place.method, anchoring.place.score, anchoring.place.copies, found) == (
        "exact",
        100.0,
        1,
        quote,
    )


def test_without_a_page_the_first_of_several_copies_is_taken_and_reported():
    anchoring, _ = land(quote=" Total revenue was 1,234 million. ")
    assert (anchoring.page, anchoring.place.copies) == (2, 2)


REVENUE = "Total revenue was 1,234 million."
BREAK = "The text runs\non over the break."


@pytest.mark.parametrize(
    ("quote", "found", "method", "score"),
    [
        # a page alone is the page without the space around it
        ("", PAGES[1], "page", None),
        ("Total\u00a0rev\nenue was1,234 million.", REVENUE, "whitespace_free", 100),
        # 28 characters without spaces, one replaced: indel distance 2
        ("Total reuenue was 1,234 million.", REVENUE, "fuzzy", 100 * (1 - 2 / 56)),
        # over the page break
        (BREAK, BREAK, "exact", 100),
        ("The text runs on over the break.", BREAK, "whitespace_free", 100),
        # 26 characters without spaces, one more
        ("The text – runs on over the break.", BREAK, "fuzzy", 100 * (1 - 1 / 53)),
    ],
)
def test_a_quote_is_found_by_the_first_method_that_finds_it(quote, found, method, score):
    anchoring, text = land(page=2, quote=quote)
    assert (anchoring.place.method, anchoring.page, text) == (method, 2, found)
    assert score is None or anchoring.place.score == pytest.approx(score)


def test_a_quote_longer_than_its_page():
    quote = " ".join((*PAGES[1:3], "And much more that is not there"))
    anchoring, found = land(page=2, quote=quote, config=AnchorConfig(threshold=80))
    assert (anchoring.place.method, found) == ("fuzzy", f"{PAGES[1]}\n{PAGES[2]}")


def test_a_fuzzy_quote_without_a_page_in_a_long_text():
    filler = [f"Page {n} tells of other matters, number {n * 7919}. " * 20 for n in range(60)]
    filler[41] += "Cash flows from operating activities were 5,363 in 2018 and 4,869 in 2017."
    quote = "Cash flow from operating activities : $5,363 in 2018 and 4,869 in 2017."
    for paged in (True, False):
        text = document(*filler, paged=paged)
        anchoring, found = land(text, quote=quote)
        assert found.startswith("Cash flows from")
        assert found.endswith("in 2017.")
        assert anchoring.page == (42 if paged else None)


@pytest.mark.parametrize(
    ("name", "doc_id"),
    [
        *((name, "doc") for name in ("doc", "doc.pdf", "doc.PDF", "doc.md")),
        # what ends like a suffix is itself first; a space in a file name is a line in the id
        ("doc.txt", "doc.txt"),
        ("my report.pdf", "my_report"),
    ],
)
def test_a_document_goes_by_its_name_with_or_without_suffix(name, doc_id):
    documents = {one: document("x", doc_id=one) for one in ("doc", "doc.txt", "my_report")}
    labels = [row(document=name, page=1, quote="x")]
    assert anchor(labels, documents, CONFIG).judgments[0].doc_id == doc_id


def test_offsets_of_a_name_that_two_files_share_are_refused():
    """report.pdf beside a labelled report.docx takes over the name, so that offsets would mean its text."""
    documents = {name: document(*PAGES, doc_id=name) for name in ("report", "report.docx", "other")}
    for place in ({"start": 9, "end": 17}, {"page": 1}):
        with pytest.raises(
            LabelError, match=r"l\.csv, line 2: there are several files 'report'.*report\.docx"
        ):
            anchor([row(document="report", **place)], documents, CONFIG)
        with pytest.raises(LabelError, match="several files"):
            anchor([row(document="report", **place)], {"report": DOC}, CONFIG, None, ["report.docx"])
        for name, doc_id in (("report.pdf", "report"), ("report.docx", "report.docx"), ("other", "other")):
            labels = [row(document=name, **place)]
            assert anchor(labels, documents, CONFIG).judgments[0].doc_id == doc_id
    checked = row(document="report", start=9, end=17, quote="Page one")
    assert anchor([checked], documents, CONFIG).judgments[0].doc_id == "report"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"document": "dok.pdf", "page": 1}, r"no document 'dok.pdf' \(did you mean 'doc'"),
        ({"query_id": "q11", "page": 1}, r"no query 'q11' \(did you mean 'q1'"),
        ({"document": "plain", "page": 1}, "plain has no pages"),
        ({"page": 5}, "doc has 4 pages, not page 5"),
        ({"page": 4}, "page 4 of doc has no text"),
        ({"start": 1, "end": 10_000}, r"doc ends at \d+, before 10000"),
        (
            {"start": 9, "end": 17, "quote": "Page two"},
            "the text at 9-17 of doc is 'Page one', not 'Page two'",
        ),
        ({"start": 9, "end": 17, "page": 2}, "offset 9 of doc is on page 1, not 2"),
    ],
)
def test_rows_that_do_not_fit_name_their_line(fields, message):
    plain = document("x", doc_id="plain", paged=False)
    with pytest.raises(LabelError, match=rf"l\.csv, line 2: .*{message}"):
        anchor(
            [row(**fields)],
            {"doc": DOC, "plain": plain},
            CONFIG,
            {"q1", "q2"},
        )


def test_all_failing_quotes_are_reported_together_with_their_best_candidate():
    rows = [row(line=n, page=1, quote=f"Total cost was 999 million, {n}") for n in range(2, 27)]
    with pytest.raises(LabelError) as error:
        anchor([row(line=1, page=1), *rows], {"doc": DOC}, CONFIG)
    message = str(error.value)
    assert "25 rows cannot be used" in message
    assert "l.csv, line 2, query q1, doc page 1: 'Total cost was 999 million, 2' is " in message
    assert "; page 2 holds it with 9" in message
    with pytest.raises(LabelError, match=r"line 2, .*; page 2 has text closer to it, 48"):
        anchor([row(line=2, page=1, quote="Total profit was missing from here")], {"doc": DOC}, CONFIG)
    assert "line 21," in message
    assert "line 22," not in message
    assert "and 5 more" in message


def test_below_the_threshold_rows_are_listed_and_give_no_judgment():
    rows = [row(line=2, page=1, quote="Page one says little!"), row(line=3, page=1, quote="Цена выросла")]
    result = anchor(rows, {"doc": DOC}, AnchorConfig(threshold=99, on_unanchored="list"))
    assert result.judgments == ()
    near, far = result.anchorings
    assert not near.accepted
    assert near.found == "Page one says little"
    assert (bool(far.place), far.place.score, far.page, far.accepted) == (False, 0.0, 1, False)


def test_a_threshold_of_zero_still_needs_a_place():
    rows = [row(page=1, quote="Цена")]
    with pytest.raises(LabelError, match="'Цена' is like nothing there"):
        anchor(rows, {"doc": DOC}, AnchorConfig(threshold=0))


def test_rows_of_skipped_documents_are_put_aside():
    rows = [row(document="gone.pdf", page=1), row(line=3, page=1)]
    result = anchor(rows, {"doc": DOC}, CONFIG, skipped_documents={"gone"})
    assert result.skipped == (rows[0],)
    assert len(result.judgments) == len(result.anchorings) == 1


def test_two_rows_on_one_span_are_refused_but_two_judges_may_differ():
    one = row(page=2, quote="Total cost was 999 million.")
    two = row(line=3, page=2, quote="Total cost was999 million.", grade=1)
    with pytest.raises(LabelError, match=r"line 3: lands on the same text as line 2 \(doc:"):
        anchor([one, two], {"doc": DOC}, CONFIG)
    other = row(line=3, page=2, quote="Total cost was999 million.", grade=1, judge="ann")
    found = anchor([one, other], {"doc": DOC}, CONFIG)
    assert len(found.judgments) == 2
    # two quotes of one text: a benchmark takes neither judge's word
    with pytest.raises(LabelError, match="line 3: ann gives 1, human gives 4 on line 2 to the same passage"):
        refuse_disputed(found.graded(), Path("labels.csv"))


def test_row_order_is_kept_across_documents():
    other = document("b text", doc_id="a")
    rows = [row(line=2, page=1), row(line=3, document="a", page=1), row(line=4, page=2)]
    result = anchor(rows, {"doc": DOC, "a": other}, CONFIG)
    assert [a.row.line for a in result.anchorings] == [2, 3, 4]
    assert [j.doc_id for j in result.judgments] == ["doc", "a", "doc"]


TEXTS = st.text(alphabet=st.sampled_from("ab1,$ \n\u00a0é汉\ufb01"), min_size=5, max_size=120)


@given(TEXTS, st.data())
def test_a_slice_with_other_spaces_comes_back_as_the_first_such_slice(text, data):
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    squeezed = "".join(text[start:end].split())
    if not squeezed:
        return
    quote = "".join(character + data.draw(st.sampled_from(["", " ", "\n\t"])) for character in squeezed)
    doc = Document("doc", text, (0,), text_sha256(text))
    anchoring, found = land(doc, page=1, quote=quote)
    assert anchoring.place.method in ("exact", "whitespace_free")
    assert "".join(found.split()) == squeezed
    assert found == found.strip()
    if anchoring.place.method == "exact":  # goes before an earlier place with other spaces
        assert anchoring.place.start == text.index(found)
    else:
        assert anchoring.place.start <= start + len(text[start:end]) - len(text[start:end].lstrip())


@given(st.lists(TEXTS, min_size=1, max_size=5), st.data())
def test_an_exact_slice_of_a_page_comes_back_on_its_page(pages, data):
    text, starts = join_pages(pages)
    page = data.draw(st.integers(1, len(pages)))
    start = data.draw(st.integers(0, len(pages[page - 1]) - 1))
    quote = pages[page - 1][start:].strip()
    if not quote:
        return
    anchoring, found = land(Document("doc", text, starts, text_sha256(text)), page=page, quote=quote)
    assert (anchoring.page, found) == (page, quote)


@pytest.mark.slow
def test_all_financebench_evidence_is_found(shared_corpora, tmp_path):
    """pypdfium2 is fast enough for all pages; the fuzzy share differs from pypdf's, the outcome must not."""
    from benchmarks.public_data import financebench
    from harness.data import find_documents, parse_documents, read_labels
    from harness.data.corpus.parsers.pypdfium2 import Pypdfium2Config

    financebench(shared_corpora / "financebench", tmp_path / "fb")
    files = find_documents("pdfs/*.pdf", tmp_path / "fb")
    parsed, _ = parse_documents(files, Pypdfium2Config())
    documents = {p.document.doc_id: p.document for p in parsed}
    result = anchor(read_labels(tmp_path / "fb" / "labels.csv"), documents, LIST)
    assert len(result.anchorings) == 91
    assert sum(a.accepted for a in result.anchorings) >= 85


@pytest.mark.slow
def test_some_financebench_evidence_is_found_by_pypdf_on_its_page(shared_corpora):
    from harness.data import DocumentFile, PypdfConfig, parse_document

    name = "ULTABEAUTY_2023Q4_EARNINGS"
    with (shared_corpora / "financebench" / "evidence.csv").open(encoding="utf-8", newline="") as stream:
        evidence = [record for record in csv.DictReader(stream) if record["document"] == name]
    path = shared_corpora / "financebench" / "pdfs" / f"{name}.pdf"
    parsed = parse_document(DocumentFile(name, path), PypdfConfig())
    rows = [
        row(line=n, document=name, page=int(r["page"]), quote=r["evidence_text"], query_id=f"{n}")
        for n, r in enumerate(evidence)
    ]
    result = anchor(rows, {name: parsed.document}, CONFIG)
    assert Counter(a.accepted for a in result.anchorings) == {True: len(evidence)}
    assert [a.page for a in result.anchorings] == [int(r["page"]) for r in evidence]
    assert min(a.place.score for a in result.anchorings) > 95


def test_the_answer_of_a_label_is_its_first_place_in_the_labels_text():
    rows = [
        row(quote=REVENUE, page=3, answer="1,234 million"),
        row(quote=REVENUE, page=2, answer="1,234\nmillion"),
    ]
    first, second = anchor(rows, {"doc": DOC}, CONFIG).judgments
    assert DOC.text[slice(*first.answer)] == DOC.text[slice(*second.answer)] == "1,234 million"
    assert first.answer[0] == DOC.text.rindex("1,234")
    assert second.answer[0] == DOC.text.index("1,234")
    assert anchor([row(quote=REVENUE, page=2)], {"doc": DOC}, CONFIG).judgments[0].answer is None


def test_answers_that_are_not_in_their_label_are_refused_together():
    rows = [row(quote=REVENUE, page=2, answer="999"), row(line=3, quote=REVENUE, page=3, answer=".1,2")]
    with pytest.raises(LabelError, match=r"(?s)line 2: the answer '999' is not.*line 3: the answer '.1,2'"):
        anchor(rows, {"doc": DOC}, CONFIG)
