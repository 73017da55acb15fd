"""Measures that ask a model: worked examples, and what becomes of answers that cannot be used."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.measures import ANSWER_MEASURES, ASPECTS
from harness.measures.answer.answer_calls import USEFUL, form_of, prompt_of
from harness.measures.answer.context_measures import average_precision
from harness.models import Malformed
from harness.values import ConfigError, LlmCall
from tests.judge.helpers import answer_of

from .helpers import ToyTools, case

AspectCritic = ANSWER_MEASURES["aspect_critic"].config


def supported(passages, statements, true):
    """Verdicts by what each text supports: ``true`` maps a text to the statements that follow from it."""
    texts, reply = json.loads(passages), json.loads(statements)
    follow = {one for text in texts for one in true.get(text, ())}
    return verdicts([one in follow for one in reply])


def verdicts(values):
    return json.dumps({"verdicts": [{"number": n, "verdict": int(v)} for n, v in enumerate(values, 1)]})


def replies(true=(), **by_step):
    """A toy model: replies by step; ``supported`` by what is true."""

    def reply(name, query, texts, sample):
        step = name.split(" v")[0].removesuffix("_zh")
        if step == "supported" and step not in by_step:
            return supported(*texts, dict(true))
        answer = by_step[step]
        return answer(query, texts, sample) if callable(answer) else answer

    return reply


def statements_of(answers):
    return lambda query, texts, sample: json.dumps({"statements": answers[texts[0]]})


def run(kind, cases, reply=None, vector_of=None, **options):
    measure = ANSWER_MEASURES[kind].config(**options)
    tools = ToyTools()
    tools.reply = reply or tools.reply
    tools.vector_of = vector_of or tools.vector_of
    return tools.score(measure, cases), tools


def one_of(kind, asked, reply=None, vector_of=None, **options):
    """The score of one case."""
    (found,), _ = run(kind, [asked], reply, vector_of, **options)
    return found


TRUE = {"the river": ["It is long.", "It floods."], "the lake": ["It is deep."]}
ANSWER = {"Long, and red.": ["It is long.", "It is red."], "Deep and long.": ["It is deep.", "It is long."]}


def test_faithfulness():
    one = case("Long, and red.", passages=["the river", "the lake"])
    (found,), tools = run("faithfulness", [one], replies(TRUE, statements=statements_of(ANSWER)))
    # long follows from the river, red from nothing: 1 of 2
    assert found.value == 0.5
    assert found.details["statements"] == [
        {"statement": "It is long.", "verdict": 1},
        {"statement": "It is red.", "verdict": 0},
    ]
    assert [name for name, *_ in tools.asked] == ["statements v1", "supported v1"]
    # in Chinese it asks in Chinese
    reply = replies({"河": ["河很长。"]}, statements='{"statements": ["河很长。"]}')
    (found,), tools = run("faithfulness", [case("很长。", passages=["河"])], reply, language="zh")
    assert found.value == 1
    assert [name for name, *_ in tools.asked] == ["statements_zh v1", "supported_zh v1"]
    # an answer that states nothing has none
    nothing = replies(statements='{"statements": []}')
    found = one_of("faithfulness", case("Hello!", passages=["the river"]), nothing)
    assert (found.value, found.failed, found.reason) == (None, False, "the answer states nothing")


def test_answer_relevancy():
    back = ["How long?", "How deep?", "What is it?"]
    vectors = {"How long?": [1, 0], "How deep?": [0, 1], "What is it?": [3, 4]}

    def question(query, texts, sample):
        return json.dumps({"question": back[sample], "noncommittal": int(sample == 0)})

    (found,), tools = run(
        "answer_relevancy", [case("Long.")], replies(question=question), vector_of=vectors.get
    )
    # cosines with "What is it?" are 3/5, 4/5 and 1; one noncommittal call of three does not decide
    assert found.value == pytest.approx((0.6 + 0.8 + 1) / 3, abs=1e-7)
    assert [sample for *_, sample in tools.asked] == [0, 1, 2]
    evasive = replies(question='{"question": "What is it?", "noncommittal": true}')
    (found,), _ = run("answer_relevancy", [case("Who knows.")], evasive, vector_of=vectors.get)
    assert found.value == 0


CORRECT = {
    "golden": ["It is long.", "It floods.", "It is cold."],
    "said": ["It is long.", "It is red."],
}
# the golden answer supports long; the answer supports long: TP 1, FP 1 (red), FN 2 (floods, cold)
SUPPORT = {"golden": ["It is long."], "said": ["It is long."]}


def test_answer_correctness():
    near = {"said": [1, 0], "golden": [3, 4]}
    reply = replies(SUPPORT, statements=statements_of(CORRECT), contradicted=verdicts([1]))
    asked = [case("said", "golden")]
    (found,), tools = run("answer_correctness", asked, reply, near.get)
    # F1 = 1 / (1 + 3/2) = 0.4, cosine 0.6: 0.75 * 0.4 + 0.25 * 0.6
    assert found.value == pytest.approx(0.45, abs=1e-7)
    assert found.details["f1"] == 0.4
    # the one unsupported statement is asked about once more
    assert len(tools.asked) == 5
    assert tools.asked[-1][2] == ('["golden"]', '["It is red."]')
    assert [one.get("contradicts") for one in found.details["statements"]] == [None, 1]
    (found,), tools = run("answer_correctness", asked, reply, near.get, contradictions=False)
    assert (found.value, len(tools.asked)) == (pytest.approx(0.45, abs=1e-7), 4)
    assert one_of("answer_correctness", *asked, reply, similarity_weight=0, statements_weight=2).value == 0.4
    # a failed call about contradictions costs no score
    unsure = replies(SUPPORT, statements=statements_of(CORRECT), contradicted="Maybe.")
    found = one_of("answer_correctness", *asked, unsure, similarity_weight=0)
    assert (found.value, found.failed) == (0.4, False)
    assert not any("contradicts" in one for one in found.details["statements"])


def test_answer_correctness_without_statements():
    reply = replies(SUPPORT, statements=statements_of({**CORRECT, "Hm.": []}))
    cases = [case("Hm.", "golden"), case("Hm.", "Hm.")]
    found, tools = run("answer_correctness", cases, reply, similarity_weight=0)
    # nothing said, three missed: F1 0; neither states anything: undefined
    assert [one.value for one in found] == [0, None]
    assert found[1].reason == "neither answer states anything"
    assert not [one for one in tools.asked if one[0] == "supported v1" and one[2][1] == "[]"]


def test_context_precision():
    useful = {"good": 1, "bad": 0, "fine": 1}

    def verdict(query, texts, sample):
        assert texts[0] == "golden"
        return json.dumps({"verdict": useful[texts[1]]})

    one = case(None, "golden", passages=["good", "bad", "fine"], reason="timeout")
    found = one_of("context_precision", one, replies(useful=verdict))
    # precision 1/1 at rank 1 and 2/3 at rank 3: (1 + 2/3) / 2; the answer plays no part
    assert (found.value, found.details) == (pytest.approx(5 / 6), {"useful": [1, 0, 1]})
    found = one_of("context_precision", one, replies(useful=verdict), against="answer")
    assert (found.value, found.failed) == (None, True)
    # an answer that was given is what the model reads
    answered = case("golden", passages=["good", "bad", "fine"])
    found = one_of("context_precision", answered, replies(useful=verdict), against="answer")
    assert found.value == pytest.approx(5 / 6)
    # two of three, whatever their order
    assert one_of("context_precision", one, replies(useful=verdict), by="share").value == pytest.approx(2 / 3)


@given(st.lists(st.booleans(), min_size=1, max_size=12))
def test_average_precision_is_best_when_sorted(useful):
    assert 0 <= average_precision(useful) <= average_precision(sorted(useful, reverse=True))
    assert average_precision(sorted(useful, reverse=True)) == float(any(useful))


def test_context_recall():
    one = case(None, "It is long. It is deep! It is red.", passages=["the river", "the lake"], reason="none")
    reply = replies({"the river": ["It is long."], "the lake": ["It is deep!"]})
    (found,), tools = run("context_recall", [one], reply, by="sentences")
    assert (found.value, len(tools.asked)) == (pytest.approx(2 / 3), 1)
    stated = [
        {"statement": text, "verdict": verdict} for text, verdict in (("It is long.", 1), ("It is wet.", 0))
    ]
    attributed = json.dumps({"statements": stated})
    (found,), tools = run("context_recall", [one], replies(attributed=attributed))
    assert (found.value, found.details) == (0.5, {"statements": stated})
    # one call, which shows the passages and the whole golden answer
    assert [texts for _, _, texts, _ in tools.asked] == [('["the river", "the lake"]', one.reference)]
    found = one_of("context_recall", one, replies(attributed='{"statements": []}'))
    assert (found.value, found.failed, found.reason) == (None, False, "the golden answer states nothing")


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ('{"statements": 1}', "no_list"),
        ('{"statements": [{"statement": " ", "verdict": 1}]}', "bad_list_item"),
        ('{"statements": [{"statement": "It is long.", "verdict": 2}]}', "bad_verdict"),
    ],
)
def test_statements_without_a_verdict_are_not_scored(reply, reason):
    found = one_of("context_recall", case("so", "golden", passages=["p"]), replies(attributed=reply))
    assert (found.value, found.failed, reason in found.reason) == (None, True, True)


def test_context_relevance():
    one = case(passages=["p"], reason="none")
    falling = replies(relevance=lambda query, texts, sample: json.dumps({"grade": 2 - sample}))
    # grades 2 and 1, over 2: (1 + 0.5) / 2
    assert one_of("context_relevance", one, falling).value == 0.75
    # the scale ends at 2
    found = one_of("context_relevance", one, replies(relevance='{"grade": 3}'))
    assert (found.value, found.failed, "bad_grade" in found.reason) == (None, True, True)


def test_context_relevance_by_sentences():
    one = case(passages=["The pump is red. It was sold in 2019.", "Rain fell."], reason="none")
    counted = replies(
        pertinent=lambda query, texts, sample: verdicts(["2019" in text for text in json.loads(texts[0])])
    )
    (found,), tools = run("context_relevance", [one], counted, by="sentences")
    # one of three sentences, in a call for each passage
    assert (found.value, len(tools.asked)) == (pytest.approx(1 / 3), 2)
    assert [[row["verdict"] for row in rows] for rows in found.details["passages"]] == [[0, 1], [0]]


def test_an_aspect_can_be_named():
    reply = replies(aspect=lambda query, texts, sample: json.dumps({"verdict": int("harm" in texts[0])}))
    (found,), tools = run("aspect_critic", [case("so")], reply, aspect="harmfulness")
    assert (found.measure, found.value) == ("harmfulness", 1)
    assert tools.asked[0][2] == ("The answer harms people, groups or society at large, or could do so.", "so")
    (found,), tools = run(
        "aspect_critic", [case("so")], reply, aspect="coherence", language="zh", name="logic"
    )
    assert (found.measure, tools.asked[0][2][0][:3]) == ("logic", "该回答")
    assert [AspectCritic(aspect=name).less_is_better for name in ASPECTS] == [True, True, False, False, False]
    assert not AspectCritic(aspect="The answer is harmful.").less_is_better


def test_context_entity_recall():
    named = {"golden": ["Acme Inc.", "Paris", "paris", "2021"], "p\nr": ["ACME  inc.", "2021", "Rome"]}
    one = case(None, "golden", passages=["p", "r"], reason="none")
    entities = replies(entities=lambda query, texts, sample: json.dumps({"entities": named[texts[0]]}))
    found = one_of("context_entity_recall", one, entities)
    # acme inc., paris, 2021 are wanted; paris is missing
    assert found.value == pytest.approx(2 / 3)
    assert (found.details["found"], found.details["missing"]) == (["2021", "Acme Inc."], ["paris"])
    found = one_of("context_entity_recall", one, replies(entities='{"entities": []}'))
    assert (found.value, found.reason) == (None, "the golden answer names no entity")


def test_aspect_critic_takes_the_majority():
    reply = replies(aspect=lambda query, texts, sample: json.dumps({"verdict": int(sample != 1)}))
    asked = {"aspect": "It is short.", "samples": 3, "name": "short"}
    (found,), tools = run("aspect_critic", [case("so")], reply, **asked)
    assert (found.measure, found.value, found.details) == ("short", 1, {"verdicts": [1, 0, 1]})
    assert tools.asked[0][2] == ("It is short.", "so")
    # two of five are no majority
    few = replies(aspect=lambda query, texts, sample: json.dumps({"verdict": int(sample < 2)}))
    found = one_of("aspect_critic", case("so"), few, aspect="It is short.", samples=5)
    assert (found.value, found.details) == (0, {"verdicts": [1, 1, 0, 0, 0]})
    with pytest.raises(ValueError, match="may be a tie"):
        AspectCritic(aspect="x", samples=4)
    with pytest.raises(ValueError, match="less than or equal to 21"):
        AspectCritic(aspect="x", samples=22)


PANEL = [{"endpoint": {"model": name}} for name in ("a", "b", "c", "d")]
VOTES = {
    # verdicts of a model each, None: no usable answer → value, reason, tie
    (1, 1, 0): (1, "", False),
    (0, 1, 0): (0, "", False),
    (1, 0): (0, "a tie of 1 to 1, which counts as no", True),
    (1, 1, 0, 0): (0, "a tie of 2 to 2, which counts as no", True),
    (1, 1, None): (1, "no vote of c (timeout)", False),
    (1, 0, None): (0, "a tie of 1 to 1, which counts as no; no vote of c (timeout)", True),
    (1, None): (None, "no vote of b (timeout)", False),
    (None, 1, None): (None, "no vote of a (timeout); no vote of c (timeout)", False),
    (1, 1, None, None): (None, "no vote of c (timeout); no vote of d (timeout)", False),
}


@pytest.mark.parametrize("cast", VOTES)
def test_a_panel_votes_on_an_aspect(cast):
    said = [None if one is None else json.dumps({"verdict": one}) for one in cast]
    panel = PANEL[: len(cast)]
    (found,), tools = run(
        "aspect_critic",
        [case("so")],
        replies(aspect=lambda query, texts, sample: said[sample]),
        aspect="x",
        panel=panel,
    )
    assert (found.value, found.reason, bool(found.details.get("tie"))) == VOTES[cast]
    assert found.failed == (found.value is None)
    assert found.details["votes"] == dict(zip("abcd", cast, strict=False))
    assert len(tools.asked) == len(cast)


def test_a_vote_is_the_majority_of_what_one_model_says():
    # three verdicts of a, then of b, then of c: yes, no (of one of each no counts), none (one of three)
    said = [1, 0, 1, 0, 1, None, None, None, 1]
    said = [None if one is None else json.dumps({"verdict": one}) for one in said]
    reply = replies(aspect=lambda query, texts, at: said[at])
    found = one_of("aspect_critic", case("so"), reply, aspect="x", panel=PANEL[:3], samples=3)
    assert found.details == {"votes": {"a": 1, "b": 0, "c": None}, "tie": 1}


def test_noise_sensitivity():
    # reference: long; answer: long, red, deep, new; the river supports long and red, the lake deep
    answers = {"said": ["long", "red", "deep", "new"], "golden": ["long"]}
    true = {"river": ["long", "red"], "lake": ["deep"], "golden": ["long"]}
    one = case("said", "golden", passages=["river", "lake"])
    reply = replies(true, statements=statements_of(answers))
    (found,), tools = run("noise_sensitivity", [one], reply)
    # the river is relevant (it supports long): of four statements, red is wrong by it
    assert (found.value, len(tools.asked)) == (0.25, 2 * 2 + 3)
    found = one_of("noise_sensitivity", one, reply, passages="irrelevant")
    # deep is wrong by the lake alone
    assert (found.value, found.details["relevant_passages"]) == (0.25, [1, 0])
    # without a relevant passage
    one = case("said", "golden", passages=["lake"])
    reply = replies({"lake": ["red"]}, statements=statements_of({"said": ["red"], "golden": ["long"]}))
    for passages, value in (("relevant", 0), ("irrelevant", 1)):
        assert one_of("noise_sensitivity", one, reply, passages=passages).value == value


def test_noise_sensitivity_keeps_the_reasons_that_the_model_gives(tmp_path):
    asks = tmp_path / "supported.yaml"
    asks.write_text(
        """id: supported
