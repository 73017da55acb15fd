"""The pool and the passages: stable, complete, and blind to the chunking."""

import hashlib
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.judge import GradedPairs, PairGrade, PoolConfig, pool_of
from harness.values import Chunk, Document, JudgeError, Query, Ranking, passage_spans
from tests.judge.helpers import pairs

TEXT = (
    "Profit rose. It rose by 4.5 percent, said Dr. Low.\n\nThe second part begins here! Does it? Yes.\n\n"
    "比率上升了。第二句话在这里！第三句话呢？" + "No end in sight " * 30
)


def document(text, name="d"):
    return Document(name, text, (), hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest())


def passages_of(document, target):
    return [Chunk.of(document, *span) for span in passage_spans(document.text, target)]


messy = st.text(alphabet="ab. !?\n。！？\u3000中文\ud800\"')", max_size=600)


@given(messy, st.integers(1, 60))
def test_passages_are_disjoint_ordered_and_hold_all_that_is_not_blank(text, target):
    found = passages_of(document(text), target)
    assert all(passage.text == text[passage.start : passage.end] for passage in found)
    assert all(passage.text == passage.text.strip() != "" for passage in found)
    assert all(left.end <= right.start for left, right in pairwise(found))
    covered = set()
    for passage in found:
        covered.update(range(passage.start, passage.end))
    assert all(at in covered for at, char in enumerate(text) if not char.isspace())


def test_passages_end_with_sentences_or_are_cut():
    found = [passage.text for passage in passages_of(document(TEXT), 40)]
    assert found[0] == "Profit rose. It rose by 4.5 percent, said Dr. Low."
    assert "The second part begins here! Does it? Yes." in found
    assert "比率上升了。第二句话在这里！第三句话呢？" in found
    assert max(len(passage) for passage in found) <= 120
    # wide characters count twice
    chinese = passages_of(document("比率上升了。" * 100), 120)
    assert {len(passage.text) for passage in chinese[:-1]} == {60}
    endless = passages_of(document("x" * 1000), 100)
    assert [len(passage.text) for passage in endless] == [200] * 5


def ranking(query_id, *chunks):
    return Ranking(query_id, tuple(c.chunk_id for c in chunks), tuple(-float(i) for i in range(len(chunks))))


def cut(doc, size):
    return [Chunk.of(doc, at, min(at + size, len(doc.text))) for at in range(0, len(doc.text), size)]


DOC = document(TEXT)
QUERY = Query("q", "what?", "train")


def pool(settings, unit, depth=10):
    chunks = {chunk.chunk_id: chunk for ranked in settings.values() for chunk in ranked}
    rankings = {name: [{"q": ranking("q", *ranked)}] for name, ranked in settings.items()}
    config = PoolConfig(unit=unit, depth=depth, passage_chars=100)
    return list(pool_of([QUERY], rankings, chunks, [DOC], config).pairs)


def test_the_union_of_all_settings_each_chunk_once_by_best_rank():
    a, b, c, d = cut(DOC, 100)[:4]
    pairs = pool({"one": [a, b, c], "two": [d, a, c]}, "chunk", depth=2)
    assert [pair.passage for pair in pairs] == [a, d, b], "c is below the depth; a is in both"


def test_passages_are_those_that_retrieved_text_touches():
    passages = passages_of(DOC, 100)
    middle = Chunk.of(DOC, passages[1].start + 3, passages[2].start + 1)
    # a blank touches nothing
    gap = Chunk.of(DOC, passages[0].start, passages[1].start)
    for chunk, touched in ((middle, passages[1:3]), (gap, passages[:1])):
        assert [pair.passage for pair in pool({"one": [chunk]}, "passage")] == touched


@given(st.integers(20, 300), st.integers(20, 300))
def test_a_new_chunking_of_the_same_text_needs_no_new_judgment(first, second):
    everything = pool({"one": cut(DOC, first)}, "passage", depth=99)
    assert pool({"two": cut(DOC, second)}, "passage", depth=99) == everything
    both = {"one": cut(DOC, first), "two": cut(DOC, second)}
    assert pool(both, "passage", depth=99) == everything


