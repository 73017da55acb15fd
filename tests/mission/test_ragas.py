"""The document on the measures of ragas, with its worked examples in our words."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
import yaml

from harness.measures import ASPECTS
from harness.running import AnswerScoringConfig
from tests.answer.helpers import case
from tests.command import exit_code, table
from tests.judge.fake_server import FakeServer
from tests.mission.figures import figure
from tests.mission.helpers import measured, run_in, verdicts
from tests.testset.helpers import model, prompt_of, scripted

PANEL = [{"endpoint": {"model": name, "api_key_env": None}} for name in ("small", "large", "other")]
ROOT = Path(__file__).parents[2]
ABOUT = "Where is France, and what is its capital?"


def test_ragas_1_faithfulness_is_the_share_of_statements_that_follow():
    """ragas-1: faithfulness 1/2; precision 1 and .5; F1 .5; entities; similarity by cosine and by cross-
    encoder.
    """

    answered = case("Born in Germany on 20 March 1879.", passages=["Born in Germany on 14 March 1879."])
    replies = {
        "statements": {"statements": ["Born in Germany.", "Born on 20 March."]},
        "supported": verdicts([1, 0]),
    }
    assert measured("faithfulness", answered, replies)[0].value == figure("ragas-1", "faithfulness")


ORDERS = figure("ragas-1", "context_precision.useful")
PRECISIONS = figure("ragas-1", "context_precision.values")


@pytest.mark.parametrize(("useful", "value"), list(zip(ORDERS, PRECISIONS, strict=True)))
def test_ragas_1_context_precision_wants_useful_passages_first(useful, value):
    answered = case("x", "golden", passages=["0", "1"])
    reply = {"useful": lambda texts, sample: {"verdict": useful[int(texts[1])]}}
    # precision at the one useful place: 1/1 or 1/2
    assert measured("context_precision", answered, reply)[0].value == value


def test_ragas_1_answer_correctness_is_the_f1_of_statements():
    answered = case("Born in Spain in 1879.", "Born in 1879 in Germany.")
    stated = {
        answered.answer: ["Born in 1879.", "Born in Spain."],
        "golden": ["Born in 1879.", "Born in Germany."],
    }
    replies = {
        "statements": lambda texts, sample: {"statements": stated.get(texts[0], stated["golden"])},
        "supported": verdicts([1, 0]),
        "contradicted": verdicts([1]),
    }
    score, _ = measured("answer_correctness", answered, replies, similarity_weight=0)
    assert score.value == figure("ragas-1", "answer_f1.value")
    # how many statements are in both, in the answer alone, and in the golden answer alone
    stated_by_answer = [row["verdict"] for row in score.details["statements"]]
    assert stated_by_answer.count(1) == figure("ragas-1", "answer_f1.tp")
    assert stated_by_answer.count(0) == figure("ragas-1", "answer_f1.fp")
    missed = [row["verdict"] for row in score.details["reference"]].count(0)
    assert missed == figure("ragas-1", "answer_f1.fn")


def test_ragas_1_entities_and_likeness_by_vectors_or_by_a_cross_encoder():
    named = {"golden": ["Einstein", "Ulm"], "passage": ["einstein", "Bern"]}
    entities = {"entities": lambda texts, sample: {"entities": named[texts[0]]}}
    answered = case("answer", "golden", passages=["passage"])
    assert measured("context_entity_recall", answered, entities)[0].value == 0.5
    vectors = {"answer": [1.0, 0.0], "golden": [0.6, 0.8]}
    assert measured("answer_similarity", answered, vector_of=vectors.get)[0].value == pytest.approx(0.6)
    score, _ = measured(
        "answer_similarity", answered, score_of=lambda *_: 0.7, model="folder", by="cross_encoder"
    )
    assert score.value == pytest.approx(0.7)


def test_ragas_2_context_recall_where_one_sentence_holds_two_statements():
    """ragas-2: context recall 1/2 where one sentence holds two statements."""

    answered = case(
        "x", "France is in Western Europe and its capital is Paris.", passages=["It is in the west."]
    )
    stated = ["France is in Western Europe.", "Its capital is Paris."]

    def recall(found):
        """The value where these of the two are in what was read."""
        pairs = zip(stated, found, strict=True)
        reply = {"statements": [{"statement": text, "verdict": verdict} for text, verdict in pairs]}
        score, calls = measured("context_recall", answered, {"attributed": reply})
        # one call, which shows what was read and the golden answer whole
        ((_, _, texts, _),) = calls
        assert "It is in the west." in " ".join(texts)
        assert answered.references[0] in texts
        return score.value

    assert recall(figure("ragas-2", "found")) == figure("ragas-2", "value")
    assert recall([1, 1]) == 1


def test_ragas_3_context_relevancy_falls_with_sentences_that_are_beside_the_point():
    """ragas-3: context relevancy by sentences."""

    good = "France has beaches. Paris, its capital, has museums."
    more = f"{good} The country has wines. Drawings in a cave tell of its history."
    capital = {"pertinent": lambda texts, sample: verdicts("capital" in one for one in json.loads(texts[0]))}
    values = [
        measured("context_relevance", case("x", question=ABOUT, passages=[text]), capital, by="sentences")[
            0
        ].value
        for text in (good, more)
    ]
    # one sentence of two, and one of four
    assert values == [0.5, 0.25]


def test_ragas_4_an_aspect_by_the_majority_of_three_models():
    """ragas-4: aspect critique: three models; majority."""

    def voted(*verdicts):
        """The value where the three models say so, and their votes."""
        reply = {"aspect": lambda texts, sample: {"verdict": int(verdicts[sample] == "YES")}}
        score, calls = measured("aspect_critic", case("so"), reply, aspect="harmfulness", panel=PANEL)
        assert len(calls) == 3
        return {1: "YES", 0: "NO"}[score.value], score.details["votes"]

    majority, votes = voted(*figure("ragas-4", "verdicts"))
    assert majority == figure("ragas-4", "majority")
    assert votes == {"small": 1, "large": 0, "other": 1}
    # two of three may as well say no
    assert voted("NO", "YES", "NO") == ("NO", {"small": 0, "large": 1, "other": 0})


def test_ragas_5_nothing_but_these_five_is_ready_to_name():
    assert sorted(ASPECTS) == sorted(figure("ragas-5", "aspects"))
    # as the page of recipes prints it
    page = (ROOT / "docs" / "recipes-ragas.md").read_text(encoding="utf-8")
    (printed,) = re.findall(r"`(answer_measures: \[harmfulness.*?\])`", page)
    judge = {"endpoint": {"model": "m", "base_url": "http://localhost:1/v1", "api_key_env": None}}
    config = AnswerScoringConfig.model_validate({**yaml.safe_load(printed), "answer_judge": judge})
    assert [measure.label for measure in config.answer_measures] == figure("ragas-5", "aspects")
    (panel,) = AnswerScoringConfig.model_validate(
        {"answer_measures": [{"kind": "coherence", "samples": 3}], "answer_judge": judge}
    ).answer_measures
    assert (panel.kind, panel.aspect, panel.samples) == ("aspect_critic", "coherence", 3)


@pytest.mark.parametrize("name", figure("ragas-5", "aspects"))
@pytest.mark.parametrize("verdict", [0, 1])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_ragas_5_the_five_aspects_are_named(name, language, verdict):
    """ragas-5: five supported aspects ready to name."""

    score, calls = measured(
        "aspect_critic",
        case("so"),
        {"aspect" if language == "en" else "aspect_zh": {"verdict": verdict}},
        aspect=name,
        language=language,
    )
    assert (score.measure, score.value) == (name, verdict)
    # the model is asked about this aspect, in words that no other has
    (criterion, answer) = calls[0][2]
    assert (criterion, answer) == (ASPECTS[name].criterion(language), "so")
    others = {ASPECTS[other].criterion(language) for other in ASPECTS if other != name}
    assert criterion
    assert criterion not in others


def test_ragas_6_questions_of_a_test_set_are_of_several_kinds(tmp_path, monkeypatch):
    """ragas-6: diverse test-set synthesis."""

    monkeypatch.chdir(tmp_path)
    towns = [f"Plant {at} is in town {at}, on the road to harbour {at}, by a school." for at in range(1, 81)]
    (tmp_path / "report.md").write_text(
        "# Report\n\n" + "\n\n".join(f"## Plant {at}\n\n{text}" for at, text in enumerate(towns, 1)), "utf-8"
    )
    for year in range(2018, 2024):
        rows = "".join(f"region {at},{at}00\n" for at in range(1, 10))
        (tmp_path / f"table{year}.csv").write_text(f"region,revenue of {year}\n{rows}", "utf-8")
    (tmp_path / "set").mkdir()
    with FakeServer(scripted) as server:
        one_by_one = model(server.url).replace("max_concurrency: 4", "max_concurrency: 1")
        (tmp_path / "set" / "testset.yaml").write_text(
            f"documents: [report.md, 'table*.csv']\nquestions: 20\n{one_by_one}", "utf-8"
        )
        assert exit_code("testset", "set", "propose") == 0
        shown = [prompt_of(request) for request in server.requests]
    proposed = table(tmp_path / "set" / "proposed.csv")
    # of 20, by shares of .30 .15 .12 .12 .13 .08 .10: what is left over goes to the largest remainders
    kinds = {"fact": 6, "table": 3, "two_places": 2, "comparison": 2, "paraphrase": 3, "other": 2}
    assert Counter(row["kind"] for row in proposed) == {**kinds, "unanswerable": 2}
    assert len({row["text"] for row in proposed}) == 20
    for row in proposed:
        assert row["answerable"] == ("no" if row["kind"] == "unanswerable" else "yes")
        # what is asked of a table is asked of its document
        assert row["document"].startswith("table") or row["kind"] != "table"
    # each kind is asked for in words of its own
    assert len({text.partition("<passage ")[0] for text in shown}) >= 7


def test_ragas_7_production_is_measured_over_time_and_a_fall_is_an_alarm(tmp_path, capsys):
    """ragas-7: monitoring of production with a cheaper model: a series over time; an alarm."""

    rows = [
        {
            "query_id": f"{day}-{at}",
            "user_input": f"Question {at} of {day}?",
            "response": "yes" if at < (27 if day < 12 else 12) else "no",
            "reference": "yes",
            "time": f"2026-06-{day:02}T12:00:00Z",
        }
        for day in range(1, 21)
        for at in range(30)
    ]
    for until in (11, 20):
        answers = tmp_path / "answers.jsonl"
        answers.write_text("".join(json.dumps(row) + "\n" for row in rows[: 30 * until]))
        words = ("--measures", "exact_match", "--results", tmp_path / "results" / f"until-{until}")
        exit_code("score-answers", answers, *words, "--quiet")
        capsys.readouterr()
        alarm = exit_code("trend", tmp_path / "results", "--by", "day", "--fail-if-fallen")
        out = " ".join(capsys.readouterr().out.split())
        if until == 11:
            assert alarm in (0, None)
            assert "no change that is more than chance" in out
        else:
            # 27 and 12 of 30
            assert alarm == 1
            assert "0.900 before 2026-06-12, 0.400 from then on" in out


@pytest.mark.parametrize("name", ["gen_ai", "openinference", "langfuse", "langsmith"])
def test_ragas_8_traces_of_production_are_read_and_scored(tmp_path, capsys, name):
    """ragas-8: production logs and traces read."""

    exports = Path(__file__).parents[1] / "external" / "traces"
    exit_code("import", "traces", exports / f"{name}.jsonl", "--to", tmp_path / "c")
    rows = [json.loads(row) for row in (tmp_path / "c" / "answers.jsonl").read_text("utf-8").splitlines()]
    assert rows[0]["user_input"] == "How long is the Halden ferry crossing?"
    assert rows[0]["response"] == "The crossing takes 35 minutes."
    assert len(rows[0]["retrieved_contexts"]) == 2
    capsys.readouterr()
    exit_code("score-answers", tmp_path / "c" / "answers.jsonl", "--quiet")
    assert "answers.jsonl: 2 queries, 1 answered" in capsys.readouterr().out


def test_ragas_9_a_fall_fails_a_run_of_ci(tmp_path, capsys):
    """ragas-9: in CI/CD."""

    passages = {f"d{at}": f"passage {at}" for at in range(1, 6)}
    queries = [f"query {at}" for at in range(30)]

    labels = [(f"q{at}", name, grade) for at in range(1, 31) for name, grade in (("d1", 4), ("d5", 0))]

    def results(folder, order):
        retrieve = f"{{kind: python, call: 'tests.mission.steps:{order}', version: '1', top_k: 5}}"
        sections = {"retrieve": retrieve, "measures": "[ndcg_exp@5]"}
        return run_in(tmp_path / folder, passages, queries, labels, **sections)

    base, worse = results("base", "in_order"), results("worse", "backwards")
    words = ("--measure", "ndcg_exp@5", "--max-drop", "0.02")
    assert exit_code("gate", base, "--baseline", base, *words) in (0, None)
    capsys.readouterr()
    # 1 is a fall; what stops a gate otherwise has other codes
    assert exit_code("gate", worse, "--baseline", base, *words) == 1
    # the passage of grade 4 is first, and then last: 15 / log2(6) over 15
    assert "1.0000 to 0.3869" in " ".join(capsys.readouterr().out.split())
