"""What is read to answer, altered: noise in place of passages, and false facts in them."""

import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.steps import READERS, QueryReading, ReadPassage
from harness.values import Chunk, ConfigError, Query, golden_answers, golden_parts
from tests.command import run

# nine passages, of which the first four hold the answer
CHUNKS = [Chunk(f"d{at}:0-9", f"d{at}", 0, 9, f"passage {at}") for at in range(30)]


def reading(holding, count, *, parts=(), columns=None, texts=None):
    """A reading of the first ``count`` chunks, of which those at ``holding`` hold the answer."""
    texts = texts or [chunk.text for chunk in CHUNKS]
    chunks = [Chunk(c.chunk_id, c.doc_id, 0, 9, text) for c, text in zip(CHUNKS, texts, strict=False)]
    held = {chunks[at].chunk_id for at in holding}
    return QueryReading(
        Query("q", "Which?", "train"),
        tuple(ReadPassage(at + 1, chunk) for at, chunk in enumerate(chunks[:count])),
        lambda chunk: chunk.chunk_id in held,
        lambda: iter(chunks),
        parts,
        columns or {},
    )


def alter(kind, given, **fields):
    return READERS.make(READERS.find(kind).config(**fields)).run(given)


def shown(passages):
    """Numbers of the passages read, `n` for noise."""
    return ["n" if passage.change == "noise" else passage.rank for passage in passages]


def test_noise_replaces_the_lowest_ranked_passages_that_hold_the_answer():
    given = reading({0, 1, 2, 3}, 5)
    # passage 5 holds no answer, so it is one of the two that 0.4 of 5 asks for
    assert shown(alter("noise", given, ratio=0.4)) == [1, 2, 3, "n", 5]
    assert shown(alter("noise", given, ratio=0.8)) == [1, "n", "n", "n", 5]
    assert shown(alter("noise", given, ratio=1)) == ["n", "n", "n", "n", 5]
    assert alter("noise", given, ratio=0) == given.passages
    # 0.6 * 5 is a little more than 3 in floating point, and still three passages
    assert shown(alter("noise", given, ratio=0.6)) == [1, 2, "n", "n", 5]


def test_a_passage_without_a_replacement_is_left_out():
    # thirty chunks, all of which hold the answer but two: one is read, one is noise
    given = reading(set(range(30)) - {4, 9}, 5)
    assert shown(alter("noise", given, ratio=1)) == ["n", 5]


@given(st.sets(st.integers(0, 29)), st.integers(0, 8), st.floats(0, 1), st.floats(0, 1), st.integers(0, 3))
def test_noise_of_any_share(holding, count, first, second, seed):
    given = reading(holding, count)
    small, large = sorted((first, second))
    less, more = (alter("noise", given, ratio=ratio, seed=seed) for ratio in (small, large))
    noise = [{p.chunk.chunk_id for p in passages if p.change == "noise"} for passages in (less, more)]
    assert noise[0] <= noise[1]
    assert len(more) <= len(less) <= count
    assert not any(given.holds_answer(p.chunk) for p in alter("noise", given, ratio=1))
    kept = [p for p in more if not p.change]
    assert kept == [p for p in given.passages if p in kept]
    assert len({p.chunk.chunk_id for p in more}) == len(more)


FACTS = ["Norway came first.", "NORWAY won 39 of 139.", "Sweden came sixth."]


def test_every_wording_of_the_golden_answer_becomes_the_false_one():
    given = reading({0}, 3, parts=(("Norway",),), columns={"false_answer": "U.S."}, texts=FACTS)
    passages = alter("counterfactual", given)
    assert [p.chunk.text for p in passages] == ["U.S. came first.", "U.S. won 39 of 139.", FACTS[2]]
    assert [p.change for p in passages] == ["altered", "altered", ""]
    # 39 is no part of 139
    parts = (("Norway", "Kingdom of Norway"), ("39",))
    given = reading({0}, 3, parts=parts, columns={"fake": '["U.S.", "40"]'}, texts=FACTS)
    passages = alter("counterfactual", given, column="fake")
    assert [p.chunk.text for p in passages] == ["U.S. came first.", "U.S. won 40 of 139.", FACTS[2]]


