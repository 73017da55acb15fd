"""`harness compare` and `harness gate` over folders of results."""

import json
import shutil

import pytest

from tests.command import one_line, printed, refused, run, table, write_table

QUERIES = 40


def write_results(folder, means, labels="l1", grade="4", measure="ndcg_exp@10"):
    """Results of settings whose query values lie around their means, the same way for all."""
    folder.mkdir(parents=True)
    rows = []
    for setting, mean in means.items():
        for query in range(QUERIES):
            split = "validation" if query % 3 == 0 else "train"
            wiggle = 0.1 * ((query * 7) % 11 - 5) / 5
            own = 0.02 * ((query * 5 + len(setting)) % 7 - 3) / 3
            rows.append([setting, "retrieve", f"q{query}", split, measure, mean + wiggle + own])
    write_table(folder / "per_query.csv", ("setting", "stage", "query_id", "split", "measure", "value"), rows)
    write_table(folder / "documents.csv", ("document", "status", "text_sha256"), [["d", "read", "abc"]])
    columns = ("query_id", "document", "start", "end", "grade", "scored_on")
    write_table(folder / "judgments.csv", columns, [["q0", "d", 0, 5, grade, "yes"]])
    record = {
        "config": {"queries": "q.csv", "labels": "l.csv", "relevance": {}, "anchor": {}, "parser": {}},
        "hashes": {"q.csv": "q1", "l.csv": labels, "d.txt": "abc"},
        "counts": {"conventions": []},
    }
    (folder / "record.json").write_text(json.dumps(record))
    return folder


