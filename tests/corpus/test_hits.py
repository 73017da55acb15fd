"""Hits of another pipeline: read from a file, and placed in the documents."""

import json
from dataclasses import replace

import pytest

from harness.data import GivenHit, place_hits, read_hits
from harness.values import CorpusError
from tests.corpus.conftest import text_document as document

TWICE = "The works council agreed to a four day week."
ENGINES = f"The engine is built in Paducah. {TWICE} Its fuel pump was recalled in 2024. {TWICE}"
FIRST_PAGE = f"At the end of the year 39,717 people worked for the company. {TWICE} "
SECOND_PAGE = f"  Apprentices spend their first summer in the foundry. {TWICE}\n"


DOCUMENTS = {
    "engines": document("engines", ENGINES),
    "people": document("people", FIRST_PAGE + SECOND_PAGE, (0, len(FIRST_PAGE))),
}


def written(tmp_path, *rows, name="hits.jsonl"):
    path = tmp_path / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def hit(rank=1, **fields):
    return GivenHit(
        **({"where": f"hits.jsonl, line {rank}", "line": rank, "query_id": "q1", "rank": rank} | fields)
    )


def placed(*rows, threshold=90.0, **options):
    return place_hits([rows], DOCUMENTS, threshold, **options)[0]


def spans(hits):
    return [(h.place.doc_id, h.place.start, h.place.end) if h.place else None for h in hits]


def test_ranks_order_the_hits_and_may_begin_at_0(tmp_path):
    rows = [{"query_id": "q1", "rank": r, "text": f"text {r}"} for r in (2, 0, 1)]
    file = read_hits(written(tmp_path, *rows))
    assert [(row.rank, row.text, row.line) for row in file.rows["q1"]] == [
        (1, "text 0", 2),
        (2, "text 1", 3),
        (3, "text 2", 1),
    ]
    assert all(row.score is None for row in file.rows["q1"])


def test_equal_scores_stay_in_the_order_of_the_file_and_scores_that_rise_down_it_are_noticed(tmp_path):
    rows = [
        {"query_id": "q1", "score": score, "text": text}
        for text, score in (("a", 0.5), ("b", 0.9), ("c", 0.5), ("d", 0.9))
    ]
    file = read_hits(written(tmp_path, *rows))
    assert [(row.text, row.score) for row in file.rows["q1"]] == [
        ("b", 0.9),
        ("d", 0.9),
        ("a", 0.5),
        ("c", 0.5),
    ]
    assert not file.rising
    assert read_hits(written(tmp_path, *rows[:2])).rising


def test_scores_that_contradict_the_ranks_are_left_out(tmp_path):
    rows = [{"query_id": "q1", "rank": r, "score": s, "text": "x"} for r, s in ((1, 0.1), (2, 0.4))]
    file = read_hits(written(tmp_path, *rows))
    assert not file.scores_kept
    assert [row.score for row in file.rows["q1"]] == [None, None]


def test_csv_and_parquet_read_alike(tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    columns = ("query_id", "rank", "score", "document", "start", "end", "text")
    rows = [
        dict(zip(columns, values, strict=True))
        for values in (("q1", 1, 0.5, "people", 3, 9, None), ("q1", 2, 0.25, None, None, None, "a, b"))
    ]
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "hits.parquet")
    (tmp_path / "hits.csv").write_text(
        'query_id,rank,score,document,start,end,text\nq1,1,0.5,people,3,9,\nq1,2,0.25,,,,"a, b"\n'
    )
    paths = (written(tmp_path, *rows), tmp_path / "hits.csv", tmp_path / "hits.parquet")
    one, *others = ([replace(row, where="", line=0) for row in read_hits(path).rows["q1"]] for path in paths)
    assert [(row.rank, row.score, row.start, row.text) for row in one] == [
        (1, 0.5, 3, ""),
        (2, 0.25, None, "a, b"),
    ]
    assert others == [one, one]


