"""`harness tune`: a recorded plan of stages, what is left on everything, and what is said of the rest."""

import csv
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

import harness
from harness.comparison import Options, ScoreMatrix, SeenStage
from harness.running import load_config
from harness.running.config.tune_keys import PartConfig
from harness.running.tuning.ladder import Ladder, PlannedStage
from harness.running.tuning.outlay import Outlay
from harness.running.tuning.screen import Screened
from harness.running.tuning.standing import standing_of
from harness.running.tuning.tune_words import finding_lines
from harness.values import ConfigError
from tests.command import exit_code, refused
from tests.report.page_results import unpack

WORDS = [
    "amber",
    "basin",
    "cedar",
    "delta",
    "ember",
    "fjord",
    "gravel",
    "harbour",
    "island",
    "jetty",
    "kernel",
    "lagoon",
    "meadow",
    "nickel",
]
CONFIG = """\
name: t
documents: docs/*.txt
queries: queries.csv
labels: labels.csv
chunk: {kind: recursive, chunk_size: {from: 60, to: 400, log: true, values: 4}, chunk_overlap: 0}
retrieve: {kind: bm25, top_chars: 1000, k1: [0.4, 1.2, 2.5]}
relevance: {judge: labels}
measures: [ndcg_evidence@500]
bootstrap: {resamples: 200}
cache: cache
results: results
tune: {budget: 80 %%, tolerance: 0.05%s}
"""


def sentence(rng, subject):
    return f"The {subject} of {rng.choice(WORDS)} has {rng.choice(WORDS)} and {rng.choice(WORDS)}."