def test_nothing_retrieved_is_an_empty_pool_and_a_chunk_that_is_not_there_an_error():
    assert pool({"one": []}, "chunk") == pool({}, "passage") == []
    assert len(pool_of([QUERY], {"one": [{}]}, {}, [DOC], PoolConfig()).pairs) == 0
    assert len(pool_of([], {}, {}, [], PoolConfig()).pairs) == 0
    rankings = {"one": [{"q": Ranking("q", ("d:0-9",), (1.0,))}]}
    with pytest.raises(JudgeError, match="one ranks chunk d:0-9"):
        pool_of([QUERY], rankings, {}, [DOC], PoolConfig())


def test_a_setting_uses_what_any_of_its_stages_ranks_high():
    a, b, c = cut(DOC, 100)[:3]
    chunks = {chunk.chunk_id: chunk for chunk in (a, b, c)}
    rankings = {
        "one": [{"q": ranking("q", a, b)}, {"q": ranking("q", b, a)}],
        "two": [{"q": ranking("q", c, b)}, {"q": ranking("q", b)}],
    }
    found = pool_of([QUERY], rankings, chunks, [DOC], PoolConfig(unit="chunk", depth=1))
    assert [pair.passage for pair in found.pairs] == [a, b, c], "a, b and c all stand first somewhere"
    assert {name: list(used) for name, used in found.by_setting.items()} == {"one": [0, 1], "two": [2, 1]}
    assert [pair.number for pair in found.pairs] == [0, 1, 2]


def test_a_row_is_judged_with_the_heading_of_its_table():
    head, row = (0, 13), (55, 80)
    ranked = [Chunk.of(DOC, *row, (head,)), Chunk.of(DOC, 100, 120)]
    first, second = pool({"one": ranked}, "chunk")
    assert first.passage.text == DOC.text[0:13] + DOC.text[55:80]
    assert (first.passage.start, first.passage.end) == row
    assert second.passage == ranked[1]
    # passages: those that the heading touches, and those that the row does
    apart = pool({"one": [Chunk.of(DOC, *head), Chunk.of(DOC, *row), ranked[1]]}, "passage")
    assert pool({"one": ranked}, "passage") == apart
    assert len(apart) > len(pool({"one": [Chunk.of(DOC, *row), ranked[1]]}, "passage"))


def test_a_row_under_different_headings_is_judged_once_under_all_of_them():
    row, one, two = (55, 80), (0, 13), (20, 40)
    cuts = {
        name: [Chunk.of(DOC, *row, before)] for name, before in {"a": (one,), "b": (two,), "c": ()}.items()
    }
    for order in (["a", "b", "c"], ["c", "b", "a"]):
        (found,) = pool({name: cuts[name] for name in order}, "chunk")
        assert found.passage.spans == (one, two, row)
        assert found.passage.text == DOC.text[0:13] + DOC.text[20:40] + DOC.text[55:80]
    # headings that overlap are shown once
    overlapping = {"a": cuts["a"], "b": [Chunk.of(DOC, *row, ((5, 20),))]}
    assert [pair.passage.spans for pair in pool(overlapping, "chunk")] == [((0, 20), row)]
    # passages: those of both headings are judged
    both = pool({"a": cuts["a"], "b": cuts["b"]}, "passage")
    alone = [Chunk.of(DOC, *span) for span in (one, two, row)]
    assert both == pool({"a": alone}, "passage")


def test_judgments_are_whole_when_every_pair_has_an_answer_however_often_one_is_given():
    numbered = [replace(pair, number=at) for at, pair in enumerate(pairs(2))]
    graded = GradedPairs(numbered)
    for pair, left in ((numbered[1], 1), (numbered[1], 1), (numbered[0], 0)):
        graded.keep(PairGrade(pair, pair.judgment(pair.number, "j", "s")))
        if left:
            with pytest.raises(RuntimeError, match="nothing for 1 pair"):
                _ = graded.judgments
    assert [row.grade for row in graded.judgments] == [0, 1]