def test_a_damaged_parquet_and_an_unknown_ending_are_refused(tmp_path):
    (tmp_path / "hits.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(CorpusError, match=r"hits\.parquet: is no parquet file"):
        read_hits(tmp_path / "hits.parquet")
    (tmp_path / "hits.ods").write_text("query_id\n")
    with pytest.raises(CorpusError, match=r"Known: \.csv, .*\.jsonl, .*\.parquet"):
        read_hits(tmp_path / "hits.ods")


def test_offsets_page_and_text_each_find_their_place():
    hits = placed(
        hit(1, document="engines", start=4, end=30),
        hit(2, document="docs/people.txt", page=2),
        hit(3, document="people.txt", text="At the end of the\n year 39,717 people"),
        hit(4, text="Its fuel pump was recalled in 2024."),
    )
    pages = FIRST_PAGE + SECOND_PAGE
    assert spans(hits) == [
        ("engines", 4, 30),
        ("people", len(FIRST_PAGE) + 2, len(pages) - 1),
        ("people", 0, len("At the end of the year 39,717 people")),
        ("engines", ENGINES.index("Its"), ENGINES.index("2024.") + 5),
    ]
    assert [h.place.method for h in hits] == ["offsets", "page", "whitespace_free", "exact"]


@pytest.mark.parametrize("break_", [" ", "\n  "], ids=["verbatim", "white space differs"])
def test_copies_of_a_text_are_given_out_one_after_another_and_then_repeat(break_):
    text = TWICE.replace(" ", break_)
    found = spans(hits := placed(*(hit(rank, text=text) for rank in range(1, 6))))
    first, second = ENGINES.index(TWICE), ENGINES.rindex(TWICE)
    assert found[:2] == [("engines", at, at + len(TWICE)) for at in (first, second)]
    assert [doc_id for doc_id, _, _ in found] == ["engines", "engines", "people", "people", "engines"]
    assert found[4] == found[0]
    assert [h.repeats for h in hits] == [False, False, False, False, True]
    assert {h.copies for h in hits} == {4}


def test_a_page_tells_copies_apart_and_a_wrong_one_is_noticed():
    (on_second,) = placed(hit(document="people", page=2, text=TWICE))
    assert on_second.place.start == (FIRST_PAGE + SECOND_PAGE).rindex(TWICE)
    assert not on_second.other_page
    (elsewhere,) = placed(hit(document="people", page=1, text="Apprentices spend their first summer"))
    assert elsewhere.place.start == len(FIRST_PAGE) + 2
    assert elsewhere.other_page


def test_a_slightly_different_text_is_found_by_likeness_and_other_figures_are_reported():
    (alike,) = placed(hit(text="At the end of the year 39.718 people worked for the company."))
    assert (alike.place.method, alike.place.doc_id, alike.place.start) == ("fuzzy", "people", 0)
    assert alike.figures_differ
    assert 90 < alike.best < 100
    (named,) = placed(
        hit(document="people", text="At the end of the year 39,717 persons worked for the company")
    )
    assert named.place.method == "fuzzy"
    assert not named.figures_differ


def test_a_text_that_is_nowhere_has_no_place_and_its_likeness_is_reported():
    (strange,) = placed(hit(text="Nobody has ever written this sentence about engines."))
    assert strange.place is None
    assert strange.best < 90
    (stricter,) = placed(
        hit(text="At the end of the year 39.718 people worked for the company."), threshold=99.5
    )
    assert stricter.place is None
    assert 90 < stricter.best < 99.5


def test_hits_of_documents_that_are_not_there_can_count_as_unjudged_text():
    assert spans(placed(hit(document="letters", text="x"), keep_unknown=True)) == [None]
    assert spans(placed(hit(document="scan.pdf", text=TWICE), left_out=["scan"])) == [None]
    with pytest.raises(CorpusError, match=r"was not read\. Give the text"):
        placed(hit(document="scan", page=1), left_out=["scan"])
