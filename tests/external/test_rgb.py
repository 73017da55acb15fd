"""RGB's files as a corpus, in the shapes that they have."""

import json

import pytest

from harness.values import wording_pattern
from tests.command import exit_code, printed, refused, table

PLAIN = {
    "id": 0,
    "query": "Who?",
    "answer": [["Ann Lee", "A. Lee"]],
    "positive": ["Ann Lee did.", "A. Lee"],
    "negative": ["Bo."],
}
PARTS = {
    "id": 1,
    "query": "何时？",
    "answer": ["1月3日", "1月12日"],
    "asnwer1": ["1月3日"],
    "answer2": ["1月12日"],
    "positive": [["一月三日\r\n即1月3日", "1月3日"], ["1月12日"]],
    "negative": [],
}
FALSE = {
    "id": 2,
    "query": "Which?",
    "answer": "Norway",
    "fakeanswer": ["U.S."],
    "positive": ["Norway won."],
    "positive_wrong": ["U.S. won."],
    "negative": ["Who won?", "Who won?"],
}


def written(path, *instances):
    path.write_text("\n".join(json.dumps(one, ensure_ascii=False) for one in instances), encoding="utf-8")
    return path


def test_every_shape_of_its_files(tmp_path, capsys):
    (tmp_path / "rgb").mkdir()
    written(tmp_path / "rgb" / "en_refine.json", PLAIN)
    written(tmp_path / "rgb" / "zh_int.json", PARTS)
    written(tmp_path / "rgb" / "en_fact.jsonl", FALSE)
    out = printed(capsys, "import", "rgb", tmp_path / "rgb", "--to", tmp_path / "corpus")
    assert "Next: harness bench configs/recipes/abilities_rgb.yaml It names corpora/rgb_sample: put" in out
    queries = {row["query_id"]: row for row in table(tmp_path / "corpus" / "queries.csv")}
    assert {name: row["type"] for name, row in queries.items()} == {
        "en_refine-0": "noise",
        "zh_int-1": "integration",
        "en_fact-2": "counterfactual",
    }
    # wordings of one answer, parts of one answer, one text
    assert json.loads(queries["en_refine-0"]["answer"]) == ["Ann Lee", "A. Lee"]
    assert json.loads(queries["zh_int-1"]["answer"]) == [["1月3日"], ["1月12日"]]
    assert (queries["en_fact-2"]["answer"], queries["en_fact-2"]["false_answer"]) == ("Norway", "U.S.")
    labels = table(tmp_path / "corpus" / "labels.csv")
    parts = [
        (row["document"], row["grade"], row["evidence"]) for row in labels if row["query_id"] == "zh_int-1"
    ]
    assert parts == [
        ("zh_int-1-p1", "4", "part 1"),
        ("zh_int-1-p2", "4", "part 1"),
        ("zh_int-1-p3", "4", "part 2"),
    ]
    text = (tmp_path / "corpus" / "documents" / "zh_int-1-p1.txt").read_bytes().decode()
    assert text == "一月三日\n即1月3日"
    # a passage that is there twice is one document
    assert len([row for row in labels if row["query_id"] == "en_fact-2"]) == 2


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('{"id": 1, "query": "Who?", "positive": ["a"]}', "has no answer"),
        ('{"id": 1, "query": "Who?", "answer": "a", "positive": []}', "has no positive"),
        ('{"id": 1, "query": "Who?", "answer": [["a"], []], "positive": ["a"]}', "empty part"),
        ('{"id": 1, "query": "Who?", "answer": [{"a": 1}], "positive": ["a"]}', "a list of texts"),
        ('{"query": "Who?", "answer": "a", "positive": ["a"]}', "no column 'id'"),
    ],
)
def test_lines_that_are_no_instances(tmp_path, capsys, line, why):
    path = tmp_path / "x.json"
    path.write_text(line, encoding="utf-8")
    message = refused(capsys, "import", "rgb", path, "--to", tmp_path / "corpus")
    assert "x.json" in message
    assert why in message


# of each file of RGB the type of its questions, how many there are, and passages that answer and that do not
REAL = {
    "en_fact": ("counterfactual", 60, 229, 361),
    "zh_fact": ("counterfactual", 60, 262, 311),
    "zh_refine": ("noise", 100, 806, 1648),
    "zh_int": ("integration", 60, None, None),
}


@pytest.mark.parametrize("name", REAL)
def test_real_files(shared_corpora, tmp_path, name):
    source = shared_corpora / "rgb" / f"{name}.jsonl"
    ability, questions, answering, noise = REAL[name]
    assert exit_code("import", "rgb", source, "--to", tmp_path / "corpus") == 0
    queries = table(tmp_path / "corpus" / "queries.csv")
    assert [row["type"] for row in queries] == [ability] * questions
    # a false answer for all facts, and for nothing else
    assert all(bool(row["false_answer"]) == (ability == "counterfactual") for row in queries)
    if ability == "integration":
        assert all(len(json.loads(row["answer"])) >= 2 for row in queries)
        return
    lines = map(json.loads, source.read_text(encoding="utf-8").splitlines())
    instances = {f"{name}-{line['id']}": line for line in lines}
    grades = [row["grade"] for row in table(tmp_path / "corpus" / "labels.csv")]
    assert (grades.count("4"), grades.count("0")) == (answering, noise)
    for row in queries:
        instance = instances[row["query_id"]]
        assert row["text"] == instance["query"]
        if isinstance(instance["answer"], str) and ability == "counterfactual":
            assert (row["answer"], row["false_answer"]) == (instance["answer"], instance["fakeanswer"])


# of the passages with a false fact how many are what altering the right ones makes
WRONG = {"en_fact": (229, 229), "zh_fact": (261, 263)}


@pytest.mark.parametrize("name", WRONG)
def test_altering_makes_the_passages_that_rgb_has_with_false_facts(shared_corpora, name):
    equal = total = 0
    for line in (shared_corpora / "rgb" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
        instance = json.loads(line)
        answer, false = instance["answer"], instance["fakeanswer"]
        # of its answers with several wordings each has one part
        pattern = wording_pattern([answer] if isinstance(answer, str) else answer[0])
        for right, wrong in zip(instance["positive"], instance["positive_wrong"], strict=True):
            total += 1
            equal += pattern.sub(lambda match, false=false: false, right) == wrong
    assert (equal, total) == WRONG[name]
