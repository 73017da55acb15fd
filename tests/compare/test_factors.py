"""What each factor of a sweep does, and what is said of it."""

import re
from dataclasses import replace
from itertools import product
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.comparison import (
    MOST_WORDS,
    Costs,
    Effects,
    Grounds,
    Holes,
    LabelSensitivity,
    Loss,
    Options,
    Scores,
    Trust,
    design_in,
    effects_of,
    glance_lines,
    sentence,
    svg_of,
    verdict_of,
)
from harness.comparison.advice import Cheaper
from harness.comparison.glance import holds
from harness.comparison.scores import advised_by

from .build import matrix

QUICK = Options(resamples=1_000)
SIZES, SEARCHES = (500, 1000), ("bm25", "chroma")


def design_of(configured):
    """The design of settings by name, as a record holds them."""
    return design_in({"config": {"settings": [one | {"name": name} for name, one in configured.items()]}})


def setting(size, kind, rerank=(), **more):
    section = {"kind": kind} | ({"model": "embedded:all-MiniLM-L6-v2"} if kind == "chroma" else {})
    chunk = {"kind": "recursive", "chunk_size": size, "chunk_overlap": 0}
    return {"chunk": chunk, "retrieve": section, "rerank": list(rerank), **more}


def sweep(n=60, seed=0, spread=0.02, chunks=0.1, search=0.2, cross=0.0, measure="ndcg_evidence@5000"):
    """2 × 2 settings of known effects, and their scores by query."""
    rng = np.random.default_rng(seed)
    base, rows, configured = rng.normal(0.4, 0.1, n), {}, {}
    for size in SIZES:
        for kind in SEARCHES:
            small, words = size == 500, kind == "bm25"
            mean = chunks * small + search * words + cross * (small and words)
            name = f"{size} {kind}"
            rows[name] = base + mean + rng.normal(0, spread, n)
            configured[name] = setting(size, kind)
    return replace(matrix(rows), measure=measure), configured


def verdict(scores, configured, **more):
    given_ = {"options": QUICK, "design": design_of(configured)} | more
    return verdict_of(Scores(matrices={scores.measure: scores}, **given_))


def test_a_main_effect_is_the_mean_difference_of_pairs_that_differ_in_nothing_else():
    # means over two queries; words over vectors: (0.6 - 0.3 + 0.4 - 0.3) / 2 = 0.2;
    # 500 over 1,000 characters: (0.6 - 0.4 + 0.3 - 0.3) / 2 = 0.1
    scores = matrix(
        {
            "500 bm25": [0.5, 0.7],
            "500 chroma": [0.2, 0.4],
            "1000 bm25": [0.4, 0.4],
            "1000 chroma": [0.3, 0.3],
        }
    )
    _, configured = sweep()
    found = {one.factor: one for one in effects_of(scores, Grounds(design=design_of(configured))).main}
    assert found["search"].found.difference == pytest.approx(0.2)
    assert (found["search"].found.setting, found["search"].found.against) == (
        "keyword search",
        "vector search",
    )
    assert found["chunk size"].found.difference == pytest.approx(0.1)
    assert found["chunk size"].pairs == (("500 bm25", "1000 bm25"), ("500 chroma", "1000 chroma"))
    # two queries decide nothing
    assert {one.found.finding for one in found.values()} == {"few"}


def test_effects_beyond_chance_choose_the_levels_to_use():
    found = verdict(*sweep())
    assert {one.factor: one.found.finding for one in found.effects.main} == {
        "chunk size": "real",
        "search": "real",
    }
    assert found.effects.levels == {"chunk size": "500 characters", "search": "keyword search"}
    assert found.effects.interactions == ()
    assert found.advice.setting == "500 bm25"
    groups = {one.setting: (one.group, one.why) for one in found.standings}
    assert groups["500 bm25"] == ("use", "")
    assert groups["1000 bm25"] == ("out", "worse by chunk size")


def test_an_interaction_beyond_chance_is_said_and_settings_decide():
    # vectors instead of words at 1,000 characters: -0.1; at 500: -0.3, or with the other sign 0.1
    for cross, way in ((0.2, "better"), (-0.2, "worse")):
        found = verdict(*sweep(chunks=0.0, search=0.1, cross=cross))
        (text,) = found.effects.interactions
        assert float(re.search(r"does (0\.\d+) ", text)[1]) == pytest.approx(0.2, abs=0.01)
        assert text.endswith(f"{way} with vector search than with keyword search.")
        assert f"But {text[:40]}" in " ".join(glance_lines(found))
        assert found.effects.levels is None


