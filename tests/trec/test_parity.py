"""The same figures as the tools of the field, to 1e-9, on random data and on published runs."""

import csv
import random
import shutil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.data import evaluate, evaluate_dicts, qrels_from_dict, read_qrels, read_run, run_from_dict

CUTS = (1, 3, 5, 10, 100)


def collection(seed, n_queries=30, ties=False):
    """A run and judgments; some queries are only in one of them, some have nothing relevant."""
    rng = random.Random(seed)
    run, qrels = {}, {}
    for q in range(n_queries):
        docs = rng.sample(range(60), 40)
        scores = [rng.randrange(5) for _ in docs] if ties else rng.sample(range(1000), len(docs))
        if q % 7 != 3:
            run[f"q{q}"] = {f"d{d}": float(s) for d, s in zip(docs, scores, strict=True)}
        if q % 11 != 5:
            grades = [0, 0, 0] if q % 5 == 4 else [0, 0, 1, 2, 3, 4]
            qrels[f"q{q}"] = {
                f"d{d}": rng.choice(grades) for d in rng.sample(range(60), rng.randrange(1, 25))
            }
    return run, qrels


def ours(run, qrels, measures, convention):
    """{query: {measure: value}}, after the two ways to compute it agreed."""
    scores = evaluate(run_from_dict(run), qrels_from_dict(qrels), measures, convention)
    direct = evaluate_dicts(run, qrels, measures, convention)
    assert direct.query_ids == scores.query_ids
    np.testing.assert_array_equal(direct.values, scores.values)
    for column, measure in enumerate(measures):
        # alone it may look at so few documents that dictionaries are read the other way round
        alone = evaluate_dicts(run, qrels, [measure], convention)
        np.testing.assert_array_equal(alone.values[:, 0], scores.values[:, column])
    return {
        q: dict(zip(measures, row, strict=True))
        for q, row in zip(scores.query_ids, scores.values.tolist(), strict=True)
    }


TREC_NAMES = {
    **{f"ndcg_lin@{k}": f"ndcg_cut_{k}" for k in CUTS},
    **{f"p@{k}": f"P_{k}" for k in (5, 10, 100)},
    **{f"recall@{k}": f"recall_{k}" for k in (5, 10, 100)},
    **{f"success@{k}": f"success_{k}" for k in (1, 5, 10)},
    **{f"ap@{k}": f"map_cut_{k}" for k in (5, 10)},
    "ndcg_lin": "ndcg",
    "ap": "map",
    "rr": "recip_rank",
}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("ties", [False, True])
def test_pytrec_eval(seed, ties):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    run, qrels = collection(seed, ties=ties)
    wanted = {
        "ndcg",
        "map",
        "recip_rank",
        "ndcg_cut.1,3,5,10,100",
        "P.5,10,100",
        "recall.5,10,100",
        "success.1,5,10",
        "map_cut.5,10",
    }
    for judged_only, kind in ((False, ""), (True, "_condensed")):
        theirs = pytrec_eval.RelevanceEvaluator(qrels, wanted, judged_docs_only_flag=judged_only).evaluate(
            run
        )
        names = {with_kind(name, kind): their_name for name, their_name in TREC_NAMES.items()}
        got = ours(run, qrels, list(names), "trec_eval")
        assert got.keys() == theirs.keys()
        for q, values in got.items():
            for name, their_name in names.items():
                assert values[name] == pytest.approx(theirs[q][their_name], abs=1e-9), (q, name)


