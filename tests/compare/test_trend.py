"""Results in the order of time: which changes are more than chance, and what is drawn of them."""

import json
import math
import re
from datetime import date, timedelta
from itertools import product
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from benchmarks import trend_alarms
from harness.comparison.change_test import _STAKES, FallTest, changes
from tests.command import one_line, printed, refused, run
from tests.mission.helpers import run_in


def direct(looks, cells):
    """The evidence of a fall by its definition: an average over looks of a change and over stakes.

    In each cell, bets above m are taken at its upper edge and bets below m at its lower edge.
    """
    evidence = []
    for cell in range(cells):
        low, high = cell / cells, (cell + 1) / cells

        def above(values, high=high):
            capitals = [np.prod(1 + stake / high * (values - high)) for stake in _STAKES[:, 0]]
            return np.mean(capitals)

        def below(values, low=low):
            capitals = [np.prod(1 - stake / (1 - low) * (values - low)) for stake in _STAKES[:, 0]]
            return np.mean(capitals)

        total = 0.0
        for change in range(1, len(looks) + 1):
            weight = 1 / math.log2(change + 1) - 1 / math.log2(change + 2)
            before, after = np.concatenate([[], *looks[: change - 1]]), np.concatenate(looks[change - 1 :])
            total += weight * above(before) * below(after)
        # a change is yet to come
        total += above(np.concatenate(looks)) / math.log2(len(looks) + 2)
        evidence.append(total)
    return min(evidence)


def test_the_evidence_is_that_of_its_definition():
    rng = np.random.default_rng(3)
    looks = [rng.random(size) for size in (3, 1, 4, 2)]
    looks[2] = np.array([0.0, 0.0, 0.5, 1.0])
    test = FallTest(cells=7)
    for count, values in enumerate(looks, start=1):
        assert test.look(values) == pytest.approx(math.log(direct(looks[:count], 7)), abs=1e-9)


@pytest.mark.parametrize("mean", [0.1, 0.5, 0.63, 0.9])
def test_the_mean_of_the_evidence_is_at_most_one_where_nothing_changes(mean):
    # over all outcomes of three looks at right or wrong answers, with their probabilities
    total = 0.0
    for outcome in product([0.0, 1.0], repeat=6):
        chance = math.prod(mean if value else 1 - mean for value in outcome)
        test = FallTest(cells=20)
        for place in range(0, 6, 2):
            evidence = test.look(np.array(outcome[place : place + 2]))
        total += chance * math.exp(evidence)
    assert 0 < total <= 1


def test_a_year_without_a_change_is_quiet():
    rng = np.random.default_rng(5)
    alarms = sum(bool(changes(list(rng.random((80, 6)) < 0.7), cells=40)) for _ in range(20))
    # at most 1 of 20 is expected by the promise; in benchmarks/trend_alarms.py it is far fewer
    assert alarms <= 2


def test_a_fall_and_a_rise_are_placed_and_the_test_starts_anew():
    rng = np.random.default_rng(1)
    looks = [(rng.random(60) < mean).astype(float) for mean in [0.9] * 15 + [0.5] * 15 + [0.95] * 15]
    fall, rise = changes([*looks[:20], np.array([]), *looks[20:]], cells=100)
    assert (fall.direction, rise.direction) == ("fall", "rise")
    assert 15 <= fall.shown <= 18
    assert abs(fall.began - 15) <= 1
    # an empty look is passed over, and keeps its place
    assert 31 <= rise.shown <= 34
    assert (fall.before, fall.after) == (pytest.approx(0.9, abs=0.06), pytest.approx(0.5, abs=0.15))


def test_a_change_is_placed_by_the_sizes_of_both_sides():
    before, after = np.repeat([1.0, 0.0], [45, 5]), np.repeat([1.0, 0.0], [30, 20])
    (fall,) = changes([before] * 20 + [after] * 20, cells=20)
    # more than one look passes until it is shown, so that it could be placed too late
    assert fall.shown > 20
    assert (fall.began, fall.before, fall.after) == (20, pytest.approx(0.9), pytest.approx(0.6))


def test_constant_values_never_change():
    assert changes([np.full(50, 0.8)] * 40, cells=50) == []
    assert changes([np.ones(50)] * 40, cells=50) == []


def scored(folder, name, days, right, per_day=40, measures="exact_match"):
    """Results of `score-answers` on answers of some days of June, of which the first are right."""
    rows = [
        {
            "query_id": f"{day}-{place}",
            "user_input": f"Question {place} of {day}?",
            "response": "yes" if place < right(day) else "no",
            "reference": "yes",
            "time": f"{date(2026, 6, 1) + timedelta(day)}T12:00:00Z",
        }
        for day in days
        for place in range(per_day)
    ]
    path = folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return ("score-answers", path, "--results", folder / "results" / name, "--measures", measures, "--quiet")