def test_a_clear_difference_is_called_real_and_the_better_setting_named(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    folder = write_results(tmp_path / "r", {"small": 0.4, "large": 0.6, "largest": 0.6})
    code, out, _ = run(capsys, "compare", folder, "--csv", tmp_path / "d.csv")
    assert code == 0
    found = {(row["setting"], row["against"]): row for row in table(tmp_path / "d.csv")}
    assert len(found) == 3
    clear = next(row for pair, row in found.items() if set(pair) == {"small", "large"})
    assert abs(float(clear["difference"])) == pytest.approx(0.2, abs=0.02)
    assert float(clear["p"]) < 0.01
    assert clear["finding"] == "real"
    assert "better" in out.split("the clearest first")[1]
    # against a baseline there is one row a setting
    run(capsys, "compare", folder, "--baseline", "small", "--csv", tmp_path / "d.csv")
    pairs = [(row["setting"], row["against"]) for row in table(tmp_path / "d.csv")]
    assert sorted(pairs) == [("large", "small"), ("largest", "small")]


def test_an_unknown_measure_stage_or_folder_is_named(tmp_path, capsys):
    folder = write_results(tmp_path / "r", {"a": 0.4, "b": 0.5})
    assert "ndcg_exp@10" in run(capsys, "compare", folder, "--measure", "map")[2]
    assert "retrieve" in run(capsys, "compare", folder, "--stage", "rerank")[2]
    assert "no benchmark results (no such folder, from " in run(capsys, "compare", tmp_path / "none")[2]
    # a price says nothing of quality, scored or not
    assert "tokens@5 is a cost" in refused(capsys, "compare", folder, "--measure", "tokens@5")
    path = folder / "per_query.csv"
    path.write_text(path.read_text().replace("ndcg_exp@10", "tokens@10"))
    assert "tokens@10 is a cost" in refused(capsys, "compare", folder)


def check_gate(capsys, base, worse, measure):
    """Assert that a worse result fails the gate, with a JUnit report, and an equal one passes."""
    same, report = base.with_name("same"), base.with_name("j.xml")
    shutil.copytree(base, same)
    words = ("--baseline", base, "--measure", measure, "--max-drop", "0.02")
    code, out, _ = run(capsys, "gate", worse, *words, "--junit", report)
    assert (code, f"FAILED  a: {measure} 0.6007 to 0.5007" in out) == (1, True)
    assert "<failure" in report.read_text()
    assert "passed" in printed(capsys, "gate", same, *words)


def test_the_gate_fails_on_a_real_drop_alone(tmp_path, capsys):
    base, worse = (write_results(tmp_path / name, {"a": mean}) for name, mean in (("b", 0.6), ("w", 0.5)))
    check_gate(capsys, base, worse, "ndcg_exp@10")
    assert "passed" in printed(capsys, "gate", worse, "--baseline", base, "--max-drop", "0.15")


def cut_by(folder, size):
    """Record in results how their setting cuts documents."""
    path = folder / "record.json"
    record = json.loads(path.read_text())
    record["config"]["settings"] = [{"name": "a", "chunk": {"kind": "sentence", "chunk_size": size}}]
    path.write_text(json.dumps(record))


def test_a_measure_of_chunks_finds_no_change_between_chunkings(tmp_path, capsys):
    base = write_results(tmp_path / "base", {"a": 0.6})
    worse = write_results(tmp_path / "worse", {"a": 0.5})
    words = ("gate", worse, "--baseline", base)
    for before, after, apart in ((500, 500, False), (500, 1000, True)):
        cut_by(base, before)
        cut_by(worse, after)
        note = "documents are cut differently than in the baseline (a)"
        assert (note in one_line(run(capsys, *words)[1])) == apart
        changes = run(capsys, "compare", base, worse)[1].split("Verdict:")[0]
        assert "what has changed" in changes
        assert ("not comparable" in changes) == apart


def add_prices(folder, tokens, depth="10 ranks"):
    columns = ("setting", "stage", "measure", "depth", "tokens_read")
    rows = ([name, "retrieve", "ndcg_exp@10", depth, count] for name, count in tokens.items())
    write_table(folder / "prices.csv", columns, rows)
    return folder


def test_the_front_and_the_cheapest_of_the_tied_are_reported(tmp_path, capsys):
    folder = write_results(tmp_path / "r", {"small": 0.4, "large": 0.6, "larger": 0.6})
    add_prices(folder, {"small": 500, "large": 4000.5, "larger": 2000})
    output = printed(capsys, "compare", folder)
    assert all(f" {price} yes " in output for price in ("500", "2,000", "4,000"))
    # the two are equal, so the cheaper one is the one to use
    assert "Use larger." in output
    assert "it costs 2,000 instead of 4,000 tokens@10." in output
    assert "it costs" not in printed(capsys, "compare", folder, "--tolerance", "0.0001")
    limited = printed(capsys, "compare", folder, "--price-limit", "1000")
    assert "Use small, the only setting within the price limit." in limited
    assert "--tolerance must be a number above 0" in refused(capsys, "compare", folder, "--tolerance", "-1")


def test_costs_to_different_depths_or_of_some_results_only_are_left_out(tmp_path, capsys):
    one = add_prices(write_results(tmp_path / "one", {"a": 0.4}), {"a": 500})
    two = write_results(tmp_path / "two", {"a": 0.5})
    assert "not all results have a prices.csv" in printed(capsys, "compare", one, two)
    add_prices(two, {"a": 900}, depth="5 ranks")
    assert "that counts what ndcg_exp@10 reads (10 ranks)" in printed(capsys, "compare", one, two)
    add_prices(two, {"a": 900})
    output = printed(capsys, "compare", one, two)
    assert "tokens@10 front" in output


def test_markdown_for_a_pull_request_has_verdict_leaders_and_real_differences(tmp_path, capsys):
    folder = write_results(tmp_path / "r", {"small|x": 0.4, "large_y": 0.6, "larger": 0.6})
    words = ("--format", "markdown", "--output", tmp_path / "c.md")
    assert printed(capsys, "compare", folder, *words) == ""
    picture, verdict, _, leaders, *_, differences = (tmp_path / "c.md").read_text().split("\n\n")[:7]
    assert picture.endswith("](c.svg)")
    assert "<svg" in (tmp_path / "c.svg").read_text()
    assert verdict.startswith("- Verdict: Use larger. ")
    assert leaders.splitlines()[-1].startswith(r"| small\|x | ")
    assert [line.split(" | ")[-1] for line in differences.splitlines()[2:]] == ["better |"] * 2
    out = printed(capsys, "compare", folder, "--format", "latex")
    assert r"large\_y &" in out
    assert r"\toprule" in out


def test_folders_of_one_name_are_distinguished_by_the_least_of_their_paths(tmp_path, capsys):
    one, two = (write_results(tmp_path / name / "q", {"a": mean}) for name, mean in (("m", 0.4), ("t", 0.6)))
    out = printed(capsys, "compare", one, two)
    assert [name in out for name in ("m/q: a", "t/q: a", str(tmp_path))] == [True, True, False]


def test_a_result_is_not_compared_with_itself(tmp_path, capsys):
    one = write_results(tmp_path / "one", {"a": 0.4})
    assert "is named twice" in refused(capsys, "compare", one, one)
    path = tmp_path / "d.csv"
    # the gate has two parts to play
    assert run(capsys, "gate", one, "--baseline", one)[0] == 0
    # of a single setting there are no differences
    assert run(capsys, "compare", one, "--csv", path)[0] == 0
    assert table(path) == []
    assert path.read_text().strip("\ufeff").startswith("setting,against,n,mean,")


def test_one_tolerance_holds_in_all_tables(tmp_path, capsys):
    old, new = (write_results(tmp_path / name, {"a": mean}) for name, mean in (("old", 0.4), ("new", 0.46)))
    shown = ["--tolerance", "0.1"]
    for words in (["compare", old, new], ["compare", reranked_results(tmp_path / "r", -0.05)]):
        out = printed(capsys, *words, *shown)
        assert "±0.1" in out
        assert "±0.02" not in out
        assert "±0.02" in printed(capsys, *words)


def reranked_results(folder, gain):
    """Results with both stages: reranking adds ``gain`` to every query of `big`, and nothing to `small`."""
    write_results(folder, {"big": 0.4, "small": 0.4})
    rows = table(folder / "per_query.csv")
    for row in rows[:]:
        own = gain * (1 + int(row["query_id"][1:]) % 3) / 2 if row["setting"] == "big" else 0.0
        rows.append(row | {"stage": "rerank", "value": float(row["value"]) + own})
    write_table(folder / "per_query.csv", rows[0], (row.values() for row in rows))
    return folder


def test_a_reranker_that_harms_is_reported(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    code, out, _ = run(capsys, "compare", reranked_results(tmp_path / "r", -0.1))
    assert code == 0
    output = out[out.index("what the reranker does to ndcg_exp@10") :].splitlines()
    big = next(line.split() for line in output if line.startswith("big"))
    small = next(line.split() for line in output if line.startswith("small"))
    # the gains are −0.05, −0.1 and −0.15 by turns over 40 queries, 14 + 13 + 13 of them
    assert big[4] == "-0.099"
    assert (big[-1], small[-3:]) == ("worse", ["equal", "within", "0.02"])
    assert small[4] == "0.000"


def test_results_of_other_texts_are_not_compared(tmp_path, capsys):
    one, two = (write_results(tmp_path / name, {name: 0.4}) for name in ("one", "two"))
    path = two / "documents.csv"
    path.write_text(path.read_text().replace("abc", "abd"))
    assert "the text differs for the documents d" in refused(capsys, "compare", one, two)


def test_two_runs_are_distinguished_setting_by_setting_first(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    old = write_results(tmp_path / "old", {"a": 0.4, "b": 0.5})
    new = write_results(tmp_path / "new", {"a": 0.45, "b": 0.5, "c": 0.6})
    code, out, _ = run(capsys, "compare", old, new)
    assert code == 0
    assert out.index("what has changed in ndcg_exp@10") < out.index("means over")
    lines = out[: out.index("means over")].splitlines()
    same, other = (next(line.split() for line in lines if line.startswith(name)) for name in "ba")
    # a gains 0.05 on every query; nothing else changes
    assert (other[4], other[-2:]) == ("+0.050", ["40/0/0", "better"])
    assert (same[4], same[-4:]) == ("0.000", ["0/40/0", "equal", "within", "0.02"])
    assert not any(line.startswith("c ") for line in lines)
