"""The next step: against the largest loss or for more questions, whichever is about the larger amount."""

import sys
from dataclasses import replace

import pytest
import yaml

from harness.comparison import (
    Holes,
    Options,
    Scores,
    Trust,
    glance_json,
    lines_of,
    sentence,
    steps_of,
    verdict_json,
    verdict_of,
)
from harness.comparison.first_screen import setting_chart
from harness.comparison.glance import holds, largest
from harness.comparison.phrases import in_words

from .build import conclude, matrix, noisy

# as results have it: the default of top_k has no effect beside top_chars
WORDS = {"kind": "bm25", "top_k": 20, "top_chars": 50_000}
VECTORS = {"kind": "chroma", "model": "m", "top_k": 20, "top_chars": None}
BOTH = {"kind": "minmax", "routes": [VECTORS, WORDS], "top_k": 20, "top_chars": None}
CHUNK = {"kind": "recursive", "chunk_size": 500, "chunk_overlap": 0}


def setting(search=WORDS, chunk=CHUNK, rerank=()):
    return {"retrieve": search, "chunk": chunk, "rerank": list(rerank), "parse": {"kind": "pypdf"}}


def concluded(part, *settings, means=(0.5, 0.3), value=0.4, **more):
    """A verdict on settings a, b, … whose largest loss is at a part."""
    names = "ab"[: len(settings)]
    return conclude(
        noisy(60, means[: len(settings)]),
        options=Options(resamples=500),
        configured=dict(zip(names, settings, strict=True)),
        lost={name: {"chunking": 0.01, part: value} for name in names},
        folders=dict.fromkeys(names, "results/x"),
        **more,
    )


def test_where_nothing_was_found_the_step_names_the_folder():
    verdict = conclude(matrix({"a": [0.0] * 40, "b": [0.0] * 40}), folders={"a": "my results", "b": "other"})
    assert steps_of(verdict)[0].command == "harness show 'my results' --worst 10"


def cross(model):
    return {"kind": "cross_encoder", "model": model}


def encoded(model):
    return {**BOTH, "routes": [WORDS, {**VECTORS, "model": model}]}


def hybrid(deep, model):
    routes = f'{{kind: bm25, {deep}}}, {{kind: chroma, model: "{model}", {deep}}}'
    return f"retrieve: {{kind: minmax, {deep}, routes: [{routes}]}}"


LATE = [{"kind": "late_interaction", "model": "embedded:maxsim"}]
FIRST, OTHER = "cross-encoder/ms-marco-MiniLM-L-6-v2", "BAAI/bge-reranker-v2-m3"
LONG = {**BOTH, "top_chars": 50_000}
LAPPED = setting(chunk={**CHUNK, "chunk_overlap": 100})
FILE = {"kind": "returned", "file": "hits.jsonl"}
HITS = {"chunk": FILE, "retrieve": {**FILE, "top_k": 20, "top_chars": None}}
RERANK = "rerank: {{kind: cross_encoder, model: {}}}"


