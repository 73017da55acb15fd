"""An earlier result is compared on the labels of the newest one, and how many are new is said."""

import csv
import json
import shutil

import pytest

from harness.report import read_result, read_scoring_inputs
from harness.running import read_united
from tests.bench.conftest import SENTENCES
from tests.command import bench, printed, refused, save_table, table


@pytest.fixture
def before_and_after(lexical, corpus):
    """The same search with the labels as they are, and then with a label more and another grade."""
    folders = []
    for name in ("before", "after"):
        path = lexical(retrieve="{kind: bm25, top_k: 10}", more="measures: [ndcg_exp@3, ndcg_text@300]")
        folders.append(shutil.move(bench(path)[1], corpus / name))
        with (corpus / "labels.csv").open("a", newline="", encoding="utf-8") as file:
            csv.writer(file).writerow(["q1", "people", SENTENCES["people"][1], 2])
        text = (corpus / "labels.csv").read_text(encoding="utf-8")
        (corpus / "labels.csv").write_text(text.replace("three roll-on ships.,3", "three roll-on ships.,2"))
    # both may begin within one second
    record = json.loads((folders[0] / "record.json").read_text(encoding="utf-8"))
    record["date"] = record["date"].replace(record["date"][:4], "2020", 1)
    (folders[0] / "record.json").write_text(json.dumps(record), encoding="utf-8")
    return folders


def test_the_earlier_run_is_scored_on_the_labels_of_the_newest(before_and_after, capsys):
    before, after = before_and_after
    assert read_result(before).judged != read_result(after).judged
    told = printed(capsys, "gate", after, "--baseline", before, "--measure", "ndcg_text@300")
    said = "before was scored again, from its rankings, on the labels of after: 1 new label, 1 label with"
    assert said in told
    # the same search on the same labels has the same values
    stored = read_united([before, after], "final", "ndcg_text@300")
    rows = [
        {(row.query_id, row.measure): row.value for row in stored[folder].result.per_query}
        for folder in (before, after)
    ]
    assert rows[0] == {key: rows[1][key] for key in rows[0]}
    assert rows[0]["q3", "ndcg_text@300"]
    for folders in ((before, after), (after, before)):
        assert said in printed(capsys, "compare", *folders, "--measure", "ndcg_text@300")


BASELINE = ("per_query.csv", "judgments.csv", "documents.csv", "prices.csv", "record.json")
"""The files that docs/gate.md tells to keep."""


def _values(stored, folder):
    rows = stored[folder].result.per_query
    return {(row.query_id, row.stage, row.measure): row.value for row in rows}


def test_a_baseline_of_five_files_is_compared_on_its_labels(before_and_after, corpus, capsys):
    """The later run has its rankings and can be scored on the labels of the baseline, which cannot."""
    before, after = before_and_after
    kept = corpus / "kept"
    kept.mkdir()
    for name in BASELINE:
        shutil.copy(before / name, kept / name)
    told = printed(capsys, "gate", after, "--baseline", kept)
    assert (
        "after was scored again, from its rankings, on the labels of kept: 1 label that is new left out, "
        "1 label with another grade." in told
    )
    assert "keep chunk_offsets.csv, queries.csv, rankings.csv of kept as well" in told
    # the same search on the same labels has the same values, which are those that the baseline holds
    stored = read_united([after, kept], "final", None, kept)
    written = {
        (row["query_id"], row["stage"], row["measure"]): float(row["value"]) if row["value"] else None
        for row in table(kept / "per_query.csv")
    }
    assert _values(stored, kept) == _values(stored, after) == written
    clusters = [{row.query_id: row.cluster for row in stored[at].result.per_query} for at in (kept, after)]
    assert clusters[0] == clusters[1]
    for folders in ((kept, after), (after, kept)):
        assert "1 label that is new left out" in printed(capsys, "compare", *folders)
    # two of other labels, of which neither can be scored again
    (after / "rankings.csv").unlink()
    assert "the judged spans differ" in refused(capsys, "gate", after, "--baseline", kept)


