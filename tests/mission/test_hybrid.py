"""The document on hybrid retrieval: tables, distances, words and vectors together, queries rewritten."""

import json
import math
import re

import numpy as np
import pytest

from harness.running import kept_terms
from harness.steps import Analyser
from tests.command import table
from tests.judge.fake_server import Answer, FakeServer, says
from tests.mission.figures import figure
from tests.mission.helpers import flow, run_in
from tests.models import tiny

DENSE = {"kind": "exact", "model": "embedded:all-MiniLM-L6-v2", "top_k": 5}
PASSAGES = {
    "rain": "Rain fell on the harbour for nine days.",
    "yard": "The yard holds 4,200 vehicles.",
    "pump": "The fuel pump was recalled in the cold.",
}


def ranked(results, stage="retrieve", query="q1", setting=None):
    """The documents of one ranking with their scores, in their order."""
    return {
        row["document"]: float(row["score"])
        for row in table(results / "rankings.csv")
        if (row["stage"], row["query_id"]) == (stage, query) and setting in (None, row["setting"])
    }


def searched(folder, retriever, *queries, passages=PASSAGES, **sections):
    label = [("q1", next(iter(passages)), 4)]
    retriever = retriever if isinstance(retriever, str) else flow(retriever)
    return run_in(
        folder, passages, list(queries), label, retrieve=retriever, measures="[ndcg_exp@5]", **sections
    )


@pytest.mark.parametrize(
    ("table_rows", "chunk", "shown"),
    [
        (["Product,Price"], "{kind: rows, rows: 1, header_rows: 1}", ["Product,Price"]),
        # the user says by numbers which rows are the heading
        (
            ["Product,Price", "all,7", "name,euros"],
            "{kind: rows, rows: 1, heading_rows: [1, 3]}",
            ["Product,Price", "name,euros"],
        ),
    ],
)
def test_hyb_1_every_row_of_a_table_is_a_chunk_with_the_heading(tmp_path, table_rows, chunk, shown):
    """hyb-1: table rows with heading."""

    (tmp_path / "documents").mkdir(parents=True)
    text = "\n".join([*table_rows, "Tea,3", "Coffee,4", ""])
    (tmp_path / "documents" / "prices.csv").write_text(text, encoding="utf-8")
    results = run_in(
        tmp_path,
        {},
        ["What does coffee cost?"],
        retrieve="{kind: bm25, top_k: 5}",
        documents=str(tmp_path / "documents" / "*.csv"),
        chunk=chunk,
        labels=one_label(tmp_path, "prices", "Coffee,4"),
        measures="[ndcg_exp@5]",
    )
    first = next(row for row in table(results / "rankings.csv") if row["rank"] == "1")
    spans = [span.split("-") for span in first["chunk_id"].removeprefix("prices:").split("+")]
    assert [text[int(start) : int(end)].strip() for start, end in spans] == [*shown, "Coffee,4"]


def one_label(folder, document, quote):
    path = folder / "one.csv"
    path.write_text(f'query_id,document,quote,grade\nq1,{document},"{quote}",4\n', encoding="utf-8")
    return str(path)


def served(vector_of):
    """An endpoint that gives every text the vector of a function."""

    def reply(request, number):
        rows = [
            {"object": "embedding", "index": at, "embedding": [float(number) for number in vector_of(text)]}
            for at, text in enumerate(request["body"]["input"])
        ]
        return Answer(body={"data": rows, "model": "v-1", "usage": {"prompt_tokens": 9, "total_tokens": 9}})

    return FakeServer(reply)


def vectors_at(server):
    return {"model": "v-1", "base_url": server.url, "api_key_env": None}


# of the question (1, 0): one is the longest, one has its direction, one is the nearest
ARROWS = {"long": (3, 4), "along": (0.2, 0), "near": (1, 0.5)}


