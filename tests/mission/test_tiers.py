"""The document on abilities and two tiers of measures."""

import json

import pytest
import yaml

from harness.comparison import answer_lines
from harness.report import Axes, Detail, passages_detail, read_tables
from tests.answer.helpers import case
from tests.command import exit_code, table
from tests.judge.fake_server import FakeServer, says
from tests.mission.figures import figure
from tests.mission.helpers import flow, measured, run_in
from tests.report.test_page import payload_of


def test_tier_5_context_precision_is_the_share_of_passages_that_help():
    """tier-5: context precision as useful / all."""

    found = figure("tier-5", "useful")
    assert found == [1, 0]
    words = ["helps" if verdict else "does not" for verdict in found]
    useful = {"useful": lambda texts, sample: {"verdict": int(texts[1] == "helps")}}
    for order, averaged in ((words, 1), (words[::-1], 0.5)):
        answered = case("An answer.", "A golden answer.", passages=order)
        score, _ = measured("context_precision", answered, useful, by="share")
        # whichever comes first; by default their order counts
        assert score.value == figure("tier-5", "value")
        assert measured("context_precision", answered, useful)[0].value == averaged


def test_tier_6_context_recall_splits_the_golden_answer_and_judges_it_in_one_call():
    """tier-6: context recall: the reference is split into statements in one call."""

    found = figure("tier-3", "recall.results")
    stated = [{"statement": f"Statement {at}.", "verdict": verdict} for at, verdict in enumerate(found)]
    answered = case("An answer.", "Two sentences. Of five statements.", passages=["One passage."])
    score, calls = measured("context_recall", answered, {"attributed": {"statements": stated}})
    # 3 of 5 statements, where a rule finds two sentences
    assert (round(score.value, 4), len(calls)) == (figure("tier-3", "recall.value"), 1)
    assert score.details["statements"] == stated


@pytest.mark.parametrize(
    ("evidence", "losses"),
    [("d5", {"ranked too low": 1.0}), ("d1", {"left out": 0.5, "something else": 0.5})],
)
def test_tier_2_the_stage_that_lost_an_answer_is_named(tmp_path, evidence, losses):
    """tier-2: locate the stage at fault."""

    passages = {f"d{at}": f"Firm {at} had a good year." for at in range(1, 6)}
    query = {
        "query_id": "q1",
        "text": "What did the board pay?",
        "split": "train",
        "answer": "Nothing whatever",
    }
    results = run_in(
        tmp_path,
        passages,
        [query],
        [("q1", evidence, 4)],
        answer="{kind: extractive, top_n: 2}",
        answer_measures="[token_f1]",
        measures="[ndcg_exp@5]",
    )
    lost = {row["part"]: float(row["loss"]) for row in table(results / "answer_losses.csv")}
    # two passages are read: the fifth is not among them, the first is, and the answer lacks
    # all of it and says something else
    assert {name: loss for name, loss in lost.items() if loss} == losses


TIERS = ["token_f1", "context_recall", "context_precision", "faithfulness"]


def by_rule(request, number):
    """A model that finds every passage useful, and no statement of an answer supported."""
    words = json.dumps(request["body"]["messages"])
    if "whether a passage helps" in words:
        return says('{"verdict": 1}')
    if "how much of a golden answer" in words:
        return says('{"statements": [{"statement": "Nothing.", "verdict": 1}]}')
    supported = "check statements" in words
    return says(
        flow({"verdicts": [{"number": 1, "verdict": 0}]} if supported else {"statements": ["It is."]})
    )


