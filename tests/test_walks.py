"""The tool that counts the files that a query, a label, a setting and an LLM grade pass through."""

from pathlib import Path

import pytest

from tools.walks import table, walks


@pytest.fixture(scope="module")
def found():
    return walks()


def test_a_walk_holds_the_files_that_read_use_and_score_a_value(found):
    assert list(found) == ["query", "chunk", "ranking", "label", "setting", "LLM grade"]
    # read, searched with, scored
    assert in_order(
        found["query"], "data/corpus/inputs.py", "steps/search/retrieve/bm25.py", "measures/scorer.py"
    )
    assert in_order(
        found["label"], "data/corpus/anchoring.py", "data/corpus/anchoring.py", "measures/qrels.py"
    )
    assert next(iter(found["setting"].itself)) == "running/config/load.py"
    # answered, kept, scored
    assert in_order(found["LLM grade"], "models/llm/client.py", "store/ledger.py", "measures/qrels.py")
    # rows that are made when they are read count too
    assert in_order(found["LLM grade"], "running/judging/pool.py", "running/evaluate/evaluating.py")
    # what has nothing to do with a value is not on its walk
    assert "steps/search/retrieve/bm25.py" not in found["label"].all
    assert not any(file.startswith("data/corpus/") for file in found["LLM grade"].all)


def test_what_holds_a_value_carries_it_on_its_walk(found):
    # BenchConfig, Chunked and Searched hold settings; the flow is given them and never a setting by itself
    assert "running/bench/flow.py" in found["setting"].all
    assert "running/bench/flow.py" not in found["setting"].itself
    assert all(set(walk.itself) <= set(walk.all) for walk in found.values())


def test_the_figures_of_the_house_are_those_of_the_tool(found):
    page = (Path(__file__).parent.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert table(found) in page, "run `make docs`"


def in_order(walk, *files):
    places = [list(walk.itself).index(file) for file in files]
    return places == sorted(places)
