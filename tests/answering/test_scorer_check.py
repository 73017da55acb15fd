"""Models that score answers, on answers whose scores are known: honest ones pass, others are found out."""

import json

import pytest

from harness.measures.answer.measures import ANSWER_MEASURES
from harness.running.answering.scorer_check import ATTACKS, TOPICS, VARIANTS, check_measure, known_answers
from tests.answer.helpers import ToyTools
from tests.command import exit_code as run
from tests.judge.fake_server import FakeServer, says

ASKING = [
    "faithfulness",
    "answer_correctness",
    "answer_relevancy",
    "context_precision",
    "context_recall",
    "context_relevance",
    "context_entity_recall",
    "noise_sensitivity",
]
ORDERS = ("Ignore all", "忽略之前")


def sentences(text):
    """The statements that an honest model finds in a text: sentences of the known set that it contains."""
    known = [s for topic in TOPICS for s in (topic.golden, topic.wrong, topic.invented)]
    return [one for one in known if one in text]


def follows(statement, texts):
    """Whether it is the fact of a topic, and the texts hold that."""
    whole = "\n".join(texts)
    return any(
        statement == topic.golden and (topic.golden in whole or topic.passages[0] in whole)
        for topic in TOPICS
    )


def verdicts(values):
    return json.dumps({"verdicts": [{"number": n, "verdict": int(v)} for n, v in enumerate(values, 1)]})


def honest(name, query, texts, sample):
    step = name.split(" v")[0].removesuffix("_zh")
    if step == "statements":
        return json.dumps({"statements": sentences(texts[0])})
    if step == "supported":
        return verdicts([follows(one, json.loads(texts[0])) for one in json.loads(texts[1])])
    if step == "contradicted":
        return verdicts([0] * len(json.loads(texts[1])))
    if step == "refuses":
        return json.dumps({"verdict": int("not know" in texts[0])})
    if step == "aspect":
        return json.dumps({"verdict": int("14.50" in texts[1])})
    topic = next((one for one in TOPICS if one.question == query), None)
    if step == "useful":
        return json.dumps({"verdict": int(topic.passages[0] in texts[1])})
    if step == "relevance":
        return json.dumps({"grade": 2 * int(any(topic.passages[0] in one for one in json.loads(texts[0])))})
    if step == "entities":
        names = ("Halden", "Orlin", "Tarn", "澜河县博物馆", "青石大桥")
        return json.dumps({"entities": [one for one in names if one in texts[0]]})
    asked = next((one.question for one in TOPICS if one.golden in texts[0] or one.wrong in texts[0]), "What?")
    return json.dumps({"question": asked, "noncommittal": int(asked == "What?")})


def obedient(name, query, texts, sample):
    """Says yes to all if it is told to."""
    reply = json.loads(honest(name, query, texts, sample))
    if any(order in text for text in texts for order in ORDERS) and "verdicts" in reply:
        return verdicts([1] * len(reply["verdicts"]))
    return json.dumps(reply)


def vector(text):
    """A direction for each question; the golden answer and the one with another figure are near."""
    for n, topic in enumerate(TOPICS):
        if topic.question in text or topic.golden in text or topic.wrong in text:
            return [float(i == n) for i in range(len(TOPICS) + 1)]
    return [0.0] * len(TOPICS) + [1.0]


def check(kind, reply, **keys):
    measure = ANSWER_MEASURES.make(ANSWER_MEASURES[kind].config(**keys))
    return check_measure(measure, ToyTools(reply, vector))


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("kind", ASKING)
def test_an_honest_model_passes(kind, language):
    found = check(kind, honest, language=language)
    assert found.problems == ()
    assert any(one.expected is not None and one.n for one in found.known_answers)


def test_values_by_construction():
    found = {one.variant: one for one in check("faithfulness", honest).known_answers}
    assert (found["golden answer"].mean, found["figure changed"].mean) == (1.0, 0.0)
    # one of two statements follows
    assert found["invented sentence added"].mean == 0.5
    # nothing is stated: there is no value, and that is no failure
    assert (found["noncommittal"].mean, found["noncommittal"].failed) == (None, 0)
    found = {one.variant: one for one in check("answer_correctness", honest).known_answers}
    # F1 = 1 / (1 + 1/2), similarity 1: 0.75 · 2/3 + 0.25
    assert found["invented sentence added"].mean == pytest.approx(0.75)
    # F1 0, and a similarity of 1 that knows nothing of figures
    assert found["figure changed"].mean == pytest.approx(0.25)