@pytest.mark.parametrize(("evidence", "stage"), [("d5", "ranking"), ("d1", "answering")])
def test_tier_1_answer_correctness_comes_first_and_is_explained_by_the_second_tier(
    tmp_path, evidence, stage, capsys
):
    """tier-1: answer correctness first; faithfulness and context precision and recall second."""

    correctness = {"kind": "answer_correctness", "similarity_weight": 0, "contradictions": False}
    with FakeServer(by_rule) as server:
        results = run_in(
            tmp_path,
            {f"d{at}": f"Firm {at} had a good year." for at in range(1, 6)},
            [{"query_id": "q1", "text": "What was paid?", "split": "train", "answer": "Nothing whatever"}],
            [("q1", evidence, 4)],
            answer="{kind: extractive, top_n: 2}",
            answer_measures=flow([*TIERS, correctness]),
            answer_judge=flow({"endpoint": {"model": "fake-1", "base_url": server.url, "api_key_env": None}}),
            measures="[ndcg_exp@5]",
        )
    summary = [row["measure"] for row in table(results / "answer_summary.csv") if row["split"] == "all"]
    second = ["faithfulness", "context_precision", "context_recall"]
    assert summary == ["answer_correctness", *second, "token_f1"]
    # the fifth passage is not read; the first is, and the answer makes nothing of it
    (line,) = (line for line in answer_lines(results) if line["label"] == "Where the fault lies")
    assert f"loses most in {stage}, 1.00 of 1 in answer_correctness" in line["text"]
    explained = "faithfulness 0.00, context_precision 1.00 and context_recall 1.00"
    assert line["text"].endswith(f"answer_correctness is explained by {explained}.")
    # the same sentence on the page, in the terminal and in Markdown
    assert exit_code("report", results) in (0, None)
    assert line in payload_of((results / "report.html").read_text("utf-8"))["answers"]["verdict"]
    capsys.readouterr()
    for form in ("text", "markdown"):
        assert exit_code("show", results, "--format", form) in (0, None)
        assert f"loses most in {stage}" in " ".join(capsys.readouterr().out.split())


# The reply to a prompt of one's own by a word of it: the shapes of the document, in words of ours.
OF_A_USER = {
    "split.yaml": """\
user: |
  Split every sentence into simple statements. {{ query }} {{ answer }} {{ sentences }}
  [{"sentence_index": 0, "simpler_statements": ["…", "…"]}]
reply: {statements: "[].simpler_statements[]"}
""",
    "follow.yaml": """\
user: |
  Which statements follow from the context? {{ passages }} {{ statements }}
  [{"statement": "…", "reason": "…", "verdict": 0}]
reply: {verdicts: "@", statement: statement, reason: reason}
""",
    "helps.yaml": """\
user: |
  Does the context help? {{ query }} {{ passage }} {{ answer }}
  {"reslut": 1, "reason": "…"}
reply: {verdict: reslut, reason: reason}
""",
    "truth.yaml": """\
user: |
  Take the truth apart. Is each part in the context? {{ query }} {{ passages }} {{ reference }}
  [{"statement": "…", "reason": "…", "result": 1}]
reply: {verdict: result, reason: reason}
""",
}
JOHN = [
    "John studies biology.",
    "John takes a course on AI.",
    "John works hard.",
    "John has a part-time job.",
]
REPLIES = {
    "split": [
        {"sentence_index": 0, "simpler_statements": JOHN[:2]},
        {"sentence_index": 1, "simpler_statements": JOHN[2:]},
    ],
    "follow": [
        {"statement": text, "reason": f"Reason {at}.", "verdict": verdict}
        for at, (text, verdict) in enumerate(zip(JOHN, figure("tier-3", "verdicts"), strict=True))
    ],
    "helps": {"reslut": 1, "reason": "It names the course."},
    "truth": [
        {"statement": f"Part {at}.", "reason": f"Reason {at}.", "result": result}
        for at, result in enumerate(figure("tier-3", "recall.results"))
    ],
}
VALUES = [
    ("faithfulness", figure("tier-3", "faithfulness")),
    ("context_precision", 1),
    ("context_recall", figure("tier-3", "recall.value")),
]
STEPS_BY_MEASURE = {
    "faithfulness": {"statements": "split", "supported": "follow"},
    "context_precision": {"useful": "helps"},
    "context_recall": {"attributed": "truth"},
}


def with_own_prompts(folder, kind, prompts):
    """The score of an answer by a measure whose steps are asked by the prompts of a user."""
    for name, content in prompts.items():
        (folder / name).write_text(content, encoding="utf-8")
    steps = STEPS_BY_MEASURE[kind]
    answered = case("John does much. He works.", "A golden answer.", passages=["John is a student."])
    score, calls = measured(
        kind, answered, REPLIES, prompts={step: str(folder / f"{name}.yaml") for step, name in steps.items()}
    )
    assert [name.split(" v")[0] for name, *_ in calls] == list(steps.values())
    return score


