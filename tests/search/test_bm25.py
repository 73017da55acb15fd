"""BM25 as its papers have it, and what is a hit."""

import math
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from harness.running import kept_terms
from harness.steps import Bm25Config, Bm25Retriever, SearchDepth, TermIds, best, in_order
from harness.steps.search.retrieve import lexical
from harness.steps.search.retrieve.lexical import Postings, Saturation
from harness.values import Query, Ranking, Silent
from tests.search.helpers import chunked
from tests.search.helpers import passages_of as passages

WORDS = ["yard", "vehicle", "fuel", "pump", "rain", "harbour", "crane", "ship", "seal", "bench", "foundry"]
RNG = np.random.default_rng(11)
TEXTS = [" ".join(RNG.choice(WORDS, size=RNG.integers(1, 40))) for _ in range(60)]
# words of every frequency: in one chunk, in some, in most
TEXTS[7] += " unique"
ASKED = ["yard", "crane ship rain", "unique yard yard", "bench foundry seal pump"]


def queries(*texts):
    return [Query(f"q{i}", text, "train") for i, text in enumerate(texts)]


@pytest.fixture
def search(tools):
    def run(config, texts, *asked):
        return tools.run(Bm25Retriever(config).run(passages(texts), queries(*asked))).rankings

    return run


def paper(method, query, texts, k1, b, delta):
    """BM25 of all texts, by the formulas as Kamphuis et al. (ECIR 2020, table 1) state them.

    Over the terms that query and document share: so Lv and Zhai define BM25+ and BM25L.
    """
    documents = [text.split() for text in texts]
    average = sum(map(len, documents)) / len(documents)
    n = len(documents)
    scores = []
    for document in documents:
        counts, score = Counter(document), 0.0
        norm = 1 - b + b * len(document) / average
        for term in query.split():
            df, tf = sum(term in one for one in documents), counts[term]
            if tf == 0:
                continue
            if method == "lucene":
                score += math.log(1 + (n - df + 0.5) / (df + 0.5)) * tf / (tf + k1 * norm)
            elif method == "robertson":
                # as in Lucene's predecessor, never below 0
                score += max(0.0, math.log((n - df + 0.5) / (df + 0.5))) * tf / (tf + k1 * norm)
            elif method == "atire":
                score += math.log(n / df) * (k1 + 1) * tf / (k1 * norm + tf)
            elif method == "bm25l":
                c = tf / norm
                score += math.log((n + 1) / (df + 0.5)) * (k1 + 1) * (c + delta) / (k1 + c + delta)
            elif method == "bm25+":
                score += math.log((n + 1) / df) * ((k1 + 1) * tf / (k1 * norm + tf) + delta)
        scores.append(score)
    return scores


@pytest.mark.parametrize("method", ["lucene", "robertson", "atire", "bm25+", "bm25l"])
@pytest.mark.parametrize(("k1", "b"), [(1.5, 0.75), (0.9, 0.4), (2.0, 0.0), (1.2, 1.0)])
def test_scores_are_those_of_the_papers(search, method, k1, b):
    config = Bm25Config(method=method, k1=k1, b=b, analyser="plain", top_k=60)
    delta = {"bm25+": 1.0, "bm25l": 0.5}.get(method, 0.0)
    for asked, ranking in zip(ASKED, search(config, TEXTS, *ASKED), strict=True):
        true = dict(zip(passages(TEXTS).ids, paper(method, asked, TEXTS, k1, b, delta), strict=True))
        counts = {term for term in asked.split() if method != "robertson" or idf_is_positive(term)}
        holds = [i for i, text in zip(passages(TEXTS).ids, TEXTS, strict=True) if counts & set(text.split())]
        assert sorted(ranking.chunk_ids) == sorted(holds)
        assert [true[i] for i in ranking.chunk_ids] == pytest.approx(ranking.scores, abs=1e-6)
        assert list(ranking.scores) == sorted(ranking.scores, reverse=True)


def idf_is_positive(term):
    return sum(term in text.split() for text in TEXTS) < len(TEXTS) / 2


# k1 = 1 and b = 0, so a chunk's length does not count. Of 4 chunks 2 have pump, 1 has seal, tf is 9 or 1.
# bm25+: idf ln(5/2) and ln 5; (2 tf / (tf + 1) + delta). 0.916291 · 1.8 and 1.609438 · 1 without delta,
#   · 2.8 and · 2 with 1: the rarer word, said once, goes ahead of the one that is repeated.
# bm25l: idf ln(5/2.5) and ln(5/1.5); 2 (tf + delta) / (1 + tf + delta). 0.693147 · 1.8 and 1.203973 · 1
#   without, · 19/10.5 and · 3/2.5 with 0.5.
REPEATED, RARE, ONCE = "d:0-1", "d:1-2", "d:2-3"


