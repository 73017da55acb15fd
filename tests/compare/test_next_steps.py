"""The next step: against the largest loss or for more questions, whichever is about the larger amount."""

from dataclasses import replace

import pytest
import yaml

from harness.comparison import Holes, Options, Trust, verdict_json
from harness.comparison.glance import (
    about_settings,
    folded,
    glance_json,
    glance_lines,
    holds,
    largest,
    shown_standings,
)
from harness.comparison.glance_svg import svg_of
from harness.comparison.next_steps import steps_of
from harness.comparison.sentences import in_words, sentence

from .build import conclude, matrix, noisy

WORDS = {"kind": "bm25", "top_k": None, "top_chars": 50_000}
VECTORS = {"kind": "chroma", "model": "m", "top_k": 20, "top_chars": None}
BOTH = {"kind": "minmax", "routes": [VECTORS, WORDS], "top_k": 20, "top_chars": None}
CHUNK = {"kind": "recursive", "chunk_size": 500, "chunk_overlap": 0}

SET = "Set in the configuration and run again:"


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
    """The first step, and the line that it gives, which the YAML of a configuration can hold."""
    first = steps_of(concluded(part, *settings, **more))[0]
    assert not first.config or isinstance(yaml.safe_load(first.config), dict)
    return first.text.removesuffix(" See what is lost, query by query:"), first.config


def test_where_nothing_was_found_the_step_names_the_folder():
    verdict = conclude(matrix({"a": [0.0] * 40, "b": [0.0] * 40}), folders={"a": "my results", "b": "other"})
    assert steps_of(verdict)[0].command == "harness show 'my results' --worst 10"


def test_the_step_names_the_key_that_the_configuration_has():
    late = [{"kind": "late_interaction", "model": "embedded:maxsim"}]
    assert step("candidates", setting(BOTH, rerank=late), setting(WORDS)) == (
        "What is not found may come after the first 20. In retrieve:",
        "top_k: 40",
    )
    # what is read is full, and nothing would bring up what comes after it
    assert step("candidates", setting(BOTH), setting(WORDS)) == (
        "Try another encoder: only a run shows whether it finds more. Set in place of model m and run again:",
        "model: BAAI/bge-m3",
    )
    both = {**BOTH, "top_chars": 50_000, "top_k": None}
    assert step("candidates", setting(both, rerank=late), setting(both, rerank=late)) == (
        "What is not found may come after the first 50,000. In retrieve:",
        "top_chars: 100000",
    )


def test_what_no_setting_has_tried_comes_first():
    for tried, deep, model in (
        (WORDS, "top_chars: 50000", "embedded:all-MiniLM-L6-v2"),
        (VECTORS, "top_k: 20", "m"),
    ):
        routes = f'{{kind: bm25, {deep}}}, {{kind: chroma, model: "{model}", {deep}}}'
        text, line = step("candidates", setting(tried), setting(tried))
        assert "only a run shows whether " in text
        assert line == f"retrieve: {{kind: minmax, {deep}, routes: [{routes}]}}"
    bundled = 'rerank: {kind: late_interaction, model: "embedded:maxsim"}'
    assert step("order", setting(), setting())[1] == bundled
    late = [{"kind": "late_interaction", "model": "embedded:maxsim"}]
    first, other = "cross-encoder/ms-marco-MiniLM-L-6-v2", "BAAI/bge-reranker-v2-m3"
    for tried, model in (
        (late, first),
        ([{"kind": "cross_encoder", "model": "small"}], first),
        ([{"kind": "cross_encoder", "model": first}], other),
    ):
        line = f"rerank: {{kind: cross_encoder, model: {model}}}"
        assert step("order", setting(rerank=tried), setting())[1] == line
    # of two settings with rerankers of one kind, neither is new
    both = [setting(rerank=[{"kind": "cross_encoder", "model": one}]) for one in (first, "small")]
    line = step("order", *both)[1]
    assert line == f"rerank: {{kind: cross_encoder, model: {other}}}"
    # nor is the encoder of another setting
    encoded = [
        setting({**BOTH, "routes": [WORDS, {**VECTORS, "model": one}]}) for one in ("m", "BAAI/bge-m3")
    ]
    assert step("candidates", *encoded)[1] == "model: BAAI/bge-small-en-v1.5"
    every = [{"kind": "cross_encoder", "model": first}, {"kind": "late_interaction", "model": other}]
    assert step("order", setting(rerank=every), setting()) == ("Try another reranker.", "")