@pytest.mark.parametrize(
    ("part", "settings", "line"),
    [
        # the key that the configuration has, where something would bring up what comes after
        ("candidates", [setting(BOTH, rerank=LATE), setting()], "top_k: 40"),
        ("candidates", [setting(LONG, rerank=LATE)] * 2, "top_chars: 100000"),
        # what is read is full, so another encoder; that of another setting is not new
        ("candidates", [setting(BOTH), setting()], "model: BAAI/bge-m3"),
        (
            "candidates",
            [setting(encoded("m")), setting(encoded("BAAI/bge-m3"))],
            "model: BAAI/bge-small-en-v1.5",
        ),
        # what no setting has tried comes first
        ("candidates", [setting()] * 2, hybrid("top_chars: 50000", "embedded:all-MiniLM-L6-v2")),
        ("candidates", [setting(VECTORS)] * 2, hybrid("top_k: 20", "m")),
        # what is in use stays as it is, but for what is so by default
        (
            "candidates",
            [setting({**VECTORS, "kind": "faiss", "index": "hnsw", "ef_search": 99, "dtype": "float32"})] * 2,
            "retrieve: {kind: minmax, top_k: 20, routes: [{kind: bm25, top_k: 20}, "
            '{kind: faiss, model: "m", ef_search: 99, top_k: 20}]}',
        ),
        ("order", [setting()] * 2, 'rerank: {kind: late_interaction, model: "embedded:maxsim"}'),
        ("order", [setting(rerank=LATE), setting()], RERANK.format(FIRST)),
        ("order", [setting(rerank=[cross("small")]), setting()], RERANK.format(FIRST)),
        ("order", [setting(rerank=[cross(FIRST)]), setting()], RERANK.format(OTHER)),
        # of two settings with rerankers of one kind, neither is new
        ("order", [setting(rerank=[cross(FIRST)]), setting(rerank=[cross("small")])], RERANK.format(OTHER)),
        ("order", [setting(rerank=[cross(FIRST), {**LATE[0], "model": OTHER}]), setting()], ""),
        ("chunking", [setting()] * 2, "chunk_overlap: 100"),
        ("chunking", [LAPPED] * 2, "chunk_size: 1000"),
        ("parser", [setting()] * 2, "parse: {kind: pypdfium2}"),
        *((part, [setting()] * 2, "") for part in ("rerank", "filter")),
        # hits of another pipeline have no key here
        *((part, [HITS] * 2, "") for part in ("candidates", "order", "chunking")),
    ],
)
def test_the_step_is_a_key_that_the_configuration_can_have_and_no_setting_had(part, settings, line):
    first = steps_of(concluded(part, *settings))[0]
    assert (first.config, bool(first.text)) == (line, True)
    assert not line or isinstance(yaml.safe_load(line), dict)
    # what is downloaded is said to be
    assert ("model hub" in first.text) == ("BAAI/" in line or "cross-encoder/" in line)


def test_a_model_that_cannot_run_here_comes_with_the_line_that_installs_it(monkeypatch):
    assert "pip install" not in steps_of(concluded("order", setting(), setting()))[0].text
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    step = steps_of(concluded("order", setting(), setting()))[0]
    assert "pip install 'ndcg-harness[local,chroma]'" in step.text
    assert step.config == 'rerank: {kind: late_interaction, model: "embedded:maxsim"}'


def test_chunks_go_on_in_the_direction_that_loses_less():
    found = concluded("order", setting(), setting(chunk={**CHUNK, "chunk_size": 1000}))
    for losses, further in (((0.3, 0.5), 250), ((0.5, 0.3), 2000)):
        lost = {name: {"chunking": value} for name, value in zip("ab", losses, strict=True)}
        assert steps_of(replace(found, lost=lost))[0].config == f"chunk_size: {further}"


def test_the_larger_of_regret_and_loss_decides_what_comes_first():
    found = concluded("order", setting(), setting())
    few = replace(found, population=replace(found.population, kind="few clusters", clusters=4))
    regret = replace(few.advice, regret=0.1)
    for value, first in ((0.09, "Add queries"), (0.11, "Try ")):
        told = replace(few, advice=regret, lost={"a": {"order": value}})
        texts = [one.text for one in steps_of(told)]
        assert (texts[0].startswith(first), len(texts)) == (True, 3)
        # the first screen has one, compare has all
        assert glance_json(told)["next"]["text"] == texts[0]
    # too few come before all else
    few = conclude(noisy(11, (0.1, 0.9)), lost={"b": {"order": 0.5}}, configured={"b": setting()})
    assert steps_of(few)[0].text.startswith("Add at least 19 more queri")