@pytest.mark.parametrize(
    ("distance", "scores"),
    [
        ("ip", {"long": 3, "near": 1, "along": 0.2}),
        ("cosine", {"along": 1, "near": 1 / 1.25**0.5, "long": 0.6}),
        # the square of the distance, with a minus
        ("l2", {"near": -0.25, "along": -0.64, "long": -20}),
    ],
)
def test_hyb_2_vectors_by_dot_product_angle_and_euclidean_distance(tmp_path, distance, scores):
    """hyb-2: dot; cosine; Euclid; HNSW; IVF-PQ."""

    with served(lambda text: ARROWS.get(text, (1, 0))) as server:
        retriever = {"kind": "exact", "endpoint": vectors_at(server), "distance": distance, "top_k": 3}
        found = ranked(searched(tmp_path, retriever, "?", passages={name: name for name in ARROWS}))
    assert found == pytest.approx(scores, abs=1e-5)
    assert list(found) == list(scores)


@pytest.mark.parametrize(
    "index",
    [
        {"index": "hnsw", "max_neighbors": 8, "ef_search": 300},
        {"index": "ivf_pq", "m": 8, "nbits": 4, "nlist": 4, "nprobe": 4},
    ],
    ids=["hnsw", "ivf_pq"],
)
def test_hyb_2_indexes_of_approximate_search(tmp_path, index):
    pytest.importorskip("faiss")
    passages = {f"d{at:03}": f"passage {at}" for at in range(200)}
    rng = np.random.default_rng(3)
    vectors = dict(zip(passages.values(), rng.normal(size=(200, 16)), strict=True))
    vectors["Which?"] = vectors["passage 70"] + rng.normal(size=16) / 10
    with served(vectors.get) as server:
        retriever = {"kind": "faiss", "endpoint": vectors_at(server), "top_k": 10, "distance": "ip", **index}
        results = searched(tmp_path, retriever, "Which?", passages=passages)
    exact = {name: float(vectors["Which?"] @ vectors[text]) for name, text in passages.items()}
    found = ranked(results)
    assert next(iter(found)) == "d070"
    (price, *_) = table(results / "prices.csv")
    best = set(sorted(exact, key=exact.get, reverse=True)[:10])
    assert float(price["exact_share"]) == pytest.approx(len(best & set(found)) / 10)
    written = {path.name: path.stat().st_size for path in tmp_path.rglob("index.faiss")}
    if index["index"] == "hnsw":
        # a graph of the vectors themselves, here searched whole
        assert found == pytest.approx({name: exact[name] for name in found}, abs=1e-4)
        assert set(found) == best
        assert written["index.faiss"] > 200 * 16 * 4
    else:
        # codes of eight times four bits in place of sixteen numbers: the scores are estimates
        assert found["d070"] == pytest.approx(exact["d070"], rel=0.5)
        assert abs(found["d070"] - exact["d070"]) > 1e-3
        assert written["index.faiss"] < 200 * 16 * 4


def test_hyb_3_a_rare_term_counts_more_than_one_in_every_document(tmp_path):
    """hyb-3: BM25: rare over frequent (莎士比亚 over 李白); the 哈利波特 example."""

    everywhere, once = figure("hyb-3", "term_in_all"), figure("hyb-3", "term_in_one")
    passages = {f"d{at:03}": f"{everywhere} 第{at}篇" for at in range(figure("hyb-3", "documents") - 1)}
    passages |= {"only": f"{everywhere} {once} 第九九篇"}
    label = [("q1", "only", 4)]
    results = run_in(
        tmp_path,
        passages,
        [once, everywhere],
        label,
        retrieve="{kind: bm25, top_k: 100}",
        measures="[ndcg_exp@5]",
    )
    rare, common = ranked(results), ranked(results, query="q2")
    assert next(iter(rare)) == "only"
    assert list(rare) == ["only"]
    # what is in every document adds next to nothing
    assert rare["only"] > 10 * max(common.values())