@pytest.mark.parametrize(
    ("method", "delta", "expected"),
    [
        ("bm25+", 0.0, {REPEATED: 1.649323, RARE: 1.609438, ONCE: 0.916291}),
        ("bm25+", 1.0, {RARE: 3.218876, REPEATED: 2.565614, ONCE: 1.832581}),
        ("bm25l", 0.0, {REPEATED: 1.247665, RARE: 1.203973, ONCE: 0.693147}),
        ("bm25l", 0.5, {RARE: 1.444767, REPEATED: 1.254266, ONCE: 0.831777}),
    ],
)
def test_delta_is_for_shared_terms_alone_and_changes_the_order(search, method, delta, expected):
    texts = ["pump " * 9, "seal", "pump rain", "rain"]
    config = Bm25Config(method=method, delta=delta, k1=1, b=0, analyser="plain")
    (ranking,) = search(config, texts, "pump seal")
    assert list(ranking.chunk_ids) == list(expected)
    assert list(ranking.scores) == pytest.approx(list(expected.values()), abs=1e-6)


@pytest.mark.parametrize("asked", ["?!", "what was the", "zebra"])
def test_a_query_without_a_term_of_the_chunks_finds_nothing(search, asked):
    assert search(Bm25Config(), TEXTS, asked) == [Ranking("q0", (), ())]
    assert search(Bm25Config(), ["...", "--"], asked) == [Ranking("q0", (), ())]
    # in every chunk: a term that tells nothing apart scores 0 by ATIRE's formula
    assert search(Bm25Config(method="atire"), ["beta one", "beta two"], "beta") == [Ranking("q0", (), ())]


def test_equal_scores_are_in_the_order_of_the_chunks(search):
    texts = ["...", "yard crane", "yard crane", "crane yard", ""]
    (ranking,) = search(Bm25Config(top_k=2), texts, "yard")
    assert ranking.chunk_ids == ("d:1-2", "d:2-3")


def test_synonyms_are_asked_for_and_are_part_of_the_identity(search, tools, tmp_path):
    path = tmp_path / "synonyms.txt"
    path.write_text("car => vehicle\n", encoding="utf-8")
    texts = ["A vehicle stands here.", "A car stands here."]
    config = Bm25Config(synonyms=path)
    before = tools.identity(config)
    assert search(config, texts, "cars")[0].chunk_ids == ("d:0-1",)
    path.write_text("car, vehicle\n", encoding="utf-8")
    # a run goes by the file as it was when its configuration was read
    assert tools.identity(config) == before
    changed = Bm25Config(synonyms=path)
    assert search(changed, texts, "cars")[0].chunk_ids == ("d:0-1", "d:1-2")
    assert tools.identity(changed) != before


def test_a_sweep_analyses_a_chunking_once_and_another_chunking_again(search, monkeypatch):
    seen = []
    from harness.steps import Analyser

    terms = Analyser.terms
    monkeypatch.setattr(Analyser, "terms", lambda self, text: seen.append(text) or terms(self, text))
    texts = ["a first chunk of this test", "and its second one"]
    for k1 in (0.5, 1.0):
        search(Bm25Config(k1=k1), texts, "chunk")
    assert [text for text in seen if text != "chunk"] == texts
    assert search(Bm25Config(), [*texts, "third chunk"], "third")[0].chunk_ids == ("d:2-3",)
    assert search(Bm25Config(analyser="plain"), texts, "chunks") == [Ranking("q0", (), ())]


def test_another_process_reads_the_terms_of_a_chunking_and_not_its_text(search, tools, tmp_path, monkeypatch):
    texts = ["a first chunk of this test", "lone \ud800 halves, and words; words", ""]
    before = search(Bm25Config(), texts, "words of a chunk")
    kept_terms._kept.clear()
    monkeypatch.setattr(lexical.Terms, "of_texts", None)
    assert search(Bm25Config(), texts, "words of a chunk") == before
    # a damaged index is made again
    kept_terms._kept.clear()
    (terms,) = tmp_path.rglob("terms.npy")
    terms.write_bytes(terms.read_bytes()[:-1])
    monkeypatch.undo()
    assert search(Bm25Config(), texts, "words of a chunk") == before
    assert "1 of indexes" in tools.session.faults.sentences()[0]


@pytest.mark.parametrize(
    ("retrieve", "warned"),
    [
        ("{kind: bm25}", False),
        ('{kind: rrf, routes: [{kind: bm25}, {kind: chroma, model: "embedded:all-MiniLM-L6-v2"}]}', True),
    ],
)
def test_terms_are_searched_to_the_end_of_a_chunk(write_config, corpus, retrieve, warned):
    words = " ".join(f"word{i}" for i in range(400))
    (corpus / "docs" / "long.txt").write_text(f"{words} terminus", encoding="utf-8")
    path = write_config(
        chunk="{kind: recursive, chunk_size: 5000, chunk_overlap: 0}", retrieve=retrieve, rerank="null"
    )
    with (corpus / "queries.csv").open("a", encoding="utf-8") as file:
        file.write(f"long,{words},train,yes\n")
    reporter = Silent()
    chunked(path, reporter)
    for cut in ("the rest of each chunk is not searched", "queries are longer than the 256 tokens"):
        assert any(cut in text for text in reporter.warnings) == warned