def test_a_fall_of_production_is_noticed_in_whatever_order_results_were_made(tmp_path, capsys):
    for name, days in (("b", range(10, 20)), ("a", range(10))):
        printed(capsys, *scored(tmp_path, name, days, lambda day: 36 if day < 13 else 20))
    words = ("trend", tmp_path / "results", "--by", "day", "--fail-if-fallen", "--output")
    code, out, _ = run(capsys, *words, tmp_path / "t.svg")
    assert code == 1
    # 36 of 40 and 20 of 40
    sentence = (
        "exact_match has fallen by more than chance explains: 0.900 before 2026-06-14, 0.500 from then on"
    )
    assert sentence in one_line(out)
    picture = ElementTree.parse(tmp_path / "t.svg").getroot()
    tags = [element.tag.rpartition("}")[2] for element in picture.iter()]
    assert tags.count("circle") == 20
    assert "0.900 before 2026-06-14" in picture.get("aria-label")
    # the fall began between two days
    places = [float(element.get("cx")) for element in picture.iter() if element.tag.endswith("circle")]
    (began,) = (float(e.get("x1")) for e in picture.iter() if e.get("class") == "fall began")
    assert began == pytest.approx((places[12] + places[13]) / 2, abs=0.2)
    # the first of June and the nineteenth day after it stand below the ends of the line
    texts = [(e.get("class"), e.text) for e in picture.iter() if e.tag.endswith("}text")]
    names = [(kind, text) for kind, text in texts if text.startswith("2026-")]
    assert names == [("quiet", "2026-06-01"), ("quiet end", "2026-06-20")]
    # before the fall there is nothing to fail for
    assert printed(capsys, *words, tmp_path / "t.html", "--since", "2026-06-14").count("no change") == 1
    assert "<svg" in (tmp_path / "t.html").read_text()


def test_an_answer_that_is_scored_again_counts_once(tmp_path, capsys):
    for name in ("first", "again"):
        printed(capsys, *scored(tmp_path, name, range(3), lambda day: 30))
    out = printed(capsys, "trend", tmp_path / "results", "--by", "week")
    # 120 queries, not 240
    # a week is its own name
    assert "─ 2026-W23 0.750" in one_line(out)
    assert " 120 " in out
    # results are named with the day of their first answer
    by_result = printed(capsys, "trend", tmp_path / "results", "--by", "result")
    assert re.search("─ 2026-06-01 (first|again) 0.750", one_line(by_result))
    said = "120 answers are in again and in first, with the same query and time. Each counts once"
    assert said in one_line(out) or said.replace("again and in first", "first and in again") in one_line(out)


def test_benchmarks_that_ran_one_after_another_are_a_trend(tmp_path, capsys):
    passages = {f"d{at}": f"passage {at}" for at in range(1, 6)}
    queries = [f"passage {at}" for at in range(1, 6)]
    # a yard in two folders, whose results have the same name
    folders = []
    for name, right in (("one", 1), ("two", 2)):
        labels = [(f"q{at}", f"d{(at + right) % 5 + 1}", 4) for at in range(1, 6)]
        folder = tmp_path / name
        folder.mkdir()
        folders.append(run_in(folder, passages, queries, labels, measures="[ndcg_exp@5]"))
    out = printed(capsys, "trend", *folders)
    assert "ndcg_exp@5: no change that is more than chance, over 2 looks." in out
    assert "one/results/mission" in out
    assert "two/results/mission" in out


def test_a_rounding_error_above_one_is_tested_and_other_ranges_are_not(tmp_path, capsys):
    printed(capsys, *scored(tmp_path, "a", range(2), lambda day: 30))
    scores = tmp_path / "results" / "a" / "answer_scores.csv"
    content = scores.read_text()
    for value, sentence in (
        ("1.0000000000000002", "no change that is more than chance"),
        ("3.0", "not tested"),
    ):
        scores.write_text(content.replace(",1.0,", f",{value},"))
        assert sentence in printed(capsys, "trend", tmp_path / "results")


def test_another_way_of_scoring_is_said(tmp_path, capsys):
    for name, days, kind in (("a", range(2), "exact_match"), ("b", range(2, 4), "token_f1")):
        config = tmp_path / f"{name}.yaml"
        config.write_text(f"answer_measures: [{{kind: {kind}, name: right}}]\n")
        words = scored(tmp_path, name, days, lambda day: 30)
        printed(capsys, *words[:4], "--config", config, "--quiet")
    out = printed(capsys, "trend", tmp_path / "results")
    assert "b was scored otherwise than the result before it" in out
    assert "the keys of right differ" in out


