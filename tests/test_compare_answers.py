"""`harness compare` and `harness gate` by a measure of answers."""

import json

import pytest

from tests.command import printed, refused, run, table, write_table
from tests.test_compare_command import QUERIES, check_gate, write_results

COLUMNS = ["setting", "query_id", "split", "cluster", "measure", "value", "reason", "details"]
STAGE = {"retrieve": {"kind": "bm25"}}
F1 = ("--measure", "token_f1")


def write_answers(folder, means, *, measures=("token_f1",), kinds=None, missing=(), judge=None, alike=False):
    """Results whose answers lie around their means by each measure; no value for (setting, query) in missing.

    With ``alike`` the settings have the same rankings.
    """
    write_results(
        folder, dict.fromkeys(means, 0.5) if alike else {s: 0.4 + i / 10 for i, s in enumerate(means)}
    )
    rows = []
    for setting, mean in means.items():
        for measure in measures:
            for query in range(QUERIES):
                split = "validation" if query % 3 == 0 else "train"
                wiggle = 0.1 * ((query * 7) % 11 - 5) / 5
                value = mean + wiggle + 0.02 * ((query * 5 + len(setting)) % 7 - 3) / 3
                scored = ("", "not answered: timeout") if (setting, query) in missing else (value, "")
                rows.append([setting, f"q{query}", split, "", measure, *scored, "{}"])
    write_table(folder / "answer_scores.csv", COLUMNS, rows)
    record = json.loads((folder / "record.json").read_text())
    kinds = kinds or {}
    record["config"]["answer_measures"] = [{"kind": kinds.get(m, m), "name": m} for m in measures]
    record["config"]["answer_judge"] = judge and {"endpoint": {"model": judge}}
    record["config"]["settings"] = [
        {"name": s, "answer": {"top_n": i + 1}, **({} if alike else {"chunk": {"kind": s}}), **STAGE}
        for i, s in enumerate(means)
    ]
    (folder / "record.json").write_text(json.dumps(record))
    return folder


def test_settings_are_compared_by_their_answers(tmp_path, capsys):
    # rankings say the opposite: b is 0.1 above a there
    folder = write_answers(tmp_path / "r", {"a": 0.6, "b": 0.4})
    out = printed(capsys, "compare", folder, *F1, "--csv", tmp_path / "d.csv")
    assert "Use a, answerer, top n 1. It is shown to be best (95%), 0.20 above the next." in out
    (row,) = table(tmp_path / "d.csv")
    assert (row["setting"], row["against"], row["finding"]) == ("a", "b", "real")
    assert float(row["difference"]) == pytest.approx(0.2, abs=0.02)
    out = printed(capsys, "compare", folder)
    assert "The leader by NDCG over the first 10 passages is b, answerer, top n 2, but" in out
    assert "Answers were measured too: --measure token_f1 compares them." in out
    found = json.loads(run(capsys, "compare", folder, *F1, "--format", "json")[1])
    assert (found["measure"], found["decision"], found["leader"]) == ("token_f1", "best", "a")
    assert "--stage does not apply to it" in refused(capsys, "compare", folder, *F1, "--stage", "retrieve")
    said = refused(capsys, "compare", folder, "--measure", "exact_match")
    assert "was not scored by exact_match" in said


def test_settings_that_differ_only_in_how_they_answer_are_compared_by_answers(tmp_path, capsys):
    folder = write_answers(tmp_path / "r", {"a": 0.6, "b": 0.4}, measures=("refusal", "token_f1"), alike=True)
    # the measure that takes the whole answer, not the first that is configured
    assert "Use answerer, top n 1. It is shown to be best" in printed(capsys, "compare", folder)
    assert "ndcg_exp@10" in printed(capsys, "compare", folder, "--measure", "ndcg_exp@10")


def test_where_less_is_better_values_are_taken_from_1(tmp_path, capsys):
    noise = {"measures": ("noise",), "kinds": {"noise": "noise_sensitivity"}}
    folder = write_answers(tmp_path / "r", {"a": 0.6, "b": 0.4}, **noise)
    out = printed(capsys, "compare", folder, "--measure", "noise")
    assert "Use b, answerer, top n 2. It is shown to be best" in out