def test_a_measure_is_said_in_words_that_leave_nothing_out():
    assert in_words("ndcg_evidence_tokens@500") == "NDCG over the first 500 tokens read"
    for name in ("recall(rel=2)@10", "of_another_tool"):
        assert in_words(name) == name
    # of a measure which a perfect ranking does not bring to 1 nobody knows how much that is
    for measure, of_one in (("ndcg_exp@10", True), ("p@10", False)):
        found = conclude(replace(noisy(60, (0.5, 0.3)), measure=measure))
        assert (" of 1" in holds(found)) == of_one


@pytest.mark.parametrize("baseline", [None, "b"])
def test_a_poor_best_is_not_to_be_used(baseline):
    scores = noisy(60, (0.09, 0.05), spread=0.02)
    found = conclude(scores, baseline=baseline, lost={"a": {"order": 0.5}}, configured={"a": setting()})
    assert sentence(found).startswith("None is good enough: the best, a, reaches 0.09 of 1.")
    assert (found.used, found.advice, found.tone) == ("", None, "poor")
    assert {one.group for one in found.standings} <= {"may", "out"}
    assert "holds for" not in holds(found)
    # one relevant chunk of ten is all that there is to find
    for measure in ("precision@10", "p@10", "precision_condensed@10", "rbp", "text_iou@5", "of_another_tool"):
        assert not conclude(replace(scores, measure=measure)).poor
    assert conclude(noisy(60, (0.09,), spread=0.02)).poor


def test_what_to_try_says_which_loss_it_is_against():
    reranked = setting(rerank=[{"kind": "cross_encoder", "model": "m"}])
    for part, settings, reason in (
        ("order", (setting(), setting()), "because ranking is the largest loss"),
        ("order", (reranked, reranked), "because ranking is the largest loss"),
        ("candidates", (setting(), setting()), "because search is the largest loss"),
        ("chunking", (setting(), setting()), "because chunking is the largest loss"),
        ("parser", (setting(), setting()), "because parsing is the largest loss"),
    ):
        assert reason in steps_of(concluded(part, *settings))[0].text, part


def test_a_larger_size_of_a_langchain_splitter_keeps_its_other_arguments():
    chunk = {"kind": "langchain", "arguments": {"chunk_size": 500, "chunk_overlap": 50}}
    step = steps_of(concluded("chunking", setting(chunk=chunk), setting(chunk=chunk)))[0]
    assert yaml.safe_load(step.config) == {"arguments": {"chunk_size": 1000, "chunk_overlap": 50}}
    # the overlap that it lacks is within the arguments too
    bare = {**chunk, "arguments": {"chunk_size": 500, "chunk_overlap": 0}}
    step = steps_of(concluded("chunking", setting(chunk=bare), setting(chunk=bare)))[0]
    assert yaml.safe_load(step.config) == {"arguments": {"chunk_size": 500, "chunk_overlap": 100}}


def test_no_step_is_one_that_another_setting_has_tried():
    parsed = [setting() | {"parse": {"kind": kind}} for kind in ("pypdf", "pypdfium2")]
    step = steps_of(concluded("parser", *parsed))[0]
    assert (step.config, "another parser" in step.text) == ("", True)


def test_where_labels_mark_all_answers_nothing_is_unjudged():
    """What leads is what is lacking: with 17 queries 13 of 30."""
    shares = {"a": 0.01, "b": 0.02}
    for complete in (False, True):
        scores = noisy(17, (0.6, 0.5))
        given = Scores(matrices={scores.measure: scores}, judged={"judged@10": shares}, complete=complete)
        found = verdict_of(given)
        assert found.unlabelled == (not complete)
        assert ("labels" in steps_of(found)[0].command) == (not complete)
    assert found.holes is None
    assert sentence(found) == "17 queries are too few to choose by: add 13. So far the leader is a."
    assert steps_of(found)[0].text.startswith("Add at least 13 more queries.")
    assert not [line for line in lines_of(found) if "judged" in line.text]
    # an assumption is a caveat, with the key that changes it
    told = [line.text for line in lines_of(verdict_of(replace(given, assumed=True))) if line.role == "caveat"]
    assert any("relevance: {labels: pool}" in text for text in told)
    assert verdict_json(found)["labels"] == {"hold": "answers", "assumed": False}
    # how much is judged does not depend on what was measured besides
    more = replace(scores, measure="judged_text@5000", values=scores.values * 0 + 0.03)
    both = {scores.measure: scores, more.measure: more}
    pool = Scores(matrices=both, judged={"judged@10": dict.fromkeys("ab", 0.9)})
    assert verdict_of(pool).holes.shares == dict.fromkeys("ab", 0.9)
    assert not verdict_of(pool).unlabelled


