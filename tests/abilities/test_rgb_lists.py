"""RGB's own files are read, also where an answer that was falsified is a list."""

import json
import os
from pathlib import Path

import pytest

from harness.running.abilities.rgb import read_rgb

SHARED = Path(os.environ.get("HARNESS_SHARED", Path(__file__).parents[2] / ".." / "shared"))
FILES = ("en_fact", "zh_fact", "zh_int", "zh_refine")


def test_a_falsified_answer_may_be_a_list(tmp_path):
    path = tmp_path / "zh_fact.jsonl"
    record = {"id": 1, "query": "?", "answer": ["法国", "巴黎"], "fakeanswer": ["中国", "北京"]}
    passages = {"positive": ["法国巴黎"], "positive_wrong": ["中国北京"], "negative": ["x"]}
    path.write_text(json.dumps(record | passages, ensure_ascii=False), encoding="utf-8")
    (one,) = read_rgb(path)
    assert (one.task, one.fake) == ("fact", "中国, 北京")


@pytest.mark.parametrize("name", FILES)
def test_the_files_of_rgb_are_read(name):
    path = SHARED / "corpora" / "rgb" / f"{name}.jsonl"
    if not path.is_file():
        pytest.skip("the shared corpora are not here (HARNESS_SHARED)")
    assert len(read_rgb(path)) == len(path.read_text(encoding="utf-8").splitlines())