def test_the_lighter_level_is_taken_where_both_are_shown_to_be_equivalent():
    scores, configured = sweep(n=400, search=0.0, spread=0.05, seed=1)
    found = verdict(scores, configured)
    (search,) = [one.found for one in found.effects.main if one.factor == "search"]
    assert (search.setting, search.finding) == ("vector search", "equivalent")
    assert found.effects.levels["search"] == "keyword search"
    sure = verdict(scores, configured, options=replace(QUICK, tolerance=0.0001))
    assert sure.effects.levels["search"] == "vector search"


def test_settings_that_are_no_product_have_no_effects():
    scores, configured = sweep()
    assert effects_of(scores, Grounds(design=design_of({}))).main == ()
    line = replace(scores, settings=("a", "b", "c", "d"))
    alone = {name: setting(size, "bm25") for name, size in zip("abcd", (100, 200, 300, 400), strict=True)}
    assert effects_of(line, Grounds(design=design_of(alone))).main == ()
    twice = dict.fromkeys(configured, setting(500, "bm25"))
    assert effects_of(scores, Grounds(design=design_of(twice))).main == ()


def test_a_partly_crossed_sweep_is_estimated_where_the_design_allows_it():
    scores, configured = sweep()
    rows = {name: scores.row(name) for name in scores.settings}
    # reranked with one chunk size only: one pair is no average
    rows["500 bm25 r"] = rows["500 bm25"] + 0.01
    configured["500 bm25 r"] = setting(500, "bm25", [{"kind": "cross_encoder", "model": "m"}])
    one = matrix(rows, measure=scores.measure)
    assert {effect.factor for effect in effects_of(one, Grounds(design=design_of(configured))).main} == {
        "chunk size",
        "search",
    }
    assert verdict(one, configured).effects.levels is None
    rows["1000 bm25 r"] = rows["1000 bm25"] + 0.01
    configured["1000 bm25 r"] = setting(1000, "bm25", [{"kind": "cross_encoder", "model": "m"}])
    both = effects_of(matrix(rows, measure=scores.measure), Grounds(design=design_of(configured)))
    (reranker,) = [effect.found for effect in both.main if effect.factor == "reranker"]
    assert (reranker.setting, reranker.against) == ("reranked", "no reranker")
    assert reranker.difference == pytest.approx(0.01)


def test_an_effect_of_chunks_is_no_finding_where_the_measure_cannot_compare_them_or_labels_turn_it():
    scores, configured = sweep()
    cut = {name: name.split()[0] for name in configured}
    apart = verdict(scores, configured, chunkings=cut, trust={scores.measure: Trust("", comparable=False)})
    findings = {one.factor: one.found.finding for one in apart.effects.main}
    assert findings == {"chunk size": "incomparable", "search": "real"}
    # as of a pair, that is said first where rankings end early too
    early = {scores.measure: {"1000 bm25": 0.1, "1000 chroma": 0.1}}
    both = verdict_of(
        Scores(
            matrices={scores.measure: scores},
            design=design_of(configured),
            chunkings=cut,
            trust=apart.trust,
            read=early,
        )
    )
    assert both.effects.main[0].found.finding == "incomparable"
    assert apart.effects.levels is None
    means = {name: (mean, mean) for name, mean in zip(scores.settings, scores.means, strict=True)}
    turned = means | {name: (one[0], 1 - one[1]) for name, one in means.items() if name.startswith("500")}
    for drawn, finding in ((means, "real"), (turned, "turns")):
        known = LabelSensitivity(("as given", "padded"), (80.0, 300.0), drawn)
        grounds = Grounds(chunkings=cut, design=design_of(configured), sensitivity={scores.measure: known})
        found = effects_of(scores, grounds)
        assert {one.factor: one.found.finding for one in found.main}["chunk size"] == finding


