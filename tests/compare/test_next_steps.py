"""The next step: against the largest loss or for more questions, whichever is about the larger amount."""

from dataclasses import replace

import pytest

from harness.comparison import Options, verdict_json
from harness.comparison.glance import folded, glance_json, glance_lines, glance_of
from harness.comparison.glance_svg import svg_of
from harness.comparison.next_steps import steps_of
from harness.comparison.sentences import sentence

from .build import conclude, noisy

WORDS = {"kind": "bm25", "top_k": None, "top_chars": 50_000}
VECTORS = {"kind": "chroma", "model": "m", "top_k": 20, "top_chars": None}
BOTH = {"kind": "minmax", "routes": [VECTORS, WORDS], "top_k": 20, "top_chars": None}
CHUNK = {"kind": "recursive", "chunk_size": 500, "chunk_overlap": 0}


def setting(search=WORDS, chunk=CHUNK, rerank=()):
    return {"retrieve": search, "chunk": chunk, "rerank": list(rerank), "parse": {"kind": "pypdf"}}


def concluded(part, *settings, value=0.4, **more):
    """A verdict on settings a, b, … whose largest loss is at a part."""
    names = "ab"[: len(settings)]
    return conclude(
        noisy(60, (0.5, 0.3)[: len(settings)]),
        options=Options(resamples=500),
        configured=dict(zip(names, settings, strict=True)),
        lost={name: {"chunking": 0.01, part: value} for name in names},
        folders=dict.fromkeys(names, "results/x"),
        **more,
    )


def step(part, *settings, **more):
    return steps_of(concluded(part, *settings, **more))[0].text.removesuffix(" What is lost, query by query:")


def test_the_step_names_the_key_that_the_configuration_has():
    late = [{"kind": "late_interaction", "model": "embedded:maxsim"}]
    assert step("candidates", setting(BOTH, rerank=late), setting(WORDS)) == (
        "Retrieve more: raise retrieve.top_k above 20."
    )
    # what is read is full, and nothing would bring up what comes after it
    assert step("candidates", setting(BOTH), setting(WORDS)) == (
        "Try another encoder: change its model, now m."
    )
    both = {**BOTH, "top_chars": 50_000, "top_k": None}
    assert step("candidates", setting(both, rerank=late), setting(both, rerank=late)) == (
        "Retrieve more: raise retrieve.top_chars above 50,000."
    )


def test_what_no_setting_has_tried_comes_first():
    assert step("candidates", setting(WORDS), setting(WORDS)).endswith("with the routes bm25 and chroma.")
    assert step("candidates", setting(VECTORS), setting(VECTORS)).endswith("with the routes chroma and bm25.")
    assert step("order", setting(), setting()).startswith("Add a reranker: rerank: {kind: late_interaction,")
    late = [{"kind": "late_interaction", "model": "embedded:maxsim"}]
    assert step("order", setting(rerank=late), setting()) == (
        "Try another reranker: set rerank.kind to cross_encoder, so far late_interaction."
    )
    cross = [{"kind": "cross_encoder", "model": "small"}]
    assert step("order", setting(rerank=cross), setting()) == (
        "Try another reranker: change rerank.model, so far small."
    )


def test_chunks_go_on_in_the_direction_that_loses_less_or_overlap():
    large = {**CHUNK, "chunk_size": 1000}
    found = concluded("order", setting(), setting(chunk=large))
    for losses, text in (
        ((0.3, 0.5), "Set chunk.chunk_size to 250"),
        ((0.5, 0.3), "Set chunk.chunk_size to 2000"),
    ):
        lost = {name: {"chunking": value} for name, value in zip("ab", losses, strict=True)}
        assert steps_of(replace(found, lost=lost))[0].text.startswith(f"{text}, so far 500 and 1000.")
    assert (
        step("chunking", setting(), setting()) == "Let chunks overlap: set chunk.chunk_overlap to 100, now 0."
    )
    lapped = {**CHUNK, "chunk_overlap": 100}
    assert step("chunking", setting(chunk=lapped), setting(chunk=lapped)) == (
        "Set chunk.chunk_size to 1000, now 500."
    )


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ("parser", "Try another parser: change parse.kind, now pypdf."),
        ("filter", "Let the filter leave out less: filters.csv has what it left out."),
        ("rerank", "Leave out rerank: it ranks evidence lower."),
    ],
)
def test_every_part_has_its_remedy(part, text):
    assert step(part, setting(), setting()) == text


def test_hits_of_another_pipeline_have_no_keys_here():
    hits = {"chunk": {"kind": "returned"}, "retrieve": {"kind": "returned"}}
    for part in ("candidates", "order", "chunking"):
        assert "retrieve." not in step(part, hits, hits)


def test_the_larger_of_regret_and_loss_decides_what_comes_first():
    found = concluded("order", setting(), setting())
    few = replace(found, population=replace(found.population, kind="few clusters", clusters=4))
    regret = replace(few.advice, regret=0.1)
    for value, first in ((0.09, "Add queries on other documents."), (0.11, "Add a reranker")):
        told = replace(few, advice=regret, lost={"a": {"order": value}})
        texts = [one.text for one in steps_of(told)]
        assert texts[0].startswith(first)
        # the first screen has one, compare has both
        assert len(texts) == 2
        assert glance_of(told).next.text == texts[0]


