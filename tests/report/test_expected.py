"""The evidence that a query should have found: its best evidence and the first rank that shows it."""

import pytest

from harness.report import read_expected
from tests.command import write_table


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


ONCE = ("retrieve", "q", ["d:0-10", "d:10-20"])


@pytest.mark.parametrize(
    ("ranked", "judged", "expected"),
    [
        pytest.param([ONCE], (6, 16, 4), "[at rank 1 (partly, 40 %); d; grade 4]", id="shown in part"),
        pytest.param([ONCE], (20, 25, 4), "[not in the 2 retrieved; d; grade 4]", id="not retrieved"),
        pytest.param(
            [ONCE, ("rerank", "q", ["d:10-20", "d:0-10"])],
            (0, 5, 4),
            "[at rank 2; d; grade 4]",
            id="the last stage decides",
        ),
        pytest.param(
            [("retrieve", "q", ["d:0-10", "d~2:0-10", "d:10-20"])],
            (12, 15, 4),
            "[at rank 3; d; grade 4]",
            id="what another pipeline returned twice takes a rank",
        ),
    ],
)
def test_expected_evidence_is_at_the_rank_that_shows_it(tmp_path, ranked, judged, expected):
    folder = result(tmp_path, ranked, [("q", *judged, "", "here")])
    assert read_expected(folder, "s") == {"q": f"{expected} here"}


def test_a_query_without_relevant_text_expects_nothing(tmp_path):
    folder = result(
        tmp_path, [("retrieve", "q", ["d:0-10"])], [("q", 0, 5, 0, "", "no"), ("p", 0, 5, "", "", "?")]
    )
    assert read_expected(folder, "s") == {}