def test_an_interaction_with_chunks_is_no_finding_where_theirs_is_none():
    scores, configured = sweep(chunks=0.0, search=0.1, cross=0.2)
    cut = {name: name.split()[0] for name in configured}
    own = dict(zip(scores.settings, scores.means, strict=True))
    means = {name: (mean, mean) for name, mean in own.items()}
    # with longer labels, words do less well with small chunks than with large ones
    turned = means | {"500 bm25": (own["500 bm25"], own["500 bm25"] - 0.5)}
    design = design_of(configured)
    for drawn, count in ((means, 1), (turned, 0)):
        known = {scores.measure: LabelSensitivity(("as given", "padded"), (80.0, 300.0), drawn)}
        found = effects_of(scores, Grounds(options=QUICK, chunkings=cut, design=design, sensitivity=known))
        assert len(found.interactions) == count
    apart = Grounds(
        options=QUICK, chunkings=cut, trust={scores.measure: Trust("", comparable=False)}, design=design
    )
    assert effects_of(scores, apart).interactions == ()
    # all are over the same chunks
    same = replace(apart, chunkings=dict.fromkeys(cut, "one"))
    assert len(effects_of(scores, same).interactions) == 1


def test_on_few_documents_effects_hold_for_these_documents_alone():
    scores, configured = sweep()
    found = verdict(replace(scores, clusters=tuple(f"d{i % 4}" for i in range(60))), configured)
    assert {(one.found.finding, one.found.here) for one in found.effects.main} == {("real", True)}
    assert sentence(found).startswith(
        "On these 4 clusters alone use chunks of 500 characters, keyword search, "
    )
    assert f" is {found.standings[0].mean:.2f} of 1, for 60 queries on 4 clusters. " in holds(found)
    assert "on these 4 clusters only" in holds(found)
    assert [one.words for one in found.effects.main] == ["better here"] * 2


def names(*settings):
    return list(design_of({str(at): one for at, one in enumerate(settings)}).names.values())


def test_settings_are_named_by_what_varies():
    hybrid = {"kind": "minmax", "routes": [{"kind": "chroma", "model": "a/one"}, {"kind": "bm25"}]}
    assert names(
        setting(500, "bm25"),
        setting(1000, "chroma"),
        setting(500, "bm25") | {"retrieve": hybrid},
        setting(500, "bm25", [{"kind": "cross_encoder", "model": "m"}]),
    ) == [
        "500 characters, keyword search",
        "1,000 characters, vector search",
        "500 characters, keyword + vector search",
        "500 characters, keyword search, reranked",
    ]
    # nothing tells two apart
    assert design_of(dict.fromkeys(("a", "b: x"), setting(500, "bm25"))).names == {
        "a": "500 characters, keyword search (a)",
        "b: x": "500 characters, keyword search (b: x)",
    }
    # a search of another package is no search by vectors because nobody knows it
    assert names(setting(500, "bm25"), setting(500, "colour_match")) == ["keyword search", "colour match"]


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("model", ("a/small", "b/small")),
        ("endpoint", [f"http://a-rather-long-name:{n}/v1" for n in (1, 2)]),
        ("stem", (True, False)),
    ],
)
def test_no_two_settings_have_one_name(key, values):
    searches = [{"kind": "http", "analyser": "auto", key: value} for value in values]
    # a fusion has no analyser
    fused = {"kind": "minmax", "routes": searches}
    found = names(*(setting(500, "bm25") | {"retrieve": one} for one in (*searches, fused)))
    assert len(set(found)) == 3
    assert not any("(" in name or "auto" in name for name in found)


def test_names_say_what_varies_in_words_that_need_no_configuration():
    routes = [{"kind": "bm25"}, {"kind": "chroma", "model": "a/one"}]
    weighted = [{"kind": "weighted", "routes": routes, "weights": pair} for pair in ([0, 1.0], [0.3, 0.7])]
    of_own = [
        {"kind": "python", "call": call, "returns": returns}
        for call, returns in (("mine:search", "rankings"), ("mine:other", "retriever"))
    ]
    assert names(*(setting(500, "bm25") | {"retrieve": search} for search in (*weighted, *of_own))) == [
        "keyword + vector search, weights 0:1",
        "keyword + vector search, weights 0.3:0.7",
        "own search, mine:search",
        "own search, mine:other",
    ]
    filtered = [
        {"kind": "qdrant", "only": {"payload.day": days}} for days in ([20230101, 20240101], ["a", "b"])
    ]
    assert names(*(setting(500, "bm25") | {"retrieve": search} for search in filtered)) == [
        "search in Qdrant, day 20230101 or 20240101",
        "search in Qdrant, day a or b",
    ]
    # how a function is called is said where nothing else differs
    alike = [{**of_own[0], "returns": returns} for returns in ("rankings", "retriever")]
    assert names(*(setting(500, "bm25") | {"retrieve": search} for search in alike)) == [
        "own search, returns rankings",
        "own search, returns retriever",
    ]