def test_negative_grades_and_judged_documents_alone():
    """trec_eval -J takes documents of negative grades for unjudged ones; the harness keeps them."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    run = {"q": {"a": 5.0, "x": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}}
    qrels = {"q": {"a": -1, "b": -2, "c": 0, "d": 2, "e": 1}}
    wanted = {"ndcg", "map", "recip_rank", "P.2"}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, wanted, judged_docs_only_flag=True).evaluate(run)["q"]
    names = {"ndcg_lin": "ndcg", "ap": "map", "rr": "recip_rank", "precision@2": "P_2"}
    condensed = {with_kind(name, "_condensed"): theirs[their_name] for name, their_name in names.items()}
    for convention in ("trec_eval", "trec_eval_c", "ir_measures", "beir"):
        assert ours(run, qrels, list(condensed), convention)["q"] == pytest.approx(condensed, abs=1e-9)
    # c and d are left there; here a and b stay before them
    assert condensed["rr_condensed"] == 1 / 2
    assert ours(run, qrels, ["rr_condensed"], "harness")["q"] == {"rr_condensed": 1 / 4}


def with_kind(name, kind):
    family, at, cutoff = name.partition("@")
    # the short name of precision is short for that alone
    return f"{'precision' if family == 'p' else family}{kind}{at}{cutoff}" if kind else name


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("ties", [False, True])
def test_ir_measures(seed, ties):
    ir = pytest.importorskip("ir_measures")
    run, qrels = collection(seed, ties=ties)
    names = {
        "ndcg_lin@10": ir.nDCG @ 10,
        "ap": ir.AP,
        "ap(rel=2)": ir.AP(rel=2),
        "rr(rel=2)": ir.RR(rel=2),
        "p@5": ir.P @ 5,
        "recall(rel=2)@10": ir.R(rel=2) @ 10,
    }
    got = ours(run, qrels, list(names), "ir_measures")
    theirs = {(m.query_id, m.measure): m.value for m in ir.iter_calc(list(names.values()), qrels, run)}
    assert theirs
    for q, values in got.items():
        for name, measure in names.items():
            assert values[name] == pytest.approx(theirs.get((q, measure), 0.0), abs=1e-9), (q, name)
    aggregate = ir.calc_aggregate(list(names.values()), qrels, run)
    means = evaluate(run_from_dict(run), qrels_from_dict(qrels), list(names), "ir_measures").means()
    for name, measure in names.items():
        assert means[name] == pytest.approx(aggregate[measure], abs=1e-9)


def test_exponential_gain_of_gdeval():
    """ir_measures runs the gdeval.pl of the TREC web track: five decimals, and ids must be numbers."""
    ir = pytest.importorskip("ir_measures")
    if shutil.which("perl") is None:
        pytest.skip("gdeval is a perl script")
    run, qrels = ({q.strip("q"): docs for q, docs in side.items()} for side in collection(8))
    # a rise that single precision does not see: there the ids would decide, which are in another order
    for docs in run.values():
        docs.update({doc: 5000 + place * 1e-9 for place, doc in enumerate(list(docs)[:20])})
    measure = ir.nDCG(dcg="exp-log2") @ 10
    theirs = {m.query_id: m.value for m in ir.iter_calc([measure], qrels, run)}
    got = ours(run, qrels, ["ndcg_lin@10", "ndcg_exp@10", "ap"], "ir_measures")
    for q, values in got.items():
        assert values["ndcg_exp@10"] == pytest.approx(theirs.get(q, 0.0), abs=5.1e-6), q
    single = ours(run, qrels, ["ndcg_exp@10"], "trec_eval_c")
    assert sum(abs(single[q]["ndcg_exp@10"] - got[q]["ndcg_exp@10"]) > 1e-3 for q in got) > 5
    # its other measures are trec_eval's, and gdeval itself reports only queries with something to find
    names = ["ndcg_lin@10", "ap"]
    assert {q: [values[name] for name in names] for q, values in got.items()} == {
        q: list(values.values()) for q, values in ours(run, qrels, names, "trec_eval_c").items()
    }
    alone = ours(run, qrels, ["ndcg_exp@10"], "gdeval")
    assert {q for q, values in alone.items() if values["ndcg_exp@10"] == values["ndcg_exp@10"]} == {
        m.query_id for m in measure_of_gdeval(run, qrels)
    }


def measure_of_gdeval(run, qrels):
    """The output of the script itself, before ir_measures adds a 0 for every other query."""
    import ir_measures as ir
    from ir_measures.providers.gdeval_provider import GdevalProvider

    evaluator = GdevalProvider()._evaluator([ir.nDCG(dcg="exp-log2") @ 10], qrels)
    return list(evaluator._iter_calc(run))


def test_ir_measures_judged():
    ir = pytest.importorskip("ir_measures")
    run, qrels = collection(5)
    run = {q: docs for q, docs in run.items() if q in qrels}
    theirs = {m.query_id: m.value for m in ir.iter_calc([ir.Judged @ 10], qrels, run)}
    got = ours(run, qrels, ["judged@10"], "trec_eval")
    for q, values in got.items():
        assert values["judged@10"] == pytest.approx(theirs[q], abs=1e-9)


def test_ir_measures_orders_ties_in_its_own_way_for_two_measures():
    """As docs/conventions.md says: RR@k and Judged@k put the lower id first, and the convention does not."""
    ir = pytest.importorskip("ir_measures")
    run, qrels = {"q": {"a": 1.0, "b": 1.0}}, {"q": {"a": 1}, "r": {"a": 1}}
    # a is first of the tie, so 1 for q and 0 for r; trec_eval's b is first and neither relevant nor judged
    assert ir.calc_aggregate([ir.RR @ 1, ir.Judged @ 1], qrels, run) == {ir.RR @ 1: 0.5, ir.Judged @ 1: 0.5}
    assert ir.calc_aggregate([ir.RR, ir.P @ 1], qrels, run) == {ir.RR: 0.25, ir.P @ 1: 0.0}
    got = evaluate_dicts(run, qrels, ["rr@1", "judged@1", "rr", "p@1"], "ir_measures").means()
    assert got == {"rr@1": 0.0, "judged@1": 0.0, "rr": 0.25, "p@1": 0.0}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("ties", [False, True])
def test_sklearn(seed, ties):
    metrics = pytest.importorskip("sklearn.metrics")
    run, qrels = collection(seed, ties=ties)
    got = ours(run, qrels, ["ndcg_lin@5", "ndcg_lin@10", "ndcg_lin"], "sklearn")
    assert got
    for q, values in got.items():
        grades = np.array([[qrels[q].get(doc, 0) for doc in run[q]]], dtype=float)
        scores = np.array([list(run[q].values())])
        for name, k in (("ndcg_lin@5", 5), ("ndcg_lin@10", 10), ("ndcg_lin", None)):
            assert values[name] == pytest.approx(metrics.ndcg_score(grades, scores, k=k), abs=1e-9)


def test_ties_averaged_without_the_unjudged():
    run = {"q": {"a": 1.0, "x": 1.0, "b": 1.0, "c": 0.0}}
    # a and b are left of the tie and share the gain of 2: (1 + 1 / log2(3)) / 2, whichever stands first
    for qrels in ({"a": 2, "b": 0, "c": 0}, {"a": 0, "b": 2, "c": 0}):
        got = ours(run, {"q": qrels}, ["ndcg_lin_condensed@10"], "sklearn")
        assert got["q"] == pytest.approx({"ndcg_lin_condensed@10": 0.8154648767857288}, abs=1e-12)
    with pytest.raises(ValueError, match="defined for NDCG, not ndcg_lin_upper@3"):
        evaluate_dicts(run, {"q": {"a": 1}}, ["ndcg_lin_upper@3"], "sklearn")


@pytest.mark.slow
def test_ranx():
    ranx = pytest.importorskip("ranx")
    run, qrels = collection(1)
    # ranx stops at an empty list, so leave queries without a relevant document to the other tools
    qrels = {q: docs for q, docs in qrels.items() if any(docs.values())}
    names = {
        "ndcg_lin@10": "ndcg@10",
        "ndcg_exp@10": "ndcg_burges@10",
        "ap": "map",
        "rr": "mrr",
        "p@5": "precision@5",
    }
    report = ranx.evaluate(
        ranx.Qrels(qrels),
        ranx.Run(dict(run)),
        list(names.values()),
        make_comparable=True,
    )
    means = evaluate(run_from_dict(run), qrels_from_dict(qrels), list(names), "ranx").means()
    for name, theirs in names.items():
        assert means[name] == pytest.approx(report[theirs], abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "kept"), [(15, True), (16, False)])
def test_ranx_keeps_the_order_of_ties_up_to_15_documents(n, kept):
    """As docs/conventions.md says; the convention keeps it at any length."""
    ranx = pytest.importorskip("ranx")
    docs = [f"d{i:02}" for i in range(n)]
    # two scores, each of half of the documents: equal scores alone stay in order a little longer
    run = {"q": {doc: float(i % 2) for i, doc in enumerate(docs)}}
    theirs = {
        doc: ranx.evaluate(ranx.Qrels({"q": {doc: 1}}), ranx.Run(run), "mrr", make_comparable=True)
        for doc in docs
    }
    ranked = [*docs[1::2], *docs[::2]]
    expected = {doc: 1 / rank for rank, doc in enumerate(ranked, start=1)}
    got = {doc: ours(run, {"q": {doc: 1}}, ["rr"], "ranx")["q"]["rr"] for doc in docs}
    assert got == pytest.approx(expected)
    assert (theirs == pytest.approx(expected)) == kept


def test_beir_takes_the_query_itself_out_of_its_ranking():
    pytrec_eval = pytest.importorskip("pytrec_eval")
    # z finds itself only, which leaves an empty ranking; y is judged without a document, v is not ranked
    run = {"a": {"a": 9.0, "b": 8.0, "c": 7.0}, "x": {"a": 1.0}, "y": {"a": 1.0}, "z": {"z": 1.0}}
    qrels = {"a": {"b": 1, "c": 2}, "v": {"a": 1}, "x": {"a": 1}, "y": {}, "z": {"a": 1}}
    without = {q: {d: s for d, s in docs.items() if d != q} for q, docs in run.items()}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10"}).evaluate(without)
    got = ours(run, qrels, ["ndcg_lin@10"], "beir")
    assert {q: v["ndcg_lin@10"] for q, v in got.items()} == pytest.approx(
        {q: v["ndcg_cut_10"] for q, v in theirs.items()}
    )


@given(
    st.dictionaries(
        st.sampled_from("abc"),
        st.dictionaries(
            st.sampled_from("uvwxyz"), st.sampled_from([0.0, 1.0, 1.0 + 1e-9, 2.0, -1.0]), min_size=1
        ),
        min_size=1,
    ),
    st.dictionaries(
        st.sampled_from("abc"),
        st.dictionaries(st.sampled_from("uvwxyz"), st.integers(-1, 4), min_size=1),
        min_size=1,
    ),
)
def test_pytrec_eval_on_small_hostile_cases(run, qrels):
    """Ties, scores that differ only beyond single precision, negative grades, queries in one file only."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.3", "map", "recip_rank", "P.5"}).evaluate(run)
    got = ours(run, qrels, ["ndcg_lin@3", "ap", "rr", "p@5"], "trec_eval")
    assert got.keys() == theirs.keys()
    for q in got:
        assert list(got[q].values()) == pytest.approx(
            [theirs[q][m] for m in ("ndcg_cut_3", "map", "recip_rank", "P_5")], abs=1e-9
        )