def test_too_few_questions_come_before_all_else():
    found = conclude(noisy(11, (0.1, 0.9)), lost={"b": {"order": 0.5}}, configured={"b": setting()})
    assert [one.text[:26] for one in steps_of(found)] == [
        "Add at least 19 more queri",
        "Add a reranker: rerank: {k",
    ]


def test_how_good_the_best_is_stands_beside_what_it_may_lose():
    assert glance_of(conclude(noisy(60, (0.5, 0.3)))).holds.startswith("Its ndcg_exp@10 is 0.")
    assert glance_of(conclude(noisy(11, (0.1, 0.9)))).holds.startswith("The best ndcg_exp@10 is 0.")


@pytest.mark.parametrize("baseline", [None, "b"])
def test_a_poor_best_is_not_to_be_used_and_the_headline_says_so(baseline):
    scores = noisy(60, (0.09, 0.05), spread=0.02)
    found = conclude(scores, baseline=baseline, lost={"a": {"order": 0.5}}, configured={"a": setting()})
    poor = glance_of(found)
    assert poor.sentence == (
        "None is good enough: the best, a, has 0.09 of 1 by ndcg_exp@10. Look at the losses first."
    )
    assert (found.used, found.advice, verdict_json(found)["sentence"]) == ("", None, poor.sentence)
    assert {one.group for one in found.standings} <= {"may", "out"}
    assert poor.next.text.startswith("Add a reranker")
    assert (poor.tone, glance_json(poor)["said"]) == ("poor", "Warning: ")
    assert glance_lines(poor)[0].startswith("Warning: None is good enough")
    assert 'class="lead poor"' in svg_of(poor)
    # one relevant chunk of ten is all that there is to find
    for measure in ("precision@10", "p@10", "precision_condensed@10", "rbp", "text_iou@5", "of_another_tool"):
        assert not conclude(replace(scores, measure=measure)).poor
    alone = conclude(noisy(60, (0.09,), spread=0.02))
    assert sentence(alone) == (
        "One setting, which is not good enough: ndcg_exp@10 0.09 on 60 queries. Look at the losses first."
    )


def test_a_tone_says_whether_a_setting_can_be_used():
    rows = noisy(60, (0.5, 0.3))
    assert glance_of(conclude(rows)).tone == "good"
    assert glance_of(conclude(noisy(60, (0.5,)))).tone == "good"
    assert glance_of(conclude(rows, baseline="b")).tone == "good"
    assert glance_of(conclude(rows, baseline="a")).tone == "caution"
    few = glance_of(conclude(noisy(11, (0.1, 0.9))))
    assert glance_lines(few)[0].startswith("Caution: 11 queries: too few")
    assert 'class="lead caution"' in svg_of(few)
    assert glance_of(conclude(replace(rows, values=rows.values * 0))).tone == "poor"


def test_what_is_folded_is_said_by_what_is_known_of_it():
    found = glance_of(conclude(noisy(60, (0.5, 0.49, 0.49, 0.3, 0.2))))
    groups = [one.group for one in found.settings]
    assert groups == ["use", "may", "may", "out", "out"]
    told = ["4 more: 2 may be best, 2 ruled out"] * 2 + ["3 more: 1 may be best, 2 ruled out"]
    assert [folded(found.settings, most)[1] for most in range(6)] == [*told, "2 more: ruled out", "", ""]
    assert glance_json(found)["more"][:4] == [*told, "2 more: ruled out"]
    assert "  2 more: ruled out" in glance_lines(found, lines=len(glance_lines(found)) - 1)
    # the one to use is never folded
    last = (*found.settings[1:], found.settings[0])
    assert [one.group for one in folded(last, 1)[0]] == ["may", "use"]


def reranked_or_not(gain):
    """Settings with and without a reranker; the first, which has one, is ahead by a gain."""
    late = [{"kind": "late_interaction", "model": "embedded:maxsim"}]
    return conclude(
        noisy(60, (0.5 + gain, 0.5)),
        options=Options(resamples=500),
        configured={"a": setting(rerank=late), "b": setting()},
        lost={name: {"order": 0.4, "chunking": 0.1} for name in "ab"},
        folders=dict.fromkeys("ab", "results/x"),
    )


def test_a_reranker_that_changed_nothing_is_not_advised_again():
    assert reranked_or_not(0.3).comparisons[0].real
    assert steps_of(reranked_or_not(0.3))[0].text.startswith("Try another reranker")
    assert not reranked_or_not(0).comparisons[0].real
    assert not any("reranker" in one.text for one in steps_of(reranked_or_not(0)))
    assert steps_of(reranked_or_not(0))[0].text.startswith("Let chunks overlap")


def test_a_command_does_the_step_or_the_text_says_what_it_shows():
    first = steps_of(concluded("order", setting(), setting()))[0]
    assert str(first).endswith(" What is lost, query by query: harness show results/x --worst 10")
    assert str(replace(first, text="Use ndcg_text@5000 instead.", command="harness compare x")) == (
        "Use ndcg_text@5000 instead (harness compare x)."
    )
    assert glance_of(concluded("order", setting(), setting())).largest.startswith("Largest loss of a: ")


def test_of_too_few_questions_no_interval_is_drawn():
    three, many = (glance_of(conclude(noisy(n, (0.5, 0.3)))) for n in (3, 60))
    assert three.about_settings == "Settings (ndcg_exp@10; too few queries for intervals)"
    assert all(one.low is one.high is None for one in three.settings)
    assert many.about_settings == "Settings (ndcg_exp@10, 95% intervals)"
