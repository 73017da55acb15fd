"""report.html without a browser: what is in it, what is not, and how large it gets."""

import base64
import csv
import hashlib
import json
import random
import re
from dataclasses import replace
from pathlib import Path

import pytest

import harness.report.page
from harness.report import (
    Axes,
    Detail,
    RankedRow,
    base_payload,
    build_page,
    passages_detail,
    read_tables,
    with_detail,
    write_results,
)
from harness.report.page.build import SCRIPTS, source_of
from harness.running.bench.page import columns, headline, statistics
from harness.values import Silent
from tests.command import assert_at_hand, refused, run, write_table
from tests.report.page_results import HOSTILE, fuse, rewrite, unpack, write_folder

ASSETS = Path(harness.report.page.__file__).parent / "assets"


def payload_of(page):
    return unpack(re.search(r'id="data">([^<]*)<', page)[1])


def page_of(folder, **options):
    tables = read_tables(folder)
    return build_page(tables, statistics(tables, Silent())[0], columns=columns(tables), **options)


def test_the_page_is_written_next_to_the_results_or_where_one_says(tmp_path, capsys):
    assert "no benchmark results" in refused(capsys, "report", tmp_path)
    folder = write_folder(tmp_path / "r")
    for words, path in ((), folder / "report.html"), (("--output", tmp_path / "x.html"), tmp_path / "x.html"):
        assert str(path) in run(capsys, "report", folder, *words)[1]
        assert path.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_the_policy_lets_exactly_this_script_and_style_run_and_nothing_be_fetched(tmp_path):
    page = page_of(write_folder(tmp_path / "r")).html
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert policy.startswith("default-src 'none'; ")
    for tag, rule in (("script", "script-src"), ("style", "style-src")):
        (content,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{rule} 'sha256-{digest}';" in policy
    assert "unsafe" not in policy
    assert not re.search(r"""(src|href)\s*=\s*["'](?!#|data:,)""", page)
    assert "http://www.w3.org/2000/svg" in page
    assert not re.findall(r"https?://(?!www\.w3\.org/2000/svg)", page)


def test_scripts_make_no_markup_from_text_and_send_nothing():
    forbidden = (
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|srcdoc|DOMParser|"
        r"createContextualFragment|\bfetch\(|XMLHttpRequest|WebSocket|sendBeacon|\bimport\(|</script"
    )
    for name in SCRIPTS:
        text = (ASSETS / name).read_text(encoding="utf-8")
        assert not re.findall(forbidden, text), name
        assert len(text.splitlines()) < 400, name


def test_no_line_of_the_script_loses_a_character(tmp_path):
    """A template within a template was taken for code, and "all 2 settings" became "all 2settings"."""
    script = re.findall(r"<script>(.*?)</script>", page_of(write_folder(tmp_path / "r")).html, re.DOTALL)[-1]
    kept = script.split("\n")
    assert "".join(kept).count("} settings`") > 0
    lines = [line.strip() for name in SCRIPTS for line in source_of(name).splitlines()]
    assert [line for line in lines if line and not line.startswith("//")] == kept[2:-1]
    # a template or a comment over several lines would be changed by leaving out indents and lines
    assert all(line.count("`") % 2 == 0 and not line.startswith(("/*", "*")) for line in lines)


def test_what_documents_and_queries_say_is_in_the_page_only_compressed(tmp_path):
    folder = write_folder(tmp_path / "r", hostile=True)
    page = page_of(folder).html
    assert "window.hit" not in page
    assert "onerror" not in page
    assert page.count("<script") == 2
    assert page.count("</script>") == 2
    payload = payload_of(page)
    assert payload["settings"][0] == f"chunk=200/0{HOSTILE}"
    assert payload["queries"]["text"][0].endswith(HOSTILE)
    assert any(HOSTILE in text for _, _, text in payload["detail"]["texts"])


def test_a_hostile_name_of_the_folder_is_escaped_in_the_title(tmp_path):
    folder = write_folder(tmp_path / "<b>&%%DATA%%")
    page = page_of(folder).html
    assert "<title>&lt;b&gt;&amp;%%DATA%% ·" in page


def test_the_same_results_give_the_same_page(tmp_path):
    folder = write_folder(tmp_path / "r")
    assert page_of(folder).html == page_of(folder).html


def test_names_are_referred_to_by_their_place(tmp_path):
    folder = write_folder(tmp_path / "r", settings=3)
    payload = payload_of(page_of(folder).html)
    with (folder / "per_query.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            value = payload["scores"][payload["measures"].index(row["measure"])][
                payload["stages"].index(row["stage"])
            ][payload["settings"].index(row["setting"])][payload["queries"]["id"].index(row["query_id"])]
            assert value == pytest.approx(1_000_000 * float(row["value"]), abs=0.5001)
    rows = payload["statistics"]["ndcg_exp@10"]["pairs"]["rows"]
    assert len(rows) == 3
    assert all(row[7] + row[8] + row[9] == 12 for row in rows)
    assert {row[6] for row in rows} == {"too few queries"}


def test_what_a_query_takes_is_next_to_what_it_costs(tmp_path):
    folder = write_folder(tmp_path / "r", settings=2, queries=3)
    (first, second) = payload_of(page_of(folder).html)["settings"]
    columns = ("setting", "stage", "queries", "total_p50", "total_p95", "total_p99", "total_in_batch")
    rows = [
        (first, "rewrite", 3, 1, 1, 1, 0.5),
        (first, "retrieve", 3, 12.5, 13, 14, 2.5),
        (second, "retrieve", 0, "", "", "", ""),
    ]
    write_table(folder / "latency.csv", columns, rows)
    prices = payload_of(page_of(folder).html)["prices"]
    shown = [[row[f"latency_{q}"] for q in ("p50", "p95", "p99", "in_batch")] for row in prices]
    places = [(row["setting"], row["stage"]) for row in prices]
    assert places == [(0, "retrieve"), (0, "rerank"), (1, "retrieve"), (1, "rerank")]
    assert shown == [[12.5, 13, 14, 2.5], *[[None] * 4] * 3]


def test_what_was_asked_is_in_the_drill_down(tmp_path):
    folder = write_folder(tmp_path / "r", settings=2, queries=3)
    (first, second) = payload_of(page_of(folder).html)["settings"]
    rows = [
        (first, "retrieve", "q0", 1, "one wording"),
        (first, "retrieve", "q0", 2, "x" * 300),
        (first, "retrieve", "q1", 1, "one wording"),
        (second, "retrieve.bm25", "q2", 1, "a name"),
    ]
    write_table(folder / "asked.csv", ("setting", "step", "query_id", "number", "text"), rows)
    asked = payload_of(page_of(folder).html)["detail"]["asked"]
    assert asked == {
        "texts": ["one wording", "x" * 300, "a name"],
        "steps": [
            {"setting": 0, "step": "retrieve", "by": [[0, 1], [0], []]},
            {"setting": 1, "step": "retrieve.bm25", "by": [[], [], [2]]},
        ],
    }
    # where the page has to be small, it is cut as the passages are
    tables = read_tables(folder)
    short = with_detail(base_payload(tables, {}), tables, Detail(3, 100))
    assert short["detail"]["asked"]["texts"] == ["one wording", "x" * 250 + " …", "a name"]


def thousandths(value):
    """As the page shows it: the binary number nearest to what was carried, to three decimals."""
    return f"{value:.3f}"


def test_what_rounds_up_is_not_rounded_twice(tmp_path):
    # 0.123516 is 0.124; by way of four or five digits, 0.1235, it would become 0.123
    assert thousandths(0.123516) == "0.124"
    assert thousandths(0.1235) == "0.123"
    folder = write_folder(tmp_path / "r")
    second = {"chunk=200/0": 0.25, "chunk=200/1": 0.373516}
    rewrite(folder / "per_query.csv", lambda row: row | {"value": second[row["setting"]]})
    places = {"mean": 0.123504, "ci_low": 0.103504, "ci_high": 0.143504}
    rewrite(folder / "summary.csv", lambda row: row | places)
    payload = payload_of(page_of(folder).html)
    (row,) = payload["statistics"]["ndcg_exp@10"]["pairs"]["rows"]
    # every query differs by as much, and so the bounds are the difference too
    assert [thousandths(abs(n)) for n in row[2:5]] == ["0.124"] * 3
    shown = payload["summary"]["all"][0][0][0][:3]
    assert [thousandths(n) for n in shown] == ["0.124", "0.104", "0.144"]
    rewrite(folder / "per_query.csv", lambda row: row | {"value": 0.123516})
    assert payload_of(page_of(folder).html)["scores"][0][0][0][0] == 123516


def test_a_page_without_the_optional_files_names_what_is_missing(tmp_path):
    folder = write_folder(tmp_path / "r", extras=False)
    for name in ("rankings", "passages", "judgments", "queries", "documents"):
        (folder / f"{name}.csv").unlink()
    payload = payload_of(page_of(folder).html)
    assert payload["missing"] == ["queries", "rankings", "passages", "judgments"]
    assert payload["losses"] is payload["chunks"] is payload["prices"] is None
    assert payload["queries"]["text"] == [""] * 12


def test_of_many_questions_the_page_has_the_rankings_of_some_and_says_so(tmp_path, monkeypatch):
    folder = write_folder(tmp_path / "r", queries=12)
    whole = payload_of(page_of(folder).html)
    assert "drilled" not in whole["detail"]
    monkeypatch.setattr("harness.report.page.page_tables.MOST_DRILLED", 4)
    page = page_of(folder)
    payload = payload_of(page.html)
    detail, places = payload["detail"], [0, 3, 6, 9]
    assert detail["drilled"] == places
    assert payload["scores"] == whole["scores"]
    assert page.note == payload["notes"][0]
    assert "of all 12 queries" in page.note
    assert "for 4 of them" in page.note
    for by_stage in detail["rankings"]:
        for by_query in by_stage:
            assert [place for place, own in enumerate(by_query) if own] == places
    assert [place for place, own in enumerate(detail["evidence"]) if own] == places
    assert len(detail["chunks"]["start"]) <= len(whole["detail"]["chunks"]["start"])


def test_losses_follow_the_steps_and_routes_are_next_to_them(tmp_path):
    folder = fuse(write_folder(tmp_path / "r"))
    losses = payload_of(page_of(folder).html)["losses"]
    names = ["not read by the parser", "badly chunked", "not found", "ranked too low"]
    names += ["by the rerank step", "by the rerank_again step"]
    assert [part["name"] for part in losses["parts"]] == names
    assert [part["part"] for part in losses["parts"]][-3:] == ["order", "change", "change"]
    assert [(way["setting"], way["route"]) for way in losses["ways"]] == [
        (setting, route) for setting in (0, 1) for route in ("", "retrieve.bm25", "retrieve.dense")
    ]
    for way in losses["ways"]:
        columns = [values for values in way["losses"] if values is not None]
        assert len(columns) == (4 if way["route"] else 6)
        for left, *lost in zip(way["left"], *columns, strict=True):
            assert left == pytest.approx(1_000_000 - sum(lost), abs=6)
    for query, blame in zip(losses["ways"][0]["query"], losses["ways"][0]["blame"], strict=True):
        lost = [values[query] for values in losses["ways"][0]["losses"]]
        assert lost[blame] == max(lost)


@pytest.mark.parametrize(("settings", "queries"), [(1, 8), (2, 1), (2, 2)])
def test_one_setting_or_a_single_query_still_make_a_page(tmp_path, settings, queries):
    folder = write_folder(
        tmp_path / "r", settings=settings, queries=queries, measures=("ndcg_exp@10", "ndcg_text@5000")
    )
    found = payload_of(page_of(folder).html)["statistics"]["ndcg_text@5000"]
    assert found["n"] == queries
    assert found["verdict"]["decision"] == ("single" if settings == 1 else "few")


def test_curves_join_settings_that_differ_in_size_alone_by_the_measured_length_where_it_is_known(tmp_path):
    """A size that a window of tokens caps is no size: 400 characters here are no longer than 200."""
    folder = write_folder(tmp_path / "r", settings=4)
    names = ("chunk=200/0", "chunk=200/1", "chunk=400/0", "chunk=400/1")
    rows = [(name, 9, median) for name, median in zip(names, (50, 51, 49, 60), strict=True)]
    write_table(folder / "chunks.csv", ("setting", "chunks", "tokens_p50"), rows)
    assert payload_of(page_of(folder).html)["curves"] == [
        {"unit": "tokens, median measured", "points": [[49, 2], [50, 0]]},
        {"unit": "tokens, median measured", "points": [[51, 1], [60, 3]]},
    ]
    (folder / "chunks.csv").unlink()
    assert payload_of(page_of(folder).html)["curves"] == [
        {"unit": "characters", "points": [[200, 0], [400, 2]]},
        {"unit": "characters", "points": [[200, 1], [400, 3]]},
    ]
    assert payload_of(page_of(write_folder(tmp_path / "s", settings=2)).html)["curves"] == []


def words(seed, length):
    rnd = random.Random(seed)
    vocabulary = ["".join(rnd.choices("abcdefghijklmnop", k=rnd.randint(2, 10))) for _ in range(6000)]
    return " ".join(rnd.choice(vocabulary) for _ in range(length // 7))


@pytest.mark.slow
def test_twenty_settings_and_two_hundred_queries_fit_in_two_megabytes(tmp_path):
    measures = ("ndcg_exp@10", "ndcg_text@5000", "ndcg_lin@10", "recall@10", "judged@10")
    text = words(1, 400_000)
    folder = write_folder(tmp_path / "r", settings=20, queries=200, measures=measures, text=text)
    tables = read_tables(folder)
    page = build_page(tables, {measure: {} for measure in measures})
    assert page.size < 2_000_000
    assert payload_of(page.html)["detail"]["ranks"] >= 5


def test_what_does_not_fit_is_cut_with_a_note(tmp_path):
    folder = write_folder(tmp_path / "r", settings=4, queries=30, text=words(2, 200_000))
    tables = read_tables(folder)
    whole = build_page(tables, {})
    assert whole.note == ""
    smaller = build_page(tables, {}, limit=int(whole.size * 0.8))
    assert smaller.size < whole.size * 0.8
    payload = payload_of(smaller.html)
    assert payload["notes"] == [smaller.note]
    assert "small" in smaller.note
    assert payload["detail"]["ranks"] < 10


def test_a_shortened_passage_keeps_its_judged_evidence(tmp_path):
    folder = write_folder(tmp_path / "r", settings=2, queries=12)
    tables = read_tables(folder)
    shown = passages_detail(tables, Axes.of(tables), Detail(10, 5))
    kept = {at + i for _, at, text in shown["texts"] for i in range(len(text))}
    judged = {n for row in tables["judgments"] for n in range(int(row["start"]), int(row["end"]))}
    covered = {n for c in tables["passages"] for n in range(int(c["start"]), int(c["end"]))}
    assert judged & covered <= kept
    assert len(kept) < len(covered)


def test_texts_are_pieces_of_the_document_in_order_and_without_overlap(tmp_path):
    text = words(3, 20_000)
    tables = read_tables(write_folder(tmp_path / "r", settings=4, text=text))
    shown = passages_detail(tables, Axes.of(tables), Detail())
    reached = -1
    for _, start, piece in shown["texts"]:
        assert start > reached
        assert piece == text[start : start + len(piece)]
        reached = start + len(piece)


@pytest.mark.parametrize(
    "text", ["plain", "=1+1", "'=1+1", "'quoted", "+a\r\nb\rc", "-", "@\t", "\r\nx", "'\n", "𝔘\u2028\x00", ""]
)
def test_passages_come_back_as_they_were_written(tmp_path, results, text):
    row = RankedRow("a/b =x", "retrieve", "q1", 1, f"d:5-{5 + len(text)}", "d", 1, 0.5, None, 0, text)
    results = replace(results, ranked=[row])
    write_results(tmp_path, results, lambda name: "x")
    assert_at_hand(results, tmp_path)
    (found,) = read_tables(tmp_path)["passages"]
    # only line ends change, one character for one
    expected = text.replace("\r\n", " \n").replace("\r", "\n")
    assert found["text"] == expected
    assert len(found["text"]) == len(text)


def test_the_page_says_what_compare_says_word_for_word(tmp_path, capsys):
    measures = ("ndcg_exp@10", "recall@10", "judged@10", "rbp_residual", "ndcg_exp_upper@10")
    folder = write_folder(tmp_path / "r", settings=4, queries=40, measures=measures)
    payload = payload_of(page_of(folder).html)
    for no_quality in ("judged@10", "rbp_residual", "ndcg_exp_upper@10"):
        assert "not how good a ranking is" in payload["statistics"][no_quality]["why"]
    for measure in ("ndcg_exp@10", "recall@10"):
        compared = run(capsys, "compare", folder, "--measure", measure, "--format", "json")[1]
        lines = json.loads(compared)["lines"]
        assert payload["statistics"][measure]["verdict"]["lines"] == lines
    output = json.loads(run(capsys, "show", folder, "--format", "json")[1])["lines"]
    assert payload["statistics"]["ndcg_exp@10"]["verdict"]["lines"] == output


def test_the_page_opens_with_what_compares_the_settings(tmp_path):
    measures = ("ndcg_exp@10", "ndcg_text@5000", "judged@10")
    different = write_folder(tmp_path / "r", settings=4, queries=9, measures=measures)
    tables = read_tables(different)
    assert headline(tables) == "ndcg_text@5000"
    page = build_page(tables, statistics(tables, Silent())[0], headline=headline(tables))
    assert payload_of(page.html)["headline"] == "ndcg_text@5000"
    # one setting has one chunking
    assert headline(read_tables(write_folder(tmp_path / "s", settings=1, measures=measures))) == "ndcg_exp@10"