@pytest.fixture
def counted_in_tokens(lexical, corpus):
    """Two runs of one search, by measures that count tokens, the later one with one label more."""
    folders = []
    for name in ("before", "after"):
        more = "measures: [ndcg_text_tokens@100, ndcg_evidence_tokens@100, ndcg_exp@3, tokens@3]"
        path = lexical(retrieve="{kind: bm25, top_k: 10}", more=more)
        folders.append(shutil.move(bench(path)[1], corpus / name))
        with (corpus / "labels.csv").open("a", newline="", encoding="utf-8") as file:
            csv.writer(file).writerow(["q1", "people", SENTENCES["people"][1], 2])
    record = json.loads((folders[0] / "record.json").read_text(encoding="utf-8"))
    record["date"] = record["date"].replace(record["date"][:4], "2020", 1)
    (folders[0] / "record.json").write_text(json.dumps(record), encoding="utf-8")
    return folders


def test_measures_of_tokens_are_scored_again(counted_in_tokens, capsys):
    before, after = counted_in_tokens
    told = printed(capsys, "gate", after, "--baseline", before, "--measure", "ndcg_text_tokens@100")
    assert "before was scored again, from its rankings, on the labels of after: 1 new label." in told
    assert "Left out" not in told
    stored = read_united([before, after], "final", None)
    # the same search on the same labels has the same values, by every measure
    written = {
        (row["query_id"], row["stage"], row["measure"]): float(row["value"]) if row["value"] else None
        for row in table(after / "per_query.csv")
    }
    assert _values(stored, before) == written
    assert {measure for _, _, measure in written} == {
        "ndcg_text_tokens@100",
        "ndcg_evidence_tokens@100",
        "ndcg_exp@3",
        "tokens@3",
    }
    earlier = {(row["query_id"], row["measure"]): row["value"] for row in table(before / "per_query.csv")}
    assert earlier["q1", "ndcg_text_tokens@100"] != str(written["q1", "retrieve", "ndcg_text_tokens@100"])


def test_measures_of_tokens_are_left_out_where_their_places_are_not_kept(counted_in_tokens, capsys):
    """As in results of earlier versions."""
    before, after = counted_in_tokens
    (before / "token_starts.csv").unlink()
    told = printed(capsys, "gate", after, "--baseline", before)
    assert (
        "Left out of the comparison, ndcg_text_tokens@100 and ndcg_evidence_tokens@100: before "
        "lacks the places of tokens in all documents (token_starts.csv)." in told
    )
    assert "ndcg_exp@3" in told
    refusal = refused(capsys, "gate", after, "--baseline", before, "--measure", "ndcg_text_tokens@100")
    assert "ndcg_text_tokens@100 cannot be scored again" in refusal
    assert "lacks the places of tokens" in refusal


def test_the_places_of_tokens_are_read_of_documents_that_are_ranked_or_judged(counted_in_tokens):
    before, _ = counted_in_tokens
    settings = [row["setting"] for row in table(before / "chunks.csv")]
    tokenizers = dict.fromkeys(settings, table(before / "token_starts.csv")[0]["tokenizer"])
    rows = [row for row in table(before / "rankings.csv") if row["chunk_id"].startswith("engines:")]
    save_table(before / "rankings.csv", rows)
    for judged, documents in ((set(), {"engines"}), ({"people"}, {"engines", "people"})):
        inputs = read_scoring_inputs(before, tokenizers, judged)
        assert [set(of_setting) for of_setting in inputs.tokens.values()] == [documents]


def test_a_damaged_place_of_a_token_is_told(counted_in_tokens, capsys):
    before, after = counted_in_tokens
    path = before / "token_starts.csv"
    plain = path.read_text(encoding="utf-8")
    cells = plain.splitlines()[1].rpartition(",")[2]
    for damage in ("", "4 x", "4 -1"):
        path.write_text(plain.replace(cells, damage, 1), encoding="utf-8")
        assert "token_starts.csv is damaged" in refused(capsys, "gate", after, "--baseline", before)