def test_chunks_are_named_by_their_size_whoever_cuts_them():
    def langchain(size, splitter="RecursiveCharacterTextSplitter", **more):
        arguments = {"chunk_size": size, "chunk_overlap": 50}
        return {"kind": "langchain", "splitter": splitter, "arguments": arguments, **more}

    cuts = (
        langchain(500),
        langchain(1000),
        langchain(200, "TokenTextSplitter"),
        {"kind": "rows", "unit": "characters"},
        {"kind": "recursive", "chunk_size": 500},
    )
    assert names(*({"chunk": cut, "retrieve": {"kind": "bm25"}} for cut in cuts)) == [
        "500 characters, LangChain chunks",
        "1,000 characters, LangChain chunks",
        "200 tokens, LangChain chunks",
        "table rows",
        "500 characters, recursive chunks",
    ]
    assert names(*({"chunk": cut, "retrieve": {"kind": "bm25"}} for cut in cuts[:2])) == [
        "500 characters",
        "1,000 characters",
    ]


def crossed(step, **values):
    """Every combination of the values of keys of a step, as settings by their numbers."""
    keys = list(values)
    combinations = product(*values.values())
    return {
        str(at): setting(500, "bm25") | {step: dict(zip(keys, one, strict=True))}
        for at, one in enumerate(combinations)
    }


CUTS = {"chunk_size": (500, 1000), "chunk_overlap": (0, 50)}
LONG = {"500 characters", "1,000 characters"}
OVERLAPS = {"no overlap", "overlap 50"}
DEEP = {"top k 10", "top k 20"}


@pytest.mark.parametrize(
    ("step", "values", "factors"),
    [
        (
            "chunk",
            {"kind": ("recursive", "sentence"), **CUTS},
            {"chunk size": LONG, "chunker": {"recursive chunks", "whole sentences"}, "overlap": OVERLAPS},
        ),
        (
            "chunk",
            {"kind": ("recursive",), "unit": ("characters", "tokens"), **CUTS},
            {"chunk size": LONG | {"500 tokens", "1,000 tokens"}, "overlap": OVERLAPS},
        ),
        (
            "retrieve",
            {"kind": ("chroma",), "model": ("a/one", "b/two"), "top_k": (10, 20)},
            {"search": {"vector search, one", "vector search, two"}, "search top k": DEEP},
        ),
        (
            "rerank",
            {"kind": ("cross_encoder",), "model": ("a/one", "b/two"), "max_length": (256, 512)},
            {
                "reranker": {"reranked, one", "reranked, two"},
                "reranker max length": {"max length 256", "max length 512"},
            },
        ),
    ],
)
def test_keys_of_a_step_that_are_crossed_are_factors_of_their_own(step, values, factors):
    found = design_of(crossed(step, **values))
    assert [(one.name, set(one.distinct)) for one in found.factors] == list(factors.items())
    # every setting is one cell, and has its own name
    assert len(found.cells(tuple(found.names))) == len(set(found.names.values())) == len(found.names)


def test_keys_that_are_not_crossed_are_one_factor_and_what_a_key_decides_belongs_to_it():
    missing = crossed("chunk", kind=("recursive",), **CUTS)
    del missing["3"]
    assert [one.name for one in design_of(missing).factors] == ["chunking"]
    assert list(design_of(missing).names.values())[:2] == [
        "500 characters, no overlap",
        "500 characters, overlap 50",
    ]
    # what a key decides belongs to it
    together = crossed("retrieve", kind=("chroma", "exact"), top_k=(10, 20))
    for one in together.values():
        one["retrieve"]["model"] = f"m/{one['retrieve']['kind']}"
    assert [one.distinct for one in design_of(together).factors] == [
        ("vector search, chroma", "vector search, exact"),
        ("top k 10", "top k 20"),
    ]


