"""The judge of the document on NDCG: prompts, several opinions, cost and time beside a reranker's."""

import json
import re

import pytest

from harness.values import JudgeError
from tests.command import exit_code, table
from tests.judge.fake_server import Answer, FakeServer, completion, grade, says
from tests.mission.figures import figure
from tests.mission.helpers import FIVE, flow, run_in, values
from tests.models.tiny import cross_encoder

PASSAGES = {f"d{at}": f"{word} passage on sales" for at, word in enumerate(FIVE, 1)}


def judged(folder, url, **relevance):
    """The results of a benchmark of one query and five passages, graded by a language model."""
    endpoint = {"model": "fake-1", "base_url": url, "api_key_env": None}
    section = {"judge": "llm", "endpoint": endpoint, "pool": {"unit": "chunk", "depth": 5}, **relevance}
    return run_in(folder, PASSAGES, ["Sales?"], relevance=flow(section), measures="[ndcg_exp@5]")


def test_ndcg_6_a_pointwise_judge_may_grade_all_0_and_such_a_query_counts_as_zero_on_request(tmp_path):
    """ndcg-6: graded pointwise; unanswerable: zero."""

    with FakeServer(lambda request, number: grade(0)) as server:
        counted = judged(tmp_path / "zero", server.url, unanswerable="zero")
        assert values(counted, "ndcg_exp@5", "retrieve") == {"q1": 0.0}
        left_out = judged(tmp_path / "exclude", server.url)
        assert values(left_out, "ndcg_exp@5", "retrieve") == {"q1": None}


def test_ndcg_8_an_answer_from_the_passages_by_a_prompt_of_ones_own(tmp_path):
    """ndcg-8: rag() with its own system prompt."""

    prompt = tmp_path / "mine.yaml"
    prompt.write_text("system: You help people who read a report.\nuser: '{{ query }} {{ passages }}'\n")
    with FakeServer(lambda request, number: says("Sales were 97.")) as server:
        answer = {"kind": "llm", "prompt": str(prompt), "top_n": 5}
        endpoint = {"model": "fake-1", "base_url": server.url, "api_key_env": None}
        results = run_in(
            tmp_path,
            PASSAGES,
            ["Sales?"],
            [("q1", "d1", 4)],
            answer=flow({**answer, "endpoint": endpoint}),
            measures="[ndcg_exp@5]",
        )
        system, user = server.requests[0]["body"]["messages"]
    assert system["content"].strip() == "You help people who read a report."
    assert all(text in user["content"] for text in ("Sales?", *PASSAGES.values()))
    assert [row["answer"] for row in table(results / "replies.csv")] == ["Sales were 97."]


