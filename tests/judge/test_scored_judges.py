"""Judges by scores: their scale, what people's grades do to it and may not do, and the graph of passages."""

import numpy as np
import pytest
from pydantic import ValidationError

from harness.judge import JUDGES, JudgeTools, Labelled, Pair
from harness.judge.calibration import calibrate, isotonic_cuts
from harness.judge.graph import spread, transitions
from harness.values import Chunk, JudgeError, Query, Silent, under_way
from tests.command import printed
from tests.search.helpers import Given

WORDS = ("yard", "pump", "rain", "crane", "fuel", "vehicle")


def pair(query, text, start=0, doc="d", split="train"):
    passage = Chunk(f"{doc}:{start}-{start + len(text)}", doc, start, start + len(text), text)
    return Pair(Query(query, query, split), passage)


def labelled(of, grade, evidence=""):
    judgment = of.judgment(grade, "human", "labels")
    return Labelled(of, judgment.__class__(*judgment.key, grade, evidence=evidence, judge="human"))


def by_words(texts, encoder=None):
    """A dimension a word, so that texts are as near as they share words."""
    return np.array([[text.split().count(word) for word in WORDS] for text in texts], dtype=np.float32)


def by_length(pairs, model):
    return [float(len(passage)) for _, passage in pairs]


class Noting(Silent):
    def __init__(self):
        super().__init__()
        self.warnings = []

    def warn(self, message):
        self.warnings.append(message)


def step_of(function):
    """A step that needs nothing and returns what a function does."""
    return lambda *values: under_way(function(*values))


def judge_of(kind, labels=(), scores=by_length, **keys):
    config = JUDGES[kind].config(**keys)
    return JUDGES.make(
        config, JudgeTools(None, tuple, lambda: list(labels), step_of(by_words), step_of(scores), Given().run)
    )


def grades_of(judge, items):
    graded, reporter = [], Noting()
    judge.grade(items, graded.append, reporter=reporter)
    return [one.judgment.grade for one in graded], reporter.warnings


def test_cuts_are_where_a_rising_fit_passes_from_one_grade_to_the_next():
    # 2 and 1 are out of order and pooled: 0, 1.5, 1.5, 4 at 1, 2, 3, 4. So 0.5 is reached at 1 + 0.5 / 1.5;
    # 1.5 is exceeded from 3 on; 2.5 at 3 + 1 / 2.5, 3.5 at 3 + 2 / 2.5
    cuts = isotonic_cuts(np.array([1.0, 2, 3, 4]), np.array([0.0, 2, 1, 4]))
    assert cuts == pytest.approx((4 / 3, 3.0, 3.4, 3.8))


def test_a_grade_that_no_score_reaches_begins_nowhere():
    # equal scores have one grade, the mean 1.5 of 1 and 2; halves go to the lower
    assert isotonic_cuts(np.array([5.0, 5.0]), np.array([1.0, 2.0])) == (-np.inf, np.inf, np.inf, np.inf)


def fit(grades, queries):
    return calibrate(queries, np.arange(len(grades), dtype=float), np.array(grades, dtype=float))


def test_a_fit_takes_30_grades_of_other_queries_some_of_them_0():
    halves = ["a"] * 30 + ["b"] * 30
    assert fit([0, 4] * 30, halves).labels == 60
    assert fit([0, 4] * 29, halves[1:-1]) is None
    assert fit([1, 4] * 30, halves) is None
    # without b there is no 0 left
    assert fit([4] * 30 + [0] * 30, halves) is None
    assert fit([], []) is None


