"""A fact that is in a second document is found there too, unless the configuration says otherwise."""

from harness.values.progress import Silent
from tests.bench.conftest import SENTENCES
from tests.command import bench


def test_a_word_for_word_copy_counts_as_the_evidence(write_config, corpus):
    fact = SENTENCES["people"][0]
    (corpus / "docs" / "summary.txt").write_text(f"{fact}\n\nNothing else is in here.", encoding="utf-8")
    results, shown = {}, {}
    for switch in ("true", "false"):
        reporter = Silent()
        path = write_config(more=f"anchor: {{duplicates: {switch}}}\nmeasures: [ndcg_exp@10, recall@10]")
        results[switch], _ = bench(path, reporter)
        shown[switch] = [text for text in reporter.notes if "word for word" in text]
    (line,) = shown["true"]
    assert line.startswith("1 label occurs word for word elsewhere too: 1 place counts as the same evidence")
    assert shown["false"] == []
    places = {
        switch: {(row.document, row.grade) for row in result.judgments if row.query_id == "q1"}
        for switch, result in results.items()
    }
    assert places["true"] == {("people", 4), ("summary", 4)}
    assert places["false"] == {("people", 4)}
    assert results["true"].record.counts["duplicates_credited"] == 1
