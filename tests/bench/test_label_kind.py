"""What labels hold, all answers or graded passages: assumed from the file, said, and changed by a key."""

import json

import pytest

from harness.comparison import ScoredOn
from harness.comparison.matrix import differences
from harness.data import LabelRow
from harness.running.judging.label_kind import assumed_kind
from tests.command import one_line, run


def rows(*labels):
    """Rows of a label file from (query, grade, evidence)."""
    return [
        LabelRow(line=line, query_id=query, document="d", grade=grade, quote="q", evidence=evidence)
        for line, (query, grade, evidence) in enumerate(labels, 2)
    ]


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        # quotes of the highest grade, however many a query has
        ([("q1", 4, ""), ("q1", 4, ""), ("q2", 4, "")], "answers"),
        # one fact a query, also in two places
        ([("q1", 4, ""), ("q2", 3, "")], "answers"),
        ([("q1", 4, "fact"), ("q1", 4, "fact"), ("q2", 3, "")], "answers"),
        # whoever grades a pool finds passages that answer nothing, or a part
        ([("q1", 4, ""), ("q2", 0, "")], "pool"),
        ([("q1", 4, ""), ("q1", 2, ""), ("q2", 4, "")], "pool"),
        ([("q1", 1, ""), ("q1", 1, "")], "pool"),
        ([], "pool"),
    ],
)
def test_what_a_label_file_is_taken_for(labels, kind):
    found = assumed_kind(rows(*labels))
    assert found.kind == kind
    other = "pool" if kind == "answers" else "answers"
    assert not labels or f"set relevance: {{labels: {other}}}." in found.assumption("labels.csv")


SPARSE = "measures: [ndcg_evidence@500, ndcg_exp@10, judged_text@500]"


def concluded(folder):
    return json.loads((folder / "results" / "tiny" / "verdict.json").read_text())


def test_an_assumption_is_said_and_alarm_and_next_step_follow_the_key(lexical, corpus, capsys):
    path = lexical(chunk="{kind: recursive, chunk_size: [90, 180]}", more=SPARSE)
    code, _, err = run(capsys, "bench", path)
    assert code == 0
    told = "Assumed: labels.csv marks all that answers each query, as it has one label for each query."
    assert f"{told} If passages were graded instead, set relevance: {{labels: pool}}." in one_line(err)
    found = concluded(corpus)
    assert found["sentence"].startswith("4 queries are too few to choose by: add 26.")
    assert found["labels"] == {"hold": "answers", "assumed": True}
    assert found["judged"] is None
    assert "labels" not in found["next"][0]["command"]
    record = json.loads((corpus / "results" / "tiny" / "record.json").read_text())
    # judged@10 was no measure, and how much is judged is known all the same
    shares = record["counts"]["judged"]
    assert set(shares) == {"chunk=90/0", "chunk=180/0"}
    assert all(0 < share["retrieve"]["judged@10"] < 1 for share in shares.values())
    stated = lexical(
        chunk="{kind: recursive, chunk_size: [90, 180]}", more=f"{SPARSE}\nrelevance: {{labels: pool}}"
    )
    code, _, err = run(capsys, "bench", stated)
    assert "Assumed" not in err
    pool = concluded(corpus)
    assert pool["labels"] == {"hold": "pool", "assumed": False}
    assert pool["judged"]["measure"] == "judged@10"
    assert [one["mean"] for one in pool["settings"]] == [one["mean"] for one in found["settings"]]
    # no score depends on it, so results of either kind compare
    later = json.loads((corpus / "results" / "tiny" / "record.json").read_text())
    assert differences(*(ScoredOn.of(one, {}, "") for one in (record, later))) == []


def test_the_end_of_a_run_fits_a_screen_of_24_lines(lexical, corpus, capsys):
    path = lexical(
        chunk="{kind: recursive, chunk_size: [60, 90, 120, 180, 240, 300, 360, 420], chunk_overlap: [0, 20]}",
        retrieve="{kind: bm25, stop_words: [short, long]}",
        more=SPARSE,
    )
    code, out, _ = run(capsys, "bench", path)
    assert code == 0
    printed_lines = out.rstrip("\n").split("\n")
    end = next(at for at, line in enumerate(printed_lines) if line.startswith("Done in"))
    assert len(printed_lines) - end <= 24


def test_a_key_that_belongs_to_labels_is_refused_beside_another_judge(lexical, capsys):
    path = lexical(more="relevance: {judge: llm, labels: pool}")
    code, _, err = run(capsys, "validate", path)
    assert code == 1
    assert "relevance: {judge: labels}" in one_line(err)
