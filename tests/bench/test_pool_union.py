"""`harness compare` and `harness gate` over results of a judge whose pools differ."""

import json
import shutil
from itertools import permutations
from zlib import crc32

import pandas as pd
import pytest

import harness
from harness.report import read_result, read_summary
from harness.running.bench.pool_union import unite, united, united_clusters
from harness.values import Judgment, Query
from tests.bench.test_judged_bench import careful, judged, scored_on
from tests.command import bench as run_bench
from tests.command import printed, refused, save_table
from tests.judge.fake_server import FakeServer, grade

from .conftest import SENTENCES

__all__ = ["judged"]
MEASURES = "[ndcg_exp@3, ndcg_text@300, judged@3]"


@pytest.fixture
def bench(judged, corpus):
    """Run a benchmark whose judge is served at an address, and keep its results under a name."""

    def run(name, url, chunk_size, cache="own", **stages):
        chunk = f"{{kind: recursive, chunk_size: {chunk_size}}}"
        stages = {"retrieve": "{kind: bm25}", **stages}
        path = judged(url, chunk=chunk, cache=cache, measures=MEASURES, **stages)
        _, folder = run_bench(path)
        return shutil.move(folder, corpus / "kept" / name)

    return run


def values(table, setting):
    rows = [row for row in table if row.setting == setting and row.measure != "judged@3"]
    return {(row.query_id, row.measure): row.value for row in rows}


def test_results_of_different_pools_come_to_what_one_run_of_all_settings_gives(bench, capsys):
    with FakeServer(careful) as server:
        small, large = (bench(name, server.url, size) for name, size in (("small", 90), ("large", 180)))
        both = bench("both", server.url, "[90, 180]")
    spans = {folder: read_result(folder).judged for folder in (small, large)}
    assert len(set(spans.values())) == 2
    results = {folder: read_result(folder) for folder in (small, large)}
    done, output = united(results, {small: "small", large: "large"}, None)
    together = read_result(both).per_query
    for folder, setting in ((small, "chunk=90/0"), (large, "chunk=180/0")):
        mine, theirs = values(done[folder].per_query, "base"), values(together, setting)
        assert mine.keys() == theirs.keys()
        for key, value in theirs.items():
            assert mine[key] == pytest.approx(value, abs=1e-12)
    assert "added" in output[0]
    out = printed(capsys, "gate", large, "--baseline", small, "--max-drop", "1")
    assert "Scored again on the" in out
    assert "passed base" in out
    assert "Scored again on the" in printed(capsys, "compare", small, large)
    # results of one pool are left as they are
    shutil.copytree(small, small.parent / "again")
    assert "Scored again" not in printed(capsys, "gate", small.parent / "again", "--baseline", small)
    # what counts tokens cannot be scored again
    for folder in (small, large):
        rows = pd.read_csv(folder / "per_query.csv", dtype=str, keep_default_na=False)
        rows.replace("ndcg_text@300", "ndcg_text_tokens@300").to_csv(folder / "per_query.csv", index=False)
    err = refused(capsys, "gate", large, "--baseline", small, "--measure", "ndcg_text_tokens@300")
    assert "ndcg_text_tokens@300 cannot be scored again" in err
    record = json.loads((large / "record.json").read_text())
    record["judge"]["model"] = "fake-2"
    (large / "record.json").write_text(json.dumps(record))
    assert "graded by different judges (model differ)" in refused(capsys, "gate", large, "--baseline", small)


@pytest.fixture
def unlike(bench):
    """An old and a new result whose judge has not answered alike."""
    with FakeServer(careful) as server:
        old = bench("old", server.url, 90, cache="first")
        server.script = lambda request, number: grade(3)
        return old, bench("new", server.url, 180, cache="second")


def test_the_baseline_decides_where_the_judge_has_not_answered_alike(unlike, capsys):
    old, new = unlike
    out = printed(capsys, "gate", new, "--baseline", old, "--max-drop", "1")
    places = [{(r["query_id"], r["document"], r["start"]) for r in scored_on(one)} for one in unlike]
    shared = places[0] & places[1]
    assert shared
    assert f"{len(shared)} spans of new had a different grade in old" in out


def by_chance(request, number=0):
    """Grades that say nothing of the text, so that two pools find evidence in different documents."""
    return grade(crc32(request["body"]["messages"][-1]["content"].encode()) % 5)


@pytest.fixture
def apart(bench, corpus):
    """Results of two searches over one chunking, each judged on its own pool, and of both in one run."""
    words = [sentence.split() for sentences in SENTENCES.values() for sentence in sentences]
    asked = [" ".join((*one[:3], *other[-2:])) for one, other in permutations(words[:7], 2)]
    rows = [{"query_id": f"q{i}", "text": text, "split": "train"} for i, text in enumerate(asked)]
    # the query file groups some of them
    save_table(corpus / "queries.csv", [{**row, "cluster": "mine" * (i < 3)} for i, row in enumerate(rows)])
    label = {"query_id": "q0", "document": "people", "quote": SENTENCES["people"][0], "grade": 4}
    save_table(corpus / "labels.csv", [label])
    flat = "{kind: bm25, k1: 0.05, b: 0.0}"
    searches = {"one": "{kind: bm25}", "flat": flat, "both": f"[{{kind: bm25}}, {flat}]"}
    with FakeServer(by_chance) as server:
        return {
            name: bench(name, server.url, 90, retrieve=search, pool="{depth: 1}")
            for name, search in searches.items()
        }