def test_effects_of_chunk_size_and_overlap_are_told_apart():
    # means over two queries: 500 characters (0.5 - 0.3 + 0.6 - 0.5) / 2 = 0.15;
    # overlap (0.6 - 0.5 + 0.5 - 0.3) / 2 = 0.15
    configured = crossed("chunk", kind=("recursive",), chunk_size=(500, 1000), chunk_overlap=(0, 50))
    scores = matrix({"0": [0.4, 0.6], "1": [0.5, 0.7], "2": [0.2, 0.4], "3": [0.4, 0.6]})
    found = {one.factor: one for one in effects_of(scores, Grounds(design=design_of(configured))).main}
    assert found["chunk size"].found.difference == pytest.approx(0.15)
    assert found["chunk size"].found.setting == "500 characters"
    assert found["overlap"].found.difference == pytest.approx(0.15)
    assert found["overlap"].pairs == (("1", "0"), ("3", "2"))
    weight = design_of(configured).factors[1].weight
    assert weight["no overlap"] < weight["overlap 50"]
    # overlap does more with large chunks
    rng = np.random.default_rng(0)
    rows = {name: rng.normal(0.4 + (0.1 if name == "3" else 0), 0.02, 60) for name in configured}
    (text,) = verdict(matrix(rows, measure="ndcg_evidence@5000"), configured).effects.interactions
    assert text.startswith("1,000 characters instead of 500 characters does 0.098")
    assert text.endswith("better with overlap 50 than with no overlap.")


def test_a_setting_without_a_partner_is_not_ruled_out_by_a_factor():
    scores, configured = sweep()
    rows = {name: scores.row(name) for name in scores.settings}
    # the best of all has the worse chunk size, and nobody tried it with the other
    rows["1000 both"] = rows["500 bm25"] + np.random.default_rng(1).normal(0.1, 0.02, 60)
    both = {"kind": "minmax", "routes": [{"kind": "bm25"}, {"kind": "chroma"}]}
    configured["1000 both"] = setting(1000, "bm25") | {"retrieve": both}
    found = verdict(matrix(rows, measure=scores.measure), configured)
    groups = {one.setting: (one.group, one.why) for one in found.standings}
    assert found.advice.setting == "1000 both"
    assert groups["1000 both"] == ("use", "")
    assert groups["1000 bm25"] == ("out", "worse by chunk size")
    tied = replace(found, advice=replace(found.advice, setting="500 bm25"))
    same = {one.setting: one for one in tied.standings}["1000 both"]
    assert "chunk" not in same.why


def test_levels_do_not_advise_a_setting_that_another_is_shown_to_beat():
    scores, configured = sweep(n=400, search=0.0, spread=0.05, seed=1)
    found = replace(verdict(scores, configured), decision="open")
    costs = Costs({name: float(name == "500 bm25") for name in configured}, "tokens@5000")
    found = replace(found, costs=costs, advice=replace(found.advice, setting="500 chroma"))
    beaten = Effects(levels={"chunk size": "1,000 characters", "search": "keyword search"})
    assert advised_by(beaten, found, scores) == found.advice
    # a cheaper one is named only where it costs less than the one advised
    cheaper = replace(found.advice, cheaper=Cheaper("500 bm25", 0.0))
    left = Effects(levels={"chunk size": "500 characters", "search": "keyword search"})
    advice = advised_by(left, replace(found, advice=cheaper), scores)
    assert (advice.setting, advice.cheaper) == ("500 bm25", None)


def drawn(svg, tag, named=None):
    """The elements of a picture with a tag, and of a class."""
    found = ElementTree.fromstring(svg).iter(f"{{http://www.w3.org/2000/svg}}{tag}")
    return [one for one in found if named in (None, one.get("class"))]


def test_the_picture_shows_every_effect_and_what_every_setting_lost():
    found = verdict(*sweep())
    svg = svg_of(found)
    # the line of no difference reaches from above the first effect to below the last
    (zero,) = drawn(svg, "line", "line")
    at = [float(one.get("y")) for one in drawn(svg, "text") if " instead of " in one.text]
    assert float(zero.get("y1")) < min(at) <= max(at) < float(zero.get("y2"))
    # every part that lost something has its own filling, in the bars as in the legend
    parts = ("parser", "filter", "chunking", "candidates", "order", "rerank", "fuse", "read", "more")
    lost = (*(Loss(part, f"by {part}", 0.05) for part in parts), Loss("nothing", "by nothing", 0.001))
    svg = svg_of(replace(found, standings=tuple(replace(one, losses=lost) for one in found.standings)))
    # the swatches, with one for what is reached, then four bars
    bars = drawn(svg, "rect", "bar")
    swatches, bars = bars[: len(parts) + 1], bars[len(parts) + 1 :]
    assert [one[0].text for one in swatches] == ["reached", *(f"by {part}" for part in reversed(parts))]
    assert [one.get("style") for one in bars] == 4 * [one.get("style") for one in swatches]
    for at in range(0, len(bars), len(swatches)):
        wide = sum(float(one.get("width")) for one in bars[at : at + len(swatches)])
        assert wide == pytest.approx(244, abs=1)
    # a setting that lost nothing is drawn too
    losses = [(Loss("order", "ranked too low", lost),) for lost in (0.0, *[0.3] * len(found.standings[1:]))]
    settings = tuple(replace(one, losses=own) for one, own in zip(found.standings, losses, strict=True))
    assert "left 1.00" in svg_of(replace(found, standings=settings))
    # names cannot break out
    broken = tuple(replace(one, words="<script>") for one in found.standings)
    assert "<script" not in svg_of(replace(found, standings=broken))