def test_chunks_go_on_in_the_direction_that_loses_less_or_overlap():
    large = {**CHUNK, "chunk_size": 1000}
    found = concluded("order", setting(), setting(chunk=large))
    for losses, best, way, further in (
        ((0.3, 0.5), "500", "smaller", 250),
        ((0.5, 0.3), "1,000", "larger", 2000),
    ):
        lost = {name: {"chunking": value} for name, value in zip("ab", losses, strict=True)}
        first = steps_of(replace(found, lost=lost))[0]
        assert f"{best} loses least: try a {way} one." in first.text
        assert first.config == f"chunk_size: {further}"
    assert step("chunking", setting(), setting())[1] == "chunk_overlap: 100"
    lapped = {**CHUNK, "chunk_overlap": 100}
    assert step("chunking", setting(chunk=lapped), setting(chunk=lapped))[1] == "chunk_size: 1000"


def test_a_part_has_its_key_and_hits_of_another_pipeline_have_none_here():
    hits = {"chunk": {"kind": "returned"}, "retrieve": {"kind": "returned"}}
    for part in ("candidates", "order", "chunking"):
        text, line = step(part, hits, hits)
        assert text
        assert not line
    assert step("parser", setting(), setting())[1] == "parse: {kind: pypdfium2}"
    assert step("rerank", setting(), setting()) == ("Leave out rerank: it ranks evidence lower.", "")


def test_the_larger_of_regret_and_loss_decides_what_comes_first():
    found = concluded("order", setting(), setting())
    few = replace(found, population=replace(found.population, kind="few clusters", clusters=4))
    regret = replace(few.advice, regret=0.1)
    for value, first in ((0.09, "Add queries on other documents."), (0.11, "Try the bundled reranker")):
        told = replace(few, advice=regret, lost={"a": {"order": value}})
        texts = [one.text for one in steps_of(told)]
        assert texts[0].startswith(first)
        assert len(texts) == 3
        # the first screen has one, compare has all
        assert glance_json(told)["next"]["text"] == texts[0]


def test_too_few_questions_come_before_all_else():
    found = conclude(noisy(11, (0.1, 0.9)), lost={"b": {"order": 0.5}}, configured={"b": setting()})
    assert [one.text[:26] for one in steps_of(found)] == [
        "Add at least 19 more queri",
        "Try the bundled reranker: ",
        "See what is lost, query by",
    ]


def test_how_good_the_best_is_stands_beside_what_it_may_lose():
    few = conclude(noisy(11, (0.1, 0.9)))
    assert holds(few).startswith("The best NDCG over the first 10 passages is 0.")
    # the name of the measure stands once, after its words
    assert "\n".join(glance_lines(few)).count("(ndcg_exp@10)") == 1
    assert svg_of(few).count("ndcg_exp@10") == 1
    # of a measure that a perfect ranking does not bring to 1 nobody knows how much that is
    assert " of 1" in holds(conclude(noisy(60, (0.5, 0.3))))
    assert " of 1" not in holds(conclude(replace(noisy(60, (0.5, 0.3)), measure="p@10")))


@pytest.mark.parametrize(
    ("measure", "words"),
    [
        ("ndcg_evidence_tokens@500", "NDCG over the first 500 tokens read"),
        # nothing is left out: what words do not say keeps its name
        ("recall(rel=2)@10", "recall(rel=2)@10"),
        ("of_another_tool", "of_another_tool"),
    ],
)
def test_a_measure_is_said_in_words(measure, words):
    assert in_words(measure) == words


