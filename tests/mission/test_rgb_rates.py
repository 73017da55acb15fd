"""What RGB's script prints for the replies of a run is what the tables of the run say, ratio by ratio."""

import json
import re

import pytest

from tests.command import exit_code, table
from tests.judge.fake_server import FakeServer, says
from tests.mission.helpers import flow

RATIOS = (0, 0.2, 0.4, 0.6, 0.8, 1)
"""Those of RGB's paper."""
READ = 5
MILLS = ("abel", "bron", "cade", "dorn", "esk")
REJECTS, DETECTS = ("insufficient information", "信息不足"), ("factual errors", "事实性错误")
NOTHING, WRONG = "There is insufficient information.", "There are factual errors in the provided documents."


def instances(name):
    """Five questions as a file of RGB has them, each with passages that answer it, and five that do not."""
    for number, mill in enumerate(MILLS):
        year, owner = str(1900 + 7 * number), f"{mill.title()}son"
        built = [f"The {mill} mill was built in {year}, as paper {at} says." for at in range(READ)]
        owned = [f"The {mill} mill was built by {owner}, as paper {at} says." for at in range(READ)]
        silent = [
            f"Of the {mill} mill paper {at} says how many floors it has, and nothing else of note."
            for at in range(READ)
        ]
        given = {"id": number, "negative": silent}
        if name == "en_int":
            question = f"When and by whom was the {mill} mill built?"
            yield {
                **given,
                "query": question,
                "answer": [year, [owner, f"{owner} Ltd"]],
                "positive": [built, owned],
            }
            continue
        given |= {"query": f"When was the {mill} mill built?", "answer": year, "positive": built}
        if name == "en_fact":
            false = str(1800 + number)
            given |= {"fakeanswer": false, "positive_wrong": [text.replace(year, false) for text in built]}
        yield given


def reader(request, number):
    """A reader that takes one of the passages for the answer, the place by the question, noise or not.

    What is no year it takes for a reason to refuse, or for the year 1700. It repeats some false facts and
    sees others; of these it corrects some and refuses others.
    """
    prompt = request["body"]["messages"][-1]["content"]
    mill = re.search(r"(\w+) mill built", prompt)[1]
    place = MILLS.index(mill)
    passages = re.findall(r"(?s)<passage \d+ \w+>\n(.*?)\n</passage", prompt)
    year, owner = str(1900 + 7 * place), f"{mill.title()}son"
    if f"in {1800 + place}," in prompt:
        replies = (
            str(1800 + place),
            WRONG,
            f"{WRONG} It was {year}.",
            f"{WRONG} {NOTHING}",
            f"It was {year}.",
        )
        return says(replies[place % len(replies)])
    (text,) = passages[place % len(passages) :][:1]
    if mill not in text or "built" not in text:
        return says(NOTHING if place % 2 else "In 1700.")
    both = f"{year}, {owner}" if "whom" in prompt and place % 3 else ""
    return says(both or text)


def printed(replies, answers, ratio):
    """The three rates that RGB's script prints for replies, by its rules.

    ``answers`` are as its files have them.

    A reply that rejects is marked -1 and else 1 or 0 for each part of the answer; it is right without a 0 and
    with a 1, or where it rejects noise alone. Detected are replies with the phrase; corrected, of these, all
    without a 0.
    """
    marks, detected = [], []
    for reply, answer in zip(replies, answers, strict=True):
        parts = [
            part if isinstance(part, list) else [part]
            for part in (answer if isinstance(answer, list) else [answer])
        ]
        held = [int(any(word.lower() in reply.lower() for word in part)) for part in parts]
        marks.append([-1] if any(phrase in reply for phrase in REJECTS) else held)
        detected.append(any(phrase in reply for phrase in DETECTS))
    right = [(ratio == 1 and mark[0] == -1) or (0 not in mark and 1 in mark) for mark in marks]
    corrected = [seen and 0 not in mark for mark, seen in zip(marks, detected, strict=True)]
    return (
        sum(right) / len(marks),
        sum(detected) / len(marks),
        sum(corrected) / sum(detected) if any(detected) else 0,
    )


