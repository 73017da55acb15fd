"""label_sensitivity.csv: the means with the labels drawn longer and shorter, and what compare makes of it."""

from dataclasses import replace
from itertools import combinations

import pytest

from harness.comparison import Grounds, LabelSensitivity, label_parts, sensitivity_of
from harness.report import LabelSensitivityRow, read_any, read_graded_spans
from tests.command import bench, save_table, table
from tests.compare.build import conclude, noisy

FILE = "label_sensitivity.csv"


@pytest.fixture(scope="module")
def ran(module_config):
    measures = "[ndcg_evidence@300, ndcg_exp@3, ndcg_text_tokens@60, text_recall@3]"
    return bench(module_config(more=f"measures: {measures}"))


def test_every_setting_and_stage_is_scored_with_labels_of_all_lengths(ran):
    results, folder = ran
    rows = table(folder / FILE)
    # 2 settings, 2 stages, 2 measures that read a length of text, 8 ways of drawing the labels
    assert len(rows) == 2 * 2 * 2 * 8
    assert {row["measure"] for row in rows} == {"ndcg_evidence@300", "ndcg_text_tokens@60"}
    means = {(r.setting, r.stage, r.measure): r.mean for r in results.summary if r.split == "all"}
    for row in rows:
        if row["labels"] == "as labelled":
            assert float(row["mean"]) == means[row["setting"], row["stage"], row["measure"]]
            assert float(row["label_p50"]) == results.record.counts["label_characters_p50"]
    # the unanswerable query is left out here as in the summary
    assert {row["n_queries"] for row in rows} == {"4"}
    lengths = {row["labels"]: float(row["label_p50"]) for row in rows}
    assert lengths["trimmed to 25 %"] < lengths["as labelled"] < lengths["padded by 100"]


def label_sensitivity(folders, names, measure, stage="final"):
    rows = [
        (names[result, row.setting], row)
        for result, folder in folders.items()
        for row in read_any(folder, LabelSensitivityRow)
        if stage in ("final", row.stage)
    ]
    return sensitivity_of(rows, names.values()).get(measure)


def test_results_are_read_by_the_names_that_compare_gives_them(ran):
    _, folder = ran
    settings = ("chunk=90/0", "chunk=180/0")
    names = {("today", setting): f"today: {setting}" for setting in settings}
    found = label_sensitivity({"today": folder}, names, "ndcg_evidence@300")
    assert set(found.means) == set(names.values())
    first = label_sensitivity({"today": folder}, names, "ndcg_evidence@300", "retrieve")
    rows = [
        row
        for row in table(folder / FILE)
        if (row["setting"], row["measure"]) == ("chunk=90/0", "ndcg_evidence@300")
    ]
    for stage, one in (("rerank", found), ("retrieve", first)):
        expected = [float(row["mean"]) for row in rows if row["stage"] == stage]
        assert list(one.means["today: chunk=90/0"]) == expected
    # a setting that no file knows, or another measure: nothing is claimed
    assert label_sensitivity({"today": folder}, {**names, ("old", "x"): "x"}, "ndcg_evidence@300") is None
    assert label_sensitivity({"today": folder}, names, "ndcg_exp@3") is None


def test_the_answer_of_a_label_is_in_judgments_and_is_read_back(lexical, corpus):
    rows = table(corpus / "labels.csv")
    words = {row["query_id"]: row["quote"].split()[2] for row in rows[:-1]}
    answers = [*(row["quote"].split()[2] for row in rows[:-1]), ""]
    labels = [{**row, "answer": answer} for row, answer in zip(rows, answers, strict=True)]
    save_table(corpus / "labels.csv", labels)
    _, folder = bench(lexical(more="measures: [ndcg_evidence@300]"))
    written = table(folder / "judgments.csv")
    assert [row["answer"] != "" for row in written] == [True] * (len(rows) - 1) + [False]
    for row, judgment in zip(written, read_graded_spans(folder), strict=True):
        if judgment.answer is None:
            assert row["answer"] == ""
            continue
        start, end = judgment.answer
        assert row["answer"] == f"{start}-{end}"
        assert judgment.start <= start < end <= judgment.end
        assert row["snippet"][start - judgment.start : end - judgment.start] == words[row["query_id"]]


TEXT = "ndcg_text@5000"
WAYS = LabelSensitivity(
    ("as labelled", "padded by 250", "padded by 700"),
    (83.0, 583.0, 1483.0),
    {"small": (0.46, 0.44, 0.34), "large": (0.40, 0.43, 0.41), "page": (0.26, 0.30, 0.32)},
)


def test_only_pairs_of_different_chunkings_can_change_sign():
    chunkings = {"small": "a", "large": "b", "page": "c"}
    known = Grounds(sensitivity={TEXT: WAYS}, chunkings=chunkings)
    pairs = [(pair,) for pair in combinations(chunkings, 2)]
    assert [known.turns(pair, TEXT) for pair in pairs] == [("padded by 700",), (), ()]
    # with a reranker, say: what differs is not how documents are cut
    same = replace(known, chunkings={**chunkings, "large": "a"})
    assert same.turns(pairs[0], TEXT) == ()
    # nobody knows how they are cut: they are held to it
    assert replace(known, chunkings={}).turns(pairs[0], TEXT) == ("padded by 700",)
    # to be equal is no other sign
    equal = replace(WAYS, means={"small": (0.4, 0.4, 0.3), "large": (0.3, 0.4, 0.4)})
    assert equal.turns(("small", "large")) == ("padded by 700",)
    with pytest.raises(KeyError):
        WAYS.turns(("small", "none"))


def test_compare_shows_the_means_under_all_labels():
    verdict = conclude(replace(noisy(60, (0.5, 0.3)), measure=TEXT))
    assert label_parts(verdict) == ()
    (table,) = label_parts(replace(verdict, sensitivity={TEXT: WAYS}))
    assert table.rows[0] == ("small", "0.460", "0.440", "0.340")
    assert table.rows[-1] == ("median label, characters", "83", "583", "1,483")
