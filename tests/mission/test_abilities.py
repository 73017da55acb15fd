"""The document on abilities and two tiers of measures: the four abilities of RGB, and its files."""

import json
import threading
from dataclasses import replace

import pytest

from benchmarks.rule_endpoint import Rules, server
from harness.values import Judgment
from tests.answer.helpers import case
from tests.command import exit_code, refused, table, write_files
from tests.mission.helpers import measured

YARD = {
    "a.txt": "The yard holds 4,200 vehicles.",
    "b.txt": "The yard in Dayton was built by Ann Lee.",
    "e.txt": "The yard in Dayton was built in 1987.",
    "c.txt": "The yard is swept daily.",
    "d.txt": "The vehicles of the yard are insured.",
    "queries.csv": "query_id,text,answer,false_answer,answerable\n"
    'q1,How many vehicles fit the yard?,"4,200","9,900",yes\n'
    'q2,Who built the yard in Dayton and when?,"[[""Ann Lee""], [""1987""]]","[""Bo Ray"", ""1950""]",yes\n'
    "q3,Who owns the yard?,,,no\n",
    "labels.csv": 'query_id,document,quote,grade\nq1,a,"holds 4,200 vehicles",4\n'
    "q2,b,by Ann Lee,4\nq2,e,in 1987,4\n",
    "c.yaml": "name: yard\ndocuments: '*.txt'\nqueries: queries.csv\nlabels: labels.csv\n"
    "chunk: {kind: recursive, chunk_size: 60}\nretrieve: {kind: bm25}\n"
    "read: [{kind: noise, ratio: [0, 1]}, {kind: counterfactual}]\n"
    "answer: {kind: llm, prompt: [abilities, abilities_unwarned], top_n: 2, endpoint: {model: rules, "
    "base_url: 'URL', api_key_env: null}}\n"
    "answer_measures: [all_parts, {kind: refusal, where: anywhere, phrases: [insufficient information]}, "
    "error_detected, error_corrected]\n",
}


WARNED, BARE = "prompt=abilities", "prompt=abilities_unwarned"
NOISE_0, NOISE_1, FALSE = "noise ratio=0.0", "noise ratio=1.0", "counterfactual"


@pytest.fixture(scope="module")
def yard(tmp_path_factory):
    """The folder of the benchmark, run at an endpoint that answers by rules from what it reads."""
    folder = tmp_path_factory.mktemp("yard")
    write_files(folder, {"rules.csv": YARD["queries.csv"]})
    with server(0, Rules.of(folder / "rules.csv")) as serving, pytest.MonkeyPatch.context() as patch:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        url = f"http://localhost:{serving.server_port}/v1"
        write_files(folder, {name: text.replace("URL", url) for name, text in YARD.items()})
        (folder / "rules.csv").unlink()
        patch.chdir(folder)
        assert exit_code("bench", "c.yaml") == 0
        yield folder
        serving.shutdown()


def means(folder, measure):
    rows = table(folder / "results" / "yard" / "answer_summary.csv")
    return {
        row["setting"]: row["mean"] and round(float(row["mean"]), 3)
        for row in rows
        if row["measure"] == measure and row["split"] == "all"
    }


def test_abil_1_noise_at_a_ratio_is_a_factor_of_a_sweep(yard):
    """abil-1: noise robustness at noise ratios."""

    right = means(yard, "all_parts")
    assert (right[f"{NOISE_0} {WARNED}"], right[f"{NOISE_1} {WARNED}"]) == (1, 0)
    replaced = [row for row in table(yard / "results/yard/reply_passages.csv") if row["change"] == "noise"]
    assert {row["rank"] for row in replaced} == {""}
    assert not any(row["chunk_id"].startswith("a:") for row in replaced if row["query_id"] == "q1")
    # rankings are those of the retriever, whatever is read of them: six settings, one list of values
    by_setting = {}
    for row in table(yard / "results/yard/per_query.csv"):
        values = by_setting.setdefault(row["setting"], [])
        values.append((row["stage"], row["query_id"], row["measure"], row["value"]))
    assert len(by_setting) == 6
    assert len(set(map(tuple, by_setting.values()))) == 1
    # so rankings tie by construction, and the verdict is on answers, where no share of noise is to be "used"
    verdict = json.loads((yard / "results/yard/verdict.json").read_text("utf-8"))
    assert verdict["measure"] == "all_parts"
    assert "use" not in {one["group"] for one in verdict["settings"]}


def test_abil_2_whoever_reads_noise_alone_is_right_to_refuse(yard):
    """abil-2: negative rejection beside noise in one run."""

    refusal = means(yard, "refusal")
    # the documents hold an answer to two of the three questions, and the passages read to none
    assert refusal[f"{NOISE_1} {WARNED}"] == refusal[f"{NOISE_0} {WARNED}"] == 1
    refused_by = {}
    for row in table(yard / "results/yard/replies.csv"):
        if "insufficient information" in row["answer"]:
            refused_by.setdefault(row["setting"], set()).add(row["query_id"])
    assert refused_by[f"{NOISE_0} {WARNED}"] == {"q3"}
    assert refused_by[f"{NOISE_1} {WARNED}"] == {"q1", "q2", "q3"}


@pytest.mark.parametrize(("read", "right"), [("Debt was $8,622.", 1), ("It earned 62 in all.", 0)])
def test_abil_2_a_figure_within_another_is_no_golden_answer_that_was_read(read, right):
    label = Judgment("q", "elsewhere", 0, 9, 4)
    silent = case("I cannot answer this.", "62", passages=[read], judgments=[label])
    assert measured("refusal", silent)[0].value == right