def test_all_that_depends_on_judgments_is_that_of_all_of_them(apart, capsys):
    one, flat, both = apart.values()
    stored = [{row.query_id: row.cluster for row in read_result(at).per_query} for at in (one, flat)]
    assert stored[0] != stored[1]
    there, back = (harness.compare(*folders, measure="ndcg_exp@3") for folders in ((one, flat), (flat, one)))
    joint = harness.compare(both, measure="ndcg_exp@3").verdict
    found = [verdict.comparisons[0] for verdict in (there.verdict, back.verdict, joint)]
    assert len({(round(one.difference, 12), one.p, one.low, one.high) for one in found}) == 1
    assert there.sentences == back.sentences
    assert there.differences.equals(back.differences)
    assert there.verdict.population == joint.population
    left_out = next(row.left_out for row in read_summary(both)[0] if row.measure == "ndcg_exp@3")
    assert left_out["irrelevant"] > 0
    assert f"Left out: {left_out['irrelevant']} graded" in str(there)
    # what cannot be computed again is not shown, and said to be unknown
    assert not there.verdict.lost
    assert not there.verdict.sensitivity
    for text in (str(there), str(there.as_dict()), printed(capsys, "compare", one, flat)):
        assert "Scored again on the" in text
        assert "Losses, other label lengths and wrong filters are not known" in text
    # the changes are those of the verdict
    out = printed(capsys, "compare", flat, one, "--measure", "ndcg_exp@3")
    changed, _, verdict = out.partition("Verdict:")
    assert f" {found[0].p:.3f} " in changed
    assert f"p {found[0].p:.3f}" in verdict
    assert "with longer and shorter labels" not in printed(capsys, "compare", flat, one)


def test_the_older_of_two_results_decides_a_grade_however_they_are_named(unlike):
    old, new = unlike
    record = json.loads((new / "record.json").read_text())
    (new / "record.json").write_text(json.dumps({**record, "date": "2999-01-01T00:00:00+00:00"}))
    there, back = (harness.compare(*folders) for folders in ((old, new), (new, old)))
    assert there.sentences == back.sentences
    assert there.differences.equals(back.differences)
    assert "of new had a different grade in old" in str(back)


def test_clusters_of_the_query_file_stay_and_documents_are_those_of_all_judgments():
    one = [Judgment("q1", "a", 0, 9, 2), Judgment("q2", "a", 0, 9, 4), Judgment("q3", "a", 0, 9, 0)]
    two = [Judgment("q1", "b", 0, 9, 3), Judgment("q2", "b", 0, 9, 4), Judgment("q3", "b", 0, 9, 1)]

    def asked(*clusters):
        return [Query(f"q{i}", "?", "train", cluster=name) for i, name in enumerate(clusters, 1)]

    # the file says mine, and b where the first result has found nothing
    pools = [(asked("a", "mine", "b"), one), (asked("b", "mine", "b"), two)]
    expected = {"q1": "b", "q2": "mine", "q3": "b"}
    assert united_clusters(pools, [*one, *two]) == united_clusters(pools[::-1], [*two, *one]) == expected


def test_a_union_takes_the_first_grade_of_every_span():
    spans = [("q", "d", start, start + 5, "") for start in (0, 10, 20, 30)]
    one = dict(zip(spans[:3], (4, None, 0), strict=True))
    two = {spans[0]: 3, spans[1]: 1, spans[3]: 2}
    assert unite([one, two]) == dict(zip(spans, (4, 1, 0, 2), strict=True))


def cheap(lexical, corpus, name, chunk_size, kind="cosine"):
    """The kept results of a run whose judge goes by vectors, on passages of one length."""
    judge = f"judge: {kind}, model: 'embedded:all-MiniLM-L6-v2', pool: {{unit: chunk, depth: 3}}"
    relevance = f"relevance: {{{judge}}}\nmeasures: {MEASURES}\n"
    chunk = f"{{kind: recursive, chunk_size: {chunk_size}}}"
    _, folder = run_bench(lexical(more=relevance, chunk=chunk, retrieve="{kind: bm25}"))
    return shutil.move(folder, corpus / "kept" / name)


def test_a_judge_by_vectors_is_the_same_whatever_is_in_its_pool(lexical, corpus, capsys):
    small, large = (cheap(lexical, corpus, name, size) for name, size in (("small", 90), ("large", 180)))
    facts = [read_result(folder).record["judge"] for folder in (small, large)]
    assert facts[0]["score_quantiles"] != facts[1]["score_quantiles"]
    assert facts[0]["cuts"] == facts[1]["cuts"]
    told = printed(capsys, "compare", small, large, "--measure", "ndcg_text@300")
    assert "judged for any of the results" in told
    # but for one that grades a passage by its neighbours
    graphs = [cheap(lexical, corpus, f"graph-{size}", size, "graph") for size in (90, 180)]
    assert "depends on the others in its pool" in refused(capsys, "compare", *graphs)
