"""The recipes of docs/recipes-*.md on the shipped collection, whole; the model answers by rules."""

import json
import re
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

from benchmarks.rule_endpoint import QUERIES, Rules, server
from harness.comparison import answer_lines
from harness.measures import ANSWER_MEASURES, ASPECTS
from harness.running import load_config, run_bench
from harness.store import CacheLayout, Ledger
from harness.values import Silent
from tests.command import exit_code, save_table, table
from tests.testset.helpers import run

ROOT = Path(__file__).parent.parent
RECIPES = ROOT / "configs" / "recipes"
ENDPOINT = re.compile(r"endpoint: (?:&endpoint )?\{model: rules.*\}")
WITH_MODEL = ("ten_k", "rag", "batches", "answer_measures", "testset", "abilities", "abilities_rgb", "tiers")
STEPS = ("propose", "choose", "gather", "grade", "answer", "review", "export")
PAGE = "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("recipes-*.md")))


@contextmanager
def endpoint(queries=QUERIES):
    """The URL of a server that answers by rules."""
    with server(0, Rules.of(queries)) as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        yield f"http://localhost:{serving.server_port}/v1"
        serving.shutdown()


@pytest.fixture(scope="module")
def folder(tmp_path_factory, computed):
    """Of the cache and the results, for all recipes."""
    place = tmp_path_factory.mktemp("recipes")
    (place / "cache").symlink_to(computed)
    return place


def written(name, folder, url=""):
    """A recipe with its cache and results in ``folder``, at another endpoint."""
    text = (RECIPES / f"{name}.yaml").read_text(encoding="utf-8").replace("http://localhost:8000/v1", url)
    path = folder / f"{name}.yaml"
    path.write_text(f"{text}cache: {folder}/cache\nresults: {folder}/results\n", encoding="utf-8")
    return path


def ran(name, folder, monkeypatch, queries=QUERIES):
    """The folder of the results of a recipe."""
    monkeypatch.chdir(ROOT)
    with endpoint(queries) as url:
        return run_bench(load_config(written(name, folder, url)), Silent())[1]


def means(results, measure, split="all", stage="retrieve"):
    """The mean of a measure by setting, to two decimals."""
    return {
        row["setting"]: f"{float(row['mean']):.2f}"
        for row in table(results / "summary.csv")
        if (row["measure"], row["split"], row["stage"]) == (measure, split, stage)
    }


@pytest.mark.parametrize("name", WITH_MODEL)
def test_a_key_takes_one_line(name):
    text = (RECIPES / f"{name}.yaml").read_text(encoding="utf-8")
    other = re.search(r"With a key, replace the line of the endpoint:\n# +(endpoint: .*)", text)[1]
    # one line in the comment's place, and nothing else names the local model
    assert len(ENDPOINT.findall(text)) == 1
    changed = ENDPOINT.sub(other, text)
    assert "localhost" not in changed.split("\nname:")[-1]
    assert "model: gpt-4.1" in changed.replace(other, "", 1)


@pytest.mark.slow
def test_the_ten_k_recipe_compares_two_orders(folder, monkeypatch, real_models):
    results = ran("ten_k", folder, monkeypatch)
    page = " ".join(PAGE.split())
    for split in ("train", "validation"):
        assert f"{means(results, 'seed_ratio@5', split, 'rerank')['base']} for {split}" in page
        for stage in ("retrieve", "rerank"):
            assert 0 < float(means(results, "ndcg_exp@5", split, stage)["base"]) < 1
    ratios = {row["query_id"]: f"{float(row['seed_ratio']):.2f}" for row in table(results / "seed_ratio.csv")}
    # distinct scores of five passages are one set whatever the passages say, also where none answers
    assert f"{ratios['mq020']} for each of the two queries that the report does not answer" in page
    assert ratios["mq091"] == ratios["mq020"]


@pytest.mark.slow
def test_batches_ask_all_at_half_the_price(tmp_path, monkeypatch):
    # a ledger of its own: others may have batches on their way in the shared one
    folder = tmp_path
    results = ran("batches", folder, monkeypatch)
    cost = json.loads((results / "record.json").read_text())["cost"]
    with Ledger(CacheLayout(folder / "cache").ledger) as ledger:
        entries = [one for one in ledger.entries() if "/" in one.request_id]
        assert not ledger.batches.all()
    # half of 2 per million tokens read and of 8 written
    for one in entries:
        assert one.price == pytest.approx((one.prompt_tokens * 2 + one.completion_tokens * 8) / 2e6)
    graded = [one for one in entries if one.grades is not None]
    assert len(graded) == cost["calls"] == 129
    assert f"the grades of {len(graded)} passages" in " ".join(PAGE.split())
    assert len({one.request_id.split("/")[0] for one in entries}) == 4
    assert means(results, "ndcg_exp@5")["base"] == "0.80"