# the document's report, with all that it names, in words of ours; and what any firm might announce
REPORT = (
    "网易公布了第一季度的业绩。游戏和增值服务带来201亿元收入，比一年前多7.6%：手机游戏134.5亿元，增加16.3%；"
    "电脑游戏51.6亿元，减少9.8%，因为暴雪的游戏在国内停止运营以后少了新作。《蛋仔派对》的下载量在国内iOS免费榜上"
    "排到第一，五月二十日公司请玩家一起创作。《零号任务》《全明星街球派对》《巅峰极速》《超凡先锋》都在以后的上线"
    "名单里。六月，手游《逆水寒》会加入由人工智能驱动的角色。在海外，公司年内要让《哈利波特》上线，《蛋仔派对》"
    "以后也会去。"
)
ANNOUNCEMENT = "特斯拉准备推出一款新汽车。"
CHINESE = {"other": ANNOUNCEMENT, "report": REPORT}
WHO_SELLS_IT = figure("hyb-8", "question")


def test_hyb_3_a_name_in_a_long_report_is_found_by_its_words(tmp_path):
    found = ranked(searched(tmp_path, {"kind": "bm25", "top_k": 5}, WHO_SELLS_IT, passages=CHINESE))
    assert next(iter(found)) == "report"
    # by its words alone: without them the report is not ahead
    bare = {**CHINESE, "report": REPORT.replace("《哈利波特》", "一款作品").replace("公司", "它")}
    without = ranked(
        searched(tmp_path / "without", {"kind": "bm25", "top_k": 5}, WHO_SELLS_IT, passages=bare)
    )
    assert without.get("report", 0) < found["report"] / 2


@pytest.mark.parametrize("kind", ["bm25", "concatenated"])
def test_hyb_4_added_documents_are_read_alone_and_what_is_kept_stays(tmp_path, monkeypatch, kind):
    """hyb-4: TF kept in the store and IDF apart: documents added without rewriting old vectors."""

    retriever = {**DENSE, "kind": kind} if kind == "concatenated" else {"kind": kind, "top_k": 5}
    texts, terms = [], Analyser.terms
    monkeypatch.setattr(Analyser, "terms", lambda self, text: texts.append(text) or terms(self, text))
    query = "How many vehicles does the yard hold?"

    def run(folder, passages):
        """The scores, the passages whose terms were computed, and how many vectors were."""
        texts.clear()
        # as another process, which has nothing in memory
        monkeypatch.setattr(kept_terms, "_kept", {})
        results = searched(folder, retriever, query, passages=passages)
        counts = json.loads((results / "record.json").read_text("utf-8"))["counts"]
        read = [text for text in texts if text in passages.values()]
        return ranked(results), read, counts.get("vectors_computed", 0)

    def kept():
        return {path: path.read_bytes() for path in (tmp_path / "both").rglob("terms.npy")}

    before, read, vectors = run(tmp_path / "both", PASSAGES)
    assert sorted(read) == sorted(PASSAGES.values())
    assert vectors == (len(PASSAGES) + 1 if kind == "concatenated" else 0)
    files = kept()
    assert len(files) == 1
    # a name that sorts before the others: what is kept does not go by places
    more = {"barn": "The barn holds no vehicles.", **PASSAGES}
    scores, read, vectors = run(tmp_path / "both", more)
    assert read == [more["barn"]]
    assert vectors == (1 if kind == "concatenated" else 0)
    assert kept().items() > files.items()
    # the rarity of terms is that of all four, as in an index that was built at once
    assert scores["yard"] != before["yard"]
    assert scores == run(tmp_path / "once", more)[0]


def test_hyb_4_what_is_stored_of_a_passage_stays_where_the_average_length_is_given(tmp_path):
    query = "yard"
    more = {"barn": "The barn holds many things, and none of them moves.", **PASSAGES}
    # one of three passages has the word, and then one of four: all that may change is how rare it is
    rarity = [math.log(1 + (count - 1 + 0.5) / 1.5) for count in (len(PASSAGES), len(more))]

    def sparse(name, passages, **given):
        """What the word adds to the passage that has it."""
        retriever = {**DENSE, "kind": "concatenated", "weight": 1, **given}
        both = ranked(searched(tmp_path / name, retriever, query, passages=passages))
        return both["yard"] - dense

    dense = ranked(searched(tmp_path / "dense", DENSE, query))["yard"]
    kept = [sparse(f"kept {len(texts)}", texts, average_length=5) for texts in (PASSAGES, more)]
    assert kept[1] / kept[0] == pytest.approx(rarity[1] / rarity[0], rel=1e-4)
    # without it the lengths of others count, so that what is stored of a passage changes with them
    free = [sparse(f"free {len(texts)}", texts) for texts in (PASSAGES, more)]
    assert abs(free[1] / free[0] - rarity[1] / rarity[0]) > 0.01


