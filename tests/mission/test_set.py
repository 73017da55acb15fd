"""The document on a test set and the measures of its answers."""

import itertools
import json
import re
from collections import Counter

import pytest

from harness.labels.testset.config import TestsetConfig
from tests.answer.helpers import case
from tests.command import bench, exit_code, printed, refused, save_table, table
from tests.judge.fake_server import Answer, FakeServer, says
from tests.mission.figures import figure
from tests.mission.helpers import flow, measured, run_in, verdicts, write_bench
from tests.testset.helpers import model, passages_of, prompt_of, scripted


@pytest.mark.parametrize(
    ("found", "value"),
    [
        (figure("set-5", "faithfulness.0.verdicts"), figure("set-5", "faithfulness.0.value")),
        (figure("set-5", "faithfulness.1.verdicts"), figure("set-5", "faithfulness.1.value")),
    ],
)
def test_set_5_faithfulness_is_the_share_of_statements_from_the_context(found, value):
    """set-5: similarity; faithfulness 5/5 and 1/3; relevance by three questions."""

    replies = {"statements": {"statements": [f"Statement {at}." for at, _ in enumerate(found)]}}
    score, _ = measured(
        "faithfulness", case("An answer.", passages=["p"]), {**replies, "supported": verdicts(found)}
    )
    assert round(score.value, 4) == value


WORDS = ("theory", "relativity", "universe", "understanding", "motion", "laws", "mechanics")


def by_words(text):
    """A vector that has the words of a text."""
    return [float(word in text.lower()) for word in WORDS]


def test_set_5_a_paraphrase_is_nearer_than_another_subject():
    golden = "His theory of relativity changed our understanding of the universe."
    near = "The theory of relativity gave a new understanding of the universe."
    far = "Laws of motion gave mechanics a new understanding."
    values = [
        measured("answer_similarity", case(text, golden), vector_of=by_words)[0].value for text in (near, far)
    ]
    # all four words in common, and one of two times four
    assert values == [pytest.approx(1), pytest.approx(0.25)]


def test_set_5_answer_relevance_is_the_mean_over_three_questions():
    vectors = {"What is it?": [1, 0], "0": [1, 0], "1": [0, 1], "2": [0.6, 0.8]}
    reply = {"question": lambda texts, sample: {"question": str(sample), "noncommittal": 0}}
    score, calls = measured("answer_relevancy", case("so"), reply, vectors.get)
    # cosines 1, 0 and 0.6
    assert (score.value, len(calls)) == (pytest.approx(1.6 / 3), 3)


def test_set_6_prompt_temperature_and_model_are_swept(tmp_path):
    """set-6: sweep of prompt; temperature; model."""

    (tmp_path / "terse.yaml").write_text("user: 'In a word: {{ query }} {{ passages }}'\n", "utf-8")

    def reply(request, number):
        """One model of the two is right, by one prompt, and only where nothing is left to chance."""
        body = request["body"]
        terse = "In a word" in body["messages"][-1]["content"]
        right = (body["model"], body["temperature"], terse) == ("large", 0.0, True)
        return says("4,200" if right else "many")

    query = {"query_id": "q1", "text": "How many?", "split": "train", "answer": "4,200"}
    with FakeServer(reply) as server:
        answer = {
            "kind": "llm",
            "endpoint": {"base_url": server.url, "api_key_env": None},
            "prompt": ["plain", str(tmp_path / "terse.yaml")],
            "temperature": [0.0, 0.7],
            "model": ["small", "large"],
        }
        results = run_in(
            tmp_path,
            {"d1": "It holds 4,200."},
            [query],
            [("q1", "d1", 4)],
            answer=flow(answer),
            answer_measures="[exact_match]",
        )
        asked = Counter(
            (
                request["body"]["model"],
                request["body"]["temperature"],
                "In a word" in prompt_of(request),
            )
            for request in server.requests
        )
    # each of the eight is asked once
    sides = itertools.product(("small", "large"), (0.0, 0.7), (False, True))
    assert asked == dict.fromkeys(sides, 1)
    rows = table(results / "answer_summary.csv")
    means = {row["setting"]: float(row["mean"]) for row in rows if row["split"] == "all"}
    assert len(means) == 8
    (best,) = (setting for setting, mean in means.items() if mean == 1)
    assert all(word in best for word in ("large", "0.0", "terse"))
    assert sum(means.values()) == 1