def test_abil_3_an_answer_of_several_parts_needs_them_all(yard):
    """abil-3: information integration over several documents."""

    rows = table(yard / "results/yard/answer_scores.csv")
    (row,) = [
        row
        for row in rows
        if (row["setting"], row["query_id"], row["measure"]) == (f"{NOISE_0} {WARNED}", "q2", "all_parts")
    ]
    assert (float(row["value"]), json.loads(row["details"])) == (1, {"parts": [1, 1]})
    # each of the two is in a document of its own
    read = table(yard / "results/yard/reply_passages.csv")
    shown = [
        row["chunk_id"][0]
        for row in read
        if (row["setting"], row["query_id"]) == (f"{NOISE_0} {WARNED}", "q2")
    ]
    assert sorted(shown) == ["b", "e"]
    # whoever has read one of them knows a part, and that is no answer
    golden = (("Ann Lee",), ("1987",))
    score, _ = measured("all_parts", replace(case("It was Ann Lee.", "Ann Lee, 1987"), parts=golden))
    assert (score.value, score.details) == (0, {"parts": [1, 0]})


def test_abil_4_false_facts_are_detected_and_corrected_with_a_warning(yard):
    """abil-4: counterfactual robustness: error detected and error corrected; with and without a warning in
    the prompt.
    """

    detected, corrected, right = (
        means(yard, name) for name in ("error_detected", "error_corrected", "all_parts")
    )
    assert (detected[f"{FALSE} {WARNED}"], corrected[f"{FALSE} {WARNED}"]) == (1, 1)
    # without a warning the model repeats the false facts
    assert (detected[f"{FALSE} {BARE}"], right[f"{FALSE} {BARE}"]) == (0, 0)
    # nothing false was read, and nobody detects what is not there
    assert detected[f"{NOISE_0} {WARNED}"] == ""
    read = table(yard / "results/yard/reply_passages.csv")
    false = {row["query_id"]: row["text"] for row in read if row["change"] == "altered"}
    assert "9,900 vehicles" in false["q1"]
    assert "Bo Ray" in "".join(row["text"] for row in read if row["query_id"] == "q2")
    assert "in 1950" in "".join(row["text"] for row in read if row["query_id"] == "q2")


def test_abil_4_what_was_read_can_be_taken_along(yard, monkeypatch):
    monkeypatch.chdir(yard)
    words = ("--setting", f"{FALSE} {BARE}", "--output", "x.jsonl")
    assert exit_code("export-answers", "results/yard", *words) == 0
    assert "9,900 vehicles" in (yard / "x.jsonl").read_text(encoding="utf-8")


def test_alterations_need_an_answer(yard, monkeypatch, capsys):
    monkeypatch.chdir(yard)
    lines = [line for line in YARD["c.yaml"].splitlines() if not line.startswith("answer")]
    (yard / "bare.yaml").write_text("\n".join(lines), encoding="utf-8")
    assert "no `answer` section" in refused(capsys, "bench", "bare.yaml")


def test_a_plan_knows_what_alterations_ask(yard, monkeypatch, capsys):
    monkeypatch.chdir(yard)
    assert exit_code("bench", "c.yaml", "--dry-run") == 0
    # the run has asked all of it
    assert "calls" not in capsys.readouterr().out
    other = (yard / "c.yaml").read_text(encoding="utf-8").replace("model: rules", "model: other")
    (yard / "other.yaml").write_text(other, encoding="utf-8")
    assert exit_code("bench", "other.yaml", "--dry-run") == 0
    # seven of the two times nine prompts differ
    assert "7 calls to make" in " ".join(capsys.readouterr().out.split())


def test_abil_5_files_of_rgb_in_both_languages_are_a_corpus(tmp_path):
    """abil-5: RGB's files read (both languages)."""

    files = {
        "en_fact.json": '{"id": 0, "query": "Who won?", "answer": "Norway", "fakeanswer": ["U.S."], '
        '"positive": ["Norway won."], "positive_wrong": ["U.S. won."], "negative": ["Who?"]}\n',
        "zh_int.json": '{"id": 1, "query": "何时？", "answer": ["1月3日", "1月12日"], '
        '"positive": [["1月3日"], ["1月12日"]], "negative": []}\n',
    }
    write_files(tmp_path / "rgb", files)
    assert exit_code("import", "rgb", tmp_path / "rgb", "--to", tmp_path / "corpus") == 0
    queries = {row["query_id"]: row for row in table(tmp_path / "corpus" / "queries.csv")}
    assert queries["en_fact-0"]["false_answer"] == "U.S."
    assert json.loads(queries["zh_int-1"]["answer"]) == [["1月3日"], ["1月12日"]]
    # every passage is a document, and the labels say which hold the answer, or a part of it
    texts = {path.stem: path.read_text("utf-8") for path in (tmp_path / "corpus" / "documents").iterdir()}
    graded = {
        (row["query_id"], texts[row["document"]][int(row["start"]) : int(row["end"])]): row["grade"]
        for row in table(tmp_path / "corpus" / "labels.csv")
    }
    assert graded == {
        ("en_fact-0", "Norway won."): "4",
        ("en_fact-0", "Who?"): "0",
        ("zh_int-1", "1月3日"): "4",
        ("zh_int-1", "1月12日"): "4",
    }