def test_hyb_5_dense_and_sparse_in_one_vector_add_their_products(tmp_path):
    """hyb-5: dense and sparse concatenated: a·b."""

    query = "How many vehicles does the yard hold?"
    dense = ranked(searched(tmp_path / "dense", DENSE, query))
    sparse = ranked(searched(tmp_path / "sparse", {"kind": "bm25", "top_k": 5}, query))
    both = ranked(searched(tmp_path / "both", {**DENSE, "kind": "concatenated", "weight": 0.5}, query))
    assert both == pytest.approx({name: dense[name] + 0.5 * sparse.get(name, 0.0) for name in both}, abs=1e-5)
    assert list(both) == sorted(both, key=lambda name: -both[name])


def test_hyb_6_synonyms_find_another_name(tmp_path):
    """hyb-6: synonyms 杜工部 and 杜牧; RRF with weights; ELSER-like."""

    (tmp_path / "names.txt").write_text("杜工部, 杜牧\n", encoding="utf-8")
    passages = {"poem": "杜牧写了这首诗。", "other": "李白写了那首诗。"}
    retriever = {"kind": "bm25", "top_k": 5}
    without = ranked(searched(tmp_path / "without", retriever, "杜工部", passages=passages))
    named = {**retriever, "synonyms": str(tmp_path / "names.txt")}
    found = ranked(searched(tmp_path / "with", named, "杜工部", passages=passages))
    # nothing has that name, and whoever is meant counts as if he had been asked for
    assert without == {}
    assert list(found) == ["poem"]
    assert found == ranked(searched(tmp_path / "same", retriever, "杜牧", passages=passages))


@pytest.mark.slow  # loads torch
def test_hyb_6_a_model_that_has_learned_the_weights_of_words(tmp_path):
    """A SPLADE of a few thousand weights, made here, of the architecture that the recipe names."""
    from sentence_transformers import SparseEncoder

    name = tiny.splade(tmp_path / "model")
    passages = {
        "yard": "the yard holds 4 , 200 vehicles",
        "rain": "rain fell on harbour for nine days",
        "pump": "the fuel pump was recalled in 2024",
    }
    question = "why was the pump recalled ?"
    retriever = {"kind": "learned_sparse", "model": name, "top_k": 3}
    found = ranked(searched(tmp_path, retriever, question, passages=passages))
    # what the model itself gives: each of its words times its weight in both texts
    model = SparseEncoder(name)
    products = model.similarity(
        model.encode_query([question]), model.encode_document(list(passages.values()))
    )
    expected = dict(zip(passages, map(float, products.to_dense()[0]), strict=True))
    expected = {document: score for document, score in expected.items() if round(score, 6) > 0}
    assert found == pytest.approx(expected, rel=1e-4)
    assert next(iter(found)) == "pump"
    # a route of a fusion like any other
    fused = {"kind": "rrf", "k": 60, "weights": [2, 1], "routes": [retriever, {"kind": "bm25"}], "top_k": 3}
    both = ranked(searched(tmp_path, fused, question, passages=passages))
    assert both["pump"] == pytest.approx(3 / 61, abs=1e-6)


def test_hyb_6_rankings_are_fused_by_weighted_reciprocal_ranks(tmp_path):
    routes = [DENSE, {"kind": "bm25", "top_k": 5}]
    retriever = {"kind": "rrf", "k": 60, "weights": [3, 1], "routes": routes, "top_k": 5}
    results = searched(tmp_path, retriever, "How many vehicles does the yard hold?")
    stages = {row["stage"] for row in table(results / "rankings.csv")}
    dense, sparse = (list(ranked(results, stage)) for stage in sorted(stages - {"retrieve"}, reverse=True))
    fused = ranked(results)
    expected = {
        name: sum(
            weight / (60 + order.index(name) + 1)
            for weight, order in ((3, dense), (1, sparse))
            if name in order
        )
        for name in fused
    }
    assert fused == pytest.approx(expected, abs=1e-6)


