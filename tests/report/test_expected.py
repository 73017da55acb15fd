"""The evidence that a query should have found: its best evidence and the first rank that shows it."""

import csv

from harness.report import read_expected

WHOLE = {"setting": "s", "same_as": ""}


def write(folder, name, rows):
    with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def result(tmp_path, ranked, judged):
    write(
        tmp_path,
        "rankings",
        [
            {
                "setting": "s",
                "stage": stage,
                "query_id": query,
                "rank": rank,
                "chunk_id": chunk,
                "document": chunk.split(":")[0],
                "page": "",
                "score": 1,
                "grade": "",
                "earned": 0,
                "snippet": "",
            }
            for stage, query, chunks in ranked
            for rank, chunk in enumerate(chunks, 1)
        ],
    )
    write(
        tmp_path,
        "chunk_offsets",
        [
            {"setting": "s", "same_as": "", "document": "d", "start": i, "end": i + 10}
            for i in range(0, 40, 10)
        ]
        + [{"setting": "t", "same_as": "s", "document": "", "start": "", "end": ""}],
    )
    fields = ("query_id", "start", "end", "grade", "page", "snippet")
    write(
        tmp_path,
        "judgments",
        [{**dict(zip(fields, row, strict=True)), "document": "d", "scored_on": "yes"} for row in judged],
    )
    return tmp_path


def test_the_best_grade_counts_at_the_first_rank_that_shows_any_of_its_spans(tmp_path):
    judged = [
        ("q", 0, 5, 2, 1, "middling"),
        ("q", 22, 25, 4, 3, "second copy"),
        ("q", 35, 38, 4, 4, "first found"),
    ]
    folder = result(tmp_path, [("retrieve", "q", ["d:0-10", "d:10-20", "d:30-40", "d:20-30"])], judged)
    assert read_expected(folder, "s") == {"q": "[at rank 3; d, page 4; grade 4] first found"}


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