def official(path):
    """{(measure, topic): value} of an output of trec_eval."""
    rows = (line.split() for line in path.read_text().splitlines())
    return {
        (row[0], row[1]): float(row[2])
        for row in rows
        if len(row) == 3 and row[0] not in ("runid", "relstring")
    }


@pytest.mark.parametrize(
    ("run", "output", "convention"),
    [
        ("results.test", "out.test.aq", "trec_eval"),
        ("results.trunc", "out.test.aqc", "trec_eval_c"),
    ],
)
def test_official_output_of_trec_eval(trec_data, run, output, convention):
    folder = trec_data / "trec_eval"
    names = {
        "ap": "map",
        "rr": "recip_rank",
        "ndcg_lin": "ndcg",
        **{f"ndcg_lin@{k}": f"ndcg_cut_{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)},
        **{f"p@{k}": f"P_{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)},
        **{f"recall@{k}": f"recall_{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)},
        **{f"ap@{k}": f"map_cut_{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)},
    }
    scores = evaluate(read_run(folder / run), read_qrels(folder / "qrels.test"), list(names), convention)
    expected, means = official(folder / output), scores.means()
    for column, (name, theirs) in enumerate(names.items()):
        assert means[name] == pytest.approx(expected[theirs, "all"], abs=5.1e-5), name
        for q, row in zip(scores.query_ids, scores.values, strict=True):
            assert row[column] == pytest.approx(expected[theirs, q], abs=5.1e-5), (name, q)


def test_lines_that_are_comments_are_skipped(trec_data):
    folder = trec_data / "trec_eval"
    one, other = (read_qrels(folder / name) for name in ("qrels.test.with-comments", "qrels.test"))
    assert one.grade.tolist() == other.grade.tolist()
    assert [one.doc.name(row) for row in (0, 1, 9)] == [other.doc.name(row) for row in (0, 1, 9)]


def test_ids_may_hold_a_number_sign(trec_data):
    folder = trec_data / "trec_eval"
    scores = evaluate(
        read_run(folder / "results.comment.test"),
        read_qrels(folder / "qrels.comment.test"),
        ["ap"],
        "trec_eval",
    )
    assert scores.means()["ap"] == pytest.approx(
        official(folder / "out.comment.test")["map", "all"], abs=5.1e-5
    )


@pytest.mark.parametrize("run", ["bm25-default", "ICT-BERT2", "ICT-CKNRM_B", "ICT-CKNRM_B50"])
def test_deep_learning_track_2019(trec_data, run):
    with (trec_data / "dl19" / "expected_ndcg10.csv").open(newline="") as file:
        expected = {row["topic"]: row for row in csv.DictReader(file) if row["run"] == run}
    table = read_run(trec_data / "dl19" / "runs" / f"{run}.txt")
    qrels = read_qrels(trec_data / "dl19" / "qrels.dl19-passage.txt")
    for convention, measure, column in (
        ("trec_eval", "ndcg_lin@10", "ndcg10_linear_trec_eval"),
        ("ir_measures", "ndcg_exp@10", "ndcg10_exponential"),
        ("harness", "ndcg_lin@10", "ndcg10_linear_by_rank_column"),
    ):
        scores = evaluate(table, qrels, [measure], convention)
        assert scores.means()[measure] == pytest.approx(float(expected["all"][column]), abs=5.1e-6)
        for q, value in zip(scores.query_ids, scores.values[:, 0], strict=True):
            assert value == pytest.approx(float(expected[q][column]), abs=5.1e-6)