def test_the_grades_of_a_query_do_not_count_for_it():
    queries = [f"q{at % 3}" for at in range(60)]
    rising = [at // 12 for at in range(60)]
    turned = [0 if query == "q1" else grade for grade, query in zip(rising, queries, strict=True)]
    before, after = fit(rising, queries), fit(turned, queries)
    scores = np.arange(0, 60, 0.7)
    assert [before.grade("q1", s) for s in scores] == [after.grade("q1", s) for s in scores]
    assert [before.grade("q2", s) for s in scores] != [after.grade("q2", s) for s in scores]


def test_a_cosine_is_cut_at_stated_scores():
    judge = judge_of("cosine", model="m", cuts=(0.1, 0.6, 0.8, 0.9))
    # cosines 0, 1 / 2, 1 / sqrt 2 and 1
    texts = ("rain", "yard rain pump crane", "yard rain", "yard")
    items = [pair("yard", text, 100 * at) for at, text in enumerate(texts)]
    grades, (warning,) = grades_of(judge, items)
    assert grades == [0, 1, 2, 4]
    assert "cosine of m" in warning
    assert "at stated scores" in warning
    assert "not known: there are no labels" in warning
    assert "partial to retrievers and rerankers built on the same model" in warning


def people(split="train"):
    """Twenty passages for each of three queries; the longer, the better."""
    for number in range(60):
        query, text = f"q{number % 3}", "x" * (number + 1)
        yield labelled(pair(query, text, 100 * number, split=split), number // 12)


def test_scores_are_fitted_to_what_people_gave_and_compared_with_it():
    judge = judge_of("cross_encoder", people(), model="ce")
    items = [pair("new", "x" * length, 9000, split="validation") for length in (3, 20, 30, 40, 59)]
    grades, (warning,) = grades_of(judge, items)
    # grade g was given to lengths of 12 g + 1 to 12 g + 12
    assert grades == [0, 1, 2, 3, 4]
    facts = judge.fingerprint
    assert facts["fitted_to"] == 60
    assert facts["cuts"] == [12.5, 24.5, 36.5, 48.5]
    assert facts["agreement"]["passages"] == 60
    assert 0.9 < facts["agreement"]["kappa_quadratic"] < 1
    assert "by a monotone fit to 60 grades of people" in warning
    assert f"{facts['agreement']['kappa_quadratic']:.3f}" in warning


def test_validation_queries_are_compared_and_not_fitted_to():
    judge = judge_of("cross_encoder", people("validation"), model="ce", cuts=(12, 24, 36, 48))
    grades_of(judge, [pair("new", "x")])
    assert judge.fingerprint["fitted_to"] == 0
    assert judge.fingerprint["agreement"]["kappa_quadratic"] == 1


def test_scores_without_a_scale_are_not_guessed():
    with pytest.raises(JudgeError, match="State the scores above which"):
        grades_of(judge_of("cross_encoder", model="ce"), [pair("q", "x")])


def test_a_score_that_is_no_number_is_no_grade():
    judge = judge_of("cross_encoder", scores=lambda pairs, model: [np.nan], model="ce", cuts=(1, 2, 3, 4))
    with pytest.raises(JudgeError, match="no finite score"):
        grades_of(judge, [pair("q", "x")])


SERVED = {"model": "r", "base_url": "http://127.0.0.1:9", "api_key_env": None}


@pytest.mark.parametrize(
    ("kind", "keys", "words"),
    [
        ("cosine", {"cuts": (0.5, 0.4, 0.6, 0.7)}, "cuts rise"),
        ("cosine", {"model": "m", "endpoint": SERVED}, "both name a bi-encoder"),
        ("cross_encoder", {}, "name one of them"),
        ("cross_encoder", {"model": "ce", "endpoint": SERVED}, "name one of them"),
        ("cross_encoder", {"model": "embedded:all-MiniLM-L6-v2"}, "use judge: cosine"),
        ("graph", {"alpha": 1.0}, "alpha"),
    ],
)
def test_keys_that_do_not_fit(kind, keys, words):
    with pytest.raises(ValidationError, match=words):
        JUDGES[kind].config(**keys)


def test_the_graph_joins_nearest_neighbours_by_how_near_they_are():
    # cosines: a to b 0.6, a to c 0.8, b to c 0.96; d is at right angles to all
    vectors = np.array([[1, 0, 0], [0.6, 0.8, 0], [0.8, 0.6, 0], [0, 0, 1.0]])
    # of one neighbour each, a and b choose c, c chooses b, and d the first; weights exp(cos - 1) at width 1
    ac, bc, ad = np.exp([-0.2, -0.04, -1])
    walk = transitions(vectors, 1, 1.0)
    assert walk[0] == pytest.approx(np.array([1, 0, ac, ad]) / (1 + ac + ad))
    assert walk[2] == pytest.approx(np.array([ac, bc, 1, 0]) / (1 + ac + bc))
    # exp(-1 / 0.16) = 0.0019: one that is far from all stays by itself
    assert transitions(vectors, 1, 0.4)[3, 3] == pytest.approx(1 / 1.00193, abs=1e-5)
    assert transitions(vectors, 9, 0.4).sum(axis=1) == pytest.approx(np.ones(4))
    assert transitions(vectors[:1], 9, 0.4) == pytest.approx(np.ones((1, 1)))


@pytest.mark.parametrize("alpha", [0.05, 0.5, 0.95])
def test_spreading_converges_to_what_the_equations_say(alpha):
    rng = np.random.default_rng(3)
    vectors = rng.normal(size=(40, 5))
    walk = transitions(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), 4, 0.4)
    start = rng.random((40, 3))
    reached = spread(walk, start, alpha)
    exact = (1 - alpha) * np.linalg.solve(np.eye(40) - alpha * walk, start)
    assert np.abs(reached - exact).max() < 1e-6
    assert (reached.min(axis=0) >= start.min(axis=0) - 1e-9).all()
    assert (reached.max(axis=0) <= start.max(axis=0) + 1e-9).all()


def test_what_does_not_converge_is_said():
    with pytest.raises(JudgeError, match="has not converged"):
        spread(3 * np.eye(2), np.ones((2, 1)), 0.5)


def scores_of(items, labels=(), **keys):
    judge = judge_of("graph", labels, **{"model": "m", **keys})
    return Given().run(judge.scores(items, list(labels)))


def test_a_passage_without_words_of_the_query_is_found_by_its_neighbours():
    texts = ["yard crane", "crane", "rain fuel", "rain"]
    items = [pair("yard", text, 100 * at) for at, text in enumerate(texts)]
    scores = scores_of(items, neighbours=1, width=1)
    # the cosine of "crane" with the query is 0, as is that of "rain", and its neighbour's is y = 1 / sqrt 2.
    # Two that are joined with the weight w, so p = w / (1 + w): the second gets y a p / (1 - a + 2 a p)
    p, y = np.exp(0.5**0.5 - 1) / (1 + np.exp(0.5**0.5 - 1)), 0.5**0.5
    assert scores[1] == pytest.approx(y * 0.5 * p / (0.5 + p), abs=1e-5)
    assert scores[2:] == pytest.approx([0, 0])


def texts_and_labels(grade, **options):
    texts = ["yard crane", "yard crane fuel", "yard pump", "yard pump rain"]
    items = [pair("yard", text, 100 * at) for at, text in enumerate(texts)]
    return items, [labelled(items[0], grade, **options)]


def test_a_few_labels_raise_and_lower_what_is_near_to_them():
    items, high = texts_and_labels(4)
    _, low = texts_and_labels(0)
    without = scores_of(items, neighbours=1)
    raised = scores_of(items, high, seeds="labels", neighbours=1)
    lowered = scores_of(items, low, seeds="labels", neighbours=1)
    assert lowered[1] < without[1] < raised[1]
    # what is not joined to them is as before
    assert raised[2:] == pytest.approx(without[2:])
    assert scores_of(items, high, seeds="query", neighbours=1) == pytest.approx(without)


def test_no_passage_is_graded_by_a_label_on_its_own_text_or_a_copy():
    items, labels = texts_and_labels(4)
    without = scores_of(items)
    assert scores_of(items, labels, seeds="labels")[0] == pytest.approx(without[0])
    # a label on a part of the passage
    part = labelled(pair("yard", "crane", 5), 4)
    with_part = [*items, part.pair]
    hidden, plain = scores_of(with_part, [part], seeds="labels"), scores_of(with_part)
    assert hidden[0] == pytest.approx(plain[0])
    assert hidden[1] > plain[1] + 0.01
    # a label elsewhere of the same evidence
    copy = labelled(pair("yard", "yard crane", 900, doc="e"), 4, evidence="fact")
    mine = labelled(items[0], 4, evidence="fact")
    both = [*items, copy.pair]
    assert scores_of(both, [mine, copy], seeds="labels")[0] == pytest.approx(scores_of(both)[0])


def test_labels_of_another_query_are_not_spread():
    items, _ = texts_and_labels(4)
    other = labelled(pair("pump", "yard crane", 0), 4)
    everything = [*items, other.pair]
    assert scores_of(everything, [other], seeds="labels")[:4] == pytest.approx(scores_of(items))


def test_a_judge_to_whom_no_passage_was_found_had_nothing_to_grade(tmp_path, capsys):
    (tmp_path / "a.md").write_text("The pump in the yard is old.\n")
    (tmp_path / "queries.csv").write_text("query_id,text\nq1,which crane?\n")
    (tmp_path / "bench.yaml").write_text(
        f"name: b\ndocuments: {tmp_path}/*.md\nqueries: {tmp_path}/queries.csv\n"
        f"cache: {tmp_path}/cache\nresults: {tmp_path}/results\n"
        "chunk: {kind: recursive, chunk_size: 60}\nretrieve: {kind: bm25}\n"
        'relevance: {judge: cosine, model: "embedded:all-MiniLM-L6-v2"}\n'
    )
    shown = printed(capsys, "bench", tmp_path / "bench.yaml")
    assert "MiniLM-L6-v2 had nothing to grade: no passage was found for any query." in shown
    assert "call" not in shown
