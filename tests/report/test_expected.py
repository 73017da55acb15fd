"""The evidence that a query should have found: its best evidence and the first rank that shows it."""

from harness.report import read_expected
from tests.command import write_table

WHOLE = {"setting": "s", "same_as": ""}


def result(tmp_path, ranked, judged):
    write_table(
        tmp_path / "rankings.csv",
        ("setting", "stage", "query_id", "rank", "chunk_id", "document", "score"),
        (
            ["s", stage, query, rank, chunk, chunk.split(":")[0], 1]
            for stage, query, chunks in ranked
            for rank, chunk in enumerate(chunks, 1)
        ),
    )
    columns = ("setting", "same_as", "document", "start", "end")
    cut = [["s", "", "d", start, start + 10] for start in range(0, 40, 10)]
    write_table(tmp_path / "chunk_offsets.csv", columns, [*cut, ["t", "s", "", "", ""]])
    columns = ("query_id", "start", "end", "grade", "page", "snippet", "document", "scored_on")
    write_table(tmp_path / "judgments.csv", columns, [[*row, "d", "yes"] for row in judged])
    return tmp_path


def test_the_best_grade_counts_at_the_first_rank_that_shows_any_of_its_spans(tmp_path):
    judged = [
        ("q", 0, 5, 2, 1, "middling"),
        ("q", 22, 25, 4, 3, "second copy"),
        ("q", 35, 38, 4, 4, "first found"),
    ]
    folder = result(tmp_path, [("retrieve", "q", ["d:0-10", "d:10-20", "d:30-40", "d:20-30"])], judged)
    assert read_expected(folder, "s") == {"q": "[at rank 3; d, page 4; grade 4] first found"}


def test_evidence_that_a_chunk_shows_in_part_says_how_much_of_it(tmp_path):
    judged = [("q", 6, 16, 4, "", "cut in two")]
    folder = result(tmp_path, [("retrieve", "q", ["d:0-10", "d:10-20"])], judged)
    assert read_expected(folder, "s") == {"q": "[at rank 1 (partly, 40 %); d; grade 4] cut in two"}


def test_the_last_stage_decides(tmp_path):
    ranked = [("retrieve", "q", ["d:0-10", "d:10-20"]), ("rerank", "q", ["d:10-20", "d:0-10"])]
    folder = result(tmp_path, ranked, [("q", 0, 5, 4, "", "here")])
    assert read_expected(folder, "s") == {"q": "[at rank 2; d; grade 4] here"}


def test_what_was_not_retrieved_says_so(tmp_path):
    folder = result(tmp_path, [("retrieve", "q", ["d:0-10", "d:10-20"])], [("q", 20, 25, 4, "", "far")])
    assert read_expected(folder, "s") == {"q": "[not in the 2 retrieved; d; grade 4] far"}


def test_what_another_pipeline_returned_twice_takes_a_rank(tmp_path):
    ranked = [("retrieve", "q", ["d:0-10", "d~2:0-10", "d:10-20"])]
    folder = result(tmp_path, ranked, [("q", 12, 15, 4, "", "third")])
    assert read_expected(folder, "s") == {"q": "[at rank 3; d; grade 4] third"}


def test_a_query_without_relevant_text_expects_nothing(tmp_path):
    folder = result(
        tmp_path, [("retrieve", "q", ["d:0-10"])], [("q", 0, 5, 0, "", "no"), ("p", 0, 5, "", "", "?")]
    )
    assert read_expected(folder, "s") == {}