@pytest.mark.slow
def test_rag_answers_from_the_passages_or_refuses(folder, monkeypatch, real_models):
    results = ran("rag", folder, monkeypatch)
    replies = {(row["setting"], row["query_id"]): row["answer"] for row in table(results / "replies.csv")}
    assert len(replies) == 2 * 14
    assert {answer for (_, query), answer in replies.items() if query in ("mq020", "mq091")} == {
        "I cannot answer this from the passages."
    }
    assert "39,717" in {answer for (_, query), answer in replies.items() if query == "mq001"}


@pytest.mark.slow
def test_abilities_by_rules(folder, monkeypatch, real_models):
    results = ran("abilities", folder, monkeypatch, RECIPES / "abilities_queries.csv")
    rows = table(results / "answer_summary.csv")
    mean = {(row["setting"], row["measure"]): row["mean"] for row in rows if row["split"] == "all"}
    # rules that read the passages answer less from noise alone, and repeat false facts without a warning
    for retriever in ("bm25", "exact"):
        right = [
            float(mean[f"{retriever} noise ratio={ratio} prompt=abilities", "all_parts"])
            for ratio in ("0.0", "0.4", "0.8", "1.0")
        ]
        assert right == sorted(right, reverse=True)
        assert right[0] > 0.5 > 0.1 > right[-1]
        assert float(mean[f"{retriever} counterfactual prompt=abilities", "error_detected"]) == 1
        assert float(mean[f"{retriever} counterfactual prompt=abilities_unwarned", "error_detected"]) == 0


@pytest.mark.slow
def test_the_page_has_the_accuracy_at_each_share_of_noise(folder, monkeypatch):
    results = ran("abilities_rgb", folder, monkeypatch, ROOT / "corpora" / "rgb_sample" / "queries.csv")
    accuracy = [
        f"{float(row['mean']):.2f}"
        for row in table(results / "answer_summary.csv")
        if row["setting"].startswith("noise ") and (row["measure"], row["split"]) == ("all_parts", "all")
    ]
    page = " ".join((ROOT / "docs" / "abilities.md").read_text(encoding="utf-8").split())
    assert f"has `all_parts` of {', '.join(accuracy[:-1])} and {accuracy[-1]} from a share of 0" in page


# in the shape of RGB's files: one question each of a mill, with passages that answer it and some that do not
MILLS = {"松江": "1921", "嘉定": "1934", "青浦": "1948", "奉贤": "1956", "金山": "1963", "崇明": "1972"}