def test_ways_of_scoring_of_one_day_are_looks_of_their_own(tmp_path, capsys):
    for name, kind, right in (("a", "exact_match", 40), ("b", "token_f1", 10)):
        config = tmp_path / f"{name}.yaml"
        config.write_text(f"answer_measures: [{{kind: {kind}, name: right}}]\n")
        words = scored(tmp_path, name, range(1), lambda day, right=right: right)
        # other questions on the same day
        rows = words[1].read_text().replace('"query_id": "', f'"query_id": "{name}')
        words[1].write_text(rows.replace("Question ", f"Question {name} "))
        printed(capsys, *words[:4], "--config", config, "--quiet")
    out = one_line(printed(capsys, "trend", tmp_path / "results", "--by", "day"))
    # 40 of 40 and 10 of 40, not 50 of 80
    assert "2026-06-01, scored as in a 1.000" in out
    assert "2026-06-01, scored as in b 0.250" in out
    assert "0.625" not in out


def test_what_cannot_be_read_is_refused_with_the_remedy(tmp_path, capsys):
    assert "no results. Name folders" in refused(capsys, "trend", tmp_path)
    printed(capsys, *scored(tmp_path, "a", range(2), lambda day: 30))
    results = tmp_path / "results"
    record = results / "a" / "record.json"
    content = record.read_text()
    record.write_text(content.replace('"answered_at": {', '"answered_at": 3, "other": {'))
    assert "counts.answered_at has the wrong type" in refused(capsys, "trend", results)
    record.write_text(content.replace("2026-06-01T12:00:00Z", "noon", 1))
    message = refused(capsys, "trend", results)
    assert "record.json: the time of query 0-0: 'noon' is not a day or time" in message
    record.write_text(content.replace('"date": "2', '"date": "x2', 1))
    assert "record.json: date: 'x2" in refused(capsys, "trend", results)
    record.write_text(content)
    assert "must be between 0 and 1" in refused(capsys, "trend", results, "--level", "2")
    assert "name a .svg or .html file" in refused(capsys, "trend", results, "--output", "x.png")
    assert "since 2027-01-01. Name an earlier day" in refused(
        capsys, "trend", results, "--since", "2027-01-01"
    )
    assert "is not a day or time" in refused(capsys, "trend", results, "--since", "June")
    message = refused(capsys, "trend", results, "--measures", "faithfulness")
    assert "not scored by faithfulness; these results share exact_match" in message


def test_gate_and_compare_read_scored_answers(tmp_path, capsys):
    for name, right in (("base", 36), ("same", 36), ("worse", 18)):
        printed(capsys, *scored(tmp_path, name, range(2), lambda day, right=right: right))
    results = tmp_path / "results"
    gate = ("gate", "--max-drop", "0.02", "--baseline", results / "base")
    assert run(capsys, *gate, results / "same")[0] == 0
    code, out, _ = run(capsys, *gate, results / "worse")
    assert code == 1
    # 36 and 18 of 40
    assert "exact_match 0.9000 to 0.4500 over 80 queries: a drop of 0.4500" in one_line(out)
    out = printed(capsys, "compare", results / "base", results / "worse")
    assert "Use base: answers" in out
    # other queries do not compare
    printed(capsys, *scored(tmp_path, "later", range(5, 7), lambda day: 30))
    assert "queries" in refused(capsys, *gate, results / "later")
    assert "it has exact_match" in refused(capsys, *gate, results / "same", "--measure", "faithfulness")
    assert "holds scored answers alone" in refused(capsys, "show", results / "base")


def test_the_false_alarms_of_the_page_are_those_of_its_command():
    page = (Path(__file__).parents[2] / "docs" / "monitoring.md").read_text(encoding="utf-8")
    (row,) = re.findall(r"^\| right or wrong \| 20 \| (\d+) of 200 \| (\d+) of 200 \|$", page, re.MULTILINE)
    # the years of the command, of which the rule of three sigmas sees all, and the test the first four
    rng = np.random.default_rng(7)
    years = [trend_alarms.year(trend_alarms.binary, rng, 20) for _ in range(200)]
    assert sum(map(trend_alarms.three_sigmas, years)) == int(row[1])
    assert not any(changes(looks, cells=trend_alarms.CELLS) for looks in years[:4])
    assert row[0] == "0"