@pytest.mark.parametrize(
    ("case", "clusters", "baseline", "limit"),
    [
        ({}, 1, None, None),
        ({"n": 11}, 12, "1000 chroma", 0.5),
        ({"chunks": 0.0, "search": 0.0, "spread": 0.2}, 4, None, 1.5),
    ],
)
def test_the_sentence_has_at_most_25_words_and_the_end_of_a_run_24_lines(case, clusters, baseline, limit):
    scores, configured = sweep(**case)
    # settings without a configuration are called by their technical names
    long = {
        name: f"{name} with a name of far more words than anybody should read at once" for name in configured
    }
    clustered = tuple(f"d{i % clusters}" for i in range(len(scores.query_ids)))
    named = replace(scores, clusters=clustered, settings=tuple(long.values()))
    costs = Costs({name: float(place) for place, name in enumerate(named.settings, start=1)}, "tokens@5000")
    given = Grounds(options=replace(QUICK, price_limit=limit), costs=costs).shared()
    found = verdict_of(Scores(matrices={scores.measure: named}, **given), baseline=long.get(baseline))
    unlabelled = Holes("judged_text@10000", dict(zip(named.settings, (0.04, 0.7, 0.7, 0.7), strict=True)))
    for told in (found, replace(found, holes=unlabelled)):
        assert len(sentence(told).split()) <= MOST_WORDS, sentence(told)
        lines = glance_lines(told, ["Page: results/x/report.html"])
        assert len(lines) <= 24
        assert max(map(len, lines)) <= 80
        # the one to use is always among those shown
        used = any(one.group == "use" for one in told.standings)
        assert not used or any("use this" in line for line in lines)


def test_many_settings_get_the_lines_that_factors_leave():
    """Of sixteen settings as many are shown as fit below two factors, in 24 lines in all."""
    rng, sizes = np.random.default_rng(0), range(200, 1800, 200)
    base, rows, configured = rng.normal(0.4, 0.1, 60), {}, {}
    for size in sizes:
        for kind in SEARCHES:
            mean = 0.2 * (kind == "bm25") - size / 10_000
            rows[f"{size} {kind}"] = base + mean + rng.normal(0, 0.02, 60)
            configured[f"{size} {kind}"] = setting(size, kind)
    lines = glance_lines(
        verdict(replace(matrix(rows), measure="ndcg_evidence@5000"), configured), ["Page: x"]
    )
    assert len(lines) == 24
    assert sum("keyword search" in line or "vector search" in line for line in lines) > 2


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(0, 1, width=32), min_size=4 * 30, max_size=4 * 30))
def test_effects_add_up_to_differences_of_settings(values):
    rows = np.array(values, dtype=np.float64).reshape(4, 30)
    _, configured = sweep()
    scores = matrix(dict(zip(configured, rows, strict=True)))
    found = {
        one.factor: one.found
        for one in effects_of(scores, Grounds(options=QUICK, design=design_of(configured))).main
    }
    means = dict(zip(scores.settings, scores.means, strict=True))

    def signed(one, level):
        return one.difference if one.setting == level else -one.difference

    # the diagonal of a 2 × 2 table is the sum of both main effects
    both = signed(found["chunk size"], "500 characters") + signed(found["search"], "keyword search")
    assert both == pytest.approx(means["500 bm25"] - means["1000 chroma"], abs=1e-9)
    for one in found.values():
        assert one.low - 1e-9 <= one.difference <= one.high + 1e-9