def test_ndcg_13_labels_of_people_and_a_collection_of_beir(tmp_path, monkeypatch):
    """ndcg-13: people's labels; BEIR data."""

    beir = tmp_path / "data"
    (beir / "qrels").mkdir(parents=True)
    (beir / "corpus.jsonl").write_text(
        '{"_id": "a", "title": "", "text": "The yard holds vehicles."}\n'
        '{"_id": "b", "title": "", "text": "Rain fell."}\n'
    )
    (beir / "queries.jsonl").write_text('{"_id": "q1", "text": "Where are the vehicles?"}\n')
    (beir / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\ta\t2\n")
    monkeypatch.chdir(tmp_path)
    assert exit_code("import", "beir", beir, "--to", "imported") in (0, None)
    labels = table(tmp_path / "imported" / "labels.csv")
    assert [(row["query_id"], row["grade"]) for row in labels] == [("q1", "2")]
    # what was imported is searched, and scored by the labels of people
    config = "name: b\ndocuments: imported/documents/*\nqueries: imported/queries.csv\n"
    config += "labels: imported/labels.csv\nchunk: {kind: recursive}\nretrieve: {kind: bm25}\n"
    (tmp_path / "b.yaml").write_text(f"{config}measures: [ndcg_exp@5, precision@1]\n")
    assert exit_code("bench", "b.yaml") == 0
    results = tmp_path / "results" / "b"
    scored = [values(results, measure, "retrieve") for measure in ("ndcg_exp@5", "precision@1")]
    assert scored == [{"q1": 1.0}, {"q1": 1.0}]
    (first, *_) = table(results / "rankings.csv")
    assert (first["rank"], first["document"], first["grade"]) == ("1", "a", "2")


def test_ndcg_14_several_samples_and_a_panel_make_one_grade(tmp_path):
    """ndcg-14: unstable judge: several samples; a panel; agreement."""

    with FakeServer(lambda request, number: grade([4, 0, 4][number % 3])) as server:
        temperature = {"model": "fake-1", "base_url": server.url, "api_key_env": None, "temperature": 0.7}
        results = judged(tmp_path / "samples", server.url, samples=3, endpoint=temperature)
        rows = table(results / "judgments.csv")
        assert (len(rows), server.count) == (5, 15)
        for row in rows:
            samples = sorted(map(int, row["samples"].split()))
            assert len(samples) == 3
            assert int(row["grade"]) == samples[1]
            assert float(row["spread"]) == samples[2] - samples[0]
        # fifteen replies, of which a third are 0
        assert sum(row["samples"].split().count("0") for row in rows) == 5
    given = {"a": 1, "b": 3, "c": 4}
    with FakeServer(lambda request, number: grade(given[request["body"]["model"]])) as server:
        members = [
            {"endpoint": {"model": name, "base_url": server.url, "api_key_env": None}} for name in given
        ]
        section = {"judge": "panel", "combine": "median", "members": members}
        pool = {"pool": {"unit": "chunk", "depth": 5}}
        results = run_in(
            tmp_path / "panel",
            PASSAGES,
            ["Sales?"],
            relevance=flow({**section, **pool}),
            measures="[ndcg_exp@5]",
        )
    assert {(row["grade"], row["samples"]) for row in table(results / "judgments.csv")} == {("3", "1 3 4")}


@pytest.mark.slow  # loads torch
def test_ndcg_15_the_price_of_the_judge_stands_beside_the_time_of_the_reranker(tmp_path):
    """ndcg-15: cost and latency of a language model against a cross-encoder."""

    prices = {"fake-1": {"input": 10.0, "output": 100.0}}

    def slow(request, number):
        return Answer(body=completion(json.dumps({"grade": 4})), delay=0.05)

    with FakeServer(slow) as server:
        endpoint = {"model": "fake-1", "base_url": server.url, "api_key_env": None, "max_concurrency": 1}
        section = {"judge": "llm", "endpoint": endpoint, "pool": {"unit": "chunk", "depth": 5}}
        local = {"kind": "cross_encoder", "model": cross_encoder(tmp_path / "model"), "top_n": 5}
        results = run_in(
            tmp_path,
            PASSAGES,
            ["Sales?"],
            retrieve="{kind: bm25, top_k: 5}",
            rerank=flow([local, {"kind": "llm", "endpoint": endpoint, "prices": prices, "top_n": 5}]),
            relevance=flow({**section, "prices": prices}),
            latency="{queries: 1}",
            measures="[ndcg_exp@5]",
        )
        # five passages are graded by the judge, and five by the reranker that is a language model
        assert server.count == 10
    # each call has 100 + 10 tokens, at 10 and 100 per million
    costs = table(results / "costs.csv")
    assert [float(row["cost_alone"]) for row in costs] == pytest.approx([5 * 0.002] * 2)
    reranked = {
        row["setting"]: (int(row["rerank_pairs"]), float(row["cost_per_1000"]))
        for row in table(results / "prices.csv")
        if row["stage"] == "rerank"
    }
    times = {
        row["setting"]: float(row["p50"])
        for row in table(results / "latency.csv")
        if row["stage"] == "rerank"
    }
    assert times.keys() == reranked.keys()
    by_encoder, by_model = reranked
    # a thousand queries of five calls; a model of one's own charges nothing
    assert reranked == {by_encoder: (5, 0), by_model: (5, pytest.approx(1000 * 5 * 0.002))}
    assert times[by_encoder] > 0
    # the calls were paid once, and their time is that of those calls
    assert times[by_model] >= 50


# the list prompt in words of one's own: a system part, all pairs at once, and a reply that is a list
LIST_PROMPT = """\
answer: plain
language: en
list_size: 5
distinct: true
system: |
  You order texts by relevance. Reply with a simple list that has a score between 0 and 4 for each pair, in
  the order given. No score is given twice. Reply with the list alone.
user: |
  {{ query }}

  {{ passages }}
"""
REVERSE = {word: float(at) for at, word in enumerate(FIVE)}


def listed(folder, reply, words=LIST_PROMPT):
    """The results of the list prompt where the model replies so, and the passages in the order it is shown.

    The reranker reverses the order of retrieval.
    """
    prompt = folder / "list.yaml"
    prompt.write_text(words, encoding="utf-8")
    reranker = {"kind": "python", "call": "tests.mission.steps:by_table", "version": "1", "top_n": 5}
    with FakeServer(lambda request, number: says(reply)) as server:
        endpoint = {"model": "fake-1", "base_url": server.url, "api_key_env": None, "structured": "none"}
        section = {"judge": "llm", "prompt": str(prompt), "endpoint": endpoint, "seed_ratio": 5}
        results = run_in(
            folder,
            PASSAGES,
            ["Sales?"],
            rerank=flow({**reranker, "arguments": {"table": {"Sales?": REVERSE}}}),
            relevance=flow({**section, "pool": {"unit": "chunk", "depth": 5}}),
            measures="[ndcg_exp@5]",
        )
        text = server.requests[0]["body"]["messages"][-1]["content"]
    return results, sorted(PASSAGES, key=lambda name: text.index(PASSAGES[name]))


REPLIES = list(zip(figure("ndcg-4", "replies"), figure("ndcg-4", "grades"), strict=True))


@pytest.mark.parametrize(("reply", "grades"), REPLIES, ids=[reply for reply, _ in REPLIES])
def test_ndcg_4_a_reply_that_is_a_bare_list_is_read(tmp_path, reply, grades):
    """ndcg-4: prompt for a list of distinct scores; reply is a bare list."""

    results, shown = listed(tmp_path, reply)
    graded = {row["document"]: int(row["grade"]) for row in table(results / "judgments.csv")}
    assert graded == dict(zip(shown, grades, strict=True))
    # 0 1 2 3 4 as they stand over 4 3 2 1 0: 10.948459 / 21.347185
    ratio = 0.512876 if any(grades) else 0
    assert values(results, "seed_ratio@5", "rerank")["q1"] == pytest.approx(ratio, abs=1e-6)


def test_ndcg_4_the_prompt_as_it_is_printed(tmp_path, mission_documents):
    text = next(mission_documents.glob("002_*.txt")).read_text(encoding="utf-8")
    code = text[text.index("def true_relevancy") :]
    system, user = code[code.index('"role": "system"') :].split('"role": "user"')[:2]
    words = "".join(json.loads(f'"{part}"') for part in re.findall(r'^ *"([^"]*)"$', system, re.MULTILINE))
    assert words.count("- ") == 5
    asked = re.search(r'f"([^"{]*)', user)[1]
    prompt = {"answer": "plain", "language": "en", "list_size": 5, "distinct": True, "system": words}
    results, shown = listed(
        tmp_path,
        "[4, 2, 1, 0, 3]",
        flow({**prompt, "user": f"{asked} {{{{ query }}}} {{{{ passages }}}}"}),
    )
    grades = {row["document"]: row["grade"] for row in table(results / "judgments.csv")}
    assert grades == dict(zip(shown, "42103", strict=True))


def test_ndcg_5_five_zeros_are_no_duplicates_and_make_the_figure_0(tmp_path):
    """ndcg-5: unanswerable query: five zeros; NDCG 0."""

    results, _ = listed(tmp_path, "[0, 0, 0, 0, 0]")
    assert {row["grade"] for row in table(results / "judgments.csv")} == {"0"}
    assert values(results, "seed_ratio@5", "rerank") == {"q1": 0.0}
    # elsewhere such a query has no value and leaves the mean
    assert values(results, "ndcg_exp@5", "rerank") == {"q1": None}


def test_ndcg_5_other_scores_given_twice_are_duplicates(tmp_path):
    with pytest.raises(JudgeError, match="duplicate_grades"):
        listed(tmp_path, "[4, 4, 0, 0, 0]")