def test_questions_that_not_all_have_a_value_for_are_left_out_and_counted(tmp_path, capsys):
    missing = {("a", 3), ("b", 4), ("a", 5), ("b", 5)}
    out = printed(
        capsys, "compare", write_answers(tmp_path / "r", {"a": 0.6, "b": 0.4}, missing=missing), *F1
    )
    # of 40 questions one has no value at all, and two have one under a single setting
    assert "token_f1: means over 37 queries" in out
    assert "2 queries left out, as only some settings have a value of token_f1" in out
    # each lacks two of 40; of equals the first by name is named
    assert "a has the fewest, 38: all settings are compared on no more than these." in out
    nothing = write_answers(tmp_path / "n", {"a": 0.5}, missing={("a", query) for query in range(QUERIES)})
    said = refused(capsys, "compare", nothing, *F1)
    assert "No query has a value of token_f1 under every setting" in said


def test_values_of_other_scorers_are_not_compared(tmp_path, capsys):
    faithful = {"measures": ("faithfulness",)}
    one = write_answers(tmp_path / "one", {"a": 0.6}, judge="big", **faithful)
    other = write_answers(tmp_path / "other", {"a": 0.4}, judge="small", **faithful)
    said = refused(capsys, "compare", one, other, "--measure", "faithfulness")
    assert "the model that scores answers differ: big and small" in said
    said = refused(capsys, "compare", write_answers(tmp_path / "f1", {"a": 0.6}), other, *F1)
    assert "answers were not scored by token_f1; it has faithfulness" in said
    # token F1 asks nobody, and rests on the questions alone: other labels do not matter
    one = write_answers(tmp_path / "three", {"a": 0.6}, judge="big")
    other = write_answers(tmp_path / "four", {"a": 0.4}, judge="small")
    columns = ("query_id", "document", "start", "end", "grade", "scored_on")
    write_table(other / "judgments.csv", columns, [["q0", "d", 0, 5, 1, "yes"]])
    assert run(capsys, "compare", one, other, *F1)[0] == 0
    assert run(capsys, "compare", one, other)[0] == 1


def test_the_gate_fails_on_worse_answers(tmp_path, capsys):
    base, worse = (write_answers(tmp_path / name, {"a": mean}) for name, mean in (("b", 0.6), ("w", 0.5)))
    check_gate(capsys, base, worse, "token_f1")
    # by rankings nothing has changed, and that this says nothing of answers is said
    code, out, _ = run(capsys, "gate", worse, "--baseline", base)
    assert code == 0
    assert "are not tested here: --measure token_f1 tests them." in out
    assert "not tested" not in run(capsys, "gate", worse, "--baseline", base, *F1)[1]
    assert run(capsys, "gate", worse, "--baseline", base, "--measure", "ndcg_exp@10")[0] == 0
    # where no answer came, nothing is known: the question is left out, and that is said
    gone = write_answers(tmp_path / "gone", {"a": 0.6}, missing={("a", 3)})
    assert "1 query left out" in printed(capsys, "gate", gone, "--baseline", base, *F1)


def test_the_gate_repeats_the_warnings_that_bear_on_answers(tmp_path, capsys):
    base, now = (write_answers(tmp_path / name, {"a": 0.6}) for name in ("b", "n"))
    record = json.loads((now / "record.json").read_text())
    kinds = {"language": "Half of the questions are in Chinese.", "depth": "Rankings end at rank 3."}
    record["warnings"] = [
        {"kind": kind, "text": text, "measures": [], "settings": []} for kind, text in kinds.items()
    ]
    (now / "record.json").write_text(json.dumps(record))
    out = printed(capsys, "gate", now, "--baseline", base, *F1)
    assert [text in out for text in kinds.values()] == [True, False]


def test_the_encoder_counts_only_where_a_measure_embeds(tmp_path, capsys):
    names, folders = ("by_vectors", "by_pairs"), []
    served = {"model": "other", "endpoint": {"model": "other", "dimensions": 64, "extra_body": {}}}
    for encoder in ("one", "other", "served"):
        kinds = dict.fromkeys(names, "answer_similarity")
        folder = write_answers(tmp_path / encoder, {encoder: 0.6}, measures=names, kinds=kinds)
        record = json.loads((folder / "record.json").read_text())
        record["config"]["answer_embedding"] = served if encoder == "served" else {"model": encoder}
        record["config"]["answer_measures"][1] |= {"by": "cross_encoder", "model": "mine"}
        (folder / "record.json").write_text(json.dumps(record))
        folders.append(folder)
    said = refused(capsys, "compare", *folders[:2], "--measure", "by_vectors")
    assert "the encoder of answers differ: one and other" in said
    # of one model, shorter vectors are others
    said = refused(capsys, "compare", *folders[1:], "--measure", "by_vectors")
    assert "the encoder of answers differ: other and" in said
    assert "by_pairs" in printed(capsys, "compare", *folders, "--measure", "by_pairs")