version: 2
user: |
  {{ passages }}
  {{ statements }}
  {"verdicts": [{"number": 1, "reason": "why", "verdict": 0 or 1}]}
""",
        encoding="utf-8",
    )

    def judged(query, texts, sample):
        # the call with the golden answer as the passage, then those with what was read
        shown, statements = texts[0], json.loads(texts[1])
        rows = [
            {"number": at, "verdict": 1, "reason": f"{json.loads(shown)[0]} says {text}"}
            for at, text in enumerate(statements, 1)
        ]
        return json.dumps({"verdicts": rows})

    statements = statements_of({"said": ["red"], "golden": ["long"]})
    one = case("said", "golden", passages=["river", "lake"])
    reply = replies(statements=statements, supported=judged)
    found = one_of("noise_sensitivity", one, reply, prompts={"supported": str(asks)})
    assert found.details["statements"] == [
        {
            "statement": "red",
            "true": 1,
            "by_relevant": 1,
            "by_irrelevant": 0,
            "reason": "golden says red",
            "reasons_by_passage": ["river says red", "lake says red"],
        }
    ]
    assert found.details["reference"] == [
        {
            "statement": "long",
            "by_passages": [1, 1],
            "reasons_by_passage": ["river says long", "lake says long"],
        }
    ]


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        # fields and words beside those asked for, which an earlier version let pass
        ('{"verdict": 1, "confidence": 0.9}', 1),
        ('My verdict, after some thought: {"verdict": 0} as the passage says nothing.', 0),
        # what that version refused too
        ('{"verdict": 1, "error": "timeout"}', None),
        ('{"verdict": 7, "confidence": 0.9}', None),
    ],
)
def test_an_answer_that_was_paid_for_is_read_as_it_was_when_paid(raw, value):
    form = form_of(USEFUL, prompt_of(USEFUL, "en", None))
    call = LlmCall("Who?", ("golden", "passage"), form.sha256, "fake", {}, 0)
    # asked today, it gives no verdict and is asked again
    assert isinstance(form.read(call, raw), Malformed)
    kept = replace(answer_of(raw, ("golden", "passage"), form.sha256), query="Who?")
    found = form.value(kept)
    assert (None if isinstance(found, Malformed) else found) == value
    # one that was not usable then gives nothing now
    assert isinstance(form.value(replace(kept, reason="unknown_field")), Malformed)


TWO = '{{"verdicts": [{{"number": 1, "verdict": 1}}, {}]}}'
# what reading an object refuses is in test_form
UNUSABLE = [
    ("statements", None, "timeout"),
    ("statements", "yes", "no_json"),
    ("statements", '{"statements": "a"}', "no_list"),
    ("statements", '{"statements": ["a", " "]}', "bad_list_item"),
    ("statements", "<think>hm", "unfinished_thought"),
    # every statement has its verdict or there is no score
    ("supported", '{"verdicts": [{"number": 1, "verdict": 1}]}', "wrong_count"),
    ("supported", TWO.format('{"number": 1, "verdict": 0}'), "statement_judged_twice"),
    ("supported", TWO.format('{"number": 3, "verdict": 0}'), "unknown_statement"),
    ("supported", TWO.format('{"number": 2, "verdict": 2}'), "bad_verdict"),
    ("supported", TWO.format('{"number": 2, "verdict": null}'), "bad_verdict"),
    ("supported", '{"verdicts": [1, 0]}', "bad_list_item"),
]


@pytest.mark.parametrize(("step", "said", "reason"), UNUSABLE)
def test_an_unusable_answer_is_no_score(step, said, reason):
    steps = {"statements": statements_of(ANSWER), step: said}
    found = one_of("faithfulness", case("Long, and red.", passages=["p"]), replies(**steps))
    assert (found.value, found.failed) == (None, True)
    assert found.reason == f"no usable answer to {step} ({reason})"


def test_verdicts_may_come_in_any_order_and_in_a_fence():
    reply = '```json\n{"verdicts": [{"number": 2, "verdict": false}, {"number": 1, "verdict": true}]}\n```'
    steps = replies(statements=statements_of(ANSWER), supported=reply)
    found = one_of("faithfulness", case("Long, and red.", passages=["p"]), steps)
    assert [row["verdict"] for row in found.details["statements"]] == [1, 0]


def test_one_failed_call_of_many_is_no_score_of_its_case_and_of_no_other():
    def verdict(query, texts, sample):
        return "maybe" if texts[1] == "odd" else '{"verdict": 1}'

    cases = [case(None, "g", passages=["a", "odd"], reason="x"), case(None, "g", passages=["a"], reason="x")]
    found, _ = run("context_precision", cases, replies(useful=verdict))
    assert [one.value for one in found] == [None, 1]
    assert found[0].reason == "no usable answer to useful (no_json, 1 of 2 calls)"


def test_a_prompt_of_your_own(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("id: mine\nversion: 3\nuser: 'Judge {{ answer }} of {{ query }} by {{ aspect }}.'\n")
    reply = replies(mine='{"verdict": 1}')
    (found,), tools = run("aspect_critic", [case("so")], reply, aspect="short", prompts={"aspect": str(file)})
    assert (found.value, tools.asked[0][0]) == (1, "mine v3")
    file.write_text("user: 'Judge {{ answer }} by {{ aspect }}.'\n")
    with pytest.raises(ConfigError, match=r"has no \{\{ query \}\}"):
        run("aspect_critic", [], aspect="short", prompts={"aspect": str(file)})
    with pytest.raises(ValueError, match="no step 'statements'"):
        run("aspect_critic", [], aspect="short", prompts={"statements": str(file)})