def test_set_1_questions_are_proposed_chosen_and_given_contexts_of_which_the_useless_go(
    tmp_path, monkeypatch
):
    """set-1: 150 questions from the data; 100 chosen; 30 contexts each; the useless removed."""

    monkeypatch.chdir(tmp_path)
    revenue = "Total revenue of plant {0} was {0} million in that year, more than was expected of it."
    town = "Plant {0} is in town number {0}, on the road to the harbour, beside a school and a river."
    sections = [f"## Plant {at}\n\n{(revenue, town)[at % 2].format(at)}" for at in range(1, 101)]
    (tmp_path / "report.md").write_text("# Report\n\n" + "\n\n".join(sections), encoding="utf-8")
    (tmp_path / "regions.csv").write_text(
        "region,revenue\nEurope,412\nAsia,329\nAmericas,226\n", encoding="utf-8"
    )
    (tmp_path / "set").mkdir()
    settings = "documents: [report.md, regions.csv]\nquestions: 6\nchosen: 4\npassages: 9\n"
    with FakeServer(scripted) as server:
        # one call at a time, as the questions that the model asks have the number of the call
        one_by_one = model(server.url).replace("max_concurrency: 4", "max_concurrency: 1")
        (tmp_path / "set" / "testset.yaml").write_text(settings + one_by_one, encoding="utf-8")
        for words in (["propose"], ["choose", "--auto"], ["gather"], ["grade"]):
            assert exit_code("testset", "set", *words) in (0, None), words
    proposed, chosen, graded = (
        table(tmp_path / "set" / f"{name}.csv") for name in ("proposed", "chosen", "grades")
    )
    kept = {row["query_id"] for row in chosen if row["keep"] == "yes"}
    assert (len(proposed), len(kept)) == (6, 4)
    # as many contexts of each question that was chosen as are asked for
    assert Counter(row["query_id"] for row in graded) == dict.fromkeys(kept, 9)
    # the model of this test finds revenue alone useful
    texts = {
        path.stem: path.read_text("utf-8") for path in (tmp_path / "report.md", tmp_path / "regions.csv")
    }
    useful = {
        (row["grade"], "Total revenue" in texts[row["doc_id"]][int(row["start"]) : int(row["end"])])
        for row in graded
    }
    assert useful == {("4", True), ("0", False)}


def test_set_7_chat_and_embeddings_of_every_part_come_from_an_endpoint(tmp_path, capsys):
    """set-7: domestic models for every part (chat and embeddings)."""

    def reply(request, number):
        if not request["path"].endswith("/embeddings"):
            return says("A theory of relativity.")
        texts = request["body"]["input"]
        rows = [
            {"object": "embedding", "index": at, "embedding": by_words(text)} for at, text in enumerate(texts)
        ]
        return Answer(body={"data": rows, "model": "e-1", "usage": {"prompt_tokens": 10, "total_tokens": 10}})

    query = {"query_id": "q1", "text": "What?", "split": "train", "answer": "Relativity changed motion."}
    with FakeServer(reply) as server:
        at = f"base_url: '{server.url}', api_key_env: null"
        path = write_bench(
            tmp_path,
            {"d1": "A passage."},
            [query],
            [("q1", "d1", 4)],
            answer=f"{{kind: llm, endpoint: {{model: chat, {at}}}}}",
            answer_measures="[answer_similarity]",
            answer_embedding=f"{{endpoint: {{model: e-1, {at}, price: 1000}}}}",
        )
        planned = printed(capsys, "validate", path)
        # the answer is not known yet, and taken to be as long as it may be
        assert "to measure e-1: at most" in planned
        assert "2 texts: 1 requests to make" in planned
        assert server.count == 0, "a plan sends nothing"
        _, folder = bench(path)
        assert server.count == 2
        bench(path)
        assert server.count == 2, "answer and vectors are kept"
        assert "e-1" not in printed(capsys, "bench", path, "--dry-run").partition("models")[0]
    (score,) = table(folder / "answer_scores.csv")
    # "theory" and "relativity" against "relativity" and "motion": one word in common of two each
    assert float(score["value"]) == pytest.approx(0.5)
    paid = json.loads((folder / "record.json").read_text())["counts"]["endpoints"]["e-1"]
    assert paid["kept_from_before"] == 2


