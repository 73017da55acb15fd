"""Settings that answer, end to end: offline, and over HTTP through the ledger, with its faults."""

import json
import re

import pytest

from harness.report import read_table
from harness.running import load_config, make_plan
from harness.values import ConfigError, LlmError, Silent
from tests.command import exit_code, printed, save_table, table, told
from tests.judge.fake_server import FakeServer, says

GOLDEN = {
    "q1": "39,717",
    "q2": "A seal could harden in the cold.",
    "q3": "Bremerton",
    "q4": "A crane failure",
}
PASSAGE = re.compile(r"<passage (\d+) (\w+)>\n(.*?)\n</passage \1 \2>", re.DOTALL)


@pytest.fixture
def answering(write_config, corpus):
    """Write a configuration whose settings answer; the queries have golden answers."""
    rows = table(corpus / "queries.csv")
    save_table(corpus / "queries.csv", [{**row, "answer": GOLDEN.get(row["query_id"], "")} for row in rows])

    def write(answer, more="answer_measures: [exact_match, token_f1]\n", **stages):
        stages.setdefault("chunk", "{kind: recursive, chunk_size: 190}")
        stages.setdefault("rerank", "null")
        stages.setdefault("retrieve", "{kind: bm25, top_k: 10}")
        measures = "measures: [ndcg_exp@3]\nbootstrap: {resamples: 200}\n"
        return write_config(more=f"answer: {answer}\n{more}{measures}", **stages)

    return write


def llm(url, more="", model="fake-1"):
    endpoint = f"{{model: {model}, base_url: '{url}', api_key_env: null, timeout: 120, deadline: 300}}"
    return f"{{kind: llm, endpoint: {endpoint}, prices: {{fake-1: {{input: 10.0, output: 100.0}}}}{more}}}"


def shown(request):
    """The question and the passages in a request."""
    text = request["body"]["messages"][-1]["content"]
    return text.splitlines()[1], [passage for _, _, passage in PASSAGE.findall(text)]


def knowing(request, number):
    """Answers two questions, cites what it used, and refuses the others."""
    question, passages = shown(request)
    for asked, answer in (
        ("How many people", "39,717"),
        ("Why was the fuel", "A seal could harden in the cold"),
    ):
        for place, passage in enumerate(passages, start=1):
            if asked in question and answer.lower() in passage.lower():
                return says(f"{answer} [{place}].")
    return says("I cannot answer this from the passages.")


def test_the_extractive_baseline_runs_offline_into_the_tables_and_the_verdict(answering, capsys):
    results, folder, _ = told(answering("{kind: extractive, top_n: [1, 3], sentences: 1}"))
    replies = read_table(folder, "replies")
    assert sorted(set(replies.setting)) == ["top_n=1", "top_n=3"]
    assert len(replies) == 10
    one = replies[(replies.setting == "top_n=3") & (replies.query_id == "q1")].iloc[0]
    assert one.answer == "At the end of the year 39,717 people worked for the company."
    assert one.golden == "39,717"
    assert one.answered_by == "extractive by embedded:all-MiniLM-L6-v2"
    assert one.isna()[["price", "seconds", "prompt_tokens"]].all()
    read = read_table(folder, "reply_passages")
    own = read[(read.setting == "top_n=3") & (read.query_id == "q1")]
    assert own.place.tolist() == own["rank"].tolist() == [1, 2]
    assert own.cited.sum() == 1
    texts = dict(read_table(folder, "passages")[["chunk_id", "text"]].itertuples(index=False))
    assert "39,717" in texts[own[own.cited].chunk_id.iloc[0]]
    scores = read_table(folder, "answer_scores")
    f1 = scores[(scores.measure == "token_f1") & (scores.setting == "top_n=3")].set_index("query_id")
    # of the 9 words that are no articles one is the golden one: precision 1/9, recall 1
    words = 9  # at end of year 39717 people worked for company
    expected = 2 * (1 / words) * 1 / (1 / words + 1)
    assert f1.value["q1"] == pytest.approx(expected)
    assert f1.value.isna()["q5"]
    assert f1.reason["q5"] == "not answered: no_passages"
    summary = read_table(folder, "answer_summary")
    row = summary[(summary.measure == "token_f1") & (summary.split == "all") & (summary.setting == "top_n=3")]
    assert row["mean"].iloc[0] == pytest.approx(f1.value.dropna().mean())
    assert (row.n_queries.iloc[0], row.n_not_scored.iloc[0]) == (4, 1)
    assert row.reasons.iloc[0] == "not answered: no_passages x1"
    losses = read_table(folder, "answer_losses")
    own = losses[(losses.setting == "top_n=3") & (losses.query_id == "q1")]
    # the evidence was read and all of the golden answer is said, and 8 of 9 words are added to it
    assert own.set_index("part").loss["adds"] == pytest.approx(1 - expected)
    for (setting, query_id), lost in losses.groupby(["setting", "query_id"]):
        value = scores[(scores.setting == setting) & (scores.query_id == query_id)]
        assert lost.loss.sum() == pytest.approx(1 - value[value.measure == "token_f1"].value.iloc[0])
    # settings that differ only in their answers tie by rankings, so the verdict is on answers
    assert results.verdict["measure"] == "token_f1"
    assert "Rankings are the same under every setting" in printed(capsys, "show", folder)
    # by rankings that is said where these are meant
    tied = "Settings that differ only in what is read to answer, or in `answer`, have the same rankings"
    assert tied in " ".join(printed(capsys, "compare", folder, "--measure", "ndcg_exp@3").split())
    # what bench has printed of the answers can be read again
    assert "Answers: means over 5 queries" in printed(capsys, "show", folder)
    # without a measure they are compared by what differs
    assert "token_f1: means over 4 queries" in printed(capsys, "compare", folder)