def rewriter(url, prompt):
    endpoint = {"model": "fake-1", "base_url": url, "api_key_env": None}
    return {"kind": "llm", "prompt": prompt, "endpoint": endpoint}


def test_hyb_7_entities_of_the_question_by_a_language_model_are_a_route(tmp_path):
    """hyb-7: entities of the question by a language model as a route."""

    prompt = tmp_path / "entities.yaml"
    prompt.write_text("user: 'List the names in this question, and nothing else: {{ query }}'\n")
    with FakeServer(lambda request, number: says("vehicles yard")) as server:
        words = {"kind": "bm25", "top_k": 5}
        routes = [words, {**words, "rewrite": rewriter(server.url, str(prompt))}]
        results = searched(tmp_path, {"kind": "rrf", "top_k": 5, "routes": routes}, "What about the harbour?")
        assert "List the names" in json.dumps(server.requests[0]["body"])
    stages = {row["stage"] for row in table(results / "rankings.csv")} - {"retrieve"}
    firsts = {next(iter(ranked(results, stage))) for stage in stages}
    # the question finds the rain, its names the yard, and the fusion has both
    assert firsts == {"rain", "yard"}
    assert set(ranked(results)) >= firsts


# the document's report and question, in the language of the model that the tests have
ANNOUNCED = {
    "other": "Tesla is going to release a new car model.",
    "report": "NetEase results: Eggy Party stayed popular in the first quarter. Revenue from games and "
    "related services was 20.1 billion yuan, 7.6 % more than a year before, of which mobile games earned "
    "13.45 billion yuan, 16.3 % more; games for computers earned 5.16 billion yuan, 9.8 % less. Downloads of "
    "Eggy Party led the list of free games. Zero Task, All-Star Street Ball Party, Racing Master and "
    "Extraordinary Ones will go online. In June Justice Mobile gets characters that speak. Abroad, Harry "
    "Potter follows within the year, and Eggy Party is to go there too.",
}
WHO_RELEASES_IT = "Which company plans to release Harry Potter?"


def test_hyb_8_entities_of_documents_are_embedded_and_matched_again(tmp_path):
    """hyb-8: entities of documents embedded and matched again: multi-route recall."""

    def first(name, retriever, stage="retrieve", **more):
        results = searched(tmp_path / name, retriever, WHO_RELEASES_IT, passages=ANNOUNCED, **more)
        return next(iter(ranked(results, stage)))

    # one vector of a long report says little of one game, so that any announcement is nearer
    assert first("plain", DENSE) == "other"
    names = {**DENSE, "field": "entities"}
    assert first("names", names) == "report"
    routes = {"kind": "rrf", "top_k": 5, "weights": [1, 2], "routes": [DENSE, names]}
    assert first("routes", routes) == "report"
    match = "{kind: entities, model: 'embedded:all-MiniLM-L6-v2', weight: 2}"
    assert first("again", DENSE, "rerank", rerank=match) == "report"
    # of two passages the names move none where they weigh less than the text, as docs/retrieval.md says
    assert first("light", {**routes, "weights": [1, 0.2]}) == "other"
    light = match.replace("weight: 2", "weight: 0.5")
    assert first("light again", DENSE, "rerank", rerank=light) == "other"


TITLES = re.findall("《(.*?)》", REPORT)
# words of one meaning are one dimension, as an encoder has them; each title is one of its own
MEANINGS = [
    ("公司", "网易", "特斯拉"),
    ("计划", "准备"),
    ("发售", "推出", "上线", "运营"),
    ("收入", "亿元"),
    ("手机", "手游", "电脑"),
    ("下载", "免费榜"),
    ("汽车",),
    *((title,) for title in dict.fromkeys(TITLES)),
]