@pytest.mark.parametrize("baseline", [None, "b"])
def test_a_poor_best_is_not_to_be_used_and_the_headline_says_so(baseline):
    scores = noisy(60, (0.09, 0.05), spread=0.02)
    found = conclude(scores, baseline=baseline, lost={"a": {"order": 0.5}}, configured={"a": setting()})
    told = sentence(found)
    assert told == ("None is good enough: the best, a, reaches 0.09 of 1. Look at the losses first.")
    assert (found.used, found.advice, verdict_json(found)["sentence"]) == ("", None, told)
    assert {one.group for one in found.standings} <= {"may", "out"}
    assert steps_of(found)[0].config.startswith("rerank: ")
    assert (found.tone, glance_json(found)["said"]) == ("poor", "Warning: ")
    assert glance_lines(found)[0].startswith("Warning: None is good enough")
    assert "Holds for" not in holds(found)
    assert 'class="lead poor"' in svg_of(found)
    # one relevant chunk of ten is all that there is to find
    for measure in ("precision@10", "p@10", "precision_condensed@10", "rbp", "text_iou@5", "of_another_tool"):
        assert not conclude(replace(scores, measure=measure)).poor
    alone = conclude(noisy(60, (0.09,), spread=0.02))
    assert sentence(alone) == (
        "One setting, not good enough: 0.09 in NDCG over the first 10 passages, on 60 queries. Look at the "
        "losses first."
    )


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
def test_where_hardly_anything_is_judged_the_headline_warns_and_labels_are_the_next_step(means, n, share):
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
    assert "Holds for" not in holds(bare)
    # the sheet is for people: a judge goes deeper by its own key
    judged = steps_of(replace(bare, judge="llm"))[0]
    assert "`relevance`" in judged.text
    assert not judged.copied


def test_a_tone_says_whether_a_setting_can_be_used():
    rows = noisy(60, (0.5, 0.3))
    assert conclude(rows).tone == "good"
    assert conclude(noisy(60, (0.5,))).tone == "good"
    assert conclude(rows, baseline="b").tone == "good"
    assert conclude(rows, baseline="a").tone == "caution"
    few = conclude(noisy(11, (0.1, 0.9)))
    assert glance_lines(few)[0].startswith("Caution: 11 queries: too few")
    assert 'class="lead caution"' in svg_of(few)
    assert conclude(replace(rows, values=rows.values * 0)).tone == "poor"


def test_what_is_folded_is_said_by_what_is_known_of_it():
    found = conclude(noisy(60, (0.5, 0.49, 0.49, 0.3, 0.2)))
    groups = [one.group for one in found.standings]
    assert groups == ["use", "may", "may", "out", "out"]
    told = ["4 more: 2 may be best, 2 ruled out"] * 2 + ["3 more: 1 may be best, 2 ruled out"]
    assert [folded(found.standings, most)[1] for most in range(6)] == [*told, "2 more: ruled out", "", ""]
    assert glance_json(found)["more"][:4] == [*told, "2 more: ruled out"]
    assert "  2 more: ruled out" in glance_lines(found, lines=len(glance_lines(found)) - 1)
    # the one to use is never folded
    last = (*found.standings[1:], found.standings[0])
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


def test_where_a_reranker_changed_nothing_that_is_said_and_another_is_named():
    assert reranked_or_not(0.3).comparisons[0].real
    helps, nothing = (steps_of(reranked_or_not(gain))[0] for gain in (0.3, 0))
    assert helps.text.startswith("Try another: ")
    assert not reranked_or_not(0).comparisons[0].real
    assert nothing.text == f"The reranker tried is not shown to help. {helps.text}"
    assert "late_interaction" not in nothing.config


def test_a_command_does_the_step_or_the_text_says_what_it_shows():
    first = steps_of(concluded("order", setting(), setting()))[0]
    assert str(first).endswith(f" {SET} {first.config}")
    filtered = steps_of(concluded("filter", setting(), setting()))[0]
    assert str(filtered).endswith(": harness show results/x --worst 10")


def test_of_too_few_questions_no_interval_is_drawn():
    three, many = (conclude(noisy(n, (0.5, 0.3))) for n in (3, 60))
    assert about_settings(three) == "Settings (score; too few queries for intervals)"
    assert all(one.low is one.high is None for one in shown_standings(three))
    assert about_settings(many) == "Settings (score, 95% intervals)"


def test_the_largest_loss_names_its_unit_where_that_is_not_the_measure():
    found = concluded("order", setting(), setting(BOTH))
    told = "Largest loss of a (in ndcg_text@10000): ranked too low 0.40, then badly chunked 0.01."
    assert largest(found) == told
    trust = {"ndcg_exp@10": Trust(), "ndcg_evidence@5000": Trust()}
    assert "(in ndcg_evidence@5000)" in largest(replace(found, trust=trust))
    same = replace(found, measure="ndcg_evidence@5000")
    assert largest(same).startswith("Largest loss of a: ranked too low")