@pytest.fixture(scope="module", params=["en_refine", "en_int", "en_fact"])
def run(request, tmp_path_factory):
    """The instances of a file, what was replied to each by setting, and the means of the tables."""
    name = request.param
    folder = tmp_path_factory.mktemp(name)
    lines = list(instances(name))
    (folder / f"{name}.json").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    assert exit_code("import", "rgb", folder / f"{name}.json", "--to", folder / "corpus") == 0
    corpus = folder / "corpus"
    with FakeServer(reader) as server:
        endpoint = {"model": "fake-1", "base_url": server.url, "api_key_env": None}
        reading = [{"kind": "noise", "ratio": list(RATIOS)}]
        config = {
            "name": "rates",
            "documents": f"{corpus}/documents/*.txt",
            "queries": f"{corpus}/queries.csv",
            "labels": f"{corpus}/labels.csv",
            "chunk": {"kind": "page"},
            "retrieve": {"kind": "bm25", "top_k": 15},
            "read": [*reading, {"kind": "counterfactual"}] if name == "en_fact" else reading,
            "answer": {"kind": "llm", "prompt": "abilities", "top_n": READ, "endpoint": endpoint},
            "answer_measures": [
                {"kind": "all_parts", "unless": list(REJECTS)},
                {"kind": "refusal", "where": "anywhere", "phrases": list(REJECTS)},
                {"kind": "error_detected", "phrases": list(DETECTS)},
                {"kind": "error_corrected", "phrases": list(DETECTS)},
            ],
            "measures": ["ndcg_exp@5"],
            "cache": f"{folder}/cache",
            "results": f"{folder}/results",
        }
        path = folder / "rates.yaml"
        path.write_text("".join(f"{key}: {flow(value)}\n" for key, value in config.items()), "utf-8")
        assert exit_code("bench", path, "--quiet") == 0
    results = folder / "results" / "rates"
    replies = {}
    for row in table(results / "replies.csv"):
        replies.setdefault(row["setting"], {})[row["query_id"]] = row["answer"]
    means = {
        (row["setting"], row["measure"]): float(row["mean"])
        for row in table(results / "answer_summary.csv")
        if row["split"] == "all" and row["mean"]
    }
    answers = {f"{name}-{line['id']}": line["answer"] for line in lines}
    return name, results, lines, replies, means, answers


def test_accuracy_and_rejection_at_each_ratio_are_the_rates_that_rgb_prints(run):
    name, _, _, replies, means, answers = run
    for ratio in RATIOS:
        setting = f"noise ratio={float(ratio)}" if name == "en_fact" else f"ratio={float(ratio)}"
        given = replies[setting]
        rate, *_ = printed([given[query] for query in answers], answers.values(), ratio)
        accuracy = means[setting, "all_parts"]
        # of noise alone RGB prints one rate for rejections and for right answers
        rejection = means[setting, "refusal"] if ratio == 1 else 0
        assert accuracy + rejection == pytest.approx(rate), setting
        if name != "en_int":
            # the reader takes each of the five places for a question, and noise has the last ones
            assert accuracy == pytest.approx(1 - ratio), setting


def test_of_five_passages_the_share_of_noise_is_the_ratio(run):
    name, results, *_ = run
    if name != "en_refine":
        return
    documents = {}
    for row in table(results / "reply_passages.csv"):
        ratio = row["setting"].rpartition("=")[2]
        documents.setdefault((float(ratio), row["query_id"]), []).append(row["chunk_id"])
    golden = {
        row["document"]
        for row in table(results.parent.parent / "corpus" / "labels.csv")
        if row["grade"] == "4"
    }
    for (ratio, query), read in documents.items():
        holding = [chunk for chunk in read if chunk.split(":")[0] in golden and chunk.startswith(f"{query}-")]
        assert len(read) == READ
        assert len(holding) == round(READ * (1 - ratio)), (ratio, query)


def test_detection_and_correction_are_the_rates_that_rgb_prints(run):
    name, results, lines, replies, means, answers = run
    if name != "en_fact":
        assert not any(measure == "error_detected" for _, measure in means)
        return
    given = [replies["counterfactual"][query] for query in answers]
    _, detection, correction = printed(given, answers.values(), 0)
    assert means["counterfactual", "error_detected"] == pytest.approx(detection) == 0.6
    # RGB counts a reply that detects and rejects as corrected, as it has no part that is missing
    both = sum(WRONG in reply and NOTHING in reply for reply in given)
    seen = sum(WRONG in reply for reply in given)
    assert (both, seen) == (1, 3)
    assert means["counterfactual", "error_corrected"] == pytest.approx(correction - both / seen) == 1 / 3
    # what was read is what the file has as passages that look right and are wrong
    wrong = {f"{name}-{line['id']}": set(line["positive_wrong"]) for line in lines}
    altered = [row for row in table(results / "reply_passages.csv") if row["change"] == "altered"]
    assert len(altered) == READ * len(lines)
    assert all(row["text"] in wrong[row["query_id"]] for row in altered)
