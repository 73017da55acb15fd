"""`harness compare` and `harness gate` by a measure of answers."""

import json

import pytest

from tests.command import one_line, printed, refused, run, table, write_table
from tests.test_compare_command import QUERIES, check_gate, write_results

COLUMNS = ["setting", "query_id", "split", "cluster", "measure", "value", "reason", "details"]
STAGE = {"retrieve": {"kind": "bm25"}}


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
    code, out, _ = run(capsys, "compare", folder, "--measure", "token_f1", "--csv", tmp_path / "d.csv")
    assert code == 0
    assert "Use a, answerer, top n 1. It is shown to be best (95%), 0.20 above the next." in one_line(out)
    (row,) = table(tmp_path / "d.csv")
    assert (row["setting"], row["against"], row["finding"]) == ("a", "b", "real")
    assert float(row["difference"]) == pytest.approx(0.2, abs=0.02)
    code, out, _ = run(capsys, "compare", folder)
    leader = "The leader by NDCG over the first 10 passages is b, answerer, top n 2, but"
    assert one_line(out).startswith(f"Verdict: {leader}")
    assert "Answers were measured too: --measure token_f1 compares them." in one_line(out)
    code, out, _ = run(capsys, "compare", folder, "--measure", "token_f1", "--format", "json")
    found = json.loads(out)
    assert (found["measure"], found["decision"], found["leader"]) == ("token_f1", "best", "a")


def test_settings_that_differ_only_in_how_they_answer_are_compared_by_answers(tmp_path, capsys):
    folder = write_answers(tmp_path / "r", {"a": 0.6, "b": 0.4}, measures=("refusal", "token_f1"), alike=True)
    # the measure that takes the whole answer, not the first that is configured
    assert "Use answerer, top n 1. It is shown to be best" in printed(capsys, "compare", folder)
    assert "ndcg_exp@10" in printed(capsys, "compare", folder, "--measure", "ndcg_exp@10")


def test_where_less_is_better_values_are_taken_from_1(tmp_path, capsys):
    folder = write_answers(
        tmp_path / "r", {"a": 0.6, "b": 0.4}, measures=("noise",), kinds={"noise": "noise_sensitivity"}
    )
    assert "Use b, answerer, top n 2. It is shown to be best" in printed(
        capsys, "compare", folder, "--measure", "noise"
    )


def test_questions_that_not_all_have_a_value_for_are_left_out_and_counted(tmp_path, capsys):
    folder = write_answers(
        tmp_path / "r", {"a": 0.6, "b": 0.4}, missing={("a", 3), ("b", 4), ("a", 5), ("b", 5)}
    )
    _, out, _ = run(capsys, "compare", folder, "--measure", "token_f1")
    # of 40 questions one has no value at all, and two have one under a single setting
    assert "token_f1: means over 37 queries" in out
    assert "2 queries left out, as only some settings have a value of token_f1" in one_line(out)
    nothing = write_answers(tmp_path / "n", {"a": 0.5}, missing={("a", query) for query in range(QUERIES)})
    code, _, err = run(capsys, "compare", nothing, "--measure", "token_f1")
    assert (code, "No query has a value of token_f1 under every setting" in one_line(err)) == (1, True)


def test_values_of_other_scorers_are_not_compared(tmp_path, capsys):
    names = {"measures": ("faithfulness",)}
    one = write_answers(tmp_path / "one", {"a": 0.6}, judge="big", **names)
    other = write_answers(tmp_path / "other", {"a": 0.4}, judge="small", **names)
    assert "the model that scores answers differ: big and small" in refused(
        capsys, "compare", one, other, "--measure", "faithfulness"
    )
    assert "answers were not scored by token_f1; it has faithfulness" in refused(
        capsys, "compare", write_answers(tmp_path / "f1", {"a": 0.6}), other, "--measure", "token_f1"
    )
    # token F1 asks nobody, and rests on the questions alone: other labels do not matter
    one = write_answers(tmp_path / "three", {"a": 0.6}, judge="big")
    other = write_answers(tmp_path / "four", {"a": 0.4}, judge="small")
    columns = ("query_id", "document", "start", "end", "grade", "scored_on")
    write_table(other / "judgments.csv", columns, [["q0", "d", 0, 5, 1, "yes"]])
    assert run(capsys, "compare", one, other, "--measure", "token_f1")[0] == 0
    assert run(capsys, "compare", one, other)[0] == 1


def test_the_gate_fails_on_worse_answers(tmp_path, capsys):
    base, worse = (write_answers(tmp_path / name, {"a": mean}) for name, mean in (("b", 0.6), ("w", 0.5)))
    check_gate(capsys, base, worse, "token_f1")
    # by rankings nothing has changed
    assert run(capsys, "gate", worse, "--baseline", base, "--measure", "ndcg_exp@10")[0] == 0
    # where no answer came, nothing is known: the question is left out, and that is said
    gone = write_answers(tmp_path / "gone", {"a": 0.6}, missing={("a", 3)})
    code, out, _ = run(capsys, "gate", gone, "--baseline", base, "--measure", "token_f1")
    assert (code, "1 query left out" in out) == (0, True)


def test_the_gate_repeats_the_warnings_that_bear_on_answers(tmp_path, capsys):
    base, now = (write_answers(tmp_path / name, {"a": 0.6}) for name in ("b", "n"))
    record = json.loads((now / "record.json").read_text())
    kinds = {"language": "Half of the questions are in Chinese.", "depth": "Rankings end at rank 3."}
    record["warnings"] = [
        {"kind": kind, "text": text, "measures": [], "settings": []} for kind, text in kinds.items()
    ]
    (now / "record.json").write_text(json.dumps(record))
    _, out, _ = run(capsys, "gate", now, "--baseline", base, "--measure", "token_f1")
    assert "warning: Half of the questions are in Chinese." in one_line(out)
    assert "Rankings end" not in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--measure", "token_f1", "--stage", "retrieve"), "--stage does not apply to it"),
        (("--measure", "exact_match"), "was not scored by exact_match"),
    ],
)
def test_what_cannot_be_compared_is_refused(tmp_path, capsys, words, message):
    folder = write_answers(tmp_path / "r", {"a": 0.6, "b": 0.4})
    assert message in refused(capsys, "compare", folder, *words)


def test_the_encoder_counts_only_where_a_measure_embeds(tmp_path, capsys):
    folders = []
    for encoder in ("one", "other"):
        folder = write_answers(
            tmp_path / encoder,
            {encoder: 0.6},
            measures=("by_vectors", "by_pairs"),
            kinds=dict.fromkeys(("by_vectors", "by_pairs"), "answer_similarity"),
        )
        record = json.loads((folder / "record.json").read_text())
        record["config"]["answer_embedding"] = {"model": encoder}
        record["config"]["answer_measures"][1] |= {"by": "cross_encoder", "model": "mine"}
        (folder / "record.json").write_text(json.dumps(record))
        folders.append(folder)
    assert "the encoder of answers differ: one and other" in refused(
        capsys, "compare", *folders, "--measure", "by_vectors"
    )
    assert "by_pairs" in printed(capsys, "compare", *folders, "--measure", "by_pairs")