def rgb_files(folder):
    """A small collection of our own in RGB's format: noise, and false facts."""
    noise, false = [], []
    for number, (mill, year) in enumerate(MILLS.items()):
        others = [
            f"{other}纱厂的仓库共有{3 + place}层。" for place, other in enumerate(MILLS) if other != mill
        ]
        question = {"id": number, "query": f"{mill}纱厂是哪一年建成的？", "answer": year}
        noise.append({**question, "positive": [f"{mill}纱厂于{year}年建成。"], "negative": others})
        wrong = {"fakeanswer": "1899", "positive_wrong": [f"{mill}纱厂于1899年建成。"]}
        false.append({**noise[-1], "query": f"{mill}纱厂何时投产？", **wrong})
    folder.mkdir()
    for name, instances in {"zh_refine": noise, "zh_fact": false}.items():
        lines = (json.dumps(instance, ensure_ascii=False) for instance in instances)
        (folder / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")


def test_abilities_on_files_of_rgb_by_rules(folder, monkeypatch):
    rgb_files(folder / "RGB")
    corpus = folder / "rgb"
    assert exit_code("import", "rgb", folder / "RGB", "--to", corpus) == 0
    monkeypatch.chdir(ROOT)
    with endpoint(corpus / "queries.csv") as url:
        path = written("abilities_rgb", folder, url)
        path.write_text(path.read_text("utf-8").replace("corpora/rgb_sample", str(corpus)), encoding="utf-8")
        results = run_bench(load_config(path), Silent())[1]
    rows = table(results / "answer_summary.csv")
    mean = {
        (row["setting"], row["measure"]): float(row["mean"])
        for row in rows
        if row["mean"] and row["split"] == "all"
    }
    accuracy = [mean[f"noise ratio={ratio}", "all_parts"] for ratio in ("0.0", "0.4", "0.8", "1.0")]
    assert accuracy == sorted(accuracy, reverse=True)
    # by rules every question is answered from its own passage, and from noise alone all are refused
    assert (accuracy[0], accuracy[-1]) == (1, 0)
    assert mean["noise ratio=1.0", "refusal"] == 1
    assert mean["counterfactual", "error_detected"] == mean["counterfactual", "error_corrected"] == 1


@pytest.mark.slow
def test_every_measure_of_answers_has_a_value(folder, monkeypatch, real_models):
    results = ran("answer_measures", folder, monkeypatch)
    scored = {row["measure"] for row in table(results / "answer_summary.csv") if int(row["n_queries"])}
    # the criterion has a name of its own, and nothing that was read is false
    assert scored == {*ANSWER_MEASURES} - {"aspect_critic", "error_detected", "error_corrected"} | {"figure"}


@pytest.mark.slow
def test_two_tiers_by_prompts_whose_replies_have_their_own_shape(folder, monkeypatch):
    results = ran("tiers", folder, monkeypatch)
    rows = table(results / "answer_scores.csv")
    assert list(dict.fromkeys(row["measure"] for row in rows)) == [
        *("answer_correctness", "faithfulness", "context_precision", "context_recall")
    ]
    # of one query that is answered, every verdict has its reason
    details = {
        row["measure"]: json.loads(row["details"])
        for row in rows
        if (row["setting"], row["query_id"]) == ("top_n=5", "mq001")
    }
    assert all(one["reason"] for one in details["faithfulness"]["statements"])
    assert all(one["reason"] for one in details["context_recall"]["statements"])
    assert details["context_precision"]["reasons"][0] == "It holds the answer."
    (line,) = (line for line in answer_lines(results) if line["label"] == "Where the fault lies")
    assert f"*{line['text'].split('. ')[0]}.*" in " ".join(PAGE.split())


@pytest.mark.slow
def test_five_aspects_are_voted_on_by_three_models(folder, monkeypatch, real_models):
    results = ran("aspects", folder, monkeypatch)
    (*aspects, other) = dict.fromkeys(row["measure"] for row in table(results / "answer_summary.csv"))
    assert aspects == [*ASPECTS]
    assert other == "context_relevance"
    votes = [
        json.loads(row["details"])["votes"]
        for row in table(results / "answer_scores.csv")
        if row["measure"] in ASPECTS
    ]
    assert {tuple(vote) for vote in votes} == {("rules-a", "rules-b", "rules-c")}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hybrid_vectors", "table_rows"])
def test_the_page_has_the_figures(name, folder, monkeypatch, real_models):
    results = ran(name, folder, monkeypatch)
    part = re.search(rf"<!-- {name} -->\n(.*?)<!-- end -->", PAGE, re.DOTALL)[1]
    head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in part.splitlines()]
    for measure, column in zip(head[1:], zip(*(row[1:] for row in rows), strict=True), strict=True):
        assert means(results, measure) == dict(zip((row[0] for row in rows), column, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["cosine", "cross_encoder", "graph"])
def test_the_page_has_the_agreement_of_judges_by_scores(kind, folder, monkeypatch, real_models):
    monkeypatch.chdir(ROOT)
    page = (ROOT / "docs" / "judge.md").read_text(encoding="utf-8")
    name, out = f"judge_{kind}", folder / f"agreement_{kind}"
    settings = ["--settings"] if kind == "cosine" else []
    words = ["judge", "agreement", written(name, folder), *settings, "--to", out]
    assert exit_code(*words) in (0, None)
    (row,) = table(out / "agreement.csv")

    def shown(name):
        value, low, high = (float(row[f"{name}{part}"]) for part in ("", "_low", "_high"))
        return f"{value:.3f} [{low:.3f}, {high:.3f}]"

    line = f"| `configs/recipes/{name}.yaml` | {shown('kappa')} | {shown('kappa_quadratic')} |"
    assert line in page
    if settings:
        means = {
            row["setting"]: [f"{float(row[who]):.3f}" for who in ("human_only", "judge_only")]
            for row in table(out / "corrected.csv")
        }
        # it puts the retriever with its own vectors first, and people the other one
        assert means["bm25"][0] > means["exact"][0]
        assert means["bm25"][1] < means["exact"][1]
        for figure in (*means["bm25"], *means["exact"]):
            assert figure in page


@pytest.mark.slow
def test_the_path_to_a_reviewed_test_set(folder, monkeypatch, real_models):
    monkeypatch.chdir(ROOT)
    own = folder / "reviewed"
    own.mkdir()
    with endpoint() as url:
        (own / "testset.yaml").write_text(written("testset", folder, url).read_text(encoding="utf-8"))
        sheet = folder / "second.csv"
        steps = re.findall(r"^harness testset reviewed (.*?) *(?:#.*)?$", PAGE, re.MULTILINE)
        for step in steps:
            words = step.replace("second.xlsx", str(sheet)).split()
            if "--from" in words:
                graded(sheet)
            assert run("testset", own, *words) in (0, None), step
    assert {step.split()[0] for step in steps} == {*STEPS}
    assert len(table(own / "proposed.csv")) == 150
    assert sum(row["keep"] == "yes" for row in table(own / "chosen.csv")) == 100
    assert len(table(own / "export" / "labels.csv")) == 900
    # the person's grades are in the datasheet beside the model's, with their agreement
    assert "Ann" in (own / "export" / "datasheet.md").read_text(encoding="utf-8")


def graded(sheet):
    """A person finds that every passage of a sheet answers."""
    rows = [{**row, "grade": 4} for row in table(sheet)]
    assert len(rows) == 270
    save_table(sheet, rows)