OF_A_PHARMACY = """\
user: |
  你现在是在药房门店工作，你的任务是根据患者的症状，进行一下中成药的推荐。
  根据给出的资料，创建{{ count }}个用户可能会问到的问题：
  <相关资料>{{ passages }}</相关资料>
"""
MEDICINES = ("感康", "感冒灵", "板蓝根", "藿香正气水", "牛黄解毒片", "六味地黄丸")


def medicine_set(folder, url, more=""):
    """A test set over the leaflets of six medicines."""
    for name in MEDICINES:
        text = f"{name}用于缓解普通感冒引起的发热、头痛、鼻塞和咽痛。" * 6
        (folder / f"{name}.md").write_text(f"# {name}\n\n{text}\n", encoding="utf-8")
    (folder / "set").mkdir()
    settings = f"documents: '*.md'\nlanguage: zh\ncache: cache\n{more}" + model(url)
    settings = settings.replace("{model: fake,", "{model: fake, max_tokens: 8000,")
    (folder / "set" / "testset.yaml").write_text(settings, encoding="utf-8")
    (folder / "own.yaml").write_text(OF_A_PHARMACY, encoding="utf-8")


def test_set_2_many_questions_come_from_one_prompt_with_role_scenario_and_material(
    tmp_path, monkeypatch, capsys
):
    """set-2: many questions from one prompt (role and material given)."""

    monkeypatch.chdir(tmp_path)

    def reply(request, number):
        lines = [f"{at}. {MEDICINES[at % 6]}适合第{at}种症状吗？" for at in range(1, 149)]
        # two of the 150 are there already, in other marks
        return says("以下是150个问题：\n" + "\n".join([*lines, "149、感冒灵适合第1种症状吗", lines[4]]))

    with FakeServer(reply) as server:
        medicine_set(tmp_path, server.url)
        ask = ("testset", "set", "propose", "--prompt", "own.yaml", "--count", "150")
        assert "would be asked for 150 questions in one call" in printed(capsys, *ask, "--dry-run")
        assert server.count == 0
        output = printed(capsys, *ask)
        assert server.count == 1
        (request,) = server.requests
        # the prompt is the user's, with the count and all of the documents
        assert "你现在是在药房门店工作" in prompt_of(request)
        assert "创建150个" in prompt_of(request)
        assert all(f"{name}用于缓解" in prompt_of(request) for name in MEDICINES)
        assert "148 questions proposed by fake (own v1) (own 148)" in output
        assert "2 duplicates left out. 150 were asked for." in output
        # the same again adds nothing, and is not paid for twice
        assert "150 duplicates left out" in printed(capsys, *ask, "--add")
        assert server.count == 1
        assert exit_code("testset", "set", "choose", "--auto") == 0
    proposed = table(tmp_path / "set" / "proposed.csv")
    assert len({row["text"] for row in proposed}) == 148
    assert proposed[0]["text"] == "感冒灵适合第1种症状吗？"