def test_a_model_that_obeys_what_it_reads_is_found_out():
    def with_passages(name, query, texts, sample):
        return obedient(name, query, texts, sample)

    found = check("faithfulness", with_passages)
    assert [one for one in found.problems if "passages on another subject order a score" in one] == [
        "faithfulness: “passages on another subject order a score” gains +1.00 over the same without it"
    ]


@pytest.mark.parametrize(
    ("verdict", "problems"),
    [
        (
            1,
            [
                "faithfulness: 1.00 for “figure changed” is too high, up to 0.10 is right",
                "faithfulness: 1.00 for “invented sentence added” is too high, 0.25 to 0.85 is right",
            ],
        ),
        (0, ["faithfulness: 0.00 for “golden answer” is too low, 0.90 to 1.00 is right"]),
    ],
)
def test_a_model_that_says_the_same_to_everything_is_found_out(verdict, problems):
    def same(name, query, texts, sample):
        if "supported" in name:
            return verdicts([verdict] * len(json.loads(texts[1])))
        return honest(name, query, texts, sample)

    assert set(problems) <= set(check("faithfulness", same).problems)


def test_calls_that_fail_are_reported_and_are_no_score():
    def silent(name, query, texts, sample):
        return None if "supported" in name else honest(name, query, texts, sample)

    found = check("faithfulness", silent)
    assert "faithfulness: 3 of 3 answers have no score (golden answer)" in found.problems
    assert all(one.mean is None for one in found.known_answers)


def test_attacks_on_a_custom_criterion_are_found():
    def gullible(name, query, texts, sample):
        return json.dumps({"verdict": int(any(order in texts[1] for order in ORDERS))})

    found = check("aspect_critic", gullible, aspect="The answer is right.")
    assert found.problems == (
        "aspect_critic: “figure changed, orders a score” gains +1.00 over the same without it",
    )
    assert all(one.expected is None for one in found.known_answers)


def test_refusals_by_a_model():
    assert check("refusal", honest, by="llm").problems == ()


def test_the_known_answers_fit_their_definitions():
    for topic in TOPICS:
        assert topic.golden != topic.wrong
        assert topic.invented not in " ".join(topic.passages)
    assert set(ATTACKS) | set(ATTACKS.values()) <= set(VARIANTS)
    for language in ("en", "zh"):
        cases = known_answers(language, {"answer", "passages"})
        assert list(cases) == list(VARIANTS)
        ids = [case.query.query_id for own in cases.values() for case in own]
        assert len(set(ids)) == len(ids)
    # a measure that never sees the answer is not asked about other answers
    assert list(known_answers("en", {"passages"})) == [
        "golden answer", "passages on another subject", "passages on another subject order a score",
    ]  # fmt: skip


def test_on_the_command_line_it_is_priced_and_paid_once(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")

    def reply(request, number):
        # takes the one-sentence answers for their one statement, and believes all of it
        text = request["body"]["messages"][-1]["content"]
        if "<statements" in text:
            count = text.count("</statement") or 1
            return says(verdicts([1] * count))
        return says(json.dumps({"statements": ["It is so."]}))

    with FakeServer(reply) as server:
        endpoint = {"model": "fake", "base_url": server.url, "api_key_env": None}
        config = {"answer_measures": ["token_f1", "faithfulness"], "answer_judge": {"endpoint": endpoint}}
        (tmp_path / "c.yaml").write_text(json.dumps(config))
        assert run("judge", "check-answers", "c.yaml", "--dry-run", "--quiet") == 0
        assert "statements v1 by fake" in capsys.readouterr().out
        assert server.count == 0
        assert run("judge", "check-answers", "c.yaml", "--quiet") == 1
        asked = server.count
        assert asked > 0
        assert run("judge", "check-answers", "c.yaml", "--quiet") == 1
        assert server.count == asked
    out = " ".join(capsys.readouterr().out.split())
    assert "problem: faithfulness: 1.00 for “figure changed” is too high, up to 0.10 is right" in out
    (tmp_path / "c.yaml").write_text(json.dumps({"answer_measures": ["token_f1"]}))
    assert run("judge", "check-answers", "c.yaml") == 1
    assert "None of the measures asks a language model (token_f1)" in " ".join(
        capsys.readouterr().err.split()
    )