@pytest.fixture
def pool(tmp_path, monkeypatch):
    """Eight labelled documents with four questions each, and sixteen others that say the like."""
    rng = random.Random(4)
    (tmp_path / "docs").mkdir()
    queries, labels = [], []
    for document in range(24):
        lines = []
        for place in range(12):
            subject = f"{rng.choice(WORDS)} {rng.choice(WORDS)}"
            lines.append(sentence(rng, subject))
            if document < 8 and place % 3 == 0:
                name = f"q{document}-{place}"
                queries.append((name, f"What has the {subject}?", "validation" if place == 9 else "train"))
                labels.append((name, f"d{document:02}", lines[-1], 4))
        (tmp_path / "docs" / f"d{document:02}.txt").write_text("\n\n".join(lines), encoding="utf-8")
    for name, head, rows in (
        ("queries", ("query_id", "text", "split"), queries),
        ("labels", ("query_id", "document", "quote", "grade"), labels),
    ):
        with (tmp_path / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([head, *rows])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.yaml").write_text(CONFIG % "")
    return tmp_path


def tuned(folder):
    return json.loads((folder / "results/t/tune.json").read_text("utf-8"))


def test_a_range_stands_for_values_by_ratio(pool):
    sizes = [setting.chunk.chunk_size for setting in load_config(pool / "my.yaml").settings]
    assert list(dict.fromkeys(sizes)) == [60, 113, 213, 400]


@pytest.mark.parametrize(
    ("range_", "why"),
    [
        ("{from: 400, to: 60}", "to a larger one"),
        ("{from: a, to: 60}", "from a number"),
        ("{from: 60, to: 400, steps: 3}", "not steps"),
        ("{from: 60, to: 400, values: 1}", "from 2 to 100"),
        ("{from: 0, to: 400, log: true}", "begins above 0"),
    ],
)
def test_a_range_that_cannot_be_names_its_line(pool, range_, why):
    text = (CONFIG % "").replace("{from: 60, to: 400, log: true, values: 4}", range_)
    (pool / "my.yaml").write_text(text)
    with pytest.raises(ConfigError, match=f"my.yaml:5: chunk.chunk_size: .*{why}"):
        load_config(pool / "my.yaml")


@pytest.mark.parametrize("budget", ["30", "a while", "0 min", "120 %"])
def test_a_budget_has_an_amount_and_a_unit(pool, budget):
    (pool / "my.yaml").write_text((CONFIG % "").replace("80 %", budget))
    with pytest.raises(ConfigError, match=r"tune\.budget"):
        load_config(pool / "my.yaml")


def part_of(pool, **part):
    keys = {"documents": "docs/*.txt", "queries": "queries.csv", "labels": "labels.csv", "cache": "cache"}
    sections = {"chunk": {"kind": "recursive", "chunk_size": 100}, "retrieve": {"kind": "bm25"}}
    return harness.run({**keys, **sections, "name": "part", "results": "results", "part": part})


def test_a_part_holds_what_is_labelled_and_contains_smaller_ones(pool):
    read = {}
    for share in (0.0, 0.3, 0.7):
        rows = part_of(pool, text=share).table("documents")
        read[share] = set(rows.document)
    labelled = {f"d{at:02}" for at in range(8)}
    assert read[0.0] == labelled
    assert read[0.0] < read[0.3] < read[0.7] < {f"d{at:02}" for at in range(24)}


def test_a_part_of_the_queries_is_of_every_document(pool):
    half = part_of(pool, queries=0.5)
    ids = sorted(set(half.per_query.query_id))
    assert len(ids) == 16
    assert {name.split("-")[0] for name in ids} == {f"q{at}" for at in range(8)}
    of_train = part_of(pool, split="train")
    assert set(of_train.per_query.split) == {"train"}


def test_a_part_of_the_text_needs_labels_that_name_documents(pool, capsys):
    text = "name: p\ndocuments: docs/*.txt\nqueries: queries.csv\nretrieve: {kind: bm25}\npart: {text: 0.5}\n"
    (pool / "my.yaml").write_text(text + "relevance: {judge: cosine, model: 'embedded:all-MiniLM-L6-v2'}\n")
    assert "no label names a document" in refused(capsys, "bench", "my.yaml")


def test_a_dry_run_shows_the_plan_and_writes_nothing(pool, capsys):
    assert exit_code("tune", "my.yaml", "--dry-run") == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "labelled documents" in told
    assert "% of a full sweep" in told
    assert "is not known" in told
    assert not (pool / "results").exists()


def test_a_budget_that_is_too_small_says_what_the_least_is(pool, capsys):
    (pool / "my.yaml").write_text((CONFIG % "").replace("80 %", "1 %"))
    told = refused(capsys, "tune", "my.yaml")
    assert "tune.budget is too small: it is 1 % of a full sweep, and the least that settles on one of" in told
    assert "% of a full sweep" in told


def test_what_is_left_has_seen_everything_and_the_rest_is_listed(pool, capsys):
    assert exit_code("tune", "my.yaml") == 0
    told = " ".join(capsys.readouterr().out.split())
    results = harness.read_results(pool / "results/t")
    plan = tuned(pool)["plan"]["stages"]
    left = set(results.per_query.setting)
    dropped = results.table("tuned")
    assert len(left) == plan[-1]["enter"]
    assert len(left) + len(dropped) == 12
    assert not left & set(dropped.setting)
    # each with its bound against the setting to use, and the share of the text that it was seen on
    assert set(dropped.against) == {tuned(pool)["setting"]}
    bounds = dict(zip(dropped.setting, dropped.lead_at_most, strict=True))
    assert bounds == pytest.approx(tuned(pool)["dropped"])
    assert set(dropped.setting[dropped.may_be_better]) == set(tuned(pool)["may_be_better"])
    whole = results.table("documents").characters.sum()
    assert list(dropped.text_share) == pytest.approx(list(dropped.characters / whole))
    assert dropped.text_share.min() < 1
    page = (pool / "results/t/report.html").read_text("utf-8")
    packed = unpack(re.search(r'id="data"[^>]*>([^<]+)<', page)[1].strip())
    assert {row["setting"] for row in packed["dropped"]} == set(dropped.setting)
    assert exit_code("show", "results/t") == 0
    assert "Dropped by harness tune" in capsys.readouterr().out
    assert set(results.table("documents").document) == {f"d{at:02}" for at in range(24)}
    assert dropped.n_queries.max() == plan[0]["queries"] < 32
    # the setting to use is the best of those that are left, by all queries
    means = results.per_query.groupby("setting").value.mean()
    assert tuned(pool)["setting"] == means.idxmax()
    assert f"Use {means.idxmax()}, of 12 settings." in told
    assert "What they would do on the whole text was not seen" in told
    # whoever reads the results learns that their comparisons do not pay for the choice
    assert any("do not pay for that choice" in row["text"] for row in results.record["warnings"])
    assert exit_code("compare", "results/t") == 0
    compared = capsys.readouterr().out
    assert not any(name in compared for name in dropped.setting)
    assert exit_code("gate", "results/t", "--baseline", "results/t") == 0


def test_rankings_that_end_early_are_named_before_the_stages(pool, capsys):
    # 4 chunks of 60 or 113 characters hold less than the 500 that are read, 4 of 213 or 400 hold them all
    (pool / "my.yaml").write_text((CONFIG % "").replace("top_chars: 1000", "top_k: 4"))
    assert exit_code("tune", "my.yaml", "--dry-run") == 0
    told = " ".join(capsys.readouterr().out.split())
    early = "Rankings of 6 of 12 settings will end before the 500 characters that ndcg_evidence@500 reads"
    assert early in told
    assert "set `retrieve.top_chars: 500` and run again" in told
    (pool / "my.yaml").write_text(CONFIG % "")
    assert exit_code("tune", "my.yaml", "--dry-run") == 0
    assert "will end before" not in capsys.readouterr().out


def test_none_is_advised_beside_settings_whose_rankings_end_early(pool):
    config = load_config(pool / "my.yaml")
    names = tuple(setting.name for setting in config.settings)
    short = [name for name in names if name.startswith(("chunk=60/", "chunk=113/"))]
    assert len(short) == 6
    values = np.random.default_rng(1).normal(0.5, 0.1, (12, 32))
    values[[name not in short for name in names]] += 0.2
    queries, clusters = tuple(f"q{at}" for at in range(32)), tuple(f"d{at // 4}" for at in range(32))
    seen = ScoreMatrix("ndcg_evidence@500", names, queries, values, ("train",) * 32, clusters)
    left = (short[0], names[-2], names[-1])
    last = replace(seen, settings=left, values=values[[names.index(name) for name in left]])
    stages = (
        PlannedStage(PartConfig(split="train"), 12, 3, 32, Outlay(1.0)),
        PlannedStage(PartConfig(), 3, 3, 32, Outlay(1.0)),
    )
    options = Options(resamples=200)

    def ended(read):
        screened = [Screened(SeenStage(seen, "whole", read=read), 24, 9000, 1.0)]
        kept = {name: share for name, share in read.items() if name in left}
        standing = standing_of(screened, last, False, options, kept)
        lines = finding_lines(standing, Ladder(stages, Outlay(3.0)), screened, options, config)
        return standing, " ".join(lines)

    standing, told = ended(dict.fromkeys(short, 0.5))
    assert standing.unread == (short[0],)
    assert {*standing.dropped_unread} == {*short[1:]} <= {*standing.candidates}
    assert "none can be advised: rankings of chunk=60/0 k1=0.4 end before the 500 characters" in told
    assert "Set `retrieve.top_chars: 500` and run again." in told
    assert "Against the 1 other that saw everything it loses at most" in told
    assert "Of 5 dropped settings no bound is known, as rankings ended before the 500 characters" in told
    # the rows that end early are far worse as far as they go
    standing, told = ended({})
    assert standing.unread == standing.dropped_unread == ()
    assert not {*short} & {*standing.candidates}
    assert f"Use {standing.setting}, of 12 settings. Against the 2 others that saw everything" in told


def test_queries_without_an_answer_are_counted_apart_in_the_plan_and_after_a_stage(pool, capsys):
    lines = (pool / "labels.csv").read_text("utf-8").splitlines()
    unlabelled = [line for line in lines if not line.startswith(("q0-0,", "q1-0,"))]
    (pool / "labels.csv").write_text("\n".join(unlabelled) + "\n", encoding="utf-8")
    assert exit_code("tune", "my.yaml") == 0
    plan = tuned(pool)["plan"]["stages"]
    assert (plan[-1]["queries"], plan[-1]["answered"]) == (32, 30)
    dropped = harness.read_results(pool / "results/t").table("tuned")
    assert dropped.n_queries[dropped.stage == 1].max() == plan[0]["answered"]
    told = capsys.readouterr()
    assert "32 queries, 30 of them scored" in " ".join((told.out + told.err).split())


def test_the_plan_alone_decides_so_that_a_second_run_has_the_same_numbers(pool, capsys):
    assert exit_code("tune", "my.yaml") == 0
    first = tuned(pool), (pool / "results/t.tune.json").read_text()
    date = harness.read_results(pool / "results/t").record["date"]
    capsys.readouterr()
    assert exit_code("tune", "my.yaml") == 0
    assert "Going on with" in capsys.readouterr().out
    assert first == (tuned(pool), (pool / "results/t.tune.json").read_text())
    # nothing was searched again
    assert harness.read_results(pool / "results/t").record["date"] == date
    # another configuration is another plan
    (pool / "my.yaml").write_text((CONFIG % "").replace("80 %", "90 %"))
    assert exit_code("tune", "my.yaml") == 0
    assert tuned(pool)["plan"] != first[0]["plan"]


def test_certify_goes_on_until_no_dropped_setting_may_be_better(pool):
    # sizes that are alike, so that few questions cannot tell them apart
    (pool / "my.yaml").write_text((CONFIG % "").replace("to: 400", "to: 120").replace("0.05", "0.001"))
    assert exit_code("tune", "my.yaml") == 0
    before = tuned(pool)
    assert before["may_be_better"]
    assert exit_code("tune", "my.yaml", "--certify") == 0
    after = tuned(pool)
    seen = set(harness.read_results(pool / "results/t").per_query.setting)
    assert set(before["may_be_better"]) <= seen
    assert set(after["survivors"]) == seen
    assert set(after["dropped"]) == set(before["dropped"]) - set(before["may_be_better"])


def test_a_certificate_drops_only_what_is_shown_to_be_worse(pool):
    # sizes so far apart that few questions tell
    (pool / "my.yaml").write_text(CONFIG.replace("budget: 80 %%", "budget: 95 %%") % ", give: certify")
    assert exit_code("tune", "my.yaml") == 0
    found = tuned(pool)
    assert found["dropped"]
    assert found["may_be_better"] == []
    assert all(lead <= 0.05 for lead in found["dropped"].values())


def test_a_certificate_stops_where_the_budget_ends_and_says_what_it_takes(pool, capsys):
    # sizes that are alike: none is shown to be worse
    text = (CONFIG % ", give: certify").replace("to: 400", "to: 62").replace("values: 4", "values: 3")
    (pool / "my.yaml").write_text(text)
    told = refused(capsys, "tune", "my.yaml")
    left = re.search(r"After stage 1 of \d, (\d+) of 9 settings are not shown to be worse", told)
    assert left, told
    last = json.loads((pool / "results/t.tune.json").read_text("utf-8"))["plan"]["stages"][-1]
    assert int(left[1]) > last["enter"]
    assert float(re.search(r"takes about .*\((\d+) % of a full sweep\) in all", told)[1]) > 80
    # nothing has seen everything
    assert not (pool / "results/t").exists()
    assert refused(capsys, "tune", "my.yaml") == told
    assert exit_code("tune", "my.yaml", "--certify") == 0
    assert tuned(pool)["may_be_better"] == []


def test_a_damaged_plan_is_named(pool, capsys):
    (pool / "results").mkdir()
    (pool / "results/t.tune.json").write_text("{")
    assert "t.tune.json is damaged" in refused(capsys, "tune", "my.yaml")


@pytest.mark.slow
def test_a_killed_run_goes_on_to_the_same_numbers(pool):
    command = [sys.executable, "-m", "harness", "tune", "my.yaml", "--quiet"]
    subprocess.run(command, check=True, cwd=pool, capture_output=True)
    expected = {**tuned(pool), "cpu_seconds": None}
    for path in ("results", "cache"):
        subprocess.run(["rm", "-r", path], check=True, cwd=pool)
    kept = pool / "results/t.tune.json"
    for moment in ('"plan"', '"matrix"'):
        run = subprocess.Popen(command, cwd=pool, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        deadline = time.monotonic() + 900
        while run.poll() is None and not (kept.exists() and moment in kept.read_text("utf-8")):
            assert time.monotonic() < deadline
            time.sleep(0.002)
        if run.poll() is None:
            os.kill(run.pid, signal.SIGKILL)
        run.communicate()
    plan = json.loads(kept.read_text("utf-8"))["plan"]
    subprocess.run(command, check=True, cwd=pool, capture_output=True)
    assert {**tuned(pool), "cpu_seconds": None, "plan": None} == {**expected, "plan": None}
    assert tuned(pool)["plan"] == plan