def meant(text):
    """A vector of what a text speaks of, and how often."""
    return [0.01, *(sum(text.count(word) for word in words) for words in MEANINGS)]


def test_hyb_8_the_question_of_the_document_names_what_a_report_marks_as_a_title(tmp_path):
    def first(name, retriever, stage="retrieve", **more):
        results = searched(tmp_path / name, retriever, WHO_SELLS_IT, passages=CHINESE, **more)
        return next(iter(ranked(results, stage))), results

    with served(meant) as server:
        dense = {"kind": "exact", "endpoint": vectors_at(server), "distance": "cosine", "top_k": 5}
        # the report speaks of so much that its vector is further off than that of another announcement
        assert first("plain", dense)[0] == "other"
        names = {**dense, "field": "entities"}
        nearest, results = first("names", names)
        assert nearest == "report"
        game, _ = figure("hyb-8", "entities")
        assert game in table(results / "asked.csv")[0]["text"]
        routes = {"kind": "rrf", "top_k": 5, "weights": [1, 2], "routes": [dense, names]}
        assert first("routes", routes)[0] == "report"
        match = "{kind: entities, model: 'embedded:all-MiniLM-L6-v2', weight: 2}"
        assert first("again", dense, "rerank", rerank=match)[0] == "report"


def test_hyb_8_entities_and_intents_of_the_document_by_a_language_model(tmp_path):
    assert len(set(TITLES)) == 7
    intent = "公司发售作品"

    def reply(request, number):
        """What a model might name, line by line: entities, and at the end what the text is about."""
        text = request["body"]["messages"][-1]["content"]
        if WHO_SELLS_IT in text:
            return says("\n".join([*figure("hyb-8", "entities"), intent]))
        return says("\n".join(["网易", *TITLES, intent]) if REPORT in text else "特斯拉\n推出汽车")

    with FakeServer(reply) as asked, served(meant) as encoder:
        field = {"kind": "llm_entities", "endpoint": vectors_at(asked), "prompt": "names_and_intent_zh"}
        dense = {"kind": "exact", "endpoint": vectors_at(encoder), "distance": "cosine", "top_k": 5}
        results = searched(tmp_path, {**dense, "field": field}, WHO_SELLS_IT, passages=CHINESE)
        # two passages and one question, each shown whole
        shown = [request["body"]["messages"][-1]["content"] for request in asked.requests]
        embedded = [text for request in encoder.requests for text in request["body"]["input"]]
    assert len(shown) == 3
    assert all(any(text in prompt for prompt in shown) for text in (REPORT, ANNOUNCEMENT, WHO_SELLS_IT))
    # entities and intents are embedded, each by itself, and no text is
    assert {*figure("hyb-8", "entities"), intent, *TITLES, "网易", "推出汽车"} <= set(embedded)
    assert not {REPORT, ANNOUNCEMENT, WHO_SELLS_IT} & set(embedded)
    words = table(results / "asked.csv")[0]["text"]
    assert all(word in words for word in (*figure("hyb-8", "entities"), intent))
    found = ranked(results)
    assert next(iter(found)) == "report"
    # all that is asked for is named by the report, and of the game nothing by the other
    assert found["report"] == pytest.approx(1, abs=1e-3)
    assert found.get("other", 0) < 0.9


def test_hyb_8_a_language_model_names_passages_and_queries_at_prices_of_their_own(tmp_path):
    def reply(request, number):
        text = request["body"]["messages"][-1]["content"]
        return says("Harry Potter\nrelease of a game" if "Harry" in text else "Tesla\na new car")

    with FakeServer(reply) as server:
        endpoint = {"model": "fake-1", "base_url": server.url, "api_key_env": None}
        field = {
            "kind": "llm_entities",
            "endpoint": endpoint,
            "prices": {"fake-1": {"input": 1, "output": 1}},
        }
        results = searched(tmp_path, {**DENSE, "field": field}, WHO_RELEASES_IT, passages=ANNOUNCED)
    assert next(iter(ranked(results))) == "report"
    record = json.loads((results / "record.json").read_text("utf-8"))
    spent = {facts["purpose"]: facts for facts in record["counts"]["rewriting"].values()}
    assert {purpose: facts["calls"] for purpose, facts in spent.items()} == {"naming": 2, "rewriting": 1}
    (price, *_) = [row for row in table(results / "prices.csv") if row["stage"] == "retrieve"]
    # what queries cost is that of the query alone
    assert float(price["rewrite_cost"]) == pytest.approx(spent["rewriting"]["cost"])
    assert spent["naming"]["cost"] > 0