@pytest.mark.parametrize(
    ("means", "n", "share"),
    [
        ((0.5, 0.3), 60, 0.0),
        ((0.09, 0.05), 60, 0.099),
        ((0.5, 0.3), 11, 0.012),
        ((0.5,), 60, 0.012),
        ((0.0,), 60, 0.099),
    ],
)
def test_where_hardly_anything_is_judged_labels_are_the_next_step(means, n, share):
    given = noisy(n, means, spread=0.02 if means[0] else 0.0)
    told = {"configured": {"a": setting()}, "lost": {"a": {"order": 0.5}}, "folders": {"a": "results/my run"}}
    shares = dict(zip("ab", (share, 0.9), strict=True))
    plain, bare = (
        conclude(given, holes=Holes("judged@10", by), **told) for by in (dict.fromkeys("ab", 0.1), shares)
    )
    assert "missing" not in sentence(plain)
    assert "labels" not in steps_of(plain)[0].command
    assert "labels may be missing" in sentence(bare).lower()
    assert bare.tone in ("caution", "poor")
    assert steps_of(bare)[0].command == "harness labels unjudged 'results/my run' --output unjudged.csv"
    # what it would be otherwise comes after it, and what is to be used stays the same
    assert steps_of(bare)[1:] == steps_of(plain)
    assert bare.used == plain.used
    assert "holds for" not in holds(bare)
    # the sheet is for people: a judge goes deeper by its own key
    assert not steps_of(replace(bare, judge="llm"))[0].copied


def test_a_tone_says_whether_a_setting_can_be_used():
    rows, few = noisy(60, (0.5, 0.3)), noisy(11, (0.1, 0.9))
    for scores, baseline, tone in (
        (rows, None, "good"),
        (noisy(60, (0.5,)), None, "good"),
        (rows, "b", "good"),
        (rows, "a", "caution"),
        (few, None, "caution"),
        (replace(rows, values=rows.values * 0), None, "poor"),
    ):
        assert conclude(scores, baseline=baseline).tone == tone
    # of too few queries no interval is drawn
    told = conclude(noisy(3, (0.5, 0.3)))
    chart = setting_chart(told)
    assert "too few queries" in chart.title
    assert all(row.bounds[0] is row.bounds[2] is None for row in chart.rows)


def test_what_is_folded_is_counted_and_the_one_to_use_never_is():
    found = conclude(noisy(60, (0.5, 0.49, 0.49, 0.3, 0.2)))
    assert [one.group for one in found.standings] == ["use", "may", "may", "out", "out"]
    chart = setting_chart(found)
    assert chart.first(1).more == "4 more: 2 may be best, 2 ruled out"
    assert [chart.first(most).more for most in (3, 4, 5)] == ["2 more: ruled out", "", ""]
    last = replace(chart, rows=(*chart.rows[1:], chart.rows[0]))
    assert [row.group for row in last.first(1).rows] == ["may", "use"]


def test_the_largest_loss_names_its_unit_where_that_is_not_the_measure():
    found = concluded("order", setting(), setting(BOTH))
    assert largest(found).startswith("Largest loss of a (in ndcg_text@10000): ranked too low 0.40, ")
    trust = {"ndcg_exp@10": Trust(), "ndcg_evidence@5000": Trust()}
    assert "(in ndcg_evidence@5000)" in largest(replace(found, trust=trust))
    assert "(in " not in largest(replace(found, measure="ndcg_evidence@5000"))
