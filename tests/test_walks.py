"""The tool that counts the files that a query, a label, a setting and an LLM grade pass through."""

from tools.walks import walks


def test_a_walk_holds_the_files_that_read_use_and_score_a_value():
    found = walks()
    assert list(found) == ["query", "label", "setting", "LLM grade"]
    # read, searched with, scored
    assert in_order(found["query"], "corpus/queries.py", "search/retrieve/bm25.py", "measures/score.py")
    assert in_order(found["label"], "corpus/labels.py", "corpus/anchoring.py", "measures/qrels.py")
    assert found["setting"][0] == "config/load.py"
    # answered, kept, scored
    assert in_order(found["LLM grade"], "llm/client.py", "store/ledger.py", "measures/qrels.py")
    # rows that are made when they are read count too
    assert in_order(found["LLM grade"], "judging/graded.py", "evaluate/evaluating.py")
    # what has nothing to do with a value is not on its walk
    assert "search/retrieve/bm25.py" not in found["label"]
    assert not any(file.startswith("corpus/") for file in found["LLM grade"])


def in_order(walk, *files):
    places = [walk.index(file) for file in files]
    return places == sorted(places)