def test_hyb_9_a_trained_bert_finds_the_entities(tmp_path):
    """hyb-9: entities by a trained BERT."""

    games = ["zelda", "tetris", "doom", "quake"]
    sentences = [
        [(who, "O"), (verb, "O"), (game, "B-GAME"), (when, "O")]
        for who, verb in [("acme", "releases"), ("globex", "sells"), ("we", "play")]
        for game in games
        for when in ["today", "soon", "abroad"]
    ]
    model = tiny.tagger(tmp_path / "bert", sentences)
    passages = {
        "other": "acme releases soon we play today abroad",
        "report": "globex sells doom today globex sells tetris soon acme sells quake abroad",
    }
    retriever = {**DENSE, "field": {"kind": "model_entities", "model": model, "labels": ["GAME"]}}
    results = searched(tmp_path / "run", retriever, "acme releases tetris soon", passages=passages)
    assert list(ranked(results)) == ["report"]
    assert [row["text"] for row in table(results / "asked.csv")] == ["tetris"]


def test_hyb_10_a_language_model_makes_a_statement_of_a_question(tmp_path):
    """hyb-10: question to statement by a language model."""

    question, statement = figure("hyb-10", "question"), figure("hyb-10", "statement")
    with FakeServer(lambda request, number: says(statement)) as server:
        passages = {"friends": "李白的朋友是高适。", "other": "杜甫写诗。"}
        results = searched(
            tmp_path,
            {"kind": "bm25", "top_k": 5},
            question,
            passages=passages,
            rewrite=flow(rewriter(server.url, "declarative_zh")),
        )
        (request,) = server.requests
    assert question in request["body"]["messages"][-1]["content"]
    assert "陈述" in json.dumps(request["body"]["messages"], ensure_ascii=False)
    assert [row["text"] for row in table(results / "asked.csv")] == [statement]
    assert next(iter(ranked(results))) == "friends"


def test_hyb_11_rules_make_a_statement_of_a_question(tmp_path):
    """hyb-11: question to statement without one."""

    passages = {"friends": "李白的朋友是高适。", "other": "杜甫写诗。"}
    results = searched(
        tmp_path,
        {"kind": "bm25", "top_k": 5},
        figure("hyb-10", "question"),
        "Who is the chief executive of Ford?",
        passages=passages,
        rewrite="{kind: statement}",
    )
    # the document's own example, and an English one
    statements = [figure("hyb-10", "statement"), "The chief executive of Ford is"]
    assert [row["text"] for row in table(results / "asked.csv")] == statements
    assert next(iter(ranked(results))) == "friends"


def test_hyb_12_the_scores_before_and_after_rewriting_stand_beside_each_other(tmp_path):
    """hyb-12: similarity before and after rewriting."""

    question, statement = "How many vehicles does the yard hold", "The yard holds vehicles"
    with FakeServer(lambda request, number: says(statement)) as server:
        results = searched(
            tmp_path,
            DENSE,
            question,
            rewrite=flow([None, rewriter(server.url, "declarative")]),
        )
    settings = list(dict.fromkeys(row["setting"] for row in table(results / "rankings.csv")))
    before, after = (ranked(results, setting=name) for name in settings)
    # the statement shares more of its words with the passage
    assert after["yard"] > before["yard"]
    # either as if the words had been asked themselves
    for scores, words in ((before, question), (after, statement)):
        alone = ranked(searched(tmp_path / words, DENSE, words))
        assert scores == pytest.approx(alone, abs=1e-6)
    assert [(row["setting"], row["text"]) for row in table(results / "asked.csv")] == [
        (settings[1], statement)
    ]