def test_a_language_model_answers_and_is_paid_once(answering):
    with FakeServer(knowing) as server:
        path = answering(llm(server.url, ", top_n: 3"), cache="own")
        _, folder, _ = told(path)
        first = server.count
        replies = read_table(folder, "replies").set_index("query_id")
        scores = read_table(folder, "answer_scores")
        results, _, _ = told(path)
    # no word of the fifth question stands anywhere: nothing is found, and nobody is asked
    assert first == server.count == 4
    assert replies.reason["q5"] == "no_passages"
    # the words as they were given; measures see them without the citation
    assert re.fullmatch(r"39,717 \[\d\]\.", replies.answer["q1"])
    exact = scores[scores.measure == "exact_match"].set_index("query_id")
    assert exact.value["q1"] == exact.value["q2"] == 1.0
    assert exact.value["q3"] == 0.0
    # 100 tokens in, 10 out, at 10 and 100 a million
    assert replies.price["q1"] == pytest.approx((100 * 10.0 + 10 * 100.0) / 1e6)
    assert (replies.prompt_tokens["q1"], replies.completion_tokens["q1"]) == (100, 10)
    assert replies.seconds["q1"] > 0
    spent = results.record.counts["rewriting"]["cited v1 by fake-1"]
    assert (spent["purpose"], spent["calls"], spent["from_ledger"]) == ("answer", 0, 4)


def test_settings_that_read_the_same_are_asked_once_and_models_prompts_temperatures_are_swept(answering):
    sweep = ", top_n: [3, 4], model: [fake-1, fake-2], temperature: [0.0, 0.5]"
    with FakeServer(knowing) as server:
        path = answering(llm(server.url, f"{sweep}, prompt: [cited, plain]"), cache="own")
        config = load_config(path)
        told(path)
        asked = {
            (r["body"]["model"], r["body"]["temperature"], len(r["body"]["messages"][0]["content"]))
            for r in server.requests
        }
    assert len(config.settings) == 16
    assert config.settings[0].name == "top_n=3 answer=fake-1 temperature=0.0 prompt=cited"
    assert len(asked) == 8
    assert server.count == len({json.dumps(r["body"], sort_keys=True) for r in server.requests})


def test_a_failed_call_is_no_answer_and_no_zero(answering):
    def script(request, number):
        return says("", refusal="No.") if "fuel pump" in shown(request)[0] else knowing(request, number)

    with FakeServer(script) as server:
        _, folder, _ = told(answering(llm(server.url, ", max_failed: 0.2"), cache="own"))
        with pytest.raises(LlmError, match=r"1 of 5 queries have no answer by .* \(refusal x1\)"):
            told(answering(llm(server.url, ", max_failed: 0.19"), cache="own"))
    reply = read_table(folder, "replies").set_index("query_id").loc["q2"]
    assert (reply.answer, reply.reason) == ("", "refusal")
    scores = read_table(folder, "answer_scores").set_index(["query_id", "measure"])
    assert scores.value.isna()["q2", "exact_match"]
    assert scores.reason["q2", "exact_match"] == "not answered: refusal"
    summary = read_table(folder, "answer_summary")
    own = summary[(summary.measure == "exact_match") & (summary.split == "all")].iloc[0]
    # q1 of q1, q3, q4: q2 is left out and counted, not 0
    assert own["mean"] == pytest.approx(1 / 3)
    assert (own.n_queries, own.n_not_scored) == (3, 2)


def test_a_dry_run_and_validate_price_answers_and_spend_nothing(answering):
    def planned(**options):
        return make_plan(load_config(path), Silent(), **options).answers

    with FakeServer(knowing) as server:
        path = answering(llm(server.url, ", top_n: [2, 3]"), cache="own")
        plan, dry = planned(), planned(search=True)
        for command in (["bench", str(path), "--dry-run"], ["validate", str(path)]):
            assert exit_code(*command) == 0
        assert server.count == 0
        told(path)
        assert planned(search=True).answering == ()
    (of_dry,) = dry.answering
    # two settings, five questions; what both would read the same is one call
    assert of_dry.estimate.calls == of_dry.estimate.items == server.count <= 10
    assert plan.about
    assert sum(one.estimate.calls for one in plan.answering) >= of_dry.estimate.calls
    assert [one.at_most for one in (*plan.answering, of_dry)] == [True, True, False]