def test_set_3_a_golden_answer_is_written_from_all_contexts_that_were_kept(tmp_path, monkeypatch, capsys):
    """set-3: golden answers by the strongest model from all contexts kept."""

    monkeypatch.chdir(tmp_path)
    sentences = [f"感冒药第{at}号含有成分{at}，适用于症状{at}，每日服用三次，饭后服用。" for at in range(20)]

    def reply(request, number):
        return says("感康")

    with FakeServer(reply) as server:
        medicine_set(tmp_path, server.url)
        (tmp_path / "leaflet.md").write_text("\n\n".join(sentences), encoding="utf-8")
        (tmp_path / "gold.csv").write_text(
            "\n".join(
                ["id,question,document,quote,grade", *(f"q1,感冒药有哪些？,leaflet,{s},4" for s in sentences)]
            ),
            encoding="utf-8",
        )
        for words in (["propose", "--from", "gold.csv"], ["choose", "--auto"], ["answer"]):
            assert exit_code("testset", "set", *words) == 0, words
        (request,) = server.requests
        assert sorted(passages_of(request)) == sorted(sentences)
        # where the model cannot read as much, the step says so
        path = tmp_path / "set" / "testset.yaml"
        path.write_text(path.read_text("utf-8") + "material_tokens: 100\n", encoding="utf-8")
        output = printed(capsys, "testset", "set", "answer", "--again")
        assert "1 question has more passages than material_tokens (100) let the model read: q1" in output
        assert 1 < len(passages_of(server.requests[-1])) < len(sentences)


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        # three quarters of the window without the longest answer: 0.75 * (128,000 - 400)
        ("gpt-4o-mini-2024-07-18", 95_700),
        ("openai/GPT-4o", 95_700),
        # 0.75 * (200,000 - 400)
        ("claude-sonnet-4-5", 149_700),
        ("a-model-of-ours", 16_000),
    ],
)
def test_set_4_the_contexts_of_an_answer_go_as_far_as_the_model_reads(model, tokens):
    endpoint = {"model": model, "base_url": "http://127.0.0.1:9/v1", "api_key_env": None}
    config = TestsetConfig(documents="docs/*", llm={"endpoint": endpoint})
    assert config.answer_tokens == tokens
    # many questions at once are shown no more than before
    assert config.proposal_tokens == 16_000
    stated = config.model_copy(update={"material_tokens": 100})
    assert (stated.answer_tokens, stated.proposal_tokens) == (100, 100)


def test_set_4_an_expert_reviews_and_edits_golden_answers(tmp_path, monkeypatch, capsys):
    """set-4: an expert reviews and edits golden answers."""

    monkeypatch.chdir(tmp_path)
    (tmp_path / "gold.csv").write_text(
        "id,question,document,quote,grade\n"
        "q1,感冒了吃什么？,leaflet,感康用于感冒。,4\n"
        "q2,咽痛吃什么？,leaflet,<b>板蓝根</b>用于咽痛。,4\n",
        encoding="utf-8",
    )
    (tmp_path / "leaflet.md").write_text("感康用于感冒。\n\n<b>板蓝根</b>用于咽痛。\n", encoding="utf-8")
    with FakeServer(lambda request, number: says("板蓝根")) as server:
        medicine_set(tmp_path, server.url)
        for words in (["propose", "--from", "gold.csv"], ["choose", "--auto"], ["answer"]):
            assert exit_code("testset", "set", *words) == 0, words
        # a page with question, contexts and answer, in which no text of a document is markup
        output = printed(capsys, "testset", "set", "answer", "--sheet", "answers.html")
        assert "answers.html: 2 answers to review" in output
        page = (tmp_path / "answers.html").read_text("utf-8")
        assert "<b>板蓝根" not in page
        (content,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page)
        shown = {one["query_id"]: one for one in json.loads(content)["items"]}
        assert shown["q2"]["contexts"][0]["text"] == "<b>板蓝根</b>用于咽痛。"
        assert (shown["q1"]["question"], shown["q1"]["answer"]) == ("感冒了吃什么？", "板蓝根")
        # the same as a sheet: the expert changes one answer and agrees with the other
        assert exit_code("testset", "set", "answer", "--sheet", "answers.csv") == 0
        rows = table(tmp_path / "answers.csv")
        assert rows[0]["contexts"] == "[1] 感康用于感冒。"
        edited = {"q1": {"answer": "感康"}, "q2": {"reviewed": "yes"}}
        save_table(tmp_path / "answers.csv", [{**row, **edited[row["query_id"]]} for row in rows])
        back = ("testset", "set", "answer", "--from", "answers.csv")
        assert "--by NAME" in refused(capsys, *back)
        assert "2 answers reviewed by 王药师, 1 of them changed" in printed(capsys, *back, "--by", "王药师")
        # what an expert has reviewed is not asked again
        count = server.count
        assert exit_code("testset", "set", "answer", "--again") == 0
        assert server.count == count
    assert exit_code("testset", "set", "export") == 0
    queries = {row["query_id"]: row["answer"] for row in table(tmp_path / "set" / "export" / "queries.csv")}
    assert queries == {"q1": "感康", "q2": "板蓝根"}
    datasheet = (tmp_path / "set" / "export" / "datasheet.md").read_text("utf-8")
    assert (
        "A model drafted 2 answers. Reviewed by people: 2. Changed since they were drafted: 1." in datasheet
    )