@pytest.mark.slow
def test_two_processes_rank_alike():
    code = (
        "from tests.search.test_bm25 import *; from tests.search.helpers import tools_at;"
        "tools = tools_at(Path(__import__('tempfile').mkdtemp()));"
        "print(tools.run(Bm25Retriever(Bm25Config()).run(passages(TEXTS), queries(*ASKED))).rankings)"
    )
    shown = {
        subprocess.run(
            [sys.executable, "-c", code],
            check=True,
            capture_output=True,
            text=True,
            cwd=Path(__file__).parent.parent.parent,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(shown) == 1
    assert "d:" in shown.pop()


@pytest.mark.parametrize("method", ["lucene", "robertson", "atire", "bm25l", "bm25+"])
def test_what_a_term_counts_is_that_of_bm25s_to_the_last_bit(method):
    bm25s = pytest.importorskip("bm25s")
    known = TermIds.of(text.split() for text in TEXTS)
    index = bm25s.BM25(k1=1.3, b=0.6, delta=0.7, method=method, dtype="float64", backend="numpy")
    rows = [[known.vocabulary[term] for term in text.split()] for text in TEXTS]
    index.index((rows, known.vocabulary), create_empty_token=False, show_progress=False)
    average = float(known.lengths.mean())
    ours = Postings.of(known, Saturation(method, 1.3, 0.6, average, 0.7 if method.startswith("bm25") else 0))
    true, absent = index.scores, index.nonoccurrence_array
    np.testing.assert_array_equal(ours.starts, true["indptr"])
    np.testing.assert_array_equal(ours.rows, true["indices"])
    if absent is None:
        np.testing.assert_array_equal(ours.weights, true["data"])
    else:
        # bm25s takes from a term what it gives to all chunks without the term
        given = np.repeat(absent, np.diff(true["indptr"]))
        np.testing.assert_array_equal(ours.weights - given, true["data"])


@pytest.mark.parametrize("top_chars", [None, 90, 100_000])
def test_only_what_may_be_among_the_first_is_sorted_and_nothing_else_is_lost(top_chars):
    rng = np.random.default_rng(2)
    lengths = rng.integers(1, 40, size=400)
    for seed in range(50):
        rows = rng.permutation(400)[: 1 + seed * 7]
        # many ties, before and after rounding, or none
        scores = rng.integers(1, 9, size=len(rows)) + rng.integers(0, 5, size=len(rows)) * 2.5e-7
        scores = scores + rng.random(len(rows)) * (seed % 2)
        depth = SearchDepth(7, top_chars, lengths)
        order, rounded = in_order(rows, scores)
        end = depth.of_ranked(lengths[order])
        found, own = best(rows, scores, depth)
        assert (found.tolist(), own.tolist()) == (order[:end].tolist(), rounded[:end].tolist())


@pytest.mark.parametrize("wanted", [1, 20, 3_000])
def test_chunks_that_cannot_be_among_the_best_are_not_scored_and_no_score_changes(wanted):
    rng = np.random.default_rng(5)
    # frequent words and rare ones
    words = [rng.geometric(0.02, size=12) for _ in range(4_000)]
    known = TermIds.of([str(word) for word in row] for row in words)
    postings = Postings.of(known, Saturation("lucene", 1.5, 0.75, 12.0))
    few = 0
    for _ in range(60):
        asked = Counter(rng.choice(len(known.vocabulary), size=6).tolist())
        whole = np.zeros(4_000)
        for term, times in asked.items():
            own = slice(postings.starts[term], postings.starts[term + 1])
            whole[postings.rows[own]] += times * postings.weights[own]
        hits = np.flatnonzero(whole)
        found, scores = postings.best(asked, wanted)
        few += len(found) < len(hits) / 4
        np.testing.assert_array_equal(scores, whole[found])
        expected, given = in_order(hits, whole[hits]), in_order(found, scores)
        for theirs, ours in zip(expected, given, strict=True):
            assert theirs[:wanted].tolist() == ours[:wanted].tolist()
    assert (few > 10) == (wanted < 3_000)


def test_a_ranking_by_characters_has_at_most_as_many_chunks_as_the_shortest_that_fill_it():
    lengths = np.array([30, 10, 20, 50])
    # 10 + 20 are 30, and 30 more reach 31
    assert SearchDepth(2, 30, lengths).most == 2
    assert SearchDepth(2, 31, lengths).most == 3
    assert SearchDepth(2, 1_000, lengths).most == 4
    assert SearchDepth(2, None, lengths).most == 2