@pytest.mark.parametrize(
    ("answer", "more", "message"),
    [
        ("null", "[exact_match]", "no setting has answers"),
        ("{kind: extractive}", "[exact_mach]", "no kind 'exact_mach'"),
        ("{kind: extractive}", "[{name: x}]", "must be a kind such as exact_match"),
        ("{kind: extractive}", "[{kind: exact_match, k: 3}]", r"answer_measures.k"),
        ("{kind: extractive}", "[exact_match, exact_match]", "exact_match twice"),
        ("{kind: extractive}", "[faithfulness]", "faithfulness needs a language model"),
    ],
)
def test_an_impossible_configuration_is_refused_with_the_remedy(answering, answer, more, message):
    with pytest.raises(ConfigError, match=message):
        load_config(answering(answer, f"answer_measures: {more}\n"))


def judging(request, number):
    """Answers as ``knowing``; takes a statement for supported where a passage holds its words."""
    system, user = (message["content"] for message in request["body"]["messages"])
    if system.startswith("You take an answer"):
        (answer,) = re.findall(r"<answer \w+>\n(.*?)\n</answer", user, re.DOTALL)
        return says(json.dumps({"statements": [answer.strip(" .")]}))
    if system.startswith("You check statements"):
        read = [passage.lower() for _, _, passage in PASSAGE.findall(user)]
        (listed,) = re.findall(r"<statements \w+>\n(.*?)\n</statements", user, re.DOTALL)
        reply = [line.partition(". ")[2].lower() for line in listed.splitlines()]
        verdicts = [
            {"number": n, "verdict": int(any(one in text for text in read))} for n, one in enumerate(reply, 1)
        ]
        return says(json.dumps({"verdicts": verdicts}))
    return knowing(request, number)


def test_measures_may_ask_a_language_model_and_that_is_priced_before(answering):
    with FakeServer(judging) as server:
        endpoint = f"{{model: fake-1, base_url: '{server.url}', api_key_env: null}}"
        more = f"answer_measures: [faithfulness, exact_match]\nanswer_judge: {{endpoint: {endpoint}}}\n"
        path = answering(llm(server.url, ", top_n: 3"), more, cache="own")
        before = make_plan(load_config(path), Silent(), search=True).answers
        assert server.count == 0
        _, folder, _ = told(path)
        asked = server.count
        assert make_plan(load_config(path), Silent(), search=True).answers.missing == ()
        told(path)
    assert server.count == asked
    # the longest answers stand for those that are not there yet
    assert before.about
    assert [one.estimate.calls for one in before.answering] == [4]
    # the statements of each answer, and whether they are supported
    assert [one.estimate.calls for one in before.measuring] == [4, 4]
    scores = read_table(folder, "answer_scores")
    own = scores[scores.measure == "faithfulness"].set_index("query_id")
    assert own.value["q1"] == own.value["q2"] == 1.0
    details = json.loads(own.details["q1"])
    assert details == {"statements": [{"statement": "39,717", "verdict": 1}]}
    assert own.reason["q5"] == "not answered: no_passages"


def test_how_a_panel_voted_is_in_the_record(answering):
    def vote(request, number):
        return says(json.dumps({"verdict": int(request["body"]["model"] != "b")}))

    with FakeServer(vote) as server:
        keys = f"base_url: '{server.url}', api_key_env: null"
        members = ", ".join(f"{{endpoint: {{model: {name}, {keys}}}}}" for name in "abc")
        measure = (
            f"{{kind: aspect_critic, name: dated, aspect: It is dated., samples: 3, panel: [{members}]}}"
        )
        path = answering("{kind: extractive}", f"answer_measures: [{measure}]\n", cache="own")
        planned = make_plan(load_config(path), Silent(), search=True).answers.measuring
        assert server.count == 0
        results, folder, _ = told(path)
    assert [one.name for one in planned] == [f"aspect v1 by {name}" for name in "abc"]
    # every repetition of every model is priced, of the four questions for which something is read
    assert [one.estimate.calls for one in planned] == [4 * 3] * 3
    assert server.count == 4 * 3 * 3
    facts = results.record.counts["answer_panels"]["dated"]
    answers = facts["answers"]
    assert facts == {
        "answers": answers,
        "ties": 0,
        "no_vote": {"a": 0, "b": 0, "c": 0},
        # b says no throughout and the others yes: observed disagreement 2/3; of 3n votes n are no, so
        # expected is 2 · n · 2n / (3n (3n - 1)), and alpha = 1 - (2/3) / that = 1 - (3n - 1) / 2n
        "alpha_ordinal": pytest.approx(1 - (3 * answers - 1) / (2 * answers)),
        "all_agree": 0.0,
        "above_the_median": {"a": 0.0, "b": -1.0, "c": 0.0},
    }
    assert set(read_table(folder, "answer_scores").value.dropna()) == {1.0}