@pytest.mark.parametrize(("kind", "value"), VALUES)
def test_tier_3_prompts_of_ones_own_are_read_in_their_own_shape(tmp_path, kind, value):
    """tier-3: one's own prompts with the documents' reply shapes (sentence_index and simpler_statements;
    reslut and reason; statements with verdicts).
    """

    assert round(with_own_prompts(tmp_path, kind, OF_A_USER).value, 4) == value


PARTS_OF_DOCUMENT = {
    "split": ("faithfullness prompt", "####", ("query", "answer", "sentences")),
    "follow": ("####", "context_precision prompt", ("passages", "statements")),
    "helps": ("context_precision prompt", "contenxt_recall prompt", ("query", "passage", "answer")),
    "truth": ("contenxt_recall prompt", "再确定对应的prompt", ("query", "passages", "reference")),
}


@pytest.mark.parametrize(("kind", "value"), VALUES)
def test_tier_3_the_prompts_of_the_document_run_as_they_are_printed(tmp_path, mission_documents, kind, value):
    (document,) = mission_documents.glob("001_*.txt")
    text = document.read_text(encoding="utf-8")
    prompts = {}
    for name, (begin, end, slots) in PARTS_OF_DOCUMENT.items():
        printed = text.split(begin)[1].split(end)[0]
        shown = "\n".join(f"{{{{ {slot} }}}}" for slot in slots)
        reply = yaml.safe_load(OF_A_USER[f"{name}.yaml"])["reply"]
        prompts[f"{name}.yaml"] = yaml.safe_dump({"user": f"{printed}\n{shown}", "reply": reply})
    assert round(with_own_prompts(tmp_path, kind, prompts).value, 4) == value


def test_tier_4_reasons_of_the_model_that_scores_are_in_the_details(tmp_path):
    faithful = with_own_prompts(tmp_path, "faithfulness", OF_A_USER).details
    assert faithful["statements"][2] == {"statement": JOHN[2], "verdict": 1, "reason": "Reason 2."}
    recall = with_own_prompts(tmp_path, "context_recall", OF_A_USER).details
    assert recall["statements"][4] == {"statement": "Part 4.", "verdict": 0, "reason": "Reason 4."}
    precision = with_own_prompts(tmp_path, "context_precision", OF_A_USER).details
    assert precision == {"useful": [1], "reasons": ["It names the course."]}


def test_tier_4_reasons_of_the_judge_are_in_the_table_and_on_the_page(tmp_path):
    """tier-4: reasons of the judge kept and shown."""

    prompt = tmp_path / "mine.yaml"
    prompt.write_text(
        "language: en\nanswer: grade\nmax_grade: 1\nreply: {grade: reslut, reason: reason}\n"
        'user: \'{{ query }} {{ passages }} {"reslut": 1, "reason": "…"}\'\n'
    )
    reply = '{"reslut": 1, "reason": "It says what was paid."}'
    with FakeServer(lambda request, number: says(reply)) as server:
        endpoint = {"model": "fake-1", "base_url": server.url, "api_key_env": None, "structured": "none"}
        judge = {"judge": "llm", "prompt": str(prompt), "endpoint": endpoint}
        results = run_in(
            tmp_path,
            {"d1": "The board paid nothing."},
            ["What did the board pay?"],
            relevance=flow({**judge, "pool": {"unit": "chunk", "depth": 5}}),
            measures="[ndcg_exp@5]",
        )
    (row,) = table(results / "judgments.csv")
    assert (row["grade"], row["explanation"]) == ("1", "It says what was paid.")
    tables = read_tables(results)
    ((span,),) = passages_detail(tables, Axes.of(tables), Detail())["evidence"]
    assert span[-1] == "It says what was paid."
    assert exit_code("report", results) in (0, None)
    assert "It says what was paid." in flow(payload_of((results / "report.html").read_text("utf-8")))