def test_false_answers_that_cannot_be_used():
    given = reading({0}, 3, parts=(("a",), ("b",)), columns={"false_answer": "c"}, texts=FACTS)
    with pytest.raises(ConfigError, match="1 false answers for 2 parts"):
        alter("counterfactual", given)
    with pytest.raises(ConfigError, match="no column 'fake'"):
        alter("counterfactual", given, column="fake")
    empty = reading({0}, 3, parts=(("a",),), columns={"false_answer": ""}, texts=FACTS)
    assert alter("counterfactual", empty) == empty.passages


def test_golden_answers_of_several_parts():
    assert golden_parts('[["3 May", "May 3"], ["12 May"]]') == (("3 May", "May 3"), ("12 May",))
    assert golden_answers('[["3 May", "May 3"], ["12 May"]]') == ("3 May; 12 May",)
    # a list of texts is wordings of one part, and any other text a part as it is
    assert golden_parts('["a", "b"]') == (("a", "b"),)
    assert golden_parts("[[1, 2]]") == (("[[1, 2]]",),)
    assert golden_parts(" ") == ()
    with pytest.raises(ValueError, match="blank part"):
        golden_parts('[["a"], []]')


@pytest.mark.parametrize(
    ("golden", "text", "altered"),
    [
        ("3 January", "held on 3\nJanuary in Oslo", "held on X in Oslo"),
        ("50 %", "50\u00a0% of it", "X of it"),
        ("Straße", "Straße, STRAßE and Straßen", "X, X and Straßen"),
        ("istanbul", "İSTANBUL and ıstanbul", "X and X"),
        ("İstanbul", "İstanbul came first", "X came first"),
    ],
)
def test_a_golden_answer_is_found_over_line_breaks_and_in_letters_of_any_alphabet(golden, text, altered):
    columns = {"false_answer": "X"}
    given = reading({0}, 1, parts=((golden,),), columns=columns, texts=[text])
    assert [passage.chunk.text for passage in alter("counterfactual", given)] == [altered]


@pytest.mark.parametrize(
    ("before", "shown"),
    [
        ("{kind: window, amount: 1}", {"0-57": "", "0-81": ""}),
        ("{kind: parent, chunk: {kind: recursive, chunk_size: 500}}", {"0-81": ""}),
        ("{kind: counterfactual}", {"0-25": "altered", "27-57": "altered"}),
        ("{kind: counterfactual, read: {kind: window, amount: 1}}", {"0-57": "altered", "0-81": "altered"}),
    ],
)
def test_what_is_altered_may_be_read_by_another_reader_before(before, shown, tmp_path, capsys):
    """Windows of a sentence on each side, the whole text, or false facts, before noise of no share."""
    (tmp_path / "a.md").write_text(
        "The harbour pump is grey.\n\nThe grey crane is by the pump.\n\nNo seal of it is worn.\n"
    )
    (tmp_path / "queries.csv").write_text("query_id,text,answer,false_answer\nq1,which pump?,grey,blue\n")
    (tmp_path / "labels.csv").write_text("query_id,document,quote,grade\nq1,a,The harbour pump is grey.,4\n")
    (tmp_path / "bench.yaml").write_text(
        f"name: b\ndocuments: {tmp_path}/*.md\nqueries: {tmp_path}/queries.csv\n"
        f"labels: {tmp_path}/labels.csv\ncache: {tmp_path}/cache\nresults: {tmp_path}/results\n"
        "chunk: {kind: recursive, chunk_size: 32}\nretrieve: {kind: bm25}\nbootstrap: {resamples: 100}\n"
        f"read: {{kind: noise, ratio: 0, read: {before}}}\nanswer: {{kind: extractive}}\n"
    )
    code, _, err = run(capsys, "bench", tmp_path / "bench.yaml")
    assert code == 0, err
    with (tmp_path / "results/b/reply_passages.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["chunk_id"].removeprefix("a:"): row for row in csv.DictReader(file)}
    assert {place: row["change"] for place, row in rows.items()} == shown
    assert all("blue" in row["text"] for row in rows.values() if row["change"])
